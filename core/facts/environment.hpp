// The one registry of environment variables. docs/user/environment.md is the same table for people.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace circoll {

/// One variable: its name, its values, its default, and its effect.
struct EnvironmentVariable {
  std::string_view name;
  std::string_view values;
  std::string_view fallback;
  std::string_view summary;
};

/// All variables that any part of the project reads.
[[nodiscard]] std::span<const EnvironmentVariable> environment_variables();

/// The value of a registered variable; nothing if it is unset or empty. Throws Error(internal) for a name
/// that is not in the registry: no variable may be read that the table does not show.
[[nodiscard]] std::optional<std::string> environment(std::string_view name);

/// Gives this process a value of a registered variable that it lacks: rank 0 has it. The environment itself stays as it
/// is, since setenv() is an error while other threads read it.
void set_missing_environment(std::string_view name, std::string value);

/// Variables of the process that start with CIRCOLL_ and are not in the registry: most likely misspelt.
[[nodiscard]] std::vector<std::string> unknown_environment_variables();

}  // namespace circoll
