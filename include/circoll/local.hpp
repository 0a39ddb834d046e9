// The executor in one process: ranks are threads, or take turns in one thread. No MPI.
//
//   circoll::local::World world(8);
//   world.run([](circoll::local::Comm& comm) {
//     std::vector<double> mine(1000, 1.0), sum(1000);
//     circoll::allreduce(mine, sum, circoll::Op::sum, comm);
//   });
//
// A message is one copy from the sender's memory to the receiver's. Waiting ranks sleep. Schedules and plans
// are cached per rank by call signature: a repeated call builds nothing and allocates nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "circoll/buffers.hpp"
#include "circoll/error.hpp"
#include "circoll/types.hpp"

namespace circoll::local {

/// One rank's call of a collective, as MPI's arguments. Counts and displacements are in elements.
struct Call {
  Collective collective = Collective::barrier;
  const void* sendbuf = nullptr;
  /// bcast: the buffer of all ranks, the root's is the source.
  void* recvbuf = nullptr;
  /// Elements: of the vector (allreduce, reduce, bcast, scan, exscan); of each rank's block (reduce_scatter_block,
  /// allgather, gather, scatter, alltoall); of this rank's own block (gatherv: what it sends, scatterv: what it
  /// receives).
  Count count = 0;
  /// Elements of each rank's block, p entries: reduce_scatter and allgatherv on all ranks, gatherv and
  /// scatterv at the root. alltoallv: of the block that comes from each rank.
  std::span<const Count> counts{};
  /// Where the blocks lie in the buffer that holds all of them: allgatherv on all ranks, gatherv and scatterv
  /// at the root, alltoallv in recvbuf. Empty: one after another.
  std::span<const Count> displs{};
  /// alltoallv: elements of the block for each rank, p entries, and where they lie in sendbuf. Not used in place.
  std::span<const Count> send_counts{};
  std::span<const Count> send_displs{};
  Type type = Type::byte;
  /// If positive: elements are records of this many bytes and `type` is ignored. For user operators, or none.
  Count record_bytes = 0;
  Operator op{};
  Rank root = 0;
  /// MPI_IN_PLACE: sendbuf is ignored (scatter, scatterv at the root: recvbuf). Where MPI knows it at the
  /// root only, the others' must be false. Said explicitly, because the data() of an empty vector is null as
  /// well.
  bool in_place = false;
};

struct Options {
  std::size_t stack_bytes = std::size_t{512} << 10;      ///< of each rank's thread
  std::size_t plan_cache_bytes = std::size_t{64} << 20;  ///< per rank; the least recently used plans go first
  /// The node of each rank, by any numbers, for policies and algorithms that care; empty: each rank has its own.
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

  class Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

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

