// A neighbourhood collective on its way. Blocking calls keep theirs with the communicator; requests have their own.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/plan.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/message/execution.hpp"
#include "exec/mpi/serve/operation_parts.hpp"
#include "exec/mpi/serve/work.hpp"
#include "schedule/neighborhood.hpp"

namespace circoll::mpi {

/// The bytes of this rank's blocks.
struct NeighborSizes {
  std::vector<Count> sent{};
  std::vector<Count> received{};
};

/// The bytes of the blocks that own_blocks() names, of which there are so many.
[[nodiscard]] std::vector<Count> bytes_of(const NeighborSizes& sizes, Block blocks);

/// The two buffers of a call, as this rank's edges divide them.
struct NeighborSides {
  void read(const NeighborCall& call, const Neighborhood& neighborhood);

  /// The arguments are wrong: the native collective shall say how.
  [[nodiscard]] bool erroneous(const Neighborhood& neighborhood, NeighborContract contract) const;
  [[nodiscard]] bool same_blocks(const NeighborSides& other) const {
    return send.same_blocks(other.send) && recv.same_blocks(other.recv);
  }
  [[nodiscard]] NeighborSizes sizes() const { return {.sent = send.sizes(), .received = recv.sizes()}; }
  [[nodiscard]] bool have(const NeighborSizes& sizes) const {
    return send.have(sizes.sent) && recv.have(sizes.received);
  }
  NeighborSide send{};
  NeighborSide recv{};
};

/// The way of a call's blocks.
struct NeighborWay {
  const Schedule& schedule;  ///< operations bind it, and keep no reference
  std::vector<Count> bytes;  ///< of the schedule's user blocks
  const Selection& by;       ///< for reports; of the process, as `why` is
  std::string_view why;
};
/// Each rank sends straight to its neighbours. `schedule` is in the names of own_blocks().
[[nodiscard]] NeighborWay direct_way(const Schedule& schedule, const NeighborSides& sides);

/// Can be started again when it is over, also with other buffers.
class NeighborOperation final : public Work {
 public:
  /// Throws Error(transport) if MPI refuses a datatype.
  NeighborOperation(const NeighborCall& call, CommState& state, const NeighborWay& way, NeighborSides sides);
  ~NeighborOperation() override;

  [[nodiscard]] NeighborFunction function() const { return function_; }
  [[nodiscard]] const Selection& by() const { return *by_; }
  [[nodiscard]] std::string_view why() const { return why_; }
  [[nodiscard]] bool serves(NeighborFunction function, const NeighborSides& sides) const {
    return function_ == function && sides_.same_blocks(sides);
  }
  /// The addresses for the next start.
  void set_buffers(const void* sendbuf, void* recvbuf) {
    sendbuf_ = sendbuf;
    recvbuf_ = recvbuf;
  }
  /// For an operation behind a request: the program may free datatypes at once. Returns an MPI error code.
  [[nodiscard]] int hold_types();
  /// Packed bytes of all that this rank sends; of an allgather its block.
  [[nodiscard]] Count bytes() const { return sides_.send.total_bytes(); }

  void take_numbers() { tags_.take_numbers(neighbor_tags); }
  /// Tags of a persistent request. Called on all ranks, for which it waits. Returns an MPI error code; has_tags() says
  /// whether there are any.
  [[nodiscard]] int reserve_tags() { return tags_.reserve(neighbor_tags); }
  [[nodiscard]] bool has_tags() const { return tags_.is_agreed(); }

  [[nodiscard]] bool numbered() const override { return tags_.numbered(); }
  [[nodiscard]] std::uint64_t first_number() const override { return tags_.first_number(); }
  [[nodiscard]] bool may_start() const override { return tags_.free(); }
  void start() override;
  [[nodiscard]] bool progress() override;
  [[nodiscard]] int error() const override { return error_; }
  void fail(int error) noexcept override;
  /// Until it is over. Returns an MPI error code.
  int wait();
  /// start() and wait(). `*waited_s`, if there is one, gets the time of the waiting.
  int run(double* waited_s = nullptr);

 private:
  [[nodiscard]] Route route() const;
  void collect();
  void end(int error, bool matched) noexcept;

  NeighborFunction function_;
  CommState& state_;
  const Selection* by_;
  std::string_view why_;
  NeighborSides sides_;
  const void* sendbuf_;
  void* recvbuf_;
  Plan plan_;
  MessageTable messages_;
  Execution execution_;
  CallTags tags_;
  Arena memory_;
  Binding binding_{};
  std::byte* received_ = nullptr;  ///< staged
  bool under_way_ = false;
  int error_ = MPI_SUCCESS;
};

/// Operations that have served blocking calls, for calls of the same blocks.
class NeighborOperations {
 public:
  /// The operation for a call, as `make()` returns it in a std::unique_ptr if there is none.
  template <typename Make>
  [[nodiscard]] NeighborOperation& find(const NeighborCall& call, const NeighborSides& sides, const Make& make) {
    for (const auto& kept : kept_) {
      if (kept == nullptr || !kept->serves(call.function, sides)) continue;
      kept->set_buffers(call.send.buffer, const_cast<void*>(call.recv.buffer));
      return *kept;
    }
    auto& place = kept_[next_++ % kept_.size()];
    place = make();
    return *place;
  }
  void clear() noexcept {
    for (auto& kept : kept_) kept.reset();
  }

 private:
  std::array<std::unique_ptr<NeighborOperation>, 8> kept_;
  std::size_t next_ = 0;
};

}  // namespace circoll::mpi
