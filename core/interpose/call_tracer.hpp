// All calls of this rank, for CIRCOLL_TRACE=FILE.calls: reads their arguments into shapes.
//
// The form is that of facts/call_trace.hpp. Calls are noted where they return, never in MPI's progress engine.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "facts/call_trace.hpp"
#include "interpose/event.hpp"

namespace circoll::interpose {

class CallTracer {
 public:
  /// `begin_s` is when the program begins, by MPI_Wtime as all times here.
  CallTracer(const std::string& file, double begin_s);
  ~CallTracer();
  CallTracer(const CallTracer&) = delete;
  CallTracer& operator=(const CallTracer&) = delete;

  /// Says that the program begins only now, before its first call.
  void begin(double begin_s) { begin_s_ = begin_s; }
  [[nodiscard]] double begin_s() const { return begin_s_; }

  /// Notes a call that has succeeded. Of a persistent one, `request` is remembered for its starts. Thread-safe. Throws
  /// std::bad_alloc.
  template <typename AnyCall>
  void add(const AnyCall& call, Mode mode, const mpi::CallResult& outcome, double begin_s, double end_s,
           const MPI_Request* request) {
    // MPI holds locks of its own where it calls back into the program, which may call this. So no function of MPI is
    // called under the mutex.
    const KnownCommunicator known = find(call.comm);
    trace::Shape shape = shape_of(call, known.foreign);
    shape.communicator = known.index;
    const std::lock_guard lock(mutex_);
    note(std::move(shape), mode, outcome.served(), begin_s, end_s, request);
  }
  /// Notes the start of a persistent request, if it is one of a collective.
  void add_start(MPI_Request request, double begin_s, double end_s);
  /// The program frees a request.
  void forget(MPI_Request request);

  [[nodiscard]] std::int64_t dropped() const { return calls_.dropped(); }
  void write(const trace::RankFacts& facts, const trace::Sink& sink) const { calls_.write(facts, sink); }

 private:
  /// A shape that is in the file already, without the text about what served it.
  struct KnownShape {
    trace::Shape shape{};
    const Algorithm* algorithm = nullptr;
    Params params{};
    std::uint32_t index = 0;
  };
  struct KnownCommunicator {
    std::uint32_t index = 0;
    bool foreign = false;  ///< it has other groups, or ranks of another MPI_COMM_WORLD
  };
  /// More are forgotten, and written again when they come again.
  static constexpr std::size_t most_known = 1U << 16U;

  /// The parts of a shape that the arguments say.
  [[nodiscard]] static trace::Shape shape_of(const mpi::Call& call, bool foreign);
  [[nodiscard]] static trace::Shape shape_of(const mpi::NeighborCall& call, bool foreign);
  void note(trace::Shape shape, Mode mode, const Selection* served, double begin_s, double end_s,
            const MPI_Request* request);
  /// A communicator is used by one thread at a time.
  [[nodiscard]] KnownCommunicator find(MPI_Comm comm);
  [[nodiscard]] std::uint32_t index_of(trace::Shape shape, const Selection* served);
  void add_call(std::uint32_t shape, double begin_s, double end_s);

  std::mutex mutex_;
  trace::RankWriter calls_;
  double begin_s_;
  int keyval_ = MPI_KEYVAL_INVALID;  ///< of communicators: their index
  std::unordered_multimap<std::uint64_t, KnownShape> known_;
  std::vector<std::uint32_t> requests_made_;           ///< persistent ones, by communicator
  std::map<std::uint64_t, std::uint32_t> persistent_;  ///< shapes of requests, by handle
};

}  // namespace circoll::interpose