  /// Executes one collective, calls[r] for rank r, with all ranks taking turns in this thread: no threads,
  /// and a fixed order of events. Throws Error(internal) if the ranks wait for one another for ever.
  void run_single_threaded(std::span<const Call> calls, const Choice& choice = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// How execute_all drives the ranks.
enum class Mode { threads, single_thread };

/// One collective on all ranks, from inputs to outputs.
struct Job {
  Collective collective = Collective::barrier;
  Rank size = 1;
  Rank root = 0;
  /// Elements of each user block, p entries, or one entry for all: the vector (allreduce, reduce, bcast, scan, exscan),
  /// or the block of each rank. alltoall, alltoallv: one entry, or (alltoallv) p * p: [s * p + d] goes from s to d.
  std::vector<Count> counts{0};
  Type type = Type::byte;
  Count record_bytes = 0;
  Operator op{};
  bool in_place = false;  ///< where the collective has it; elsewhere ignored
  /// Writes a rank's contribution; called in the order of ranks for those that have one.
  std::function<void(Rank rank, std::span<std::byte> input)> fill;

  [[nodiscard]] Count element_bytes() const;
  [[nodiscard]] Count count_of(Rank rank) const;
  [[nodiscard]] Count count_of(Rank source, Rank destination) const;  ///< alltoall(v)
  /// Elements of all user blocks: of the vector for allreduce, reduce, bcast, scan, exscan.
  [[nodiscard]] Count total() const;
  [[nodiscard]] Count input_elements(Rank rank) const;   ///< of the rank's contribution
  [[nodiscard]] Count output_elements(Rank rank) const;  ///< of the rank's result
};

/// What came of a job. All elements packed, in the order of user blocks.
struct Outcome {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  double seconds = 0;  ///< of the execution alone, threads started and plans built included
  /// Empty, or how the execution left its bounds: a byte around a buffer, or of a send buffer, was written.
  std::string violation;
};

/// Executes a job. Throws as Comm::execute does.
[[nodiscard]] Outcome execute_all(const Job& job, const Choice& choice = {}, Mode mode = Mode::single_thread,
                                  const Options& options = {});

}  // namespace circoll::local

namespace circoll::local::detail {

template <typename Buffer>
concept Elements = std::ranges::contiguous_range<Buffer> && std::ranges::sized_range<Buffer> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Buffer>>;

template <typename Buffer>
using Element = std::ranges::range_value_t<Buffer>;

template <typename Buffer>
Count size_of(const Buffer& buffer) {
  return static_cast<Count>(std::ranges::size(buffer));
}

/// The call with element type T: a predefined type, or records.
template <typename T>
Call call_of(Collective collective) {
  Call call;
  call.collective = collective;
  if constexpr (type_of<T>().has_value()) {
    call.type = *type_of<T>();
  } else {
    call.record_bytes = sizeof(T);
  }
  return call;
}

/// Sets sendbuf to a range, or to in place.
template <typename Send>
void set_send(Call& call, const Send& sendbuf) {
  if constexpr (std::is_same_v<Send, InPlace>) {
    call.in_place = true;
  } else {
    call.sendbuf = std::ranges::data(sendbuf);
  }
}

/// Throws Error(invalid_argument) unless a send range has `elements` elements of type T.
template <typename T, typename Send>
void require_send(const Send& sendbuf, Count elements) {
  if constexpr (!std::is_same_v<Send, InPlace>) {
    static_assert(std::is_same_v<Element<Send>, T>, "send and receive buffers have different element types");
    require(size_of(sendbuf) >= elements, "the send buffer is too small");
  }
}

/// Elements up to the end of the last block.
inline Count end_of(std::span<const Count> counts, std::span<const Count> displs) {
  Count end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    end = displs.empty() ? end + counts[i] : std::max(end, displs[i] + counts[i]);
  }
  return end;
}

}  // namespace circoll::local::detail

// The typed API: contiguous ranges (vector, span, array) of trivially copyable elements; `sendbuf` may be
// in_place where MPI allows MPI_IN_PLACE. Sizes are checked; MPI's counts follow from them. Rooted
// collectives ignore the buffers that are not significant at a rank. Errors: as Comm::execute.
namespace circoll {

/// recvbuf = contributions of all ranks, combined; count = size of recvbuf.
template <typename Send, local::detail::Elements Recv>
void allreduce(const Send& sendbuf, Recv&& recvbuf, const Operator& op, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::allreduce);
  call.count = local::detail::size_of(recvbuf);
  local::detail::require_send<T>(sendbuf, call.count);
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.op = op;
  comm.execute(call, choice);
}

/// recvbuf at the root = contributions of all ranks, combined. In place at the root: the contribution is in
/// recvbuf.
template <typename Send, local::detail::Elements Recv>
void reduce(const Send& sendbuf, Recv&& recvbuf, const Operator& op, Rank root, local::Comm& comm,
            const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::reduce);
  if constexpr (std::is_same_v<Send, InPlace>) {
    call.count = local::detail::size_of(recvbuf);
  } else {
    call.count = local::detail::size_of(sendbuf);
    require(comm.rank() != root || local::detail::size_of(recvbuf) >= call.count, "the receive buffer is too small");
  }
  local::detail::require_send<T>(sendbuf, call.count);
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.op = op;
  call.root = root;
  comm.execute(call, choice);
}

/// recvbuf = block `rank` of the combined vectors of p blocks. In place: recvbuf holds the vector before, and
/// the block at its begin afterwards.
template <typename Send, local::detail::Elements Recv>
void reduce_scatter_block(const Send& sendbuf, Recv&& recvbuf, const Operator& op, local::Comm& comm,
                          const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::reduce_scatter_block);
  call.count = local::detail::size_of(recvbuf);
  if constexpr (std::is_same_v<Send, InPlace>) {
    require(call.count % comm.size() == 0, "the vector is not p blocks of equal size");
    call.count /= comm.size();
  }
  local::detail::require_send<T>(sendbuf, call.count * comm.size());
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.op = op;
  comm.execute(call, choice);
}

/// The same with counts[i] elements in block i.
template <typename Send, local::detail::Elements Recv>
void reduce_scatter(const Send& sendbuf, Recv&& recvbuf, std::span<const Count> counts, const Operator& op,
                    local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::reduce_scatter);
  require(static_cast<Rank>(counts.size()) == comm.size(), "p counts are needed");
  const Count total = local::detail::end_of(counts, {});
  local::detail::require_send<T>(sendbuf, total);
  const Count received = std::is_same_v<Send, InPlace> ? total : counts[static_cast<std::size_t>(comm.rank())];
  require(local::detail::size_of(recvbuf) >= received, "the receive buffer is too small");
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.counts = counts;
  call.op = op;
  comm.execute(call, choice);
}

