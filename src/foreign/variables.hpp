// Lines NAME=VALUE, as shell files and configuration files have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace circoll::foreign {

struct Variable {
  std::string name{};
  std::string value{};    ///< without quotes
  std::string section{};  ///< what stood between [ and ] before it; empty before the first
  std::size_t line = 0;
};
/// A line that is no variable, comment, section or blank.
struct StrangeLine {
  std::size_t line = 0;
  std::string text{};
};
struct Variables {
  std::vector<Variable> all{};
  std::vector<StrangeLine> strange{};
};

/// Never throws. "export " before a name and quotes around a value are left out.
[[nodiscard]] Variables read_variables(std::string_view text);

/// Parts between separators, empty ones too.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Without blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// A name or a value of a file, short enough and printable, for messages.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace circoll::foreign
