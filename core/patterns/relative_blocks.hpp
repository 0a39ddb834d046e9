// The blocks that the circulant reduce_scatter of the paper sends, and their order.
#pragma once

#include <vector>

#include "patterns/circulant.hpp"

namespace circoll::patterns {

/// The distances back to the ranks that a message of the paper's pattern can still reach. They are in the order in
/// which rounds send their blocks (Listing 5): 2^q - 1 entries. Entry j of the list names block (r - entry) mod p for
/// rank r. Round k sends the 2^(q-1-k) entries from position 2^(q-1) + ... + 2^(q-k) in the order of the first round.
[[nodiscard]] std::vector<Rank> relative_blocks(const Skips& skips);

}  // namespace circoll::patterns
