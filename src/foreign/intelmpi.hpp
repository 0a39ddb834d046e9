// Facts of Intel MPI's variables I_MPI_ADJUST_*: presets that are documented, and how sizes are counted.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/formats.hpp"

namespace circoll::foreign::intelmpi {

/// A preset; its number is its place in the list of its collective, from 1 on.
struct Preset {
  std::string_view name;
  bool commutative_only = false;  ///< not known to be right for operators that do not commute
};

/// The presets that all releases of 2021 document alike. Empty for a collective without any.
[[nodiscard]] std::span<const Preset> presets_of(Collective collective);
/// "I_MPI_ADJUST_ALLREDUCE"; empty for a collective without one.
[[nodiscard]] std::string variable_of(Collective collective);
/// The number of a name, or 0.
[[nodiscard]] int number_of(Collective collective, std::string_view name);
/// True if sizes of calls tell them apart, and if they are those of a block.
[[nodiscard]] bool sizes_tell(Collective collective);
[[nodiscard]] bool counts_blocks(Collective collective);

inline constexpr Count most_bytes = 2147483647;

}  // namespace circoll::foreign::intelmpi
