// Labels of ranks by which most of the data stays on a host, below a switch, or in a group.
//
// Two orders meet. An algorithm's labels stand in one order, in which aligned runs of 2^k labels exchange as much as
// possible among themselves. The job's ranks stand in another one, in which such runs lie in few parts of the machine
// (packed() in schedule/levels.hpp). The n-th rank gets the n-th label.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/level_traffic.hpp"

namespace circoll {

/// The order of an algorithm's labels, found from its messages. Labels that exchange most are paired, then the pairs,
/// and so on. Label 0 comes first, and the last run is shorter if p is no power of two. The same on all ranks.
/// O(pairs log p), once for each algorithm and p.
[[nodiscard]] std::vector<Rank> near_order(const Messages& messages);

/// The labels of a job, and how they were made.
struct NearLabels {
  Relabelling labels;
  std::string_view how{};  ///< "as they are", "sorted", "packed"
};

/// The best of some labels. Candidates are ranks as they are, sorted and packed ones. Labels are in their own order, or
/// in that of `near`, which is near_order(messages). The best are those with the fewest blocks between the parts of
/// the coarsest level, then of the next one, and so on. Then ranks of two labels are swapped as long as the coarsest
/// level gains. So no relabelling makes the coarsest level worse. `messages` are those of root 0, and `root` gets label
/// 0. The same on all ranks. O(pairs + p log^2 p), and O(p parts) for each sweep of swaps.
[[nodiscard]] NearLabels near_labels(const Messages& messages, std::span<const Rank> near, const Levels& levels,
                                     Rank root = 0);

}  // namespace circoll
