// From Circoll's algorithms to another library's names and parameters.
#pragma once

#include <string>
#include <string_view>

#include "circoll/model.hpp"
#include "foreign/formats.hpp"

namespace circoll::foreign {

/// A choice in a library's terms.
struct Named {
  std::string algorithm{};  ///< empty: the library has none
  Count segment_bytes = 0;
  std::int64_t radix = 0;
  std::string why{};   ///< why there is none
  std::string note{};  ///< what is only nearly so
};

/// The name that a reader's library has for a selection of Circoll. Segments are counted for p ranks and a vector of
/// `bytes`, where the parameters leave them open by a machine's model.
[[nodiscard]] Named named_in(const Selection& selection, Rank p, Count bytes, const Machine& machine,
                             const Format& format);
/// The same for what a cell uses: Circoll's names, or "openmpi/rabenseifner:segment=64Ki". Throws Error as
/// parse_selection does.
[[nodiscard]] Named named_in(Collective collective, std::string_view use, Rank p, Count bytes, const Machine& machine,
                             const Format& format);

}  // namespace circoll::foreign
