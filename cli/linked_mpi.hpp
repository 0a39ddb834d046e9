// The MPI library that an executable is linked to.
#pragma once

#include <string>

#include "core/mpi_libraries.hpp"

namespace circoll::cli {

/// The MPI that an ELF file, or a library that it needs, is linked to. The standard's ABI counts before the library
/// behind it. nullptr for other files (scripts, interpreters, programs without MPI). Asks ldd where the file itself
/// does not name its MPI.
[[nodiscard]] const MpiLibrary* linked_mpi(const std::string& path);

}  // namespace circoll::cli
