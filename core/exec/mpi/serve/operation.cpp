#include "exec/mpi/serve/operation.hpp"

#include <algorithm>
#include <new>

#include "circoll/error.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/message/abandoned.hpp"
#include "exec/mpi/message/combine.hpp"
#include "exec/mpi/serve/plans.hpp"

namespace circoll::mpi {
namespace {

constexpr Count aligned_counts(std::size_t count) {
  return MemoryDivision::aligned(static_cast<Count>(count * sizeof(Count)));
}

std::span<Count> counts_at(std::byte* data, std::size_t count) { return {reinterpret_cast<Count*>(data), count}; }

}  // namespace

Operation::Operation(const Call& call, CommState& state, std::vector<Count>& counts)
    : call_(call),
      shape_(call),
      state_(state),
      counts_(counts),
      user_(call_, state.rank(), state.size()),
      memory_(arenas()) {}

Operation::~Operation() {
  give_back_execution();
  // Others may have started theirs, and sent.
  if (order_ == Order::reserved && state_.find_failure() != MPI_SUCCESS) reserved_.spoil();
}

bool Operation::prepare(const InternedChoice& choice) {
  choice_ = &choice;
  reason_ = user_.erroneous() ? "erroneous arguments" : user_.unsupported();
  if (!reason_.empty()) return false;
  if (user_.needs_prologue()) {
    prologue_ = find_plan(placed(user_.prologue_signature(choice)), MPI_BYTE, {}, state_.placement(), true);
    reason_ = prologue_->native_reason();
    if (!reason_.empty()) return false;
    made_ = made_call();
    if (prologue_->prologue() != nullptr) return true;
    prologue_.reset();  // the algorithm is direct: no counts of others are needed
  }
  find_data_plan(true);
  reason_ = plan_->native_reason();
  // What an interrupted call has done is known of one execution.
  if (plan_->has_plan() && prologue_ == nullptr && !state_.can_be_interrupted()) use_rounds();
  made_ = made_call();
  repeatable_ = user_.lasting() && !user_.in_rounds();
  repeatable_with_counts_ = user_.has_lasting_handles();
  return plan_->has_plan();
}

MadeCall Operation::made_call() const {
  const Collective c = call_.collective;
  MadeCall made{.collective = c, .root = is_rooted(c) ? call_.root : 0, .bytes = user_.own_bytes()};
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
  // A reduction of parts as they come leaves nothing whole if it is interrupted.
  if (is_reducing(signature.head.collective) && state_.has_neighbours() && !state_.can_be_interrupted() &&
      PartCombiner::suits(user_.elements()))
    signature.head.on_arrival = prepare::Arrivals::of_node;
  return signature;
}

Signature Operation::data_signature() const {
  Signature signature = placed(user_.signature(*choice_));
  if (prologue_ != nullptr) {
    signature.counts = {.values = CountArray::wide(counts_.data()), .size = static_cast<Rank>(counts_.size())};
    signature.send_counts = {};
    signature.blocks = prologue_->prologue()->known_blocks();
  }
  return signature;
}

bool Operation::find_data_plan(bool wait) {
  if (plan_ != nullptr) return true;
  plan_ = find_plan(data_signature(), user_.wire_type(), user_.elements().info, state_.placement(), wait);
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
  order_ = Order::numbered;
  units_ = tag_layout().units_for(plan()->tags());
  number_ = state_.take_numbers(units_);
  made_.blocking = false;
  begin_call();
}

bool Operation::reserve_tags() {
  order_ = Order::reserved;
  units_ = tag_layout().units_for(plan()->tags());
  if (state_.reserve(units_, &reserved_) != MPI_SUCCESS)
    throw Error(ErrorCode::transport, "ranks could not agree on tags");
  return reserved_.agreed();
}

Route Operation::route() const {
  if (order_ == Order::reserved) return state_.route(reserved_, units_);
  return order_ == Order::numbered ? state_.route(number_, units_) : state_.route(call_.collective);
}

void Operation::start() {
  error_ = MPI_SUCCESS;
  if (const int failure = state_.failure(); failure != MPI_SUCCESS) return end(failure);
  if (!state_.usable()) throw Error(ErrorCode::transport, std::string(state_.unusable_reason()));
  if (order_ == Order::blocking) begin_call();
  if (user_.in_rounds()) {
    user_.first_round();
    forget_plan();
    find_data_plan(true);
  }
  if (has_prologue()) {
    start_prologue();
  } else {
    start_data();
  }
}

void Operation::execute(BoundPlan& plan) {
  binding_.route = route();
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
  if (error_ != MPI_SUCCESS && !matched) spoil();
  memory_.shrink();
  end_call();
  phase_ = Phase::idle;
}

void Operation::fail(int error) noexcept {
  if (execution_ != nullptr) execution_->abandon();
  end(error);
}

void Operation::spoil_tags() noexcept {
  if (order_ == Order::reserved) {
    reserved_.spoil();
  } else {
    state_.spoil_tags();
  }
}

/// Spoils the tags of an operation that was given up, whose messages may be left behind. MPI may still read the memory
/// that they are in.
void Operation::spoil() noexcept {
  spoil_tags();
  if (execution_ == nullptr) return;
  try {
    std::vector<MPI_Request> left = execution_->take_abandoned();
    if (!left.empty()) abandoned().add(std::move(left), memory_.detach());
  } catch (const std::bad_alloc&) {
    (void)memory_.detach();  // lost, rather than given to another operation while MPI reads it
  }
}

/// The counts, in packed bytes, of all blocks that will pass through this rank. There are p of gatherv and scatterv; of
/// alltoallv there are those of the prologue's known blocks.
void Operation::start_prologue() {
  const CountPrologue& prologue = *prologue_->prologue();
  const Count send = aligned_counts(prologue.send_counts());
  const Count recv = aligned_counts(prologue.recv_counts());
  const Count scratch = aligned_counts(prologue.scratch_counts());
  std::byte* const base = memory_.acquire(static_cast<std::size_t>(send + recv + scratch + prologue_->staging_bytes()));
  send_counts_ = counts_at(base, prologue.send_counts());
  recv_counts_ = counts_at(base + send, prologue.recv_counts());
  scratch_counts_ = counts_at(base + send + recv, prologue.scratch_counts());
  counts_.resize(std::max(static_cast<std::size_t>(state_.size()), prologue.known_blocks().size()));
  const std::span<Count> own(counts_.data(), static_cast<std::size_t>(state_.size()));
  user_.known_counts(own);
  prologue.fill(user_.own_bytes(), own, send_counts_, recv_counts_, scratch_counts_);
  binding_.base = {reinterpret_cast<char*>(send_counts_.data()), reinterpret_cast<char*>(recv_counts_.data()),
                   reinterpret_cast<char*>(scratch_counts_.data())};
  binding_.staging = base + send + recv + scratch;
  binding_.elements = {};
  binding_.elements.extent_bytes = sizeof(Count);
  phase_ = Phase::prologue;
  execute(*prologue_);
}

/// False if the operation is over, with an error.
bool Operation::end_prologue() {
  if (const int rc = execution_->error(); rc != MPI_SUCCESS) {
    end(rc);
    return false;
  }
  const CountPrologue& prologue = *prologue_->prologue();
  const std::vector<Block>& known = prologue.known_blocks();
  if (known.empty()) {
    prologue.collect(send_counts_, recv_counts_, scratch_counts_, counts_);
  } else {
    prologue.collect_known(send_counts_, recv_counts_, scratch_counts_, counts_);
  }
  memory_.reset();
  if (!user_.admits(known, counts_)) user_.discard(known, counts_);
  phase_ = Phase::between;
  return true;
}

/// Memory comes in one block. It has scratch, staged messages, a temporary of user operators, and the packed forms of
/// the caller's buffers where those have gaps.
void Operation::divide_memory() {
  binding_.elements = user_.elements();
  Elements& elements = binding_.elements;
  const bool user_operator = is_reducing(call_.collective) && elements.kernel == nullptr;
  elements.temp_elements = user_operator ? Elements::temp_elements_for(elements.info) : 0;
  division_ = MemoryDivision({.scratch = plan_->plan().scratch_bytes,
                              .staging = plan_->staging_bytes(),
                              .temp = elements.temp_bytes(),
                              .send = user_.send_staging_bytes(),
                              .recv = user_.recv_staging_bytes()});
  // With a prologue the binding is that of the counts first, and what does not fit may have to be staged.
  division_lasts_ = prologue_ == nullptr && !user_.in_rounds();
}

bool Operation::bind_data() {
  if (!plan_->has_plan()) throw Error(ErrorCode::internal, "the counts can be exchanged, but not the data");
  counts_known_ = true;
  if (!division_lasts_) divide_memory();
  std::byte* const base = memory_.acquire(static_cast<std::size_t>(division_.bytes));
  binding_.elements.temp = base + division_.temp;
  binding_.staging = base + division_.staging;
  recv_staging_ = base + division_.recv;
  // Elements may begin before their address (negative lower bound) or after it.
  binding_.base = {user_.send_base(base + division_.send), user_.recv_base(recv_staging_),
                   reinterpret_cast<char*>(base) - binding_.elements.info.true_lb_bytes};
  phase_ = Phase::data;
  error_ = user_.before(base + division_.send, recv_staging_);
  if (error_ != MPI_SUCCESS) end(error_);
  return error_ == MPI_SUCCESS;
}

void Operation::start_data() {
  if (bind_data()) execute(*plan_);
}

/// A blocking call has the same tags always. With execution and memory kept nothing else is new.
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
  lasting_ = error == MPI_SUCCESS && repeatable_ && division_lasts_ && order_ == Order::blocking && user_.direct() &&
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

Halt Operation::halt(const IsDead& is_dead) {
  Halt halt = execution_->halt(is_dead);
  left_ = execution_->take_abandoned();
  if (phase_ != Phase::data) halt = {};
  spoil_tags();
  lasting_ = false;
  return halt;
}

Halt Operation::halt_before_start() {
  error_ = MPI_SUCCESS;
  lasting_ = false;
  if (has_prologue() || !bind_data()) return {};
  const std::vector<bool> none(plan_->plan().steps.size(), false);
  return {.ended = none, .torn = none};
}

int Operation::end_halted(bool has_result) {
  phase_ = Phase::idle;
  error_ = has_result ? user_.after(recv_staging_, binding_.elements) : MPI_ERR_OTHER;
  end_call();
  if (!left_.empty()) abandoned().add(std::move(left_), memory_.detach());
  left_.clear();
  return error_;
}

}  // namespace circoll::mpi
