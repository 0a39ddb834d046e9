// The levels of a machine that a job has ranks in: groups, switches, hosts. Each rank has a path in their tree.
//
// select/allocation.hpp reads them from files, model/level_traffic.hpp counts messages between their parts, and
// model/near_labels.hpp relabels ranks by them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "circoll/types.hpp"

namespace circoll {

/// The path of each rank of a job, from the coarsest level down to its host. A *part* is a node of the tree: a group, a
/// switch or a host. Levels count from 0, the coarsest one.
class Levels {
 public:
  /// paths[r] has the names on the way to the host of rank r, the host's last. A path is as long as the longest one
  /// afterwards: a name before the host's is repeated. Levels of which all ranks share one part are left out. `names`
  /// has the words for the parts of each level, in the plural. Without it the last are "hosts", and others "level N".
  /// Throws Error(invalid_argument) if there is no path, one is empty, or `names` has another length.
  explicit Levels(std::vector<std::vector<std::string>> paths, std::vector<std::string> names = {});

  [[nodiscard]] Rank size() const { return size_; }                                     ///< of ranks
  [[nodiscard]] int depth() const { return static_cast<int>(names_.size()); }           ///< levels, at least 1
  [[nodiscard]] const std::string& name(int level) const { return names_[at(level)]; }  ///< "hosts"
  /// Parts of a level that have ranks. They are numbered in the order of their first ranks.
  [[nodiscard]] Rank parts(int level) const { return static_cast<Rank>(part_names_[at(level)].size()); }
  [[nodiscard]] Rank part(int level, Rank rank) const { return part_[at(level)][static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::string& part_name(int level, Rank part) const {
    return part_names_[at(level)][static_cast<std::size_t>(part)];
  }
  /// The names of the parts of a rank, from the coarsest level on.
  [[nodiscard]] std::vector<std::string> path(Rank rank) const;
  /// The levels that two ranks share: 0 .. depth(), which means the same host.
  [[nodiscard]] int shared(Rank a, Rank b) const;

  /// True if ranks share the same parts in both, whatever these are called.
  [[nodiscard]] bool same_parts(const Levels& other) const { return size_ == other.size_ && part_ == other.part_; }

 private:
  [[nodiscard]] static std::size_t at(int level) { return static_cast<std::size_t>(level); }

  Rank size_ = 0;
  std::vector<std::string> names_;
  std::vector<std::vector<Rank>> part_;  ///< by level and rank
  std::vector<std::vector<std::string>> part_names_;
};

/// The ranks in the order of their parts. On each level those in the part of `first` stand before the others, and
/// `first` stands at the beginning. O(p log p).
[[nodiscard]] std::vector<Rank> sorted_by_path(const Levels& levels, Rank first);

/// An order of the ranks in which aligned runs of 2^k neighbours lie in as few parts as possible.
///
/// Runs of 2^k ranks are paired to runs of 2^(k+1), for k = 0, 1, ... Two runs of one host are paired if there are two,
/// what is left over with runs of the same switch, and so on up the tree. Of several candidates two are paired that
/// have most ranks in the same parts, place by place. The last run is shorter if p is no power of two. `first` stands
/// at the beginning. The same on all ranks, for it depends on the levels only. O(p log^2 p).
[[nodiscard]] std::vector<Rank> packed(const Levels& levels, Rank first);

}  // namespace circoll
