// Sentences about failures that are handed on, and whether they are true.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "cli/faults/failures.hpp"

namespace circoll::cli {
namespace {

FaultAnalysis analysis_of(std::string_view id, Rank p) {
  const Selection s = parse_selection(id);
  return {*s.algorithm, s.collective, {.size = p, .params = s.params}, Keep::buf};
}

/// True if `holds(outcome, f)` is true of the failures of all single ranks after k rounds.
template <typename Holds>
bool of_all_ranks(const FaultAnalysis& analysis, std::uint32_t k, Holds&& holds) {
  for (Rank f = 0; f < analysis.size(); ++f) {
    if (!holds(analysis.after(k, std::array{f}), f)) return false;
  }
  return true;
}

/// The same after each of the rounds first .. last.
template <typename Holds>
bool of_rounds(const FaultAnalysis& analysis, std::uint32_t first, std::uint32_t last, Holds&& holds) {
  for (std::uint32_t k = first; k <= last; ++k) {
    if (!of_all_ranks(analysis, k, holds)) return false;
  }
  return true;
}

bool something_unique(const FailureOutcome& o, Rank /*f*/) { return o.lost > 0; }
bool everything_unique(const FailureOutcome& o, Rank /*f*/) { return o.lost == o.contributed; }
bool not_full(const FailureOutcome& o, Rank /*f*/) { return !is_full(o.what); }
bool copied(const FailureOutcome& o, Rank /*f*/) { return o.copies > 0; }
bool mixed(const FailureOutcome& o, Rank /*f*/) { return o.what == FailureClass::mix; }

/// The rounds of the first of two equally long phases. It ends with a part of the result at every rank.
std::uint32_t half(const FaultAnalysis& analysis) { return analysis.rounds() / 2; }

bool halving_unique(const FaultAnalysis& analysis) {
  return of_rounds(analysis, 0, analysis.rounds(), something_unique);
}
bool halving_all_unique(const FaultAnalysis& analysis) {
  return of_rounds(analysis, 0, analysis.rounds(), everything_unique);
}
bool ring_unique(const FaultAnalysis& analysis) {
  return of_rounds(analysis, 0, half(analysis), something_unique) && of_rounds(analysis, 0, half(analysis), not_full);
}
bool ring_redundant(const FaultAnalysis& analysis) {
  return of_rounds(analysis, half(analysis) + 1, analysis.rounds(), copied) &&
         of_rounds(analysis, half(analysis) + 1, analysis.rounds(),
                   [](const FailureOutcome& o, Rank /*f*/) { return is_full(o.what); });
}
bool tree_depends(const FaultAnalysis& analysis) {
  for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
    const bool first = is_full(analysis.after(k, std::array{Rank{0}}).what);
    if (!of_all_ranks(analysis, k, [&](const FailureOutcome& o, Rank) { return is_full(o.what) == first; }))
      return true;
  }
  return false;
}
/// True if failures of ranks other than 0 are FULL exactly when `full` is true. Only ranks count that have sent their
/// sum (`has_sent`), or that have not.
bool tree_is_full(const FaultAnalysis& analysis, bool has_sent, bool full) {
  for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
    for (Rank f = 1; f < analysis.size(); ++f) {
      const bool sent = k > static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(f)));
      if (sent == has_sent && is_full(analysis.after(k, std::array{f}).what) != full) return false;
    }
  }
  return true;
}
bool tree_lost_before_sending(const FaultAnalysis& analysis) { return tree_is_full(analysis, false, false); }
bool tree_lost_before_receiving(const FaultAnalysis& analysis) { return !tree_is_full(analysis, true, true); }
bool doubling_redundant(const FaultAnalysis& analysis) { return of_rounds(analysis, 1, analysis.rounds(), copied); }
bool doubling_redundant_later(const FaultAnalysis& analysis) {
  return of_rounds(analysis, 2, analysis.rounds(), copied);
}
bool circulant_unique(const FaultAnalysis& analysis) {
  return of_rounds(analysis, 0, half(analysis), not_full) &&
         of_rounds(analysis, half(analysis) + 1, analysis.rounds(), copied);
}
bool mixes_blocks(const FaultAnalysis& analysis) { return of_rounds(analysis, 1, analysis.rounds() - 1, not_full); }
bool scatter_mixes(const FaultAnalysis& halving) {
  return mixes_blocks(halving) && mixes_blocks(analysis_of("reduce_scatter/pairwise", halving.size()));
}
bool allreduce_mixes(const FaultAnalysis& analysis) { return of_rounds(analysis, 1, half(analysis), mixed); }
bool order_matters(const FaultAnalysis& analysis) {
  const auto deliveries = analysis.within(half(analysis), std::array{Rank{1}});
  return std::any_of(deliveries.begin(), deliveries.end(),
                     [&](const Delivery& d) { return d.outcome.what != deliveries.front().outcome.what; });
}

