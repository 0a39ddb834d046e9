#include "exec/mpi/serve/operation.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/message/combine.hpp"

namespace circoll::mpi {
namespace {

/// Bytes of the longest vector whose operands reach all ranks sooner in one allgather than by an exchange of parts.
/// With n bytes on p ranks, q = ceil(log2 p), the one takes q alpha + (p - 1) n beta. An exchange is an alltoall and an
/// allgather of n / p bytes each, which take 2 (q alpha + (p - 1) n / p beta).
Count most_gathered_bytes(const InternedChoice& choice, const Placement& placement, Rank p) {
  constexpr Count no_limit = std::numeric_limits<Count>::max();
  // Inside a node copies cost less than rounds, so that SummedCall's own limit is enough.
  if (placement.cores >= p || choice.policy == nullptr || p <= 2) return no_limit;
  const Machine& machine = choice.policy->machine();
  const double rounds_s = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(p - 1))) * machine.alpha_s;
  const double bytes =
      rounds_s / (static_cast<double>(p - 1) * (1 - 2.0 / static_cast<double>(p)) * machine.beta_s_per_byte);
  return bytes < 1e15 ? static_cast<Count>(bytes) : no_limit;
}

}  // namespace

Operation::Operation(const Call& call, CommState& state, std::vector<Count>& counts)
    : call_(call),
      shape_(call, state.rank(), state.size()),
      state_(state),
      user_(call_, state.rank(), state.size()),
      counts_(counts),
      tags_(state),
      memory_(arenas()) {}

Operation::~Operation() { give_back_execution(); }

bool Operation::prepare(const InternedChoice& choice) {
  choice_ = &choice;
  if (choice.sums != prepare::Sums::plain)
    user_.sum_operands(choice.sums, most_gathered_bytes(choice, state_.placement(), state_.size()));
  reason_ = user_.erroneous() ? "erroneous arguments" : user_.unsupported();
  if (!reason_.empty()) return false;
  if (user_.needs_prologue()) {
    counts_.set_plan(find_plan(placed(user_.prologue_signature(choice)), MPI_BYTE, {}, state_.placement(), true));
    reason_ = counts_.plan()->native_reason();
    if (!reason_.empty()) return false;
    made_ = made_call();
    if (counts_.plan()->prologue() != nullptr) return true;
    counts_.set_plan(nullptr);  // the algorithm is direct
  }
  if (user_.summed() != nullptr && !prepare_stages()) return false;
  find_data_plan(true);
  reason_ = plan_->native_reason();
  // The progress of an interrupted call is known for one execution only.
  if (plan_->has_plan() && counts_.plan() == nullptr && !state_.can_be_interrupted()) use_rounds();
  made_ = made_call();
  repeatable_ = user_.lasting() && !user_.in_rounds() && counts_.plan() == nullptr;
  repeatable_with_counts_ = user_.has_lasting_handles();
  return plan_->has_plan();
}

MadeCall Operation::made_call() const {
  const Collective c = call_.collective;
  MadeCall made{
      .collective = c, .has_types = call_.has_types, .root = is_rooted(c) ? call_.root : 0, .bytes = user_.own_bytes()};
  if (is_reducing(c)) {
    const auto op = predefined_op(call_.op);
    made.op = static_cast<std::uint16_t>(op ? 1 + static_cast<int>(*op)
                                            : MadeCall::user_op + (user_.elements().commutative ? 1 : 0));
  }
  if (is_irregular(c) && !is_reducing(c)) made.bytes = -1;
  if (c == Collective::alltoall || c == Collective::reduce_scatter_block) made.bytes /= state_.size();
  return made;
}

Signature Operation::placed(Signature signature) const {
  signature.head.cores = state_.placement().cores;
  signature.head.nodes = state_.placement().nodes;
  signature.head.labels = state_.placement().labels.get();
  signature.head.levels = state_.placement().levels.get();
  // A reduction that combines parts as they come leaves no whole operand if it is interrupted.
  if (is_reducing(signature.head.collective) && state_.has_node_peers() && !state_.can_be_interrupted() &&
      PartCombiner::suits(user_.elements()))
    signature.head.on_arrival = prepare::CombineOnArrival::of_node;
  return signature;
}

bool Operation::prepare_stages() {
  SummedCall& summed = *user_.summed();
  const Count stages = summed.stages();
  // The first two and the last two need the most tags and memory, which is the same block in all stages.
  for (const Count stage : {stages - 1, stages - 2, Count{1}, Count{0}}) {
    if (stage < 0 || stage >= stages) continue;
    summed.set_stage(stage);
    forget_plan();
    find_data_plan(true);
    reason_ = plan_->native_reason();
    if (!reason_.empty()) return false;
    stage_tags_ = std::max(stage_tags_, plan_->tags());
    divide_memory();
    stage_bytes_ = division_.bytes;
  }
  return true;
}

