#include "sim/ties.hpp"

#include <algorithm>
#include <limits>

namespace circoll::sim {

Ties::Slack Ties::slack(double until) const {
  std::vector<double> all(time_.size(), std::numeric_limits<double>::infinity());
  for (std::size_t end = index({0, At::end}); end < all.size(); end += moments) all[end] = until - time_[end];
  // Last ties first, so that what follows a moment is known before what it follows.
  for (auto tie = ties_.rbegin(); tie != ties_.rend(); ++tie) {
    const double between = time_[tie->to] - time_[tie->from] - tie->lag;
    all[tie->from] = std::min(all[tie->from], std::max(0.0, all[tie->to] + between));
  }
  Slack slack;
  for (std::size_t step = 0; step < all.size() / moments; ++step) {
    slack.start_s.push_back(all[index({step, At::start})]);
    slack.end_s.push_back(all[index({step, At::end})]);
  }
  return slack;
}

}  // namespace circoll::sim
