// The messages of an algorithm: sender, receiver and blocks, round by round.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/verify.hpp"

namespace circoll {

inline std::vector<Schedule> schedules(const std::string& id, Rank p, Rank root = 0) {
  const Selection s = parse_selection(id);
  return build_all_ranks(*s.algorithm, s.collective, {.size = p, .root = root, .params = s.params});
}

inline std::vector<Block> blocks_of(const Schedule& s, Operand o) {
  std::vector<Block> blocks;
  for (const Range& range : s.operand(o)) {
    const Slot slots = s.buffers[static_cast<std::size_t>(range.buffer)].slots;
    for (Slot i = 0; i < range.count; ++i) {
      blocks.push_back(s.block_of(range.buffer, (range.first + i) % slots));
    }
  }
  return blocks;
}

struct Message {
  std::uint32_t round;
  Rank from;
  Rank to;
  std::vector<Block> blocks;

  friend bool operator==(const Message&, const Message&) = default;
};

inline void PrintTo(const Message& m, std::ostream* out) {
  *out << "round " << m.round << ": " << m.from << " -> " << m.to << ":";
  for (const Block block : m.blocks) *out << ' ' << block;
}

/// All messages, by round, then by sender.
inline std::vector<Message> messages(const std::vector<Schedule>& ranks) {
  std::vector<Message> result;
  for (const Schedule& s : ranks) {
    for (const Step& step : s.steps) {
      if (step.kind == StepKind::send) result.push_back({step.round, s.shape.rank, step.peer, blocks_of(s, step.left)});
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const Message& a, const Message& b) { return a.round < b.round; });
  return result;
}
inline std::vector<Message> messages(const std::string& id, Rank p, Rank root = 0) {
  return messages(schedules(id, p, root));
}

/// The messages that a rank sends.
inline std::vector<Message> sent_by(Rank rank, const std::string& id, Rank p, Rank root = 0) {
  std::vector<Message> all = messages(id, p, root);
  std::erase_if(all, [&](const Message& m) { return m.from != rank; });
  return all;
}

/// The sender of each rank's first message; -1 if the rank receives none.
inline std::vector<Rank> parents(const std::string& id, Rank p, Rank root = 0) {
  std::vector<Rank> result(static_cast<std::size_t>(p), -1);
  for (const Message& m : messages(id, p, root)) {
    Rank& parent = result[static_cast<std::size_t>(m.to)];
    if (parent < 0) parent = m.from;
  }
  return result;
}

inline Cost cost_of(const std::string& id, Rank p, Rank root = 0) {
  const Selection s = parse_selection(id);
  const Shape shape{.size = p, .root = root, .params = s.params};
  const Verdict verdict = verify_algorithm(*s.algorithm, s.collective, shape);
  EXPECT_TRUE(verdict.proven()) << verdict.refutation->to_string();
  return verdict.counted;
}

}  // namespace circoll