Signature Operation::data_signature() const {
  Signature signature = user_.signature(*choice_);
  if (user_.summed() != nullptr) {
    const Collective moving = signature.head.collective;
    // Every rank knows the counts that it needs, so that the algorithm must be direct.
    const bool direct = moving == Collective::alltoallv;
    signature.head.choice = direct ? intern(moving, "linear") : intern(moving, *choice_->policy);
  }
  if (counts_.too_long()) signature.head.choice = intern(signature.head.collective, "linear");
  signature = placed(signature);
  if (counts_.forwards()) {
    counts_.add_to(signature);
  } else if (user_.needs_prologue() && is_rooted(call_.collective)) {
    counts_.add_known(user_, signature);
  }
  return signature;
}

bool Operation::find_data_plan(bool wait) {
  if (plan_ != nullptr) return true;
  const auto kept = user_.summed() != nullptr ? user_.summed()->plan_number() : std::nullopt;
  if (kept) plan_ = stage_plans_.at(*kept);
  if (plan_ != nullptr) return true;
  plan_ = find_plan(data_signature(), user_.wire_type(), user_.elements().info, state_.placement(), wait);
  if (kept) stage_plans_.at(*kept) = plan_;
  return plan_ != nullptr;
}

void Operation::use_rounds() {
  user_.use_rounds();
  if (!user_.in_rounds()) return;
  forget_plan();
  find_data_plan(true);
  if (plan_->has_plan()) return;
  user_.use_no_rounds();
  plan_ = std::move(last_plan_);
}

/// The next round has another one.
void Operation::forget_plan() noexcept {
  give_back_execution();
  last_plan_ = std::move(plan_);
  plan_.reset();
}

void Operation::take_numbers() {
  tags_.take_numbers(wanted_tags());
  made_.blocking = false;
  begin_call();
}

bool Operation::reserve_tags() {
  if (tags_.reserve(wanted_tags()) != MPI_SUCCESS) throw Error(ErrorCode::transport, "ranks could not agree on tags");
  return tags_.is_agreed();
}

void Operation::start() {
  error_ = MPI_SUCCESS;
  if (const int failure = state_.failure(); failure != MPI_SUCCESS) return end(failure);
  if (!state_.usable()) throw Error(ErrorCode::transport, std::string(state_.unusable_reason()));
  if (tags_.blocking()) begin_call();
  if (user_.has_parts()) {
    user_.first_round();
    forget_plan();
    find_data_plan(true);
  }
  if (counts_.due()) {
    start_prologue();
  } else {
    start_data();
  }
}

void Operation::execute(BoundPlan& plan) {
  binding_.route = tags_.route(call_.collective);
  binding_.call_number = call_number_;
  binding_.call = made_;
  binding_.exact = library::refuses_short_bcasts() && call_.collective == Collective::bcast;
  if (executing_ != &plan) {
    give_back_execution();
    execution_ = plan.take_execution();
    executing_ = &plan;
  }
  execution_->start(binding_);
}

void Operation::give_back_execution() noexcept {
  if (execution_ != nullptr) executing_->give_back(std::move(execution_));
  executing_ = nullptr;
}

void Operation::end(int error, bool matched) noexcept {
  if (error_ == MPI_SUCCESS) error_ = error;
  if (error_ != MPI_SUCCESS) lasting_ = false;
  if (library::is_failure(error_)) state_.fail(error_);
  if (error_ != MPI_SUCCESS && !matched) retire();
  memory_.shrink();
  end_call();
  phase_ = Phase::idle;
}

void Operation::fail(int error) noexcept {
  if (execution_ != nullptr) execution_->abandon();
  end(error);
}

/// Retires the tags of an operation that was given up, because its messages may be left behind. MPI may still read
/// their memory.
void Operation::retire() noexcept {
  tags_.retire();
  if (execution_ == nullptr) return;
  try {
    std::vector<MPI_Request> left = execution_->take_abandoned();
    if (!left.empty()) abandoned().add(std::move(left), memory_.detach());
  } catch (const std::bad_alloc&) {
    (void)memory_.detach();  // lost, rather than given to another operation while MPI reads it
  }
}

void Operation::start_prologue() {
  counts_.bind(user_, state_.size(), memory_, binding_);
  phase_ = Phase::prologue;
  execute(*counts_.plan());
}

/// False if the operation is over, with an error.
bool Operation::end_prologue() {
  if (const int rc = execution_->error(); rc != MPI_SUCCESS) {
    end(rc);
    return false;
  }
  counts_.collect(user_, memory_);
  phase_ = Phase::between;
  return true;
}

