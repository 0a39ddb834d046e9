// Messages of a schedule that cross the levels of a machine, counted exactly: `circoll traffic`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "circoll/algorithm.hpp"
#include "schedule/levels.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {

/// Messages and the blocks in them.
struct Flow {
  std::int64_t messages = 0;
  std::int64_t blocks = 0;

  void add(const Flow& other) {
    messages += other.messages;
    blocks += other.blocks;
  }
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// All messages of a collective by its schedules, added up for each sender and receiver. The algorithm's ranks are
/// numbered as it numbers them: these are labels, if the ranks are relabelled.
class Messages {
 public:
  struct Pair {
    Rank from = 0;
    Rank to = 0;
    Flow flow{};
  };

  /// Builds the schedules of all p ranks; one of them where all are rotations of it. Throws as build_schedule does, and
  /// Error(unsupported) if more than 2^26 pairs of ranks have messages.
  Messages(const Selection& selection, Rank p, Rank root = 0);

  /// The messages between parts of the ranks. part_of[r] is rank r's, of 0 .. parts - 1. Those inside a part are left
  /// out.
  [[nodiscard]] Messages between(std::span<const Rank> part_of, Rank parts) const;

  [[nodiscard]] Rank size() const { return size_; }
  /// Parts of the vector of a rank, which are the unit of flows. A vector of m bytes has m / blocks() in each.
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  /// The number that is compared: blocks, or messages of a collective without data.
  [[nodiscard]] std::int64_t weight(const Flow& flow) const { return moves_data_ ? flow.blocks : flow.messages; }

  /// Calls f(from, to, flow) for each pair that has messages.
  template <typename F>
  void for_each(F&& f) const {
    if (!rotates_) {
      for (const Pair& pair : pairs_) f(pair.from, pair.to, pair.flow);
      return;
    }
    const auto rank = [this](Rank label) { return labels_ == nullptr ? label : labels_->rank(label); };
    for (const Pair& pair : pairs_) {
      for (Rank r = 0; r < size_; ++r) {
        f(rank(r), rank(r + pair.to < size_ ? r + pair.to : r + pair.to - size_), pair.flow);
      }
    }
  }

 private:
  Messages() = default;

  Rank size_ = 1;
  std::int64_t blocks_ = 1;
  bool moves_data_ = true;
  bool rotates_ = false;
  std::vector<Pair> pairs_;                      ///< those of rank 0, or of label 0, if the others are rotations
  std::shared_ptr<const Relabelling> labels_{};  ///< of a selection that relabels, and rotates
};

/// The edge of a part of the machine to the level above it.
struct LevelLink {
  int level = 0;
  Rank part = 0;
  Flow out{};  ///< of its ranks to others
  Flow in{};
};

/// Messages by levels.
struct LevelTraffic {
  /// between[l]: messages between two parts of level l that are in one part of all levels above it. The last entry,
  /// between[depth], has those between ranks of one host.
  std::vector<Flow> between{};
  std::vector<LevelLink> links{};  ///< level by level; there is none of a host to its ranks

  [[nodiscard]] Flow all() const;
};

/// Counts. Rank r has the messages of labels.label(r), or its own without labels. O(pairs * depth).
[[nodiscard]] LevelTraffic level_traffic(const Messages& messages, const Levels& levels,
                                         const Relabelling* labels = nullptr);

/// The flow of the messages that cross each level, as LevelTraffic::between has it, without links.
[[nodiscard]] std::vector<Flow> flows_between(const Messages& messages, const Levels& levels,
                                              const Relabelling* labels = nullptr);

/// The link of a level that has the most to carry in one direction, by Messages::weight. The first one of several.
[[nodiscard]] const LevelLink& busiest(const Messages& messages, const LevelTraffic& traffic, int level);

}  // namespace circoll
