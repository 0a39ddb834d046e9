// The registry of algorithms: its generated entries, and the parameters that ids and shapes give them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::algorithms {

/// One entry per file below core/algorithms; defined in the generated registry.cpp.
const std::vector<const Algorithm*>& entries();

}  // namespace circoll::algorithms

namespace circoll {

/// The number of ranks on a node, a parameter of every algorithm.
inline constexpr ParamDeclaration relabel{
    .name = "relabel", .minimum = 1, .maximum = 1 << 20, .summary = "ranks on a node"};

/// The most sends, and the most receives, of a rank that are under way: a parameter of every algorithm. Each message is
/// acknowledged (transform.hpp).
inline constexpr ParamDeclaration window{
    .name = "window", .minimum = 1, .maximum = 1 << 20, .summary = "sends, and receives, of a rank under way"};

/// The algorithm whose schedules a file has, for the collective that the file is of. The room select defines it
/// (select/schedule_file.hpp), which reads files and knows proofs.
[[nodiscard]] const Algorithm& algorithm_of_file(const std::string& path);

/// "file:", before the path of a file that stands for a name.
inline constexpr std::string_view file_prefix = "file:";

/// " (did you mean file:WORD?)" if there is such a file; else empty.
[[nodiscard]] std::string file_hint(std::string_view word);

/// The value of a declared parameter, or its fallback. Nothing if the algorithm does not declare it.
[[nodiscard]] std::optional<std::int64_t> param_value(const Algorithm& algorithm, const Params& given,
                                                      std::string_view name);

/// The declared cost of an algorithm with the parameters of the shape, also those of every algorithm.
[[nodiscard]] Cost cost_of(const Algorithm& algorithm, const Shape& shape);

/// The shape, or the selection, without the parameter "window".
[[nodiscard]] Shape without_window(const Shape& shape);
[[nodiscard]] Selection without_window(Selection selection);

/// Throws Error(unknown_name) if the algorithm does not take this parameter, Error(invalid_argument) if not this value.
void check_param(const Algorithm& algorithm, std::string_view key, std::int64_t value);

}  // namespace circoll
