// The MPI libraries that Circoll knows, and the symbols by which it recognises a library file.
#pragma once

#include <array>
#include <string_view>

namespace circoll {

/// An MPI library: its name in paths and options, in sentences, and a symbol that no other one names. The standard ABI
/// has no such symbol; its file has a name of its own.
struct MpiLibrary {
  std::string_view id;
  std::string_view title;
  const char* symbol;
};

// Names of files do not tell libraries apart: libmpi.so.12 and libmpi.so.0 are names of both. These symbols are in
// programs, as MPI_COMM_WORLD and MPI_DUP_FN, so that no version is without them.
inline constexpr MpiLibrary openmpi_library{"openmpi", "Open MPI", "ompi_mpi_comm_world"};
inline constexpr MpiLibrary mpich_library{"mpich", "MPICH", "MPIR_Dup_fn"};
/// Those that implement MPI, each with launchers of its own.
inline constexpr std::array mpi_implementations{&openmpi_library, &mpich_library};

/// The standard's binary interface, behind which is one of the above or another. Its handles are those of neither.
inline constexpr MpiLibrary abi_library{"abi", "the standard ABI of MPI (libmpi_abi.so)", nullptr};
/// The standard gives its file the name libmpi_abi; Debian adds the implementation (libmpi_abi_openmpi.so.1.0.0).
[[nodiscard]] constexpr bool is_abi_library(std::string_view file) {
  return file.substr(file.rfind('/') + 1).starts_with("libmpi_abi");
}

/// All that a program may be linked to, each with a drop-in.
inline constexpr std::array mpi_libraries{&openmpi_library, &mpich_library, &abi_library};

/// All drop-ins have this name, each in a directory that is named by the id of its MPI.
inline constexpr std::string_view dropin_file = "libcircoll-mpi.so";

}  // namespace circoll