/// recvbuf = the p contributions in the order of ranks; count = size of recvbuf / p.
template <typename Send, local::detail::Elements Recv>
void allgather(const Send& sendbuf, Recv&& recvbuf, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::allgather);
  require(local::detail::size_of(recvbuf) % comm.size() == 0, "the vector is not p blocks of equal size");
  call.count = local::detail::size_of(recvbuf) / comm.size();
  local::detail::require_send<T>(sendbuf, call.count);
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  comm.execute(call, choice);
}

/// The same with counts[i] elements from rank i, at displs[i] (packed if empty).
template <typename Send, local::detail::Elements Recv>
void allgatherv(const Send& sendbuf, Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs,
                local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::allgatherv);
  require(static_cast<Rank>(counts.size()) == comm.size() && (displs.empty() || displs.size() == counts.size()),
          "p counts, and p displacements or none, are needed");
  local::detail::require_send<T>(sendbuf, counts[static_cast<std::size_t>(comm.rank())]);
  require(local::detail::size_of(recvbuf) >= local::detail::end_of(counts, displs), "the receive buffer is too small");
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.counts = counts;
  call.displs = displs;
  comm.execute(call, choice);
}

/// recvbuf at the root = the p contributions in the order of ranks. In place at the root: its own is already
/// there.
template <typename Send, local::detail::Elements Recv>
void gather(const Send& sendbuf, Recv&& recvbuf, Rank root, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::gather);
  if constexpr (std::is_same_v<Send, InPlace>) {
    call.count = local::detail::size_of(recvbuf) / comm.size();
  } else {
    call.count = local::detail::size_of(sendbuf);
  }
  local::detail::require_send<T>(sendbuf, call.count);
  require(comm.rank() != root || local::detail::size_of(recvbuf) == call.count * comm.size(),
          "the receive buffer is not p blocks");
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.root = root;
  comm.execute(call, choice);
}

/// The same with counts[i] elements from rank i, at displs[i] (packed if empty); counts and displs matter at
/// the root.
template <typename Send, local::detail::Elements Recv>
void gatherv(const Send& sendbuf, Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs,
             Rank root, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::gatherv);
  if (comm.rank() == root) {
    require(static_cast<Rank>(counts.size()) == comm.size() && (displs.empty() || displs.size() == counts.size()),
            "p counts, and p displacements or none, are needed at the root");
    require(local::detail::size_of(recvbuf) >= local::detail::end_of(counts, displs),
            "the receive buffer is too small");
    call.counts = counts;
    call.displs = displs;
  }
  if constexpr (!std::is_same_v<Send, InPlace>) call.count = local::detail::size_of(sendbuf);
  local::detail::require_send<T>(sendbuf, call.count);
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.root = root;
  comm.execute(call, choice);
}

/// recvbuf = block `rank` of the root's p blocks. recvbuf may be in_place at the root: its own block stays in
/// sendbuf.
template <local::detail::Elements Send, typename Recv>
void scatter(const Send& sendbuf, Recv&& recvbuf, Rank root, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Send>;
  local::Call call = local::detail::call_of<T>(Collective::scatter);
  if constexpr (std::is_same_v<std::remove_cvref_t<Recv>, InPlace>) {
    call.in_place = true;
    call.count = local::detail::size_of(sendbuf) / comm.size();
  } else {
    static_assert(std::is_same_v<local::detail::Element<Recv>, T>);
    call.count = local::detail::size_of(recvbuf);
    call.recvbuf = std::ranges::data(recvbuf);
  }
  require(comm.rank() != root || local::detail::size_of(sendbuf) == call.count * comm.size(),
          "the send buffer is not p blocks");
  call.sendbuf = std::ranges::data(sendbuf);
  call.root = root;
  comm.execute(call, choice);
}

