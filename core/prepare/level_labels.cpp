#include "prepare/level_labels.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "circoll/collectives.hpp"
#include "circoll/select.hpp"
#include "model/near_labels.hpp"
#include "schedule/registry.hpp"

namespace circoll {
namespace {

/// Schedules of so many ranks are built for one question, and for each root. If all are rotations, one is built.
constexpr Rank most_labelled = 4096, most_rooted = 512, most_rotated = Rank{1} << 17U;

Rank most_ranks(const Selection& selection) {
  if (is_rooted(selection.collective)) return most_rooted;
  return selection.algorithm->rotation != Rotation::none ? most_rotated : most_labelled;
}

/// The ranks of each node.
std::vector<Rank> sizes_of(const Placement& placement) {
  std::vector<Rank> sizes(static_cast<std::size_t>(placement.nodes), 0);
  for (const Rank node : *placement.node_of) ++sizes[static_cast<std::size_t>(node)];
  return sizes;
}

/// True if two nodes have equally many ranks.
bool some_alike(std::vector<Rank> sizes) {
  std::ranges::sort(sizes);
  return std::ranges::adjacent_find(sizes) != sizes.end();
}

/// Pairs of ranks that exchange messages. A schedule with more sends from each to each, where no labels help.
constexpr std::size_t most_exchanges = std::size_t{1} << 20U;
/// A vector in more segments goes the same way, in about the same shares.
constexpr std::int64_t enough_segments = 16;
/// Answers that are remembered: so many, and so many labels in them, but a few always.
constexpr std::size_t most_found = 256, most_found_labels = std::size_t{1} << 20U, least_found = 8;
/// Nodes stay where they are if they would save less. Blocks of ranks in another order are more pieces.
constexpr std::int64_t least_percent = 5;

std::size_t at(Rank number) { return static_cast<std::size_t>(number); }

/// The ranks to which a rank sends: the root, if there is one.
std::size_t receivers(const Selection& selection, Rank p, Rank rank) {
  const Shape shape{
      .size = p, .rank = rank, .root = is_rooted(selection.collective) ? rank : 0, .params = selection.params};
  const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
  std::set<Rank> all;
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::send) all.insert(step.peer);
  }
  return all.size();
}

}  // namespace

std::shared_ptr<const Relabelling> labels_for_nodes(const Selection& selection, const Placement& placement) {
  const std::optional<std::int64_t> cores = param_value(*selection.algorithm, selection.params, "cores");
  if (placement.in_order == nullptr || !cores || !can_relabel(selection.collective)) return nullptr;
  // Where groups are nodes, nodes of another size are cut alike, with labels or without.
  return placement.group == placement.cores || placement.group % *cores == 0 ? placement.in_order : nullptr;
}

LevelLabels::LevelLabels(Levels nodes, const Placement& placement)
    : nodes_(std::move(nodes)),
      sizes_(sizes_of(placement)),
      moves_nodes_(nodes_.depth() > 1 && placement.nodes > 2 && some_alike(sizes_)),
      placement_(placement),
      node_of_(placement.node_of),
      ranks_of_(sizes_.size()) {
  placement_.levels = nullptr;
  if (!moves_nodes_) return;
  for (std::size_t r = 0; r < node_of_->size(); ++r) {
    std::vector<Rank>& ranks = ranks_of_[at((*node_of_)[r])];
    core_of_.push_back(static_cast<Rank>(ranks.size()));
    ranks.push_back(static_cast<Rank>(r));
  }
}

Relabelling LevelLabels::places(const Relabelling& wanted) const {
  std::map<Rank, std::vector<Rank>> alike;
  for (Rank node = 0; node < nodes_.size(); ++node) alike[sizes_[at(node)]].push_back(node);
  std::map<Rank, std::size_t> taken;
  std::vector<Rank> places(sizes_.size());
  for (Rank label = 0; label < nodes_.size(); ++label) {
    const Rank node = wanted.rank(label), size = sizes_[at(node)];
    places[at(node)] = alike[size][taken[size]++];
  }
  return Relabelling(std::move(places));
}

