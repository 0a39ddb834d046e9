// Ends calls that can never end, because the ranks' calls do not match.
//
// A rank that has waited for some seconds asks the ranks that it waits for about that call. They answer when they are
// in MPI themselves: while they wait in a collective, from the hook in the MPI library's progress, and at the beginning
// of MPI_Finalize. A rank that computes does not answer, and is waited for. Messages go over the carrier that the
// communicators within MPI_COMM_WORLD share, with a tag of their own. Nothing is sent before a call has waited so long.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/comm/made_calls.hpp"
#include "exec/mpi/comm/route.hpp"
#include "facts/spin_lock.hpp"

namespace circoll::mpi {

/// The answer of a rank about a call that another rank waits in.
enum class StallVerdict : std::uint8_t {
  unknown,    ///< the asking rank waits on
  differs,    ///< this rank has made another call at that place
  ended,      ///< this rank has ended that call, and sends and receives nothing for it any more
  failed,     ///< likewise, with an error
  finalizes,  ///< this rank is in MPI_Finalize
};

struct StallAnswer {
  StallVerdict verdict = StallVerdict::unknown;
  int source = -1;  ///< rank in the carrier
  std::uint64_t question = 0;
  MadeCall call{};  ///< of the answering rank, if it is `differs`
};

/// A wait that is over because it could never end.
struct Stalled {
  MPI_Comm comm = MPI_COMM_WORLD;   ///< the user's
  std::vector<Rank> world_ranks{};  ///< of its ranks
  std::uint64_t number = 0;         ///< of the call among those served on the communicator
  int seconds = 0;                  ///< waited
  Rank rank = 0;                    ///< who waited
  Rank peer = 0;                    ///< for whom
  MadeCall call{};
  StallAnswer answer{};
};

/// Questions and answers of this process. Thread-safe. Part of the executor's global state (HACKING.md).
class Stalls {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins to answer, with CIRCOLL_PATIENCE. To be called after share_world(). `say` tells the user of a call that was
  /// ended.
  void open(void (*say)(const Stalled& stalled) noexcept);
  /// True if waits of this rank are watched. Others are answered in any case.
  [[nodiscard]] bool watches() const { return open_.load(std::memory_order_acquire) && patience_.count() > 0; }
  [[nodiscard]] std::chrono::seconds patience() const { return patience_; }
  /// Answers in MPI_Finalize until all ranks of MPI_COMM_WORLD are there. Called on all ranks, whatever their patience.
  void linger() noexcept;

  /// The number of questions that have been asked. A question's number is one more.
  [[nodiscard]] std::uint64_t questions() const { return questions_.load(std::memory_order_relaxed); }
  /// Asks a rank of the route about a call in which this rank waits. Does nothing while that rank has still to answer
  /// about the call. Never waits.
  void ask(const Route& route, Rank peer, std::uint64_t number, const MadeCall& call) noexcept;
  /// The answers about a call that have come.
  [[nodiscard]] std::vector<StallAnswer> take_answers(const Route& route, std::uint64_t number);
  /// Receives questions and answers, if that has not been done lately. Never waits; does nothing from within itself.
  void serve() noexcept;
  /// serve() for a place that is passed very often.
  void glance() noexcept {
    if (!open_.load(std::memory_order_relaxed)) return;
    const std::uint32_t tick = ticks_.load(std::memory_order_relaxed) + 1;
    ticks_.store(tick, std::memory_order_relaxed);
    if (tick % glances_before_serving == 0) serve();
  }
  /// Says that a call was ended. Returns the MPI error code for it.
  [[nodiscard]] int conclude(const Stalled& stalled) noexcept;

 private:
  static constexpr std::uint32_t glances_before_serving = 1024;

  /// One question or answer, as it is sent.
  struct Letter {
    std::uint64_t is_answer = 0;
    std::int64_t to = 0;    ///< the receiver's first tag of the communicator, by which it knows it
    std::int64_t from = 0;  ///< the sender's
    std::uint64_t number = 0;
    std::uint64_t question = 0;
    std::uint64_t verdict = 0;
    std::uint64_t word = 0;
    std::int64_t bytes = 0;
  };
  struct Sent {
    Letter letter{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Asked {
    int rank = 0;  ///< in the carrier
    std::int64_t from = 0;
    std::uint64_t number = 0;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  struct Kept {
    std::int64_t to = 0;
    std::uint64_t number = 0;
    StallAnswer answer{};
  };

  void receive();
  void keep(const Letter& answer, int source);
  [[nodiscard]] Letter answer_to(const Letter& question) const;
  /// Sends the last of sent_, or takes it out.
  [[nodiscard]] bool send_last(int rank);
  void collect_sent() noexcept;
  [[nodiscard]] bool all_answered();

  std::atomic<bool> open_{false};
  std::atomic<bool> finalizes_{false};
  std::atomic<std::uint32_t> ticks_{0};
  std::atomic<std::uint64_t> questions_{0};
  std::chrono::seconds patience_{10};
  void (*say_)(const Stalled&) noexcept = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  int error_ = MPI_SUCCESS;
  SpinLock lock_;  ///< of what follows; tried only
  Clock::time_point next_{};
  std::list<Sent> sent_;
  std::vector<Asked> asked_;  ///< and not answered
  std::vector<Kept> answers_;
};
[[nodiscard]] Stalls& stalls();

}  // namespace circoll::mpi
