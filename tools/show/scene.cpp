#include "show/scene.hpp"

#include <fmt/format.h>

#include <set>

#include "circoll/error.hpp"

namespace circoll::picture {
namespace {

/// The blocks of a message in their order: "block 4", "blocks 3–5, 8". It is shortened after eight parts.
std::string contents_of(const Schedule& s, const Operand& message) {
  std::vector<std::pair<Block, Block>> parts;  // first and last of those that follow one another
  Block count = 0;
  for (const Range& range : s.operand(message)) {
    const Slot slots = s.buffers[static_cast<std::size_t>(range.buffer)].slots;
    for (Slot i = 0; i < range.count; ++i, ++count) {
      const Block block = s.block_of(range.buffer, (range.first + i) % slots);
      if (parts.empty() || parts.back().second + 1 != block) {
        if (parts.size() > 8) continue;
        parts.emplace_back(block, block);
      } else {
        parts.back().second = block;
      }
    }
  }
  std::string text = count == 1 ? "block" : "blocks";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [first, last] = parts[i];
    if (i == 8) return text + ", …";
    text += fmt::format("{}{}", i == 0 ? " " : ", ", first);
    if (last > first) text += fmt::format("–{}", last);
  }
  return count == 0 ? "no blocks" : text;
}

}  // namespace

Scene scene_of(std::span<const Schedule> ranks) {
  require(!ranks.empty(), "a picture needs the schedules of all ranks");
  const Schedule& first = ranks.front();
  Scene scene;
  scene.size = first.shape.size;
  scene.focus = first.shape.root;
  require(static_cast<Rank>(ranks.size()) == scene.size, "a picture needs the schedules of all ranks");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Schedule& s = ranks[i];
    check_structure(s);
    require(s.shape.rank == static_cast<Rank>(i), "a picture needs the schedules in the order of ranks");
    require(
        s.shape.size == scene.size && s.shape.root == first.shape.root && s.id == first.id && s.rounds == first.rounds,
        "the schedules of a picture differ in size, root, id or number of rounds");
  }
  std::set<std::size_t> used;
  for (const Schedule& s : ranks) {
    for (const Step& step : s.steps) {
      if (step.kind == StepKind::send) used.insert(step.round);
    }
  }
  const std::size_t rounds = used.empty() ? 0 : *used.rbegin() + 1;
  // A number in a schedule that was read from a file must not by itself cost memory.
  require(rounds <= 16 * used.size() + 1024, "a picture of so many empty rounds would be too large");
  scene.rounds.resize(rounds);
  for (const Schedule& s : ranks) {
    for (const Step& step : s.steps) {
      if (step.kind != StepKind::send) continue;
      scene.rounds[step.round].push_back({s.shape.rank, step.peer, s.count(step.left), contents_of(s, step.left)});
      auto& link = scene.links[{s.shape.rank, step.peer}];
      if (link.empty() || link.back() != step.round) link.push_back(step.round);
    }
  }
  return scene;
}

}  // namespace circoll::picture
