// Predicted times over sizes.
#include "cost/cost.hpp"

#include <cmath>

#include "circoll/error.hpp"
#include "model/sharing.hpp"

namespace circoll::cli {
namespace {

constexpr Count fewest_bytes = 8;

/// The algorithms that a ranking prices, in the order of the registry.
std::vector<const Algorithm*> able(const SizesRequest& request) {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* a : algorithms_of(request.collective)) {
    if (!unmet_need(*a, request.p, request.op).empty()) continue;
    if (unranked_because(*a, request.collective, false).empty()) algorithms.push_back(a);
  }
  if (algorithms.empty()) throw Error(ErrorCode::unsupported, "no algorithm can serve this call");
  return algorithms;
}

double time_at(const SizesRequest& request, const Algorithm& algorithm, Count bytes) {
  const Selection best =
      with_best_parameters({&algorithm, request.collective, {}}, request.p, bytes, request.machine, request.root);
  return between_hosts(best, request.p, bytes, request.machine, request.root).time_s;
}

/// The first of the ranking for a size.
const Algorithm* fastest_at(const SizesRequest& request, Count bytes) {
  return rank_algorithms(request.collective, request.p, bytes, request.op, request.machine, request.root)
      .front()
      .selection.algorithm;
}

}  // namespace

std::vector<Count> sizes_of(const SizesRequest& request) {
  std::vector<Count> sizes;
  for (int i = 0;; ++i) {
    const auto size =
        static_cast<Count>(std::llround(static_cast<double>(fewest_bytes) * std::exp2(static_cast<double>(i) / 4)));
    if (size >= request.most_bytes) break;
    sizes.push_back(size);
  }
  sizes.push_back(request.most_bytes);
  return sizes;
}

std::vector<TimesOverSizes> times_over_sizes(const SizesRequest& request) {
  const std::vector<Count> sizes = sizes_of(request);
  std::vector<TimesOverSizes> all;
  for (const Algorithm* algorithm : able(request)) {
    TimesOverSizes one{.algorithm = algorithm};
    for (const Count size : sizes) one.times_s.push_back(time_at(request, *algorithm, size));
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<const Algorithm*> fastest_over_sizes(const SizesRequest& request) {
  (void)able(request);  // throws if there is none
  std::vector<const Algorithm*> all;
  for (const Count size : sizes_of(request)) all.push_back(fastest_at(request, size));
  return all;
}

std::vector<Crossover> crossovers(const SizesRequest& request) {
  (void)able(request);  // throws if there is none
  std::vector<Crossover> found;
  Count before = fewest_bytes;
  const Algorithm* fastest = fastest_at(request, before);
  for (const Count size : sizes_of(request)) {
    const Algorithm* now = fastest_at(request, size);
    if (now != fastest) {
      Count low = before;  // `fastest` is the fastest here
      Count high = size;   // and not here
      while (high - low > 1) {
        const Count middle = low + (high - low) / 2;
        (fastest_at(request, middle) == fastest ? low : high) = middle;
      }
      found.push_back({high, fastest, now});
      fastest = now;
    }
    before = size;
  }
  return found;
}

}  // namespace circoll::cli