constexpr std::array sayings{
    Saying{"Vector halving and distance doubling: in the first phase, the reduce_scatter, every rank has data that is "
           "nowhere else",
           "reduce_scatter/recursive_halving: at every k something of a failed rank is lost (p/2^k blocks, p = 2^L)",
           "reduce_scatter/recursive_halving", halving_unique},
    Saying{"the same, word by word",
           "all of a failed rank's data is lost, at every k: partial sums hold the rest of it",
           "reduce_scatter/recursive_halving", halving_all_unique},
    Saying{"Ring: problems in the first phase, every rank has data that is nowhere else",
           "allreduce/ring, k <= p - 1: p - k blocks are lost, and never FULL", "allreduce/ring", ring_unique},
    Saying{"Ring: in the second phase, from the end of its first round on, there is redundancy",
           "k > p - 1: FULL whoever fails, and k - (p-1) copies", "allreduce/ring", ring_redundant},
    Saying{"Binomial tree: it depends on who fails", "allreduce/binomial: at some k some failures are FULL, others not",
           "allreduce/binomial", tree_depends},
    Saying{"Binomial tree: if the failed rank still has to send its data there is a problem",
           "a rank f > 0 that fails before it has sent, k <= ctz(f): never FULL", "allreduce/binomial",
           tree_lost_before_sending},
    Saying{"Binomial tree: if it still has to receive the result there is a problem",
           "some rank f > 0 that has sent, k > ctz(f), is missed: not FULL", "allreduce/binomial",
           tree_lost_before_receiving},
    Saying{"Recursive doubling: from the first round on there is redundancy",
           "allreduce/recursive_doubling, k >= 1: others hold copies, whoever fails (2^k - 1, p = 2^L)",
           "allreduce/recursive_doubling", doubling_redundant},
    Saying{"the same, where p is no power of two", "k >= 2: in the first round pairs are folded, and others do nothing",
           "allreduce/recursive_doubling", doubling_redundant_later},
    Saying{"Problems in the reduce_scatter: vector halving, pairwise exchange",
           "reduce_scatter/recursive_halving and pairwise: never FULL between the first round and the end",
           "reduce_scatter/recursive_halving", scatter_mixes},
    Saying{"(not said) In place, the first phase leaves results that are wrong unnoticed",
           "allreduce/ring, 1 <= k <= p - 1: MIX whoever fails", "allreduce/ring", allreduce_mixes},
    Saying{"(not said) Circulant graphs keep it no longer than the ring, in q rounds instead of p - 1",
           "allreduce/circulant_optimal: not FULL for k <= q, copies from k = q + 1 on", "allreduce/circulant_optimal",
           circulant_unique},
    Saying{"(not said) Survivors must agree on what arrived",
           "allreduce/ring, rank 1 fails in round p - 1: the class depends on whether its message arrived",
           "allreduce/ring", order_matters},
};

}  // namespace

bool Saying::holds(Rank p) const { return is_true(analysis_of(algorithm, p)); }

std::span<const Saying> all_sayings() { return sayings; }

}  // namespace circoll::cli
