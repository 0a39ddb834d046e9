// Ties between the moments of a run, from which the slack of its steps follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace circoll::sim {

/// The moments of a run, and by how much each of them has to follow others. The order in which steps took a processor
/// or a port is taken as given.
class Ties {
 public:
  /// A moment of a step.
  enum class At : std::uint8_t {
    asked,    ///< a receive: the request of its message is there
    start,    ///< it begins to work; a receive: its memory is free, and its message or the request is there
    message,  ///< a send: it has its port; a receive: the last byte is there
    end,
  };
  struct Moment {
    std::size_t step = 0;
    At at = At::start;
  };

  void resize(std::size_t steps) { time_.resize(steps * moments, 0.0); }
  void set(Moment moment, double time) { time_[index(moment)] = time; }
  [[nodiscard]] double time(Moment moment) const { return time_[index(moment)]; }
  /// `to` would not be before `from` + lag if `from` were later. All ties that end at a moment have to be told before
  /// those that begin there.
  void tie(Moment from, Moment to, double lag) { ties_.push_back({index(from), index(to), lag}); }
  /// By how much each step may start later, and by how much end later, without anything that ends after `until`.
  struct Slack {
    std::vector<double> start_s;
    std::vector<double> end_s;
  };
  [[nodiscard]] Slack slack(double until) const;

 private:
  struct Tie {
    std::uint32_t from;
    std::uint32_t to;
    double lag;
  };
  static constexpr std::size_t moments = 4;
  [[nodiscard]] static std::uint32_t index(Moment m) {
    return static_cast<std::uint32_t>(m.step * moments + static_cast<std::size_t>(m.at));
  }

  std::vector<double> time_;
  std::vector<Tie> ties_;
};

}  // namespace circoll::sim
