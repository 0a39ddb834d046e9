#include "prepare/prepared_call.hpp"

#include <algorithm>
#include <optional>

#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "prepare/level_labels.hpp"
#include "schedule/registry.hpp"

namespace circoll::prepare {

CallFacts facts_of(const Signature& signature, const Placement& placement) {
  const SignatureHead& head = signature.head;
  return {.collective = head.collective,
          .p = head.size,
          .bytes = signature.deciding_bytes(),
          .op = {.commutative = head.commutative, .idempotent = head.idempotent},
          .exact_op = head.exact,
          .predefined_op = head.predefined,
          .cores = placement.cores,
          .node_by_node = placement.labels == nullptr,
          .group = placement.group,
          .group_split = placement.group_split,
          .nodes = placement.nodes,
          .crowded = placement.crowded};
}

PreparedCall::PreparedCall(const Signature& signature, std::uint64_t hash, const Placement& placement, int most_tags)
    : signature_(signature), hash_(hash), placement_(placement) {
  std::optional<Schedule> schedule;
  try {
    select(signature, most_tags);
    if (native_reason_.empty()) {
      find_labels(signature.head);
      schedule = make_schedule(signature.head, signature.head.rank);
    }
  } catch (const Error& e) {
    // Needs depend on p, operator and parameters: equal on all ranks.
    if (e.code() != ErrorCode::unsupported) throw;
    native_reason_ = e.what();
  }
  if (schedule) bind_to(signature, *schedule);
}

void PreparedCall::select(const Signature& signature, int most_tags) {
  const SignatureHead& head = signature.head;
  const CallFacts facts = facts_of(signature, placement_);
  if (head.choice->kind == InternedChoice::Kind::algorithm) {
    selection_ = resolve(head.choice->selection, facts);
    why_ = "chosen by name";
    named_ = true;
  } else {
    Decision decision = head.choice->policy->decide(facts);
    if (!decision.selection) {
      native_reason_ = decision.reason;
      return;
    }
    selection_ = *std::move(decision.selection);
    why_ = std::move(decision.reason);
    named_ = decision.named;
  }
  if (selection_.algorithm->pair_messages > most_tags) {
    native_reason_ = "more messages between two ranks than this MPI has tags for";
    return;
  }
  tags_ = std::max(tags_, static_cast<int>(selection_.algorithm->pair_messages));
  // Messages of one pair of ranks carry tags modulo those that the execution has. A schedule sends a small number of
  // messages per segment.
  constexpr std::int64_t messages_per_segment = 4;
  for (const auto& [name, value] : selection_.params) {
    if (name != "segments") continue;
    if (value * messages_per_segment > most_tags) {
      native_reason_ = "more segments than this MPI has tags for";
      return;
    }
    tags_ = static_cast<int>(value * messages_per_segment);
  }
}

void PreparedCall::find_labels(const SignatureHead& head) {
  if (named_ || !head.commutative) return;
  LevelLabels::Found found;
  if (placement_.levels != nullptr) found = placement_.levels->find(selection_, head.root);
  if (found.labels == nullptr) {
    labels_ = labels_for_nodes(selection_, placement_);
    if (labels_ == nullptr) return;
    why_ += "; ranks are numbered node by node";
    if (placement_.group != placement_.cores) why_ += ", in groups of " + std::to_string(placement_.group);
    return;
  }
  labels_ = found.labels;
  why_ += "; nodes change places: " + std::to_string(found.percent) + " % less between parts of level " +
          std::to_string(found.level + 1);
}

Schedule PreparedCall::make_schedule(const SignatureHead& head, Rank rank) const {
  Shape shape{.size = head.size,
              .rank = rank,
              .root = is_rooted(head.collective) ? head.root : 0,
              .in_place = head.in_place,
              .params = selection_.params};
  // A policy chooses for the nodes that there are. A call by name chooses nodes of so many ranks.
  if (head.choice->kind != InternedChoice::Kind::algorithm) shape.labels = placement_.labels;
  if (labels_ != nullptr) {
    shape.labels = labels_;
    shape.params.try_emplace(std::string(relabel.name), head.cores);
  }
  Schedule schedule = build_schedule(*selection_.algorithm, head.collective, shape);
  const std::vector<Rank>* const nodes = placement_.node_of.get();
  if (head.on_arrival == CombineOnArrival::kept || (head.on_arrival == CombineOnArrival::of_node && nodes == nullptr))
    return schedule;
  return combined_on_arrival(schedule, [&](Rank peer) {
    return head.on_arrival == CombineOnArrival::all ||
           (*nodes)[static_cast<std::size_t>(peer)] == (*nodes)[static_cast<std::size_t>(rank)];
  });
}

std::vector<Schedule> PreparedCall::schedules() const {
  std::vector<Schedule> all;
  for (Rank rank = 0; rank < signature_.head().size; ++rank) all.push_back(make_schedule(signature_.head(), rank));
  return all;
}

bool PreparedCall::knows_all_blocks() const {
  return has_plan_ && prologue_ == nullptr && !has_unknown_size(signature_.head().collective);
}

Plan PreparedCall::bind_instead(const Schedule& schedule) const {
  require(knows_all_blocks(), "a schedule is bound instead of one whose blocks are all known");
  return bind_with(schedule, {});
}

Plan PreparedCall::bind_with(const Schedule& schedule, std::span<const Block> blocks) const {
  return bind(schedule, layout_of(schedule, blocks), signature_.head().extent_bytes,
              Displacements{.send = signature_.send_displs(), .recv = signature_.recv_displs()});
}

void PreparedCall::bind_to(const Signature& signature, const Schedule& schedule) {
  if (signature.head.prologue) {
    if (selection_.algorithm->guarantees.direct) return;
    prologue_ = std::make_unique<CountPrologue>(schedule);
  } else {
    plan_ = bind_with(schedule, signature.blocks);
  }
  has_plan_ = true;
}

Layout PreparedCall::layout_of(const Schedule& schedule, std::span<const Block> blocks) const {
  const std::vector<Count>& counts = signature_.counts();
  if (!signature_.send_counts().empty()) {
    return Layout::exchange(schedule.shape.rank, signature_.send_counts(), counts, schedule.segments);
  }
  if (!blocks.empty()) {
    return Layout::sparse(schedule.user_blocks, {blocks.begin(), blocks.end()}, counts, schedule.segments);
  }
  return counts.empty() ? Layout::uniform(schedule.user_blocks, schedule.segments, signature_.head().count)
                        : Layout::irregular(counts, schedule.segments);
}

std::size_t PreparedCall::prepared_bytes() const {
  constexpr std::size_t nodes_bytes = 128;  // of the cache's list and index
  const std::size_t bytes = nodes_bytes + signature_.memory_bytes() + why_.capacity();
  return has_plan_ ? bytes + plan().memory_bytes() : bytes;
}

}  // namespace circoll::prepare
