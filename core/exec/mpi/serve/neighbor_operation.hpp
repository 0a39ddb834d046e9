// A neighbourhood collective on its way. Blocking calls keep theirs with the communicator; requests have their own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "circoll/plan.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/message/execution.hpp"
#include "exec/mpi/serve/operation_parts.hpp"
#include "exec/mpi/serve/work.hpp"
#include "schedule/neighborhood.hpp"

namespace circoll::mpi {

/// The two buffers of a call, as this rank's edges divide them.
struct NeighborSides {
  void read(const NeighborCall& call, const Neighborhood& neighborhood);

  /// The arguments are wrong: the native collective shall say how.
  [[nodiscard]] bool erroneous(const Neighborhood& neighborhood, NeighborContract contract) const;
  [[nodiscard]] bool same_blocks(const NeighborSides& other) const {
    return send.same_blocks(other.send) && recv.same_blocks(other.recv);
  }
  NeighborSide send{};
  NeighborSide recv{};
};

/// Can be started again when it is over, also with other buffers.
class NeighborOperation final : public Work {
 public:
  /// `schedule` is in the names of own_blocks(). Throws Error(transport) if MPI refuses a datatype.
  NeighborOperation(const NeighborCall& call, CommState& state, const Schedule& schedule, NeighborSides sides);
  ~NeighborOperation() override;

  [[nodiscard]] NeighborFunction function() const { return function_; }
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

 private:
  [[nodiscard]] Route route() const;
  void collect();
  void end(int error, bool matched) noexcept;

  NeighborFunction function_;
  CommState& state_;
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

}  // namespace circoll::mpi
