// One collective call on its way: blocking, nonblocking and persistent calls run through the same steps.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/operation_parts.hpp"
#include "exec/mpi/serve/work.hpp"

namespace circoll::mpi {

/// An operation takes a call from its arguments to its result:
///   Operation()                        reads the arguments
///   prepare()                          finds what serves them
///   take_numbers(), reserve_tags()     nonblocking ones in the order of the calls on the communicator; persistent ones
///   start(), progress() ... or wait()  one or two executions: if counts must be learned first (gatherv, scatterv,
///                                      some of alltoallv), the prologue, then the data. Several if a call is divided
/// Can be started again with the same arguments when it is over. Used by one thread at a time.
class Operation final : public Work {
 public:
  /// `counts` is memory for what a prologue learns. All references, and the arrays of the call, must outlive the
  /// operation.
  Operation(const Call& call, CommState& state, std::vector<Count>& counts);
  ~Operation() override;

  /// Returns false if the call is native, and reason() says why. It is the same on all ranks unless erroneous(). Throws
  /// Error(internal, transport) and std::bad_alloc.
  [[nodiscard]] bool prepare(const InternedChoice& choice);
  /// True, after prepare(), if its result holds for every call of the same shape and arrays.
  [[nodiscard]] bool repeatable() const { return repeatable_; }
  /// True if it holds for every call of the same shape and counts, on communicators of any size.
  [[nodiscard]] bool repeatable_with_counts() const { return repeatable_with_counts_; }
  /// The call is native after all.
  void leave_native(std::string_view reason) {
    reason_ = reason;
    repeatable_ = repeatable_with_counts_ = false;
  }
  /// Turns a served operation into that of another call, if prepare() is known to find the same plan. The call may have
  /// other buffers. False: the operation is of no use any more. Must not be called while it is under way.
  [[nodiscard]] bool again(const Call& call, const CallShape& shape, const InternedChoice& choice) {
    if (choice_ != &choice || !repeatable_ || shape_ != shape || plan_ == nullptr || !plan_->cached()) return false;
    if (is_irregular(call.collective) && !same_arrays(call, call_, state_.rank(), state_.size())) return false;
    call_.sendbuf = call.sendbuf;
    call_.recvbuf = call.recvbuf;
    return user_.readdress();
  }
  [[nodiscard]] Collective collective() const { return call_.collective; }
  [[nodiscard]] const CallShape& shape() const { return shape_; }
  [[nodiscard]] bool erroneous() const { return user_.erroneous(); }
  [[nodiscard]] std::string_view reason() const { return reason_; }
  /// The result of prepare().
  [[nodiscard]] bool served() const { return reason_.empty(); }
  /// Packed bytes, as CallResult::bytes.
  [[nodiscard]] Count bytes() const { return user_.own_bytes(); }
  /// The plan that serves it; not null after prepare().
  [[nodiscard]] const std::shared_ptr<BoundPlan>& plan() const {
    if (plan_) return plan_;
    return counts_.plan() ? counts_.plan() : last_plan_;
  }

  /// Why plan() serves it.
  [[nodiscard]] std::string_view why() const {
    if (counts_.too_long()) return "a rank sends or receives more than 1 MiB, so that blocks go straight";
    return plan()->why();
  }

  /// Takes the numbers of a nonblocking operation, whose messages may be under way beside those of others. An erroneous
  /// call takes none, because the other ranks' call is the next one here.
  void take_numbers();
  /// Reserves tags of its own as long as it lives, in place of numbers. Ranks may then start it in any order. Called on
  /// all ranks, for which it waits. False if there are none on some rank. Throws as prepare().
  [[nodiscard]] bool reserve_tags();
  [[nodiscard]] bool numbered() const override { return tags_.numbered(); }
  [[nodiscard]] std::uint64_t first_number() const override { return tags_.first_number(); }
  [[nodiscard]] bool may_start() const override { return tags_.free(); }
  void start() override;
  /// Throws as prepare().
  [[nodiscard]] bool progress() override;
  /// Until it is over. Returns an MPI error code, or `interrupted`: it may be waited for again, or halted.
  int wait();
  /// start() and wait() of a call that may have been made before.
  int run() { return lasting_ && state_.usable() ? run_again() : run_anew(); }
  [[nodiscard]] int error() const override { return error_; }
  void fail(int error) noexcept override;
  [[nodiscard]] MPI_Datatype wire_type() const { return user_.wire_type(); }

 private:
  friend class Halted;  // wrappers/survive/halted.hpp

  enum class Phase : std::uint8_t { idle, prologue, between, data };

  [[nodiscard]] Signature data_signature() const;
  [[nodiscard]] Signature placed(Signature signature) const;
  void retire() noexcept;
  bool find_data_plan(bool wait);
  /// Prepares all stages of a sum that moves operands. False: one of them is native.
  [[nodiscard]] bool prepare_stages();
  /// Tags that a start wants.
  [[nodiscard]] int wanted_tags() const { return std::max(plan()->tags(), stage_tags_); }
  void start_prologue();
  void start_data();
  /// Makes memory and buffers ready. Returns false if the operation is over, with an error.
  [[nodiscard]] bool bind_data();
  int run_anew();
  int run_again();
  void divide_memory();
  [[nodiscard]] MadeCall made_call() const;
  void use_rounds();
  void forget_plan() noexcept;
  /// The call takes its place among those of the communicator; has ended.
  void begin_call() noexcept { call_number_ = state_.made_calls().begin(made_); }
  void end_call() noexcept {
    if (call_number_ != 0) state_.made_calls().end(call_number_, error_ != MPI_SUCCESS);
    call_number_ = 0;
  }
  /// The first or second execution of a start. They have the same tags, as every rank does one after the other.
  void execute(BoundPlan& plan);
  [[nodiscard]] bool end_prologue();
  /// False: another round follows.
  [[nodiscard]] bool end_data();
  void give_back_execution() noexcept;
  /// `matched`: all messages of the call have been sent and received, in spite of the error.
  void end(int error, bool matched = false) noexcept;

  Call call_;
  CallShape shape_;
  CommState& state_;
  CallerBuffers user_;
  const InternedChoice* choice_ = nullptr;
  std::string_view reason_{};
  CountExchange counts_;
  std::shared_ptr<BoundPlan> plan_{};
  std::shared_ptr<BoundPlan> last_plan_{};                   ///< of the round before
  std::array<std::shared_ptr<BoundPlan>, 2> stage_plans_{};  ///< by SummedCall::plan_number()
  int stage_tags_ = 1;                                       ///< the most of any stage
  Count stage_bytes_ = 0;                                    ///< likewise
  bool repeatable_ = false, repeatable_with_counts_ = false;
  bool lasting_ = false;  ///< a start changes nothing but the addresses of the caller's buffers
  CallTags tags_;
  MadeCall made_{};                ///< by prepare()
  std::uint64_t call_number_ = 0;  ///< of the call that is under way; 0: none, or not counted
  Phase phase_ = Phase::idle;
  int error_ = MPI_SUCCESS;
  BoundPlan* executing_ = nullptr;  ///< whose `execution_` is, which is kept for the next start
  std::unique_ptr<Execution> execution_{};
  Arena memory_;
  Binding binding_{};
  MemoryDivision division_{};
  bool division_lasts_ = false;  ///< it is the same at every start
  std::byte* recv_staging_ = nullptr;
};

}  // namespace circoll::mpi
