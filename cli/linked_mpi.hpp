// Which MPI library an executable is linked to.
#pragma once

#include <optional>
#include <string>

namespace circoll::cli {

/// "openmpi" or "mpich" if the ELF file, or a library that it needs, is linked to libmpi.so or libmpich.so;
/// nothing for other files (scripts, interpreters, programs without MPI). Asks ldd.
[[nodiscard]] std::optional<std::string> linked_mpi(const std::string& path);

}  // namespace circoll::cli
