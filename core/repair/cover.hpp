// Exact cover: whether contributions can be put together from the sets of them that survivors hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace circoll::repair {

/// A set of contributions, one bit for each rank.
using Set = std::uint64_t;

/// An answer that may lie beyond the bounds of a search.
enum class Known : std::uint8_t { no, yes, unknown };

/// The cover of a set.
struct Cover {
  Known possible = Known::no;
  int pieces = -1;  ///< the least number of sets, -1 if it is not known, or if there is no cover
};

/// Looks for a cover of `goal` by `held` sets, all of them within it. They are disjoint unless they `may_overlap`. The
/// answer is exact, or unknown once a search has taken so many steps: `to_decide` if there is a cover, `to_minimize`
/// once one has been found. Then 0 leaves the pieces unknown unless it is one.
[[nodiscard]] Cover find_cover(std::span<const Set> held, Set goal, bool may_overlap, std::int64_t to_decide,
                               std::int64_t to_minimize);

/// The sets of a cover, with the fewest pieces unless the search for them takes more than `to_minimize` steps. Empty if
/// none has been found within `to_decide` steps. Of sets that may overlap some may be needless.
[[nodiscard]] std::vector<Set> find_pieces(std::span<const Set> held, Set goal, bool may_overlap,
                                           std::int64_t to_decide, std::int64_t to_minimize);

}  // namespace circoll::repair
