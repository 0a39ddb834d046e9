#include "circoll/collectives.hpp"

#include <limits>
#include <numeric>
#include <string>

#include "circoll/error.hpp"

namespace circoll {
namespace {

/// Every row is where traits_of() looks for it, and agrees with its regular twin in all but what sizes change.
constexpr bool is_consistent() {
  for (std::size_t i = 0; i < collective_table.size(); ++i) {
    const CollectiveTraits& row = collective_table[i];
    const CollectiveTraits& twin = traits_of(regular_of(row.collective));
    if (row.collective != static_cast<Collective>(i) || twin.regular_twin || row.name.empty()) return false;
    const bool alike = row.blocks == twin.blocks && row.send.at == twin.send.at && row.send.holds == twin.send.holds &&
                       row.recv.at == twin.recv.at && row.recv.holds == twin.recv.holds &&
                       row.in_place == twin.in_place && row.in_place_schedule == twin.in_place_schedule &&
                       row.rooted == twin.rooted && row.reducing == twin.reducing && row.prefix == twin.prefix &&
                       row.moves_data == twin.moves_data;
    if (!alike || twin.sizes != SizesKnown::to_all) return false;
    if (row.blocks == Blocks::one && row.regular_twin) return false;
    if (row.prefix && !row.reducing) return false;
  }
  return true;
}
static_assert(is_consistent());

}  // namespace

std::string_view to_string(Collective collective) { return traits_of(collective).name; }

std::optional<Collective> collective_from_string(std::string_view name) {
  for (const CollectiveTraits& row : collective_table) {
    if (row.name == name) return row.collective;
  }
  return std::nullopt;
}

bool is_rooted(Collective collective) { return traits_of(collective).rooted; }
bool is_reducing(Collective collective) { return traits_of(collective).reducing; }
bool is_irregular(Collective collective) { return traits_of(collective).regular_twin.has_value(); }
bool is_prefix(Collective collective) { return traits_of(collective).prefix; }
bool is_exchange(Collective collective) { return traits_of(collective).blocks == Blocks::per_pair; }

Amounts Amounts::of_counts(Collective collective, Rank p, std::span<const Count> counts, Count element_bytes) {
  if (counts.size() == 1) return of_count(collective, p, counts[0], element_bytes);
  return of_vector(collective, p, std::accumulate(counts.begin(), counts.end(), Count{0}) * element_bytes);
}

Amounts Amounts::of_measured(Collective collective, Rank p, Count bytes) {
  if (traits_of(collective).blocks != Blocks::per_rank) return of_vector(collective, p, bytes);
  if (p < 1 || bytes > std::numeric_limits<Count>::max() / p) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(p) + " blocks of " + std::to_string(bytes) + " bytes are more than can be counted");
  }
  return of_block(collective, p, bytes);
}

}  // namespace circoll
