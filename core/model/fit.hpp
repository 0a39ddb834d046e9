// A line through measured times, and the network's part of a machine. circoll calibrate uses both. So does the drop-in
// where a job starts on a network that nobody has measured (model/probe.hpp).
#pragma once

#include <optional>
#include <vector>

#include "circoll/model.hpp"

namespace circoll {

/// A line seconds = intercept_s + bytes * slope_s_per_byte, and how far the samples are from it.
struct Line {
  double intercept_s = 0;       ///< >= 0: the time of nothing
  double slope_s_per_byte = 0;  ///< >= 0
  std::size_t samples = 0;      ///< sizes that the line was fitted to, each by its median
  double median_error = 0;      ///< |predicted - measured| / measured, median over the samples
  double largest_error = 0;     ///< the largest of the same
};

/// The time that some bytes took.
struct TimedBytes {
  Count bytes = 0;
  double seconds = 0;
};

/// The line with non-negative coefficients that has the least sum of |predicted - measured| / measured. Several times
/// of one size count by their median. Errors are relative, so that short messages count as much as long ones, and not
/// squared, so that outliers pull little. Throws Error(invalid_argument) unless there are times of two sizes, all
/// positive.
[[nodiscard]] Line fit_line(const std::vector<TimedBytes>& times);

/// The coefficients of messages between nodes, as a Machine has them.
struct NetworkNumbers {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  double f_alpha = 1;
  double f_beta = 1;
  double overhead_s = 0;       ///< 0: not known
  double overhead_both_s = 0;  ///< likewise
};

/// Short messages that a rank has sent at once, until the last has come.
struct TimedBurst {
  int messages = 0;
  double seconds = 0;  ///< 0: not known
};

/// alpha and beta by the line of exchanges. f_alpha and f_beta are the ratios of the other line to it.
[[nodiscard]] NetworkNumbers numbers_of(const Line& exchange, const Line& one_way);

/// The same of few and short samples. Where noise leaves no latency, the shortest messages give one. Where noise leaves
/// no time per byte, the longest messages do. Of the ratios f_alpha stays between 1/2 and 1, and f_beta between 3/4 and
/// 1: buffers on the way take short messages faster than a link passes them on. In a `burst` from one rank to another
/// one the first message takes a latency one way, and the others an overhead. In a `round` each rank exchanges messages
/// with several others. The first exchange takes alpha, and the others half of the overhead there. No overhead is
/// longer than alpha. Nothing if there are no two sizes.
[[nodiscard]] std::optional<NetworkNumbers> rough_numbers(const std::vector<TimedBytes>& exchanges,
                                                          const std::vector<TimedBytes>& one_way,
                                                          const TimedBurst& burst = {}, const TimedBurst& round = {});

/// The length of the parts in which long messages go between hosts. On a socket the answer to a handshake waits behind
/// a long message that goes the same way, so that an exchange takes the time of two. Messages of this length need no
/// handshake in the libraries that are known. A part costs an overhead, or alpha if that is not known. It is 0, and
/// messages stay whole, if that is more than a quarter of the time of the part's bytes.
[[nodiscard]] Count part_bytes(const NetworkNumbers& numbers);

/// Those of a machine between nodes.
[[nodiscard]] NetworkNumbers network_of(const Machine& machine);

/// The machine with these numbers between nodes. Inside a node all stays as it is.
[[nodiscard]] Machine with_network(Machine machine, const NetworkNumbers& numbers, std::string name);

}  // namespace circoll
