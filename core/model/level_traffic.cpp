#include "model/level_traffic.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"

namespace circoll {
namespace {

constexpr std::size_t most_pairs = std::size_t{1} << 26;

/// The flow from a rank to each receiver.
std::map<Rank, Flow> sent_by(const Schedule& schedule) {
  std::map<Rank, Flow> sent;
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::send) sent[step.peer].add({.messages = 1, .blocks = schedule.count(step.left)});
  }
  return sent;
}

}  // namespace

Messages::Messages(const Selection& selection, Rank p, Rank root) : size_(p) {
  require(selection.algorithm != nullptr && p >= 1 && root >= 0 && root < p, "an algorithm, ranks, and a root of them");
  Shape shape{.size = p, .root = root, .params = selection.params};
  // Once for all ranks.
  if (const auto on_node = shape.params.find("relabel"); on_node != shape.params.end())
    shape.labels = std::make_shared<const Relabelling>(Relabelling::across_nodes(p, on_node->second));
  rotates_ = selection.algorithm->rotation != Rotation::none;
  if (rotates_) {
    labels_ = std::move(shape.labels);
    shape.labels = nullptr;
    shape.params.erase("relabel");
  }
  for (Rank r = 0; r < (rotates_ ? 1 : p); ++r) {
    shape.rank = r;
    const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
    if (r == 0) {
      blocks_ = schedule.blocks() / (is_exchange(selection.collective) ? p : 1);
      moves_data_ = traits_of(selection.collective).moves_data;
    }
    for (const auto& [to, flow] : sent_by(schedule)) pairs_.push_back({.from = r, .to = to, .flow = flow});
    const std::size_t all = rotates_ ? pairs_.size() * static_cast<std::size_t>(p) : pairs_.size();
    if (all > most_pairs) {
      throw Error(ErrorCode::unsupported, selection.id() + " has more than 2^26 pairs of ranks with messages for p = " +
                                              std::to_string(p) + ", too many to be counted");
    }
  }
}

Messages Messages::between(std::span<const Rank> part_of, Rank parts) const {
  require(static_cast<Rank>(part_of.size()) == size_, "each rank is in a part");
  std::map<std::pair<Rank, Rank>, Flow> sums;
  for_each([&](Rank from, Rank to, const Flow& flow) {
    const Rank a = part_of[static_cast<std::size_t>(from)], b = part_of[static_cast<std::size_t>(to)];
    if (a != b) sums[{a, b}].add(flow);
  });
  Messages result;
  result.size_ = parts;
  result.blocks_ = blocks_;
  result.moves_data_ = moves_data_;
  for (const auto& [pair, flow] : sums) result.pairs_.push_back({.from = pair.first, .to = pair.second, .flow = flow});
  return result;
}

Flow LevelTraffic::all() const {
  Flow sum;
  for (const Flow& flow : between) sum.add(flow);
  return sum;
}

namespace {

template <typename F>
void for_each_rank(const Messages& messages, const Levels& levels, const Relabelling* labels, F&& f) {
  require(messages.size() == levels.size() && (labels == nullptr || labels->size() == levels.size()),
          "messages, places and labels are of equally many ranks");
  messages.for_each([&](Rank from, Rank to, const Flow& flow) {
    const Rank sender = labels == nullptr ? from : labels->rank(from);
    const Rank receiver = labels == nullptr ? to : labels->rank(to);
    f(sender, receiver, flow, levels.shared(sender, receiver));
  });
}

}  // namespace

LevelTraffic level_traffic(const Messages& messages, const Levels& levels, const Relabelling* labels) {
  LevelTraffic traffic;
  traffic.between.resize(static_cast<std::size_t>(levels.depth()) + 1);
  std::vector<std::size_t> first;  // link of each level
  for (int level = 0; level < levels.depth(); ++level) {
    first.push_back(traffic.links.size());
    for (Rank part = 0; part < levels.parts(level); ++part) traffic.links.push_back({.level = level, .part = part});
  }
  for_each_rank(messages, levels, labels, [&](Rank from, Rank to, const Flow& flow, int shared) {
    traffic.between[static_cast<std::size_t>(shared)].add(flow);
    for (int level = shared; level < levels.depth(); ++level) {
      const std::size_t of_level = first[static_cast<std::size_t>(level)];
      traffic.links[of_level + static_cast<std::size_t>(levels.part(level, from))].out.add(flow);
      traffic.links[of_level + static_cast<std::size_t>(levels.part(level, to))].in.add(flow);
    }
  });
  return traffic;
}

std::vector<Flow> flows_between(const Messages& messages, const Levels& levels, const Relabelling* labels) {
  std::vector<Flow> between(static_cast<std::size_t>(levels.depth()) + 1);
  for_each_rank(messages, levels, labels,
                [&](Rank, Rank, const Flow& flow, int shared) { between[static_cast<std::size_t>(shared)].add(flow); });
  return between;
}

const LevelLink& busiest(const Messages& messages, const LevelTraffic& traffic, int level) {
  const auto load = [&](const LevelLink& link) {
    return link.level == level ? std::max(messages.weight(link.out), messages.weight(link.in)) : -1;
  };
  return *std::max_element(traffic.links.begin(), traffic.links.end(),
                           [&](const LevelLink& a, const LevelLink& b) { return load(a) < load(b); });
}

}  // namespace circoll
