// Channels carry the messages of an execution between ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/comm/made_calls.hpp"
#include "exec/mpi/comm/route.hpp"

namespace circoll::mpi {

/// The memory and the way of one execution. Addresses may differ from one execution of a plan to the next.
struct Binding {
  std::array<char*, 3> base{};  ///< by Area; sends are only read
  std::byte* staging = nullptr;
  Route route{};
  Elements elements{};
  std::uint64_t call_number = 0;  ///< among the served calls on the communicator; 0: not counted
  MadeCall call{};
  bool exact = false;  ///< a message that is shorter than expected is an error

  [[nodiscard]] char* address(Area area, Count offset_bytes) const {
    return base[static_cast<std::size_t>(area)] + offset_bytes;
  }
};

/// The point where an execution was halted.
struct Halt {
  std::vector<bool> ended{};  ///< steps
  std::vector<bool> torn{};   ///< steps that have not ended, and may have written a part
};
/// True for a rank of the route's communicator that will send nothing any more.
using IsDead = std::function<bool(int rank)>;

/// One kind of transport in one execution of a plan. MPI's point-to-point messages are one (mpi_channel.hpp). The
/// channel that serves a peer is fixed per communicator (Route::channel_of), the same at both ends. After an error
/// nothing is begun any more. A step that combines what arrives has ended when that is done (combine.hpp).
class Channel {
 public:
  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// A new execution begins. The binding lives until it is over.
  virtual void start(const Binding& binding) = 0;
  /// Begins a send or receive. True if it has ended already, or has failed.
  virtual bool begin(StepIndex step) = 0;
  /// Asks once for news: the steps that have ended since. The span is valid until the next call.
  [[nodiscard]] virtual std::span<const StepIndex> poll() = 0;
  /// The MPI error code of the first failure.
  [[nodiscard]] virtual int error() const = 0;
  /// The error of a message of another length than expected: it has been received, and the execution goes on.
  [[nodiscard]] virtual int truncation() const = 0;
  /// Gives up messages that are under way. Receives have ended when it returns, unless that cannot be had.
  virtual void abandon() noexcept = 0;
  /// Does as abandon(), and says how far the messages under way have come. They have not ended.
  virtual void halt(Halt& halt, const IsDead& is_dead) = 0;
  /// Asks whether the peers of messages that are under way still exist. Sets an error if one does not. Seldom called.
  virtual void look_for_peers() {}
  /// Adds the peers of messages that are under way. Seldom called. Allocates.
  virtual void add_awaited(std::vector<StepIndex>& /*steps*/) const {}
};

}  // namespace circoll::mpi
