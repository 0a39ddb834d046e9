// The arguments of a program, and its name, by which reports and profiles know it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace circoll {

/// The arguments of this process, as the system has them. They begin with the loader's, if that was run as a program.
/// Empty if the system does not say them.
[[nodiscard]] std::vector<std::string> own_arguments();

/// The name of a program by the path of its executable and its arguments. It is the last part of the path. For an
/// interpreter (Python, a shell, R, Julia and others) it is the script or module. Blanks and other unusual characters
/// are underscores. It is empty for an empty path.
[[nodiscard]] std::string program_name_of(std::string_view executable, const std::vector<std::string>& arguments);
/// The name of this process's program. It is empty if the system does not say it.
[[nodiscard]] std::string program_name();

}  // namespace circoll
