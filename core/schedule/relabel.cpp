// Relabelling of ranks.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "circoll/error.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {

Relabelling::Relabelling(std::vector<Rank> labels) : labels_(std::move(labels)), ranks_(labels_.size(), -1) {
  for (std::size_t r = 0; r < labels_.size(); ++r) {
    const Rank label = labels_[r];
    require(label >= 0 && label < size() && ranks_[static_cast<std::size_t>(label)] < 0,
            "labels are the numbers 0 .. p-1, each of them once");
    ranks_[static_cast<std::size_t>(label)] = static_cast<Rank>(r);
  }
}

Relabelling Relabelling::across_nodes(Rank p, Rank cores) {
  require(p >= 1 && cores >= 1, "there is at least one rank, and one on each node");
  std::vector<Rank> labels(static_cast<std::size_t>(p));
  const Rank full = p / cores;
  const Rank rest = p % cores;  // on the last node
  for (Rank r = 0; r < p; ++r) {
    const Rank core = r % cores;
    labels[static_cast<std::size_t>(r)] = core * full + std::min(core, rest) + r / cores;
  }
  return Relabelling(std::move(labels));
}

Relabelling Relabelling::across_nodes(std::span<const Rank> node_of) {
  struct Node {
    Rank number = 0;
    Rank ranks = 0;  // so far
  };
  std::map<Rank, Node> nodes;
  std::vector<std::tuple<Rank, Rank, Rank>> order;  // core, node, rank
  for (std::size_t r = 0; r < node_of.size(); ++r) {
    Node& node = nodes.try_emplace(node_of[r], Node{static_cast<Rank>(nodes.size())}).first->second;
    order.emplace_back(node.ranks++, node.number, static_cast<Rank>(r));
  }
  std::sort(order.begin(), order.end());
  std::vector<Rank> labels(node_of.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    labels[static_cast<std::size_t>(std::get<2>(order[i]))] = static_cast<Rank>(i);
  }
  return Relabelling(std::move(labels));
}

namespace {

/// The ranks of nodes in groups of `cores`. Full groups come from one node each, and the ranks that are left come last.
struct Grouping {
  std::vector<Rank> order{};  ///< of ranks, group by group
  Rank groups = 0;
  Rank elsewhere = 0;  ///< ranks in a group that begins with one of another node

  /// About the messages of a carrier between nodes. A rank that is elsewhere sends and receives all between nodes.
  [[nodiscard]] std::int64_t price() const { return groups + 2 * std::int64_t{elsewhere}; }
};

Grouping in_groups(const std::vector<std::vector<Rank>>& nodes, Rank cores) {
  Grouping grouping;
  std::vector<std::span<const Rank>> left;  // of each node
  for (const std::vector<Rank>& ranks : nodes) {
    const std::size_t rest = ranks.size() % static_cast<std::size_t>(cores);
    left.push_back(std::span(ranks).last(rest));
    grouping.order.insert(grouping.order.end(), ranks.begin(), ranks.end() - static_cast<std::ptrdiff_t>(rest));
  }
  // The most first, so that few are in a group that begins with others.
  std::stable_sort(left.begin(), left.end(), [](auto a, auto b) { return a.size() > b.size(); });
  std::size_t before = 0;  // the node with which the last group begins
  Rank in_group = 0;
  for (std::size_t node = 0; node < left.size(); ++node) {
    for (const Rank rank : left[node]) {
      if (in_group == 0) before = node;
      if (before != node) ++grouping.elsewhere;
      grouping.order.push_back(rank);
      in_group = in_group + 1 == cores ? 0 : in_group + 1;
    }
  }
  grouping.groups = (static_cast<Rank>(grouping.order.size()) + cores - 1) / cores;
  return grouping;
}

}  // namespace

std::optional<NodeByNode> node_by_node(std::span<const Rank> node_of) {
  std::map<Rank, std::vector<Rank>> members;
  for (std::size_t r = 0; r < node_of.size(); ++r) members[node_of[r]].push_back(static_cast<Rank>(r));
  std::vector<std::vector<Rank>> nodes;
  nodes.reserve(members.size());
  for (auto& [node, ranks] : members) nodes.push_back(std::move(ranks));
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  std::optional<Grouping> best;
  Rank cores = 0;  // of the best; the greatest of those that are as good
  Rank before = 1;
  for (const std::vector<Rank>& ranks : nodes) {
    const auto size = static_cast<Rank>(ranks.size());
    if (size == 1 || size == before) continue;
    before = size;
    Grouping grouping = in_groups(nodes, size);
    if (best && grouping.price() >= best->price()) continue;
    best = std::move(grouping);
    cores = size;
  }
  const auto p = static_cast<Rank>(node_of.size());
  if (!best || 4 * static_cast<std::int64_t>(best->elsewhere) >= p) return std::nullopt;
  std::vector<Rank> labels(node_of.size());
  for (Rank label = 0; label < p; ++label)
    labels[static_cast<std::size_t>(best->order[static_cast<std::size_t>(label)])] = label;
  NodeByNode found{.labels = Relabelling(std::move(labels)), .cores = cores};
  for (Rank first = 0; first < p; first += cores) {
    const Rank size = std::min(cores, p - first);
    std::map<Rank, Rank> on_node;
    for (Rank label = first; label < first + size; ++label)
      ++on_node[node_of[static_cast<std::size_t>(found.labels.rank(label))]];
    // Each of the ranks on one node has a message for another node, or each of the others has one for this node.
    for (const auto& [node, ranks] : on_node) found.split = std::max(found.split, std::min(ranks, size - ranks));
  }
  return found;
}