/// Memory comes in one block. It has sums that one stage leaves to the next, scratch, staged messages, a temporary of
/// user operators, and the packed forms of the caller's buffers where those have gaps.
void Operation::divide_memory() {
  binding_.elements = user_.elements();
  Elements& elements = binding_.elements;
  const bool user_operator = is_reducing(call_.collective) && user_.summed() == nullptr && elements.kernel == nullptr;
  elements.temp_elements = user_operator ? Elements::temp_elements_for(elements.info) : 0;
  division_ = MemoryDivision({.kept = user_.summed() != nullptr ? user_.summed()->kept_bytes() : 0,
                              .scratch = plan_->plan().scratch_bytes,
                              .staging = plan_->staging_bytes(),
                              .temp = elements.temp_bytes(),
                              .send = user_.send_staging_bytes(),
                              .recv = user_.recv_staging_bytes()});
  division_.bytes = std::max(division_.bytes, stage_bytes_);
  // With a prologue, the binding is at first that of the counts, and blocks that do not fit may need staging memory.
  division_lasts_ = counts_.plan() == nullptr && !user_.has_parts();
}

bool Operation::bind_data() {
  if (!plan_->has_plan()) throw Error(ErrorCode::internal, "the counts can be exchanged, but not the data");
  counts_.set_known();
  if (!division_lasts_) divide_memory();
  std::byte* const base = memory_.acquire(static_cast<std::size_t>(division_.bytes));
  binding_.elements.temp = base + division_.temp;
  binding_.staging = base + division_.staging;
  recv_staging_ = base + division_.recv;
  if (user_.summed() != nullptr) user_.summed()->keep_in(base);
  // Elements may begin before their address (negative lower bound) or after it.
  binding_.base = {user_.send_base(base + division_.send), user_.recv_base(recv_staging_),
                   reinterpret_cast<char*>(base + division_.scratch) - binding_.elements.info.true_lb_bytes};
  phase_ = Phase::data;
  error_ = user_.before(base + division_.send, recv_staging_);
  if (error_ != MPI_SUCCESS) end(error_);
  return error_ == MPI_SUCCESS;
}

void Operation::start_data() {
  if (bind_data()) execute(*plan_);
}

/// A blocking call always has the same tags. Execution and memory are kept, so nothing else is new.
int Operation::run_again() {
  binding_.base[static_cast<std::size_t>(Area::send)] = user_.direct_send();
  binding_.base[static_cast<std::size_t>(Area::recv)] = user_.direct_recv();
  error_ = MPI_SUCCESS;
  phase_ = Phase::data;
  begin_call();
  binding_.call_number = call_number_;
  execution_->start(binding_);
  if (const int rc = execution_->wait(); rc != MPI_SUCCESS) [[unlikely]] {
    if (rc == interrupted) return rc;
    end(rc, execution_->complete());
  }
  end_call();
  phase_ = Phase::idle;
  return error_;
}

int Operation::run_anew() {
  start();
  const int error = wait();
  if (error == interrupted) return error;
  lasting_ = error == MPI_SUCCESS && repeatable_ && division_lasts_ && tags_.blocking() && user_.direct() &&
             memory_.keeps(static_cast<std::size_t>(division_.bytes));
  return error;
}

bool Operation::end_data() {
  int rc = execution_->error();
  if (rc == MPI_SUCCESS) rc = user_.after(recv_staging_, binding_.elements);
  if (rc == MPI_SUCCESS && user_.discards()) rc = MPI_ERR_TRUNCATE;
  if (rc == MPI_SUCCESS && user_.next_round()) {
    forget_plan();
    phase_ = Phase::between;
    return false;
  }
  end(rc, execution_->complete());
  return true;
}

bool Operation::progress() {
  if (phase_ == Phase::prologue) {
    if (!execution_->progress()) return false;
    if (!end_prologue()) return true;
  }
  while (true) {
    if (phase_ == Phase::between) {
      if (!find_data_plan(false)) return false;
      start_data();
    }
    if (phase_ != Phase::data) return true;
    if (!execution_->progress()) return false;
    if (end_data()) return true;
  }
}

int Operation::wait() {
  if (phase_ == Phase::prologue) {
    if (execution_->wait() == interrupted) return interrupted;
    if (end_prologue()) {
      find_data_plan(true);
      start_data();
    }
  }
  while (phase_ == Phase::data) {
    if (execution_->wait() == interrupted) return interrupted;
    if (end_data()) break;
    find_data_plan(true);
    start_data();
  }
  return error_;
}

}  // namespace circoll::mpi
