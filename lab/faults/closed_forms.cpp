// Closed forms about failures of ranks: the blocks that are lost, and the copies that are left. The forms hold after k
// rounds. q is ceil(log2 p). Circulant graphs have the skips ceil(p / 2^k).
#include <algorithm>
#include <array>
#include <bit>

#include "faults/faults.hpp"

namespace circoll {
namespace {

std::int64_t rounds_of(Rank p) { return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(p - 1))); }
std::int64_t power(std::int64_t exponent) { return std::int64_t{1} << exponent; }
std::int64_t skip(Rank p, std::int64_t k) { return (p + power(k) - 1) >> k; }

bool any_size(Rank p) { return p >= 2; }
bool power_of_two(Rank p) { return p >= 2 && std::has_single_bit(static_cast<std::uint64_t>(p)); }

// Blocks that are lost: all at first, and fewer with every round in which other ranks take over blocks.

std::int64_t all_at_once(Rank /*p*/, std::int64_t k) { return k == 0 ? 1 : 0; }
std::int64_t one_by_one(Rank p, std::int64_t k) { return std::max<std::int64_t>(p - k, 1); }
std::int64_t one_by_one_then_none(Rank p, std::int64_t k) { return std::max<std::int64_t>(p - k, 0); }
std::int64_t by_skips(Rank p, std::int64_t k) { return skip(p, std::min(k, rounds_of(p))); }
std::int64_t by_skips_then_none(Rank p, std::int64_t k) { return k > rounds_of(p) ? 0 : skip(p, k); }

// Copies that others have.

std::int64_t doubling(Rank /*p*/, std::int64_t k) { return power(k) - 1; }
std::int64_t second_half_doubling(Rank p, std::int64_t k) { return k < rounds_of(p) ? 0 : power(k - rounds_of(p)) - 1; }
std::int64_t one_more(Rank /*p*/, std::int64_t k) { return k; }
std::int64_t second_half_one_more(Rank p, std::int64_t k) { return std::max<std::int64_t>(k - (p - 1), 0); }
std::int64_t skips_back(Rank p, std::int64_t k) { return skip(p, rounds_of(p) - k) - 1; }
std::int64_t second_half_skips_back(Rank p, std::int64_t k) {
  return k < rounds_of(p) ? 0 : skip(p, 2 * rounds_of(p) - k) - 1;
}

// Failures that lose nothing.

/// No aligned group of 2^k ranks, which know the same, has failed as a whole.
bool no_group_failed(Rank p, std::int64_t k, std::span<const Rank> failed) {
  for (Rank first = 0; first < p; first += power(k)) {
    const auto dead =
        std::count_if(failed.begin(), failed.end(), [&](Rank f) { return f >= first && f < first + power(k); });
    if (dead == power(k)) return false;
  }
  return true;
}

/// A rank has sent its sum towards rank 0, or rank 0 has begun to send the result.
bool sent_up_the_tree(Rank p, std::int64_t k, std::span<const Rank> failed) {
  return std::all_of(failed.begin(), failed.end(), [&](Rank f) {
    return f == 0 ? k > rounds_of(p) : k > std::countr_zero(static_cast<std::uint64_t>(f));
  });
}

bool second_half_begun_halving(Rank p, std::int64_t k, std::span<const Rank> /*failed*/) { return k > rounds_of(p); }
bool second_half_begun_ring(Rank p, std::int64_t k, std::span<const Rank> /*failed*/) { return k > p - 1; }

constexpr std::string_view powers = "p = 2^L";

constexpr std::array forms{
    FaultForms{.id = "allreduce/recursive_doubling",
               .where = powers,
               .holds = power_of_two,
               .lost = "[k=0]",
               .lost_blocks = all_at_once,
               .copies = "2^k - 1",
               .fewest_copies = doubling,
               .full = "no aligned group of 2^k ranks has failed as a whole",
               .is_full = no_group_failed},
    FaultForms{.id = "allreduce/binomial",
               .holds = any_size,
               .full = "one failure f: k > ctz(f), for f = 0: k > q",
               .is_full = sent_up_the_tree},
    FaultForms{.id = "allreduce/rabenseifner",
               .where = powers,
               .holds = power_of_two,
               .lost = "p/2^k, k <= L; then 0",
               .lost_blocks = by_skips_then_none,
               .copies = "2^(k-L) - 1, k >= L; before 0",
               .fewest_copies = second_half_doubling,
               .full = "one failure: k > L",
               .is_full = second_half_begun_halving},
    FaultForms{.id = "allreduce/ring",
               .holds = any_size,
               .lost = "p - k, k < p; then 0",
               .lost_blocks = one_by_one_then_none,
               .copies = "k - (p-1), k >= p - 1; before 0",
               .fewest_copies = second_half_one_more,
               .full = "one failure: k > p - 1",
               .is_full = second_half_begun_ring},
    FaultForms{.id = "allreduce/circulant_optimal",
               .holds = any_size,
               .lost = "ceil(p/2^k), k <= q; then 0",
               .lost_blocks = by_skips_then_none,
               .copies = "ceil(p/2^(2q-k)) - 1, k >= q; before 0",
               .fewest_copies = second_half_skips_back,
               .full = "one failure: k > q",
               .is_full = second_half_begun_halving},
    FaultForms{.id = "reduce_scatter/recursive_halving",
               .where = powers,
               .holds = power_of_two,
               .lost = "p/2^k",
               .lost_blocks = by_skips},
    FaultForms{.id = "reduce_scatter/ring", .holds = any_size, .lost = "p - k", .lost_blocks = one_by_one},
    FaultForms{.id = "reduce_scatter/pairwise", .holds = any_size, .lost = "p - k", .lost_blocks = one_by_one},
    FaultForms{
        .id = "reduce_scatter/circulant_optimal", .holds = any_size, .lost = "ceil(p/2^k)", .lost_blocks = by_skips},
    FaultForms{.id = "allgather/recursive_doubling",
               .where = powers,
               .holds = power_of_two,
               .lost = "[k=0]",
               .lost_blocks = all_at_once,
               .copies = "2^k - 1",
               .fewest_copies = doubling},
    FaultForms{.id = "allgather/ring",
               .holds = any_size,
               .lost = "[k=0]",
               .lost_blocks = all_at_once,
               .copies = "k",
               .fewest_copies = one_more},
    FaultForms{.id = "allgather/circulant_optimal",
               .holds = any_size,
               .lost = "[k=0]",
               .lost_blocks = all_at_once,
               .copies = "ceil(p/2^(q-k)) - 1",
               .fewest_copies = skips_back},
};

}  // namespace

std::span<const FaultForms> fault_forms() { return forms; }

const FaultForms* find_fault_forms(std::string_view id) {
  const auto* found = std::find_if(forms.begin(), forms.end(), [&](const FaultForms& f) { return f.id == id; });
  return found == forms.end() ? nullptr : found;
}

}  // namespace circoll
