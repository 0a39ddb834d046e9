// The MPIs of this machine: launchers, what programs are linked to, and the files of this installation for each MPI.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/mpi_libraries.hpp"

namespace circoll::cli {

/// A program that starts ranks.
struct Launcher {
  const MpiLibrary* mpi = nullptr;
  std::string file{};     ///< with its path
  std::string version{};  ///< "4.1.4"; empty if it does not say one
  std::string words{};    ///< of a user, as "srun -n {np}"; empty: `file` starts the ranks
};

/// "Open MPI 4.1.4".
[[nodiscard]] std::string library_of(const Launcher& launcher);

/// The launcher that a `--version` comes from; nothing if it is of no MPI that Circoll knows.
[[nodiscard]] std::optional<Launcher> launcher_from_version(const std::string& file, const std::string& text);

/// The launchers on PATH, the first one of each MPI. First come those whose names say their MPI (mpirun.openmpi,
/// mpiexec.mpich), then mpirun, mpiexec and the rest. Each is asked for its version.
[[nodiscard]] std::vector<Launcher> find_launchers();

/// The launcher of an MPI, by its id, or the one that users get by "mpirun". MPIs that have others are put into
/// `others`. Throws std::runtime_error if there is none.
[[nodiscard]] Launcher choose_launcher(const std::string& wanted, std::vector<std::string>& others);

/// A launcher that the user gives in words ("srun -n {np}"). Without a name ("auto") its MPI is that of the mpirun on
/// PATH, or the only one that there is a circoll-bench for. Throws Error if that leaves it open, or the words have no
/// {np}.
[[nodiscard]] Launcher given_launcher(const std::string& words, const std::string& mpi);

/// The words of a launcher's command with the number of ranks in place of {np}.
[[nodiscard]] std::vector<std::string> launcher_words(const std::string& text, long ranks);

/// The MPI whose launcher has started this process as a rank, as the environment says; nullptr if none has.
[[nodiscard]] const MpiLibrary* launching_mpi();

/// The rank of this process, if a launcher has started it. A single process of srun (a shell, --pty) is no rank,
/// because users start ranks from there.
[[nodiscard]] std::optional<long> launched_rank();

/// A warning that the ranks of a program of `mpi` may not find one another. A launcher of the other MPI has started
/// them, or srun without PMI. Only the first rank gets it. Empty if all is well, and on the other ranks.
[[nodiscard]] std::string launch_warning(const MpiLibrary& mpi);

/// The MPI of an option's value, "openmpi", "mpich" or "abi"; nullptr for "auto".
[[nodiscard]] const MpiLibrary* mpi_named(const std::string& id);

struct LaunchOptions {
  bool oversubscribe = false;     ///< there are more ranks than processors
  bool hardware_threads = false;  ///< there are more ranks than cores, and several threads in a core
};
/// The command that starts `ranks` of a program on this node. Ranks are bound as the launcher does by itself, which is
/// how users start theirs.
[[nodiscard]] std::vector<std::string> launch_command(const Launcher& launcher, long ranks,
                                                      const LaunchOptions& options,
                                                      const std::vector<std::string>& program);
/// Why this launcher would start nothing here. The sentence says what to do; it is empty if nothing is known against
/// it.
[[nodiscard]] std::string refusal(const Launcher& launcher);

/// A launch that has failed.
struct FailedLaunch {
  std::string words{};   ///< what the launcher and the ranks have said
  long ranks = 0;        ///< that were asked for
  long slots = 0;        ///< places for ranks that Open MPI counts here; 0: unknown
  std::string custom{};  ///< the launcher that the user has given; empty: the one that circoll has found
};
/// The cause of a failed launch and its remedy, by the words of the launcher. Empty if the words say something else.
/// For example, "Open MPI has 2 slots for 4 ranks: --np 2, or --oversubscribe".
[[nodiscard]] std::string cause_and_remedy(const FailedLaunch& launch);
/// The slots that Open MPI counts on this node: one for each core. It is 0 in an allocation of a batch system and with
/// a file of hosts, which have their own.
[[nodiscard]] long openmpi_slots();
/// The option of srun by which ranks of an MPI find one another.
[[nodiscard]] std::string_view srun_interface(const MpiLibrary* mpi);

/// circoll-bench for an MPI, beside this executable, in the build tree, or on PATH.
[[nodiscard]] std::optional<std::string> find_bench(const MpiLibrary& mpi);
/// The drop-in for an MPI that belongs to this executable.
[[nodiscard]] std::optional<std::string> find_dropin(const MpiLibrary& mpi);

/// The MPI that an ELF file, or a library that it needs, is linked to. The standard's ABI counts before the library
/// behind it. nullptr for other files (scripts, interpreters, programs without MPI). Asks ldd where the file itself
/// does not name its MPI.
[[nodiscard]] const MpiLibrary* linked_mpi(const std::string& path);

/// True for the file of a sanitizer's runtime, which comes first among preloaded libraries.
[[nodiscard]] bool is_sanitizer(std::string_view file);
/// The files of such runtimes that an executable names among the libraries that it needs.
[[nodiscard]] std::vector<std::string> linked_sanitizers(const std::string& path);

}  // namespace circoll::cli
