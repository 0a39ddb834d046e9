// Names, limits and the order of things, common to the text and the JSON form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "circoll/schedule.hpp"

namespace circoll::show {

inline constexpr std::string_view format_name = "circoll-schedule";
inline constexpr std::int64_t format_version = 1;

/// Largest number in either form. With it slot * stride and the sum of an operand's counts fit into 64 bits
/// for any input, so that a schedule that was read can be checked without a thought of overflow.
inline constexpr std::int64_t largest_number = 2147483647;

/// True if the text is nonempty and of the characters [A-Za-z0-9_./:=,+-] only. Then it needs no quotes in either form.
[[nodiscard]] bool is_name(std::string_view text);
[[nodiscard]] bool is_name_character(char c);

/// "send", "recv", "scratch2", ...
[[nodiscard]] std::string buffer_name(std::int32_t buffer);
/// The number in it, or nothing. Only the canonical spelling ("scratch2", not "scratch02").
[[nodiscard]] std::optional<std::int32_t> buffer_from_name(std::string_view name);

/// The names of StepKind, by value.
inline constexpr std::array<std::string_view, 5> step_kind_names{"send", "recv", "reduce", "copy", "recv_reduce"};
[[nodiscard]] inline std::string_view name_of(StepKind kind) { return step_kind_names[static_cast<std::size_t>(kind)]; }

/// The normalised schedule, if every name and number in it can be written; else throws Error(invalid_argument).
[[nodiscard]] Schedule writable(const Schedule& schedule);

/// An excerpt of foreign text for an error message: short, printable, in quotes.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace circoll::show
