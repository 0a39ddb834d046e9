// The MPI library and the sanitizers' runtimes that an executable is linked to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/mpi_libraries.hpp"

namespace circoll::cli {

/// The MPI that an ELF file, or a library that it needs, is linked to. The standard's ABI counts before the library
/// behind it. nullptr for other files (scripts, interpreters, programs without MPI). Asks ldd where the file itself
/// does not name its MPI.
[[nodiscard]] const MpiLibrary* linked_mpi(const std::string& path);

/// True for the file of a sanitizer's runtime, which comes first among preloaded libraries.
[[nodiscard]] bool is_sanitizer(std::string_view file);
/// The files of such runtimes that an executable names among the libraries that it needs.
[[nodiscard]] std::vector<std::string> linked_sanitizers(const std::string& path);

}  // namespace circoll::cli