LevelLabels::Found LevelLabels::find(const Selection& selection, Rank root) {
  const Collective collective = selection.collective;
  if (!moves_nodes_ || !can_relabel(collective) || is_exchange(collective) ||
      static_cast<Rank>(node_of_->size()) > most_ranks(selection))
    return {};
  Selection few = selection;
  if (const auto segments = few.params.find("segments"); segments != few.params.end())
    segments->second = std::min(segments->second, enough_segments);
  const std::pair question{few.id() + ':' + few.text(), is_rooted(collective) ? root : 0};
  const std::lock_guard lock(mutex_);
  if (const auto known = found_.find(question); known != found_.end()) return known->second;
  Found found = make(few, question.second);
  if (found_.size() >= std::clamp(most_found_labels / node_of_->size(), least_found, most_found)) found_.clear();
  return found_.emplace(question, std::move(found)).first->second;
}

LevelLabels::Found LevelLabels::make(const Selection& selection, Rank root) const {
  const auto p = static_cast<Rank>(node_of_->size());
  // The labels of the selection itself.
  Selection plain = selection;
  std::vector<Rank> base(at(p));
  std::iota(base.begin(), base.end(), Rank{0});
  if (const auto cores = plain.params.find(relabel.name); cores != plain.params.end()) {
    const Relabelling across =
        placement_.labels != nullptr ? *placement_.labels : Relabelling::across_nodes(p, cores->second);
    for (Rank r = 0; r < p; ++r) base[at(r)] = across.label(r);
    plain.params.erase(cores);
  } else if (const auto in_order = labels_for_nodes(plain, placement_); in_order != nullptr) {
    for (Rank r = 0; r < p; ++r) base[at(r)] = in_order->label(r);
  }
  std::vector<Rank> node_of_label(at(p));
  for (Rank r = 0; r < p; ++r) node_of_label[at(base[at(r)])] = (*node_of_)[at(r)];
  const auto between_nodes = [&](Rank rank) {
    return Messages(plain, p, is_rooted(plain.collective) ? base[at(rank)] : 0).between(node_of_label, nodes_.size());
  };
  if (receivers(plain, p, base[at(root)]) * at(p) > most_exchanges) return {};
  // The root's node plays the first one with as many ranks, and the root the rank there that has its place.
  const Rank root_node = (*node_of_)[at(root)];
  const auto first = std::ranges::find(sizes_, sizes_[at(root_node)]) - sizes_.begin();
  const Rank stand_in = ranks_of_[static_cast<std::size_t>(first)][at(core_of_[at(root)])];
  const Messages own = between_nodes(root);
  const Messages messages = stand_in == root ? own : between_nodes(stand_in);
  const Relabelling near = places(near_labels(messages, near_order(messages), nodes_, root_node).labels);
  const std::vector<Flow> old_flows = flows_between(own, nodes_);
  const std::vector<Flow> new_flows = flows_between(messages, nodes_, &near);
  for (int level = 0; level + 1 < nodes_.depth(); ++level) {
    const std::int64_t was = own.weight(old_flows[at(level)]), is = messages.weight(new_flows[at(level)]);
    if (was == is) continue;
    const std::int64_t percent = 100 * (was - is) / std::max<std::int64_t>(was, 1);
    if (percent < least_percent) break;
    std::vector<Rank> labels(at(p));
    for (Rank r = 0; r < p; ++r) {
      const Rank node = near.label((*node_of_)[at(r)]);
      labels[at(r)] = base[at(ranks_of_[at(node)][at(core_of_[at(r)])])];
    }
    return {.labels = std::make_shared<const Relabelling>(Relabelling(std::move(labels))),
            .percent = static_cast<int>(percent),
            .level = level};
  }
  return {};
}

}  // namespace circoll
