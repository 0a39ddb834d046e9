#include "exec/mpi/message/in_order_path.hpp"

#include <algorithm>
#include <utility>

namespace circoll::mpi {
namespace {

/// The order among steps that are ready. Steps that other ranks wait for come first, and steps that wait for other
/// ranks come last. So no step that could run waits for a receive.
int turn_of(const PlanStep& step) {
  if (step.kind == StepKind::send) return 0;
  return is_receive(step.kind) ? 2 : 1;
}

/// The steps of a short plan in an order that its dependencies allow.
std::vector<StepIndex> order_of(const Plan& plan) {
  std::vector<std::uint32_t> waiting = plan.dependencies.in_degree;
  std::vector<StepIndex> order, ready;
  const auto earlier = [&](StepIndex a, StepIndex b) {
    return std::pair(turn_of(plan.steps[a]), a) < std::pair(turn_of(plan.steps[b]), b);
  };
  for (StepIndex step = 0; step < plan.steps.size(); ++step) {
    if (waiting[step] == 0) ready.push_back(step);
  }
  while (!ready.empty()) {
    const auto place = std::min_element(ready.begin(), ready.end(), earlier);
    const StepIndex step = *place;
    ready.erase(place);
    order.push_back(step);
    for (const StepIndex next : plan.dependencies.successors(step)) {
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

/// The steps that wait for a step, directly or through others, and that step itself. `order` has all of them.
std::vector<bool> waiting_for(const Plan& plan, std::span<const StepIndex> order, std::size_t place) {
  std::vector<bool> waits(plan.steps.size(), false);
  waits[order[place]] = true;
  for (std::size_t i = place; i < order.size(); ++i) {
    if (!waits[order[i]]) continue;
    for (const StepIndex next : plan.dependencies.successors(order[i])) waits[next] = true;
  }
  return waits;
}

}  // namespace

InOrderPath::InOrderPath(const Plan& plan) {
  if (plan.steps.empty() || plan.steps.size() > most_steps) return;
  const std::vector<StepIndex> order = order_of(plan);
  list_.reserve(order.size());
  for (const StepIndex step : order) {
    if (!add(plan, step)) {
      list_.clear();
      return;
    }
  }
  join_receives(plan, order);
}

void InOrderPath::join_receives(const Plan& plan, std::span<const StepIndex> order) {
  for (std::size_t first = 0, end = 0; first < list_.size(); first = end) {
    end = first + 1;
    if (list_[first].kind != Kind::receive) continue;
    std::vector<std::vector<bool>> waiting{waiting_for(plan, order, first)};
    const auto waits_for_one = [&](StepIndex step) {
      return std::any_of(waiting.begin(), waiting.end(), [&](const auto& waits) { return waits[step]; });
    };
    for (; end < list_.size() && list_[end].kind == Kind::receive && !waits_for_one(order[end]); ++end)
      waiting.push_back(waiting_for(plan, order, end));
    bool alone = true;
    for (std::size_t later = end; later < list_.size(); ++later) {
      alone = alone &&
              (list_[later].kind == Kind::local ||
               std::all_of(waiting.begin(), waiting.end(), [&](const auto& waits) { return waits[order[later]]; }));
    }
    for (std::size_t i = first; i < end; ++i) {
      list_[i].receives = static_cast<std::uint8_t>(end - i);
      list_[i].alone = alone;
    }
  }
}

/// False if the step cannot be in a list.
bool InOrderPath::add(const Plan& plan, StepIndex step) {
  const PlanStep& s = plan.steps[step];
  Entry& entry = list_.emplace_back();
  entry.step = step;
  if (!is_message(s.kind)) return true;
  if (s.length > 1 || s.empty) return false;
  entry.kind = s.kind == StepKind::send ? Kind::send : Kind::receive;
  entry.reduces = s.kind == StepKind::recv_reduce;
  if (s.length == 1) {
    const Piece& piece = plan.pieces[s.first];
    entry.area = piece.area;
    entry.offset_bytes = piece.offset_bytes;
    entry.bytes = static_cast<std::size_t>(piece.elements * plan.extent_bytes);
  }
  return entry.bytes <= node::Connection::most_at_once;
}

void InOrderPath::set_ends(const NodeChannel* node) {
  reaches_all_ = !list_.empty();
  for (Entry& entry : list_) {
    if (entry.kind == Kind::local) continue;
    reaches_all_ = reaches_all_ && node != nullptr && node->serves(entry.step);
    if (!reaches_all_) return;
    entry.peer = node->peer(entry.step);
    entry.key = node->key(entry.step);
  }
}

}  // namespace circoll::mpi
