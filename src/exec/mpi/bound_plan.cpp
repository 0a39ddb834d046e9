#include "exec/mpi/bound_plan.hpp"

#include <algorithm>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "exec/mpi/carrier.hpp"

namespace circoll::mpi {
namespace {

struct Hash {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  void add(std::uint64_t word) {
    value = (value ^ word) * 0x9e3779b97f4a7c15ULL;
    value ^= value >> 29;
  }
};

/// User blocks of the vector that decides: of an alltoall those that a rank sends.
Count blocks_of(Collective collective, Rank size) {
  return is_exchange(collective) ? size : contract_of(collective, Shape{.size = size}, 1).user_blocks;
}

}  // namespace

std::uint64_t Signature::hash() const {
  Hash hash;
  hash.add(reinterpret_cast<std::uintptr_t>(head.choice));
  hash.add(head.type_id);
  hash.add(static_cast<std::uint64_t>(head.count));
  hash.add(static_cast<std::uint64_t>(head.extent_bytes));
  hash.add(static_cast<std::uint64_t>(head.size) << 32U ^ static_cast<std::uint64_t>(head.rank));
  hash.add(static_cast<std::uint64_t>(head.root) << 16U | static_cast<std::uint64_t>(head.collective) << 1U |
           static_cast<std::uint64_t>(head.in_place));
  for (const Numbers* numbers : arrays()) {
    for (Rank i = 0; i < numbers->size; ++i) hash.add(static_cast<std::uint64_t>((*numbers)[i]));
  }
  return hash.value;
}

Count Signature::vector_bytes() const {
  Count elements = counts.size == 0 ? head.count * blocks_of(head.collective, head.size) : 0;
  for (Rank i = 0; i < counts.size; ++i) elements += counts[i];
  return deciding_bytes(head.collective, elements * head.message_bytes);
}

BoundPlan::BoundPlan(const Signature& signature, std::uint64_t hash, MPI_Datatype type, const TypeInfo& info,
                     const Placement& placement)
    : head_(signature.head), hash_(hash), placement_(placement) {
  std::size_t kept = 0;
  const auto copies = arrays();
  for (std::size_t a = 0; a < copies.size(); ++a) {
    const Numbers& numbers = *signature.arrays()[a];
    copies[a]->resize(static_cast<std::size_t>(numbers.size));
    for (Rank i = 0; i < numbers.size; ++i) (*copies[a])[static_cast<std::size_t>(i)] = numbers[i];
    kept += copies[a]->size();
  }
  if (select(signature)) build(signature, type, info);
  constexpr std::size_t nodes_bytes = 128;  // of the cache's list and index
  memory_bytes_ += sizeof(BoundPlan) + nodes_bytes + kept * sizeof(Count) + why_.capacity();
  if (messages_ != nullptr) memory_bytes_ += plan().memory_bytes();
}

void BoundPlan::enter_cache(CacheAccount& account) {
  const std::lock_guard lock(mutex_);
  account_ = &account;
  account.bytes += memory_bytes_;
}

void BoundPlan::leave_cache() {
  const std::lock_guard lock(mutex_);
  if (account_ != nullptr) account_.load()->bytes -= memory_bytes_;
  account_ = nullptr;
}

void BoundPlan::add_memory(std::size_t bytes) {
  memory_bytes_ += bytes;
  if (CacheAccount* const account = account_) account->bytes += bytes;
}

void BoundPlan::remove_memory(std::size_t bytes) {
  memory_bytes_ -= bytes;
  if (CacheAccount* const account = account_) account->bytes -= bytes;
}

bool BoundPlan::select(const Signature& signature) {
  const CallFacts facts{.collective = head_.collective,
                        .p = head_.size,
                        .bytes = signature.vector_bytes(),
                        .op = {.commutative = head_.commutative, .idempotent = head_.idempotent},
                        .exact_op = head_.exact,
                        .predefined_op = head_.predefined,
                        .cores = placement_.cores,
                        .node_by_node = placement_.labels == nullptr,
                        .nodes = placement_.nodes};
  try {
    if (head_.choice->kind == Interned::Kind::algorithm) {
      selection_ = resolve(head_.choice->selection, facts);
      why_ = "chosen by name";
    } else {
      Decision decision = head_.choice->policy->decide(facts);
      if (!decision.selection) {
        native_reason_ = decision.reason;
        return false;
      }
      selection_ = *std::move(decision.selection);
      why_ = std::move(decision.reason);
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) throw;
    native_reason_ = e.what();
    return false;
  }
  // Messages of one pair of ranks carry tags modulo those that the execution has. A schedule sends a small number of messages
  // per segment.
  constexpr std::int64_t messages_per_segment = 4;
  for (const auto& [name, value] : selection_.params) {
    if (name != "segments") continue;
    if (value * messages_per_segment > tag_layout().most_tags()) {
      native_reason_ = "more segments than this MPI has tags for";
      return false;
    }
    tags_ = static_cast<int>(value * messages_per_segment);
  }
  return true;
}

void BoundPlan::build(const Signature& signature, MPI_Datatype type, const TypeInfo& info) {
  Shape shape{.size = head_.size,
              .rank = head_.rank,
              .root = is_rooted(head_.collective) ? head_.root : 0,
              .in_place = head_.in_place,
              .params = selection_.params};
  // What a policy says of nodes is meant for those that there are; what a call says by name, for nodes of so many ranks.
  if (head_.choice->kind != Interned::Kind::algorithm) shape.labels = placement_.labels;
  Schedule schedule;
  try {
    schedule = build_schedule(*selection_.algorithm, head_.collective, shape);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) throw;  // needs depend on p and parameters: equal on all ranks
    native_reason_ = e.what();
    return;
  }
  if (head_.prologue) {
    if (selection_.algorithm->guarantees.direct) return;
    prologue_ = std::make_unique<CountPrologue>(schedule);
  } else {
    plan_ = bind(schedule, layout_of(signature, schedule), head_.extent_bytes,
                 Displacements{.send = send_displs_, .recv = recv_displs_});
  }
  messages_ = std::make_unique<MessageTable>(plan(), type, info);
  give_back(take_execution());
}

