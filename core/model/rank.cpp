// Algorithms by predicted time, with their best parameters: the one order that `cost`, `explain` and policies share.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/model.hpp"

namespace circoll {
namespace {

double time_of(const Selection& selection, Rank p, Count bytes, const Machine& machine, Rank root) {
  return seconds(terms_of(selection, p, bytes, root), machine);
}

/// Blocks that a rank copies per block that it sends. The model has no term for them, but they break ties.
double copied_share(const Selection& selection, Rank p) {
  const Cost cost = selection.algorithm->cost({.size = p, .params = selection.params});
  const auto sent = static_cast<double>(std::max<std::int64_t>(cost.sent, 1));
  return static_cast<double>(cost.copied) / sent;
}

/// The logarithm of a time to six digits: sums of the same terms in another order are the same time.
double rounded(double seconds) {
  return seconds > 0 ? std::round(std::log(seconds) * 1e6) : -std::numeric_limits<double>::infinity();
}

}  // namespace

Selection with_best_parameters(const Selection& selection, Rank p, Count bytes, const Machine& machine, Rank root) {
  Selection best = with_best_segments(selection, p, bytes, machine, root);
  double least = time_of(best, p, bytes, machine, root);
  for (const ParamDeclaration& param : selection.algorithm->params) {
    if (param.name == "segments" || param.name == "cores" || selection.params.contains(param.name)) continue;
    for (const std::int64_t value : std::array{2, 3, 4, 8}) {
      if (value < param.minimum || value > param.maximum || value == param.fallback || value > p) continue;
      Selection tried = selection;
      tried.params.insert_or_assign(std::string(param.name), value);
      tried = with_best_segments(tried, p, bytes, machine, root);
      const double time = time_of(tried, p, bytes, machine, root);
      if (time >= least) continue;
      best = std::move(tried);
      least = time;
    }
  }
  return best;
}

void sort_by_time(std::vector<Ranked>& ranking, Rank p) {
  using Key = std::tuple<bool, double, double, bool>;
  struct Keyed {
    Key key;
    Ranked* entry;
  };
  std::vector<Keyed> order;
  order.reserve(ranking.size());
  for (Ranked& r : ranking) {
    const bool able = r.unmet_need.empty();
    order.push_back({able ? Key{false, rounded(r.time_s), copied_share(r.selection, p),
                                r.selection.algorithm->family != Family::circulant}
                          : Key{true, 0, 0, false},
                     &r});
  }
  std::stable_sort(order.begin(), order.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  std::vector<Ranked> sorted;
  sorted.reserve(ranking.size());
  for (const Keyed& k : order) sorted.push_back(std::move(*k.entry));
  ranking = std::move(sorted);
}

bool is_for_nodes(const Algorithm& algorithm) { return algorithm.param("cores") != nullptr; }

std::string unranked_because(const Algorithm& algorithm, Collective collective, bool on_nodes) {
  // Where no rank knows the sizes of blocks between others, forwarding them costs another exchange beforehand.
  if (traits_of(collective).sizes == SizesKnown::to_pairs && !algorithm.guarantees.direct) {
    return "forwards blocks, whose sizes would have to be exchanged first";
  }
  if (is_for_nodes(algorithm) && !on_nodes) return "is for ranks that are numbered node by node, several on each";
  return {};
}

std::vector<Ranked> rank_algorithms(Collective collective, Rank p, Count bytes, const OperatorTraits& op,
                                    const Machine& machine, Rank root) {
  std::vector<Ranked> ranking;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    Ranked entry{.selection = {.algorithm = algorithm, .collective = collective},
                 .unmet_need = unmet_need(*algorithm, p, op)};
    if (entry.unmet_need.empty()) entry.unmet_need = unranked_because(*algorithm, collective, false);
    if (entry.unmet_need.empty()) {
      entry.selection = with_best_parameters(entry.selection, p, bytes, machine, root);
      entry.terms = terms_of(entry.selection, p, bytes, root);
      entry.time_s = seconds(entry.terms, machine);
    }
    ranking.push_back(std::move(entry));
  }
  sort_by_time(ranking, p);
  return ranking;
}

}  // namespace circoll
