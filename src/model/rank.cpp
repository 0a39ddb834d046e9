// All algorithms of a collective, by predicted time.
#include <algorithm>

#include "circoll/model.hpp"

namespace circoll {

std::vector<Ranked> rank_algorithms(Collective collective, Rank p, Count bytes, const OperatorTraits& op,
                                    const Machine& machine, Rank root) {
  std::vector<Ranked> ranking;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    Ranked entry{.selection = {.algorithm = algorithm, .collective = collective},
                 .unmet_need = unmet_need(*algorithm, p, op)};
    if (entry.unmet_need.empty()) {
      entry.selection = with_best_segments(entry.selection, p, bytes, machine, root);
      entry.terms = terms_of(entry.selection, p, bytes, root);
      entry.time_s = seconds(entry.terms, machine);
    }
    ranking.push_back(std::move(entry));
  }
  std::stable_sort(ranking.begin(), ranking.end(), [](const Ranked& a, const Ranked& b) {
    if (a.unmet_need.empty() != b.unmet_need.empty()) return a.unmet_need.empty();
    return a.time_s < b.time_s;
  });
  return ranking;
}

}  // namespace circoll