std::unique_ptr<Execution> BoundPlan::take_execution() {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    std::unique_ptr<Execution> execution = std::move(idle_.back());
    idle_.pop_back();
    return execution;
  }
  idle_.reserve(executions_ + 1);  // so that give_back() does not allocate
  auto execution = std::make_unique<Execution>(plan(), *messages_);
  ++executions_;
  add_memory(execution->memory_bytes());
  return execution;
}

void BoundPlan::give_back(std::unique_ptr<Execution> execution) noexcept {
  const std::lock_guard lock(mutex_);
  const CacheAccount* const account = account_;
  if (executions_ > 1 && account != nullptr && account->exceeded()) {
    --executions_;
    remove_memory(execution->memory_bytes());
    return;
  }
  idle_.push_back(std::move(execution));
}

Layout BoundPlan::layout_of(const Signature& signature, const Schedule& schedule) const {
  if (!send_counts_.empty()) {
    return Layout::exchange(schedule.shape.rank, send_counts_, counts_, schedule.segments);
  }
  if (!signature.blocks.empty()) {
    return Layout::sparse(schedule.user_blocks, {signature.blocks.begin(), signature.blocks.end()}, counts_,
                          schedule.segments);
  }
  return counts_.empty() ? Layout::uniform(schedule.user_blocks, schedule.segments, head_.count)
                         : Layout::irregular(counts_, schedule.segments);
}

bool BoundPlan::matches(const Signature& signature) const {
  if (!(head_ == signature.head)) return false;
  const auto copies = arrays();
  for (std::size_t a = 0; a < copies.size(); ++a) {
    const Numbers& numbers = *signature.arrays()[a];
    const std::vector<Count>& copy = *copies[a];
    if (copy.size() != static_cast<std::size_t>(numbers.size)) return false;
    for (std::size_t i = 0; i < copy.size(); ++i) {
      if (copy[i] != numbers[static_cast<Rank>(i)]) return false;
    }
  }
  return true;
}

}  // namespace circoll::mpi
