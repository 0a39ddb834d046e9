#include "exec/mpi/bound_plan.hpp"

#include <algorithm>

#include "circoll/error.hpp"
#include "circoll/select.hpp"

namespace circoll::mpi {
namespace {

struct Hash {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  void add(std::uint64_t word) {
    value = (value ^ word) * 0x9e3779b97f4a7c15ULL;
    value ^= value >> 29;
  }
};

Count blocks_of(Collective collective, Rank size) {
  return contract_of(collective, Shape{.size = size}, 1).user_blocks;
}

}  // namespace

std::uint64_t Signature::hash() const {
  Hash hash;
  hash.add(reinterpret_cast<std::uintptr_t>(head.choice));
  hash.add(head.type_id);
  hash.add(static_cast<std::uint64_t>(head.count));
  hash.add(static_cast<std::uint64_t>(head.extent_bytes));
  hash.add(static_cast<std::uint64_t>(head.root) << 16U | static_cast<std::uint64_t>(head.collective) << 1U |
           static_cast<std::uint64_t>(head.in_place));
  for (Rank i = 0; head.has_counts && i < size; ++i) hash.add(static_cast<std::uint64_t>(count_of(i)));
  for (Rank i = 0; has_displs() && i < size; ++i) hash.add(static_cast<std::uint64_t>(displ_of(i)));
  return hash.value;
}

Count Signature::total_bytes() const {
  // gatherv and scatterv: a rank knows the counts of the blocks that pass through it only, so none may
  // matter.
  if (head.collective == Collective::gatherv || head.collective == Collective::scatterv) return 0;
  if (!head.has_counts) return head.count * head.extent_bytes * blocks_of(head.collective, size);
  Count total = 0;
  for (Rank i = 0; i < size; ++i) total += count_of(i);
  return total * head.extent_bytes;
}

BoundPlan::BoundPlan(const Signature& signature, std::uint64_t hash, Rank rank, MPI_Datatype type, const TypeInfo& info,
                     std::uint32_t tag_span)
    : head_(signature.head), hash_(hash) {
  if (head_.has_counts) {
    counts_.resize(static_cast<std::size_t>(signature.size));
    for (Rank i = 0; i < signature.size; ++i) counts_[static_cast<std::size_t>(i)] = signature.count_of(i);
  }
  if (signature.has_displs()) {
    displs_.resize(static_cast<std::size_t>(signature.size));
    for (Rank i = 0; i < signature.size; ++i) displs_[static_cast<std::size_t>(i)] = signature.displ_of(i);
  }
  if (select(signature, tag_span)) build(signature, rank, type, info);
  memory_bytes_ = sizeof(BoundPlan) + 128 + (counts_.size() * 3 + displs_.size()) * sizeof(Count);
  if (execution_) memory_bytes_ += plan().memory_bytes() + execution_->memory_bytes();
}

bool BoundPlan::select(const Signature& signature, std::uint32_t tag_span) {
  const CallFacts facts{.collective = head_.collective,
                        .p = signature.size,
                        .bytes = signature.total_bytes(),
                        .op = {.commutative = head_.commutative, .idempotent = head_.idempotent},
                        .exact_op = head_.exact,
                        .predefined_op = head_.predefined};
  try {
    if (head_.choice->kind == Interned::Kind::algorithm) {
      selection_ = resolve(head_.choice->selection, facts);
    } else {
      Decision decision = head_.choice->policy->decide(facts);
      if (!decision.selection) {
        native_reason_ = decision.reason;
        return false;
      }
      selection_ = *std::move(decision.selection);
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) throw;
    native_reason_ = e.what();
    return false;
  }
  // Steps of one pair of ranks carry tags modulo the span. A schedule sends a small number of messages per
  // segment.
  constexpr std::int64_t messages_per_segment = 4;
  for (const auto& [name, value] : selection_.params) {
    if (name == "segments" && value * messages_per_segment > static_cast<std::int64_t>(tag_span)) {
      native_reason_ = "more segments than this MPI has tags for";
      return false;
    }
  }
  return true;
}

void BoundPlan::build(const Signature& signature, Rank rank, MPI_Datatype type, const TypeInfo& info) {
  const Shape shape{.size = signature.size,
                    .rank = rank,
                    .root = is_rooted(head_.collective) ? head_.root : 0,
                    .in_place = head_.in_place,
                    .params = selection_.params};
  Schedule schedule;
  try {
    schedule = build_schedule(*selection_.algorithm, head_.collective, shape);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) throw;  // needs depend on p and parameters: equal on all ranks
    native_reason_ = e.what();
    return;
  }
  if (head_.prologue) {
    prologue_ = std::make_unique<CountPrologue>(schedule);
  } else {
    const Layout layout = head_.has_counts ? Layout::irregular(counts_, schedule.segments)
                                           : Layout::uniform(schedule.user_blocks, schedule.segments, head_.count);
    Displacements displacements;
    if (head_.has_send_displs) displacements.send = displs_;
    if (head_.has_recv_displs) displacements.recv = displs_;
    plan_ = bind(schedule, layout, head_.extent_bytes, displacements);
  }
  messages_ = std::make_unique<MessageTable>(plan(), type, info);
  execution_ = std::make_unique<Execution>(plan(), *messages_);
}

bool BoundPlan::matches(const Signature& signature) const {
  if (!(head_ == signature.head)) return false;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != signature.count_of(static_cast<Rank>(i))) return false;
  }
  for (std::size_t i = 0; i < displs_.size(); ++i) {
    if (displs_[i] != signature.displ_of(static_cast<Rank>(i))) return false;
  }
  return true;
}

}  // namespace circoll::mpi
