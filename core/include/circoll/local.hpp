// The executor in one process: ranks are threads, or take turns in one thread. No MPI.
//
//   circoll::local::World world(8);
//   world.run([](circoll::local::Comm& comm) {
//     std::vector<double> mine(1000, 1.0), sum(1000);
//     circoll::allreduce(mine, sum, circoll::Op::sum, comm);
//   });
//
// A message is one copy from the sender's memory to the receiver's. Waiting ranks sleep. Schedules and plans
// are cached per rank by call signature: a repeated call builds nothing and allocates nothing. The calls are those of
// circoll/comm.hpp and circoll/values.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "circoll/buffers.hpp"
#include "circoll/call.hpp"
#include "circoll/comm.hpp"
#include "circoll/request.hpp"
#include "circoll/types.hpp"
#include "circoll/values.hpp"

namespace circoll::local {

using Call = CollectiveCall;

struct Options {
  std::size_t stack_bytes = std::size_t{512} << 10;      ///< of each rank's thread
  std::size_t plan_cache_bytes = std::size_t{64} << 20;  ///< per rank; the least recently used plans go first
  /// The node of each rank, by any numbers, for policies and algorithms that care. If empty, each rank has its own.
  std::vector<Rank> node_of{};
};

class World;

/// One rank's communicator. Used by one thread at a time.
class Comm {
 public:
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] Rank size() const;

  /// Executes a collective; all ranks must call it with matching arguments, in the same order. Throws
  /// Error(invalid_argument) on misuse, Error(unsupported) if the algorithm's needs do not hold, and
  /// Error(transport) if another rank failed.
  void execute(const Call& call, const Choice& choice = {});
  /// The same without waiting. Any number of calls may be under way. They are executed one after another, as they were
  /// begun, and a blocking call comes after them. Wrong arguments are refused here, other errors come from the request.
  [[nodiscard]] Request begin(const Call& call, const Choice& choice = {});
  /// An inactive request for a persistent call.
  [[nodiscard]] Request init(const Call& call, const Choice& choice = {});

  class Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }  ///< what the library's own code works on

 private:
  friend class World;
  Comm();
  std::unique_ptr<Impl> impl_;
};

/// p ranks in this process.
class World {
 public:
  explicit World(Rank size, const Options& options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Rank size() const;
  /// Rank's communicator, for run_single_threaded; plans stay cached in it between runs.
  [[nodiscard]] Comm& comm(Rank rank);

  /// Runs `body` once per rank, each in a thread of its own, and waits for all. The first exception that left
  /// a rank is thrown again here; the other ranks' collectives fail with Error(transport). A world that
  /// failed stays unusable.
  void run(const std::function<void(Comm&)>& body);

  /// Executes one collective, calls[r] for rank r, with all ranks taking turns in this thread. There are no threads,
  /// and the order of events is fixed. No request of a rank may be active. Throws Error(internal) if the ranks wait for
  /// one another forever.
  void run_single_threaded(std::span<const Call> calls, const Choice& choice = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace circoll::local

namespace circoll {

/// The calls of circoll/comm.hpp in one process.
template <>
struct CommunicatorTraits<local::Comm> {
  using Reference = local::Comm&;
  using Operator = circoll::Operator;
  using Result = void;
  static Rank rank(Reference comm) { return comm.rank(); }
  static Rank size(Reference comm) { return comm.size(); }
  static void execute(Reference comm, CollectiveCall& call, const Operator* op, const Choice& choice) {
    comm.execute(with(call, op), choice);
  }
  static Request begin(Reference comm, CollectiveCall& call, const Operator* op, const Choice& choice) {
    return comm.begin(with(call, op), choice);
  }
  static Request init(Reference comm, CollectiveCall& call, const Operator* op, const Choice& choice) {
    return comm.init(with(call, op), choice);
  }

 private:
  static const CollectiveCall& with(CollectiveCall& call, const Operator* op) {
    if (op != nullptr) call.op = *op;
    return call;
  }
};

}  // namespace circoll
