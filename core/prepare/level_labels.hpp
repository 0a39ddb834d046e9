// Nodes change places, so that fewer messages pass between switches, or groups of them.
//
// An algorithm's labels decide which nodes exchange most. Here whole nodes are relabelled: what ranks of one node send
// to one another stays in it, whatever the algorithm knows of nodes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "schedule/levels.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {

/// Placement::in_order for a selection that goes through nodes. Nothing if its nodes do not fit into the groups of
/// these labels.
[[nodiscard]] std::shared_ptr<const Relabelling> labels_for_nodes(const Selection& selection,
                                                                  const Placement& placement);

/// The labels of a placement by selection and root, remembered for the last ones. The same on all ranks, in any order
/// of questions. Thread-safe.
class LevelLabels {
 public:
  /// The labels of one selection, and what they save.
  struct Found {
    std::shared_ptr<const Relabelling> labels{};  ///< nothing: ranks stay as they are
    int percent = 0;                              ///< of the data between parts of `level`
    int level = 0;                                ///< the coarsest one that gains
  };

  /// `nodes` has a path for each node of the placement, the node itself last. The placement must know its nodes.
  LevelLabels(Levels nodes, const Placement& placement);

  /// True if nodes can change places. Then several parts are above them, there are three at least, and two of them have
  /// equally many ranks.
  [[nodiscard]] bool moves_nodes() const { return moves_nodes_; }

  /// The labels for a selection, with "relabel" or without, and a root. Nothing is found if nodes cannot change
  /// places, where the order of ranks decides about results, and where each rank sends to each. The saving must be 5 %
  /// at least. There may be 4096 ranks at most, or 512 if there is a root, because schedules of all ranks are built. If
  /// all are rotations of one, there may be 2^17, and 2^20 pairs of ranks that exchange messages. Throws as
  /// build_schedule does.
  [[nodiscard]] Found find(const Selection& selection, Rank root);

  [[nodiscard]] const Levels& nodes() const { return nodes_; }

 private:
  [[nodiscard]] Found make(const Selection& selection, Rank root) const;

  /// The place of each node, as its label. A node takes only places of nodes with as many ranks. Among these the order
  /// is that of the labels that are wanted.
  [[nodiscard]] Relabelling places(const Relabelling& wanted) const;

  Levels nodes_;
  std::vector<Rank> sizes_;  ///< ranks of each node
  bool moves_nodes_;
  Placement placement_;                               ///< without levels
  std::shared_ptr<const std::vector<Rank>> node_of_;  ///< its nodes
  std::vector<Rank> core_of_;                         ///< the place of each rank on its node
  std::vector<std::vector<Rank>> ranks_of_;           ///< of each node, by their places
  std::mutex mutex_;
  std::map<std::pair<std::string, Rank>, Found> found_;
};

}  // namespace circoll
