// The names that commands, variables and files take: of collectives, element types, operators and policies.
#pragma once

#include <string>

namespace circoll::cli {

/// One name on each line, for scripts.
[[nodiscard]] std::string collective_names();

/// Element types, with their bytes and the other names that are taken for them.
[[nodiscard]] std::string type_table();

/// Operators, with their properties and what MPI defines them on.
[[nodiscard]] std::string operator_table();

/// Policies, with what each chooses.
[[nodiscard]] std::string policy_table();

}  // namespace circoll::cli
