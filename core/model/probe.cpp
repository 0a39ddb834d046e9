#include "model/probe.hpp"

#include <algorithm>
#include <bit>

namespace circoll {

int probe_steps(Rank hosts) {
  return hosts < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(hosts) - 1));
}

Rank probe_partner(Rank host, int step, Rank hosts) {
  const Rank partner = host ^ (Rank{1} << step);
  return partner < hosts ? partner : -1;
}

double probe_seconds(Rank hosts) {
  constexpr double all_s = 12e-3, least_s = 3e-3, most_s = 4e-3;
  return std::clamp(all_s / std::max(probe_steps(hosts), 1), least_s, most_s);
}

std::optional<Trial> ProbePlan::next(double elapsed_s) {
  constexpr int short_trials = 2;
  if (tried_ > 0) {
    size_ = tried_;
    size_s_ = elapsed_s - began_s_;
  }
  began_s_ = elapsed_s;
  const int trial = trials_++;
  if (trial == 0) return Trial{.exchanges = 1, .counts = false};
  if (trial < short_trials) return Trial{.exchanges = 4};
  if (trial == short_trials) return Trial{.exchanges = 2, .bursts = true};
  // The first long trial of all is made in any case. A longer one takes less time than its length says.
  std::size_t size = size_ == 0 ? 1 : 0;
  const auto fits = [&](std::size_t one) {
    const double ratio = static_cast<double>(probe_bytes[one]) / static_cast<double>(probe_bytes[size_]);
    return size_s_ * ratio <= step_s_ - elapsed_s;
  };
  for (std::size_t one = probe_bytes.size(); size_ > 0 && size == 0 && --one > tried_;) {
    if (fits(one)) size = one;
  }
  if (size == 0) return std::nullopt;
  tried_ = size;
  return Trial{.size = size, .exchanges = 2};
}

}  // namespace circoll
