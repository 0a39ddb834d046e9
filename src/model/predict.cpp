#include <algorithm>
#include <cmath>

#include "circoll/model.hpp"

namespace circoll {
namespace {

const ParamDeclaration* segments_of(const Algorithm& algorithm) {
  const auto found = std::find_if(algorithm.params.begin(), algorithm.params.end(),
                                  [](const ParamDeclaration& d) { return d.name == "segments"; });
  return found == algorithm.params.end() ? nullptr : &*found;
}

}  // namespace

Terms terms_of(const Selection& selection, Rank p, Count bytes) {
  const Shape shape{.size = p, .params = selection.params};
  const Cost cost = selection.algorithm->cost(shape);
  const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
  const double block_bytes = static_cast<double>(bytes) / static_cast<double>(schedule.blocks());
  return {.alpha = static_cast<double>(cost.rounds),
          .bytes = static_cast<double>(std::max(cost.sent, cost.received)) * block_bytes,
          .combined = static_cast<double>(cost.reduced) * block_bytes};
}

double seconds(const Terms& terms, const Machine& machine) {
  return (terms.alpha + terms.alpha_uni * machine.f_alpha) * machine.alpha_s +
         (terms.bytes + terms.bytes_uni * machine.f_beta) * machine.beta_s_per_byte +
         terms.combined * machine.gamma_s_per_byte;
}

Selection with_best_segments(const Selection& selection, Rank p, Count bytes, const Machine& machine) {
  const ParamDeclaration* const declared = segments_of(*selection.algorithm);
  if (declared == nullptr || selection.params.contains("segments")) return selection;
  const auto with = [&](std::int64_t n) {
    Selection tried = selection;
    tried.params.insert_or_assign("segments", n);
    return tried;
  };
  const auto time = [&](std::int64_t n) { return seconds(terms_of(with(n), p, bytes), machine); };
  // T(n) = a + b n + c / n for rounds and volumes that are affine in n: three points tell a, b and c.
  const std::int64_t low = declared->minimum;
  const std::int64_t high = std::min<std::int64_t>(declared->maximum, 1024);
  if (high < low + 2) return with(low);
  const auto n1 = static_cast<double>(low);
  const double t1 = time(low);
  const double t2 = time(low + 1);
  const double t3 = time(low + 2);
  const double d12 = 1 / n1 - 1 / (n1 + 1);
  const double d23 = 1 / (n1 + 1) - 1 / (n1 + 2);
  const double c = ((t1 - t2) - (t2 - t3)) / (d12 - d23);
  const double b = c * d12 - (t1 - t2);
  double best = b > 0 && c > 0 ? std::sqrt(c / b) : c > 0 ? static_cast<double>(high) : n1;
  best = std::clamp(best, n1, static_cast<double>(high));
  const auto below = static_cast<std::int64_t>(std::floor(best));
  const std::int64_t above = std::min(below + 1, high);
  return with(time(above) < time(below) ? above : below);
}

}  // namespace circoll
