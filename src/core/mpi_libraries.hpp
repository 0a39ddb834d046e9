// The MPI libraries that Circoll knows, and what shows which of them a library file is.
#pragma once

#include <array>
#include <string_view>

namespace circoll {

/// An MPI library: its name in paths and options, in sentences, and a symbol that no other one names.
struct MpiLibrary {
  std::string_view id;
  std::string_view title;
  const char* symbol;
};

// Names of files do not tell libraries apart: libmpi.so.12 and libmpi.so.0 are names of both. These symbols are in
// programs, as MPI_COMM_WORLD and MPI_DUP_FN, so that no version is without them.
inline constexpr MpiLibrary openmpi_library{"openmpi", "Open MPI", "ompi_mpi_comm_world"};
inline constexpr MpiLibrary mpich_library{"mpich", "MPICH", "MPIR_Dup_fn"};
inline constexpr std::array mpi_libraries{&openmpi_library, &mpich_library};

/// Any MPI behind the standard's binary interface has other handles than by its own header, and no drop-in.
inline constexpr MpiLibrary standard_abi{"", "the standard ABI of MPI (libmpi_abi.so)", nullptr};
/// The standard gives its file this name.
[[nodiscard]] constexpr bool is_standard_abi(std::string_view file) {
  return file.substr(file.rfind('/') + 1).starts_with("libmpi_abi.so");
}

/// All drop-ins have this name, each in a directory that is named by the id of its MPI.
inline constexpr std::string_view dropin_file = "libcircoll-mpi.so";

}  // namespace circoll