Placement placement_of(std::span<const Rank> node_of) {
  struct Node {
    Rank number = 0;
    Rank ranks = 0;
  };
  std::map<Rank, Node> known;
  std::vector<Rank> numbers;
  numbers.reserve(node_of.size());
  Placement placement;
  for (const Rank name : node_of) {
    Node& node = known.try_emplace(name, Node{.number = static_cast<Rank>(known.size())}).first->second;
    placement.cores = std::max(placement.cores, ++node.ranks);
    numbers.push_back(node.number);
  }
  placement.nodes = static_cast<Rank>(known.size());
  placement.node_of = std::make_shared<const std::vector<Rank>>(std::move(numbers));
  Relabelling labels = Relabelling::across_nodes(node_of);
  if (labels == Relabelling::across_nodes(labels.size(), placement.cores)) return placement;
  placement.labels = std::make_shared<const Relabelling>(std::move(labels));
  if (auto in_order = node_by_node(node_of)) {
    placement.in_order = std::make_shared<const Relabelling>(std::move(in_order->labels));
    placement.group = in_order->cores;
    placement.group_split = in_order->split;
  }
  return placement;
}

bool can_relabel(Collective collective) { return !is_prefix(collective); }

namespace {

/// Blocks and slots of one rank's schedule in MPI's numbers.
class Translation {
 public:
  Translation(const Schedule& schedule, const Relabelling& labels) : schedule_(schedule), labels_(labels) {}

  [[nodiscard]] bool keeps_blocks() const { return schedule_.user_blocks == 1; }
  [[nodiscard]] Block block(Block b) const {
    const Block user = b / schedule_.segments;
    return user_block(user) * schedule_.segments + b % schedule_.segments;
  }
  /// The caller's buffers, which hold one user block, or one for each rank in the order of ranks.
  [[nodiscard]] Slot user_slot(std::int32_t buffer, Slot slot) const {
    const Slot n = schedule_.segments;
    if (schedule_.buffers[static_cast<std::size_t>(buffer)].slots == n) return slot;
    return labels_.rank(slot / n) * n + slot % n;
  }
  [[nodiscard]] Buffer scratch(const Buffer& buffer, std::int32_t number) const {
    if (keeps_blocks()) return buffer;
    Buffer result{.slots = buffer.slots, .storage = buffer.storage};
    if (buffer.list.empty() && buffer.stride == 0) {
      result.first_block = block(buffer.first_block);
      result.stride = 0;
      return result;
    }
    for (Slot s = 0; s < buffer.slots; ++s) result.list.push_back(block(schedule_.block_of(number, s)));
    return result;
  }
  /// Adds the ranges of an operand to `ranges`. A range that is cyclic in labels may be scattered in ranks.
  void append(Operand operand, std::vector<Range>& ranges) const {
    const std::size_t begin = ranges.size();
    for (const Range& range : schedule_.operand(operand)) {
      if (keeps_blocks() || range.buffer >= first_scratch_buffer) {
        ranges.push_back(range);
        continue;
      }
      const Slot slots = schedule_.buffers[static_cast<std::size_t>(range.buffer)].slots;
      for (Slot i = 0; i < range.count; ++i) {
        const Slot slot = user_slot(range.buffer, (range.first + i) % slots);
        Range* const last = ranges.size() > begin ? &ranges.back() : nullptr;
        if (last != nullptr && last->buffer == range.buffer && last->first + last->count == slot) {
          ++last->count;
        } else {
          ranges.push_back({range.buffer, slot, 1});
        }
      }
    }
  }

 private:
  [[nodiscard]] Block user_block(Block b) const {
    if (keeps_blocks()) return b;
    const Rank p = labels_.size();
    if (!is_exchange(schedule_.collective)) return labels_.rank(b);
    return labels_.rank(b / p) * p + labels_.rank(b % p);
  }

  const Schedule& schedule_;
  const Relabelling& labels_;
};

}  // namespace

Schedule relabelled(const Schedule& schedule, const Relabelling& labels) {
  require(schedule.shape.size == labels.size(), "there are as many labels as ranks");
  if (!can_relabel(schedule.collective)) {
    throw Error(ErrorCode::unsupported,
                "the result of " + std::string(to_string(schedule.collective)) + " depends on the order of ranks");
  }
  const Translation here(schedule, labels);
  Schedule result = schedule;
  result.shape.rank = labels.rank(schedule.shape.rank);
  if (is_rooted(schedule.collective)) result.shape.root = labels.rank(schedule.shape.root);
  result.shape.labels.reset();
  const CollectiveContract contract = contract_of(schedule.collective, result.shape, schedule.segments);
  result.buffers[send_buffer] = contract.send;
  result.buffers[recv_buffer] = contract.recv;
  for (std::size_t i = first_scratch_buffer; i < result.buffers.size(); ++i) {
    result.buffers[i] = here.scratch(schedule.buffers[i], static_cast<std::int32_t>(i));
  }
  result.ranges.clear();
  const auto store = [&](Operand operand) {
    const auto offset = static_cast<std::uint32_t>(result.ranges.size());
    here.append(operand, result.ranges);
    return Operand{offset, static_cast<std::uint32_t>(result.ranges.size()) - offset};
  };
  for (Step& step : result.steps) {
    if (step.peer >= 0) step.peer = labels.rank(step.peer);
    step.dst = store(step.dst);
    step.left = store(step.left);
    step.right = store(step.right);
  }
  return result;
}

}  // namespace circoll
