// Wrappers around the serving of calls: comparing them, learning from them, surviving failures.
//
// Each is an option of the build, in a room of its own (core/wrappers). The drop-in knows this interface alone. The
// wrappers that a run wants are made once, where MPI_Init ends (wrap()), and each passes on to the next.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "circoll/select.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "interpose/event.hpp"

namespace circoll::mpi {
struct Ended;
}  // namespace circoll::mpi

namespace circoll::interpose {

/// A wrapper. A function that it does not define passes on to the next wrapper, and behind the last one to the
/// executor.
class Serving {
 public:
  explicit Serving(std::unique_ptr<Serving> next) : next_(std::move(next)) {}
  virtual ~Serving() = default;
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  /// The first of the chain; nullptr if nothing is wrapped around calls. Quick: every call looks here.
  [[nodiscard]] static Serving* first() noexcept { return first_.load(std::memory_order_acquire); }
  /// Puts a chain in place. It is never destroyed: threads may be inside.
  static void set_first(std::unique_ptr<Serving> first) noexcept {
    first_.store(first.release(), std::memory_order_release);
  }

  /// Called before each call. Returns an MPI error code for which the error handler has been called: then the call must
  /// not be made. `caller` is the entry point's return address.
  [[nodiscard]] virtual int admit(const mpi::Call& call, Mode mode, const void* caller) {
    return next_ == nullptr ? MPI_SUCCESS : next_->admit(call, mode, caller);
  }
  /// The same for a collective among neighbours.
  [[nodiscard]] virtual int admit(const mpi::NeighborCall& call, Mode mode, const void* caller) {
    return next_ == nullptr ? MPI_SUCCESS : next_->admit(call, mode, caller);
  }
  /// Serves a blocking call. `timed` as for mpi::perform().
  [[nodiscard]] virtual mpi::CallResult perform(const mpi::Call& call, const mpi::InternedChoice& choice, bool timed) {
    return next_ == nullptr ? mpi::perform(call, choice, mpi::Unserved::native, timed)
                            : next_->perform(call, choice, timed);
  }
  /// The choice for a call that does not block.
  [[nodiscard]] virtual const mpi::InternedChoice& choose(const mpi::Call& call, const mpi::InternedChoice& choice) {
    return next_ == nullptr ? choice : next_->choose(call, choice);
  }
  /// The program has made a communicator. All its ranks make such calls in one order.
  virtual void made(MPI_Comm comm) noexcept {
    if (next_ != nullptr) next_->made(comm);
  }
  /// The number by which ended() knows the nonblocking call that this thread makes. It is 0 if nobody asks for its end.
  [[nodiscard]] virtual std::uint64_t ticket() { return next_ == nullptr ? 0 : next_->ticket(); }
  /// A call with a ticket has ended, or is native and has begun: then nothing has served it. Called where the MPI
  /// library's progress runs, by any thread.
  virtual void ended(const mpi::Ended& ended) noexcept {
    if (next_ != nullptr) next_->ended(ended);
  }
  /// Passes on what has arrived. Called from the MPI library's progress, by any thread.
  virtual void poll() noexcept {
    if (next_ != nullptr) next_->poll();
  }

  /// MPI_Finalize is called; nonblocking operations may still be under way.
  virtual void finish(const void* caller) noexcept {
    if (next_ != nullptr) next_->finish(caller);
  }
  /// Ends MPI by `finalize`. Returns its MPI error code.
  [[nodiscard]] virtual int finalize(int (*finalize)()) noexcept {
    return next_ == nullptr ? finalize() : next_->finalize(finalize);
  }
  /// True if result() is wanted without a report, too.
  [[nodiscard]] virtual bool keeps_result() const { return next_ != nullptr && next_->keeps_result(); }
  /// Ends what needs all ranks while MPI_Finalize begins, and tells of it. Collective.
  [[nodiscard]] virtual std::optional<ReportSection> result(MPI_Comm comm) {
    return next_ == nullptr ? std::nullopt : next_->result(comm);
  }

  /// True if all calls must be served, from the first one on a communicator on.
  [[nodiscard]] virtual bool serves_all() const { return next_ != nullptr && next_->serves_all(); }
  /// True if this wrapper ends calls that wait in vain, so that nothing else need look after them.
  [[nodiscard]] virtual bool ends_waiting() const { return next_ != nullptr && next_->ends_waiting(); }

 private:
  static inline std::atomic<Serving*> first_{nullptr};

  std::unique_ptr<Serving> next_;
};

/// The communicators whose calls are learned from.
enum class Learns : std::uint8_t {
  never,
  across_nodes,  ///< those with ranks on several nodes
  always,
};

/// The facts from which wrappers are made. They are the same on all ranks except for `world_rank`.
struct Wish {
  Learns learns = Learns::never;
  const Policy* learns_from = nullptr;     ///< the policy that serves what is not learned about, if anything is learned
  const PolicyOptions* options = nullptr;  ///< they outlive the wrappers, as the policy does
  std::string learn_file;                  ///< of CIRCOLL_LEARN; empty: nothing is kept
  std::string devices;                     ///< why calls may have memory of devices; empty: they have none
  int world_rank = 0;
  std::function<void(const std::string&)> warn;
};

/// The wrappers that the environment asks for, as far as they are built; nullptr: none. Collective, after
/// share_world(). core/wrappers/chain.cpp defines it.
[[nodiscard]] std::unique_ptr<Serving> wrap(const Wish& wish);

}  // namespace circoll::interpose
