// Facts about processes of this node, as /proc shows them, and the places of records.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace circoll::record {

enum class ProcessState : std::uint8_t {
  unknown,  ///< of another node, or /proc does not show it
  gone,     ///< it has ended, or another one has its number now
  stopped,  ///< by a signal, or by a debugger
  running,
  sleeping,
};
[[nodiscard]] std::string_view to_string(ProcessState state);

/// A process at one moment.
struct ProcessSight {
  ProcessState state = ProcessState::unknown;
  std::uint64_t start = 0;  ///< as Head::process_start
  pid_t parent = 0;
  std::uint64_t cpu_ticks = 0;  ///< used so far, of sysconf(_SC_CLK_TCK) a second
};
/// Reads the text of /proc/PID/stat. Nothing if that is something else.
[[nodiscard]] std::optional<ProcessSight> sight_from_stat(std::string_view text);
/// `gone` where /proc has no such process, or where its start is not the expected one (0: any is).
[[nodiscard]] ProcessSight look_at(pid_t pid, std::uint64_t expected_start);

/// Head::process_start of a process; 0 if /proc does not show it.
[[nodiscard]] std::uint64_t process_start(pid_t pid);
/// A variable that the process was started with; empty if it has none, or /proc does not show it.
[[nodiscard]] std::string variable_of(pid_t pid, std::string_view name);
[[nodiscard]] std::string host_name();
/// The kernel's boot_id and the name space of process ids, "BOOT/pid:[4026531836]"; empty if /proc does not show them.
[[nodiscard]] std::string boot_id();
/// True if two such texts are of one kernel, perhaps of different containers.
[[nodiscard]] bool is_same_boot(std::string_view boot, std::string_view other);
/// True if the process has a handler for a signal, so that sending it is harmless.
[[nodiscard]] bool catches(pid_t pid, int signal);

/// The directory for records of this user on this node: below /dev/shm, or in XDG_RUNTIME_DIR if there is none.
[[nodiscard]] std::string usual_directory();
/// The name of a rank's record in its directory: "circoll-JOB-RANK.record".
[[nodiscard]] std::string record_name(std::uint64_t job, int rank);
/// The paths of all files with such names in a directory, in order. Throws std::runtime_error, with a sentence, if it
/// cannot be read.
[[nodiscard]] std::vector<std::string> records_in(const std::string& directory);

/// Removes the records of jobs of which no process is left, except those of the last `kept` such jobs. Errors are of no
/// interest.
void remove_stale(const std::string& directory, std::size_t kept) noexcept;

}  // namespace circoll::record