/// The same with counts[i] elements to rank i, from displs[i] (packed if empty); counts and displs matter at
/// the root.
template <local::detail::Elements Send, typename Recv>
void scatterv(const Send& sendbuf, std::span<const Count> counts, std::span<const Count> displs, Recv&& recvbuf,
              Rank root, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Send>;
  local::Call call = local::detail::call_of<T>(Collective::scatterv);
  if (comm.rank() == root) {
    require(static_cast<Rank>(counts.size()) == comm.size() && (displs.empty() || displs.size() == counts.size()),
            "p counts, and p displacements or none, are needed at the root");
    require(local::detail::size_of(sendbuf) >= local::detail::end_of(counts, displs), "the send buffer is too small");
    call.counts = counts;
    call.displs = displs;
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<Recv>, InPlace>) {
    call.in_place = true;
    if (comm.rank() == root) call.count = counts[static_cast<std::size_t>(root)];
  } else {
    static_assert(std::is_same_v<local::detail::Element<Recv>, T>);
    call.count = local::detail::size_of(recvbuf);
    call.recvbuf = std::ranges::data(recvbuf);
  }
  call.sendbuf = std::ranges::data(sendbuf);
  call.root = root;
  comm.execute(call, choice);
}

/// buffer = the root's buffer.
template <local::detail::Elements Buffer>
void bcast(Buffer&& buffer, Rank root, local::Comm& comm, const Choice& choice = {}) {
  local::Call call = local::detail::call_of<local::detail::Element<Buffer>>(Collective::bcast);
  call.count = local::detail::size_of(buffer);
  call.recvbuf = std::ranges::data(buffer);
  call.root = root;
  comm.execute(call, choice);
}

/// recvbuf = block `rank` of every rank's p blocks, in the order of ranks; count = size of recvbuf / p. In place: recvbuf
/// holds the blocks to send before.
template <typename Send, local::detail::Elements Recv>
void alltoall(const Send& sendbuf, Recv&& recvbuf, local::Comm& comm, const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::alltoall);
  require(local::detail::size_of(recvbuf) % comm.size() == 0, "the vector is not p blocks of equal size");
  call.count = local::detail::size_of(recvbuf) / comm.size();
  local::detail::require_send<T>(sendbuf, local::detail::size_of(recvbuf));
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  comm.execute(call, choice);
}

/// The same with send_counts[i] elements to rank i, from send_displs[i], and counts[i] from rank i, at displs[i] (packed
/// if empty). In place: the blocks to send lie where the received ones will; send_counts and send_displs are ignored.
template <typename Send, local::detail::Elements Recv>
void alltoallv(const Send& sendbuf, std::span<const Count> send_counts, std::span<const Count> send_displs,
               Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs, local::Comm& comm,
               const Choice& choice = {}) {
  using T = local::detail::Element<Recv>;
  local::Call call = local::detail::call_of<T>(Collective::alltoallv);
  const auto fits = [&](std::span<const Count> c, std::span<const Count> d) {
    return static_cast<Rank>(c.size()) == comm.size() && (d.empty() || d.size() == c.size());
  };
  require(fits(counts, displs), "p counts, and p displacements or none, are needed");
  if constexpr (!std::is_same_v<Send, InPlace>) {
    require(fits(send_counts, send_displs), "p counts to send, and p displacements or none, are needed");
    call.send_counts = send_counts;
    call.send_displs = send_displs;
    local::detail::require_send<T>(sendbuf, local::detail::end_of(send_counts, send_displs));
  }
  require(local::detail::size_of(recvbuf) >= local::detail::end_of(counts, displs), "the receive buffer is too small");
  local::detail::set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.counts = counts;
  call.displs = displs;
  comm.execute(call, choice);
}

namespace local::detail {

template <typename Send, Elements Recv>
void prefix(Collective collective, const Send& sendbuf, Recv&& recvbuf, const Operator& op, Comm& comm,
            const Choice& choice) {
  using T = Element<Recv>;
  Call call = call_of<T>(collective);
  call.count = size_of(recvbuf);
  require_send<T>(sendbuf, call.count);
  set_send(call, sendbuf);
  call.recvbuf = std::ranges::data(recvbuf);
  call.op = op;
  comm.execute(call, choice);
}

}  // namespace local::detail

/// recvbuf = contributions of ranks 0 .. rank, combined; count = size of recvbuf.
template <typename Send, local::detail::Elements Recv>
void scan(const Send& sendbuf, Recv&& recvbuf, const Operator& op, local::Comm& comm, const Choice& choice = {}) {
  local::detail::prefix(Collective::scan, sendbuf, recvbuf, op, comm, choice);
}

/// recvbuf = contributions of ranks 0 .. rank - 1, combined; at rank 0 it is left as it is. count = size of recvbuf.
template <typename Send, local::detail::Elements Recv>
void exscan(const Send& sendbuf, Recv&& recvbuf, const Operator& op, local::Comm& comm, const Choice& choice = {}) {
  local::detail::prefix(Collective::exscan, sendbuf, recvbuf, op, comm, choice);
}

/// Returns after every rank has called it.
inline void barrier(local::Comm& comm, const Choice& choice = {}) { comm.execute(local::Call{}, choice); }

}  // namespace circoll
