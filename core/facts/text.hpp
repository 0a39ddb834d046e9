// Numbers and names as people write them, and times and sizes as people read them.
//
// Every command, variable and file reads them here, so that what is right in one place is right in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll {

/// Reads a whole number: digits, then perhaps a unit, as in "64Ki", or a power of ten, as in "1e6". K, M, G, T and P
/// are powers of 1024, as sizes of messages are, with or without the i. Case does not matter. Returns nothing for
/// another text, and for 2^63 or more.
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);
/// The same for a number of bytes, where a B may follow: "64KiB", "64KB", "100B".
[[nodiscard]] std::optional<Count> parse_bytes(std::string_view text);
/// The forms that parse_number reads, for messages.
inline constexpr std::string_view number_forms = "such as 65536, 64Ki, 64K or 1e6; K is 1024";

/// The words between commas; those that are empty are left out.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

/// The environment variable that names a collective's algorithm: "CIRCOLL_ALLREDUCE".
[[nodiscard]] std::string algorithm_variable(Collective collective);

/// Parse names of collectives, element types and operators. These are the names of to_string, and MPI's, in C and
/// Fortran, with MPI_ before them or without (MPI_FLOAT, float, double_precision, MPI_SUM). Case does not matter. Those
/// of types whose size the platform sets, such as long, are the types of that size here. Throw Error(unknown_name) with
/// all that are known.
[[nodiscard]] Collective parse_collective(std::string_view name);
[[nodiscard]] Type parse_type(std::string_view name);
[[nodiscard]] Op parse_op(std::string_view name);

/// The other names of a type, in lower case and without MPI_: "float", "real", "real4".
[[nodiscard]] std::vector<std::string> other_names(Type type);

/// The optimal string alignment distance of two words. It counts letters to insert, delete or replace, and neighbours
/// to swap.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);
/// " (did you mean a, b?)", of the up to three candidates that differ least.
[[nodiscard]] std::string suggestion(std::string_view name, std::span<const std::string> candidates);
/// "'flaot' is no element type (did you mean float?); known are byte, int8, ...". Only names that are close are
/// suggested: of those known, and of those that are known `also` but are not listed.
[[nodiscard]] std::string unknown_name(std::string_view name, std::string_view kind, std::span<const std::string> known,
                                       std::span<const std::string> also = {});

/// Transformations for command lines, in the form of CLI11. They replace what has been written by digits, or by the
/// name of to_string, and return what is wrong with it, or nothing.
[[nodiscard]] std::string rewrite_number(std::string& text);
[[nodiscard]] std::string rewrite_bytes(std::string& text);
[[nodiscard]] std::string rewrite_collective(std::string& text);
[[nodiscard]] std::string rewrite_type(std::string& text);
[[nodiscard]] std::string rewrite_op(std::string& text);

/// "12.3 us", with three significant digits; `separator` stands before the unit.
[[nodiscard]] std::string readable_time(double time_s, std::string_view separator = " ");
/// "16 KiB", "1.5 MiB", "100 B": powers of 1024, at most one digit after the point.
[[nodiscard]] std::string readable_bytes(Count bytes);
/// "64Ki", "100": exact, as parse_number reads it.
[[nodiscard]] std::string exact_number(std::int64_t number);

}  // namespace circoll
