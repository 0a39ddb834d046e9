// Algorithms by predicted time, with their best parameters: the one order that `cost`, `explain` and policies share.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/model.hpp"
#include "model/sharing.hpp"
#include "schedule/registry.hpp"

namespace circoll {
namespace {

/// The number of one-way rounds depends on n modulo this period. It is that of a phase of the pipelined broadcast,
/// among all ranks or inside and between nodes.
std::int64_t period_of(const Selection& selection, Rank p) {
  const auto q = [](Rank ranks) { return static_cast<std::int64_t>(std::ceil(std::log2(std::max<Rank>(ranks, 2)))); };
  const std::optional<std::int64_t> given = param_value(*selection.algorithm, selection.params, "cores");
  if (!given) return q(p);
  const std::int64_t cores = std::min(*given, p);
  return std::lcm(q(cores), q((p + cores - 1) / cores));
}

/// True if all bytes of these terms take less time than one more round does. So nothing is gained by more segments.
bool is_short(Terms terms, const Machine& machine) {
  const double overhead_s = machine.overhead_s > 0 ? std::min(machine.overhead_s, machine.alpha_s) : machine.alpha_s;
  terms.alpha = 0;
  terms.alpha_uni = 0;
  return seconds(terms, machine) < overhead_s * std::min(machine.f_alpha, 1.0);
}

/// The minimum of a + b n + c / n through three points; `high` or 1 if it only falls or rises.
double least_of(const std::array<double, 3>& n, const std::array<double, 3>& time, double high) {
  const double rise1 = (time[1] - time[0]) / (n[1] - n[0]);  // b - c / (n0 n1)
  const double rise2 = (time[2] - time[1]) / (n[2] - n[1]);  // b - c / (n1 n2)
  const double c = (rise2 - rise1) / (1 / (n[0] * n[1]) - 1 / (n[1] * n[2]));
  const double b = rise1 + c / (n[0] * n[1]);
  if (c <= 0) return 1;
  return b > 0 ? std::sqrt(c / b) : high;
}

}  // namespace

Selection with_best_segments(const Selection& selection, Rank p, Count bytes, const Machine& machine, Rank root) {
  const ParamDeclaration* const declared = selection.algorithm->param("segments");
  if (declared == nullptr || selection.params.contains("segments")) return selection;
  const auto with = [&](std::int64_t n) {
    Selection tried = selection;
    tried.params.insert_or_assign("segments", n);
    return tried;
  };
  // As without a window, which keeps the order that the time of its segments supposes.
  const auto terms = [&](std::int64_t n) { return terms_of(without_window(with(n)), p, bytes, root, machine.ports); };
  const auto time = [&](std::int64_t n) { return seconds(terms(n), machine); };
  const std::int64_t low = declared->minimum;
  if (is_short(terms(low), machine)) return with(low);
  const std::int64_t high = std::min(declared->maximum, most_segments);
  // Rounds and volumes are affine in n, so T(n) = a + b n + c / n, but for one-way rounds. There n = 1 may be a case of
  // its own, and their number may vary a little with n mod q (period_of). So the points differ by multiples of q. If
  // one-way rounds have a price of their own, the numbers around the minimum are tried.
  const std::int64_t q = period_of(selection, p);
  std::array<double, 3> n{};
  std::array<double, 3> times{};
  for (std::size_t i = 0; i < n.size(); ++i) {
    const std::int64_t at = 1 + (q << (i + 1));
    n[i] = static_cast<double>(at);
    times[i] = time(at);
  }
  const auto middle = static_cast<std::int64_t>(
      std::clamp(least_of(n, times, static_cast<double>(high)), static_cast<double>(low), static_cast<double>(high)));
  const std::int64_t around = machine.f_alpha == 1 && machine.f_beta == 1 ? 1 : q;
  std::int64_t best = low;
  double least = time(low);
  for (std::int64_t tried = std::max(low, middle - around); tried <= std::min(high, middle + around); ++tried) {
    const double now = time(tried);
    if (now >= least) continue;
    least = now;
    best = tried;
  }
  return with(best);
}

namespace {

double time_of(const Selection& selection, Rank p, Count bytes, const Machine& machine, Rank root) {
  return seconds(terms_of(selection, p, bytes, root, machine.ports), machine);
}

/// Blocks that a rank copies per block that it sends. The model has no term for them, but they break ties.
double copied_share(const Selection& selection, Rank p) {
  const Cost cost = cost_of(*selection.algorithm, {.size = p, .params = selection.params});
  const auto sent = static_cast<double>(std::max<std::int64_t>(cost.sent, 1));
  return static_cast<double>(cost.copied) / sent;
}

/// Rounds that wait for one another. On a machine without an overhead all rounds have the same price.
std::int64_t waiting_rounds(const Selection& selection, Rank p) {
  const Shape shape{.size = p, .params = selection.params};
  const std::int64_t levels = critical_path(*selection.algorithm, selection.collective, shape).levels;
  return levels > 0 ? levels : cost_of(*selection.algorithm, shape).rounds;
}

/// The logarithm of a time to six digits. Sums of the same terms in another order become the same time.
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
  struct Keyed {
    std::tuple<bool, double, bool> key{};
    std::tuple<std::int64_t, double, bool> among_equals{};
    Ranked* entry = nullptr;
  };
  std::vector<Keyed> order;
  order.reserve(ranking.size());
  for (Ranked& r : ranking) {
    const bool able = r.unmet_need.empty();
    order.push_back(
        {.key = {!able, able ? rounded(r.time_s) : 0, able && !r.selection.algorithm->automatic}, .entry = &r});
  }
  std::stable_sort(order.begin(), order.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  for (auto first = order.begin(); first != order.end() && first->entry->unmet_need.empty();) {
    const auto end = std::find_if(first, order.end(), [&](const Keyed& k) { return k.key != first->key; });
    if (end - first > 1) {
      for (auto one = first; one != end; ++one) {
        const Selection& selection = one->entry->selection;
        one->among_equals = {waiting_rounds(selection, p), copied_share(selection, p),
                             selection.algorithm->family != Family::circulant};
      }
      std::stable_sort(first, end, [](const Keyed& a, const Keyed& b) { return a.among_equals < b.among_equals; });
    }
    first = end;
  }
  std::vector<Ranked> sorted;
  sorted.reserve(ranking.size());
  for (const Keyed& k : order) sorted.push_back(std::move(*k.entry));
  ranking = std::move(sorted);
}

bool is_for_nodes(const Algorithm& algorithm) { return algorithm.param("cores") != nullptr; }

bool counts_go_first(const Selection& selection) {
  return has_unknown_size(selection.collective) && !selection.algorithm->guarantees.direct;
}

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
      entry = between_hosts(with_best_parameters(entry.selection, p, bytes, machine, root), p, bytes, machine, root);
      if (counts_go_first(entry.selection)) entry.time_s += between_hosts(entry.selection, p, 0, machine, root).time_s;
    }
    ranking.push_back(std::move(entry));
  }
  sort_by_time(ranking, p);
  return ranking;
}

}  // namespace circoll
