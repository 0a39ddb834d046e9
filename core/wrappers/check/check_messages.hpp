// The messages of CIRCOLL_CHECK between ranks, on a private communicator of all ranks of MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>

namespace circoll::interpose {

/// About the call `number` on the communicator `comm`, by the rank `from` of it.
struct CheckPacket {
  enum class Kind : std::uint64_t {
    up,       ///< what a rank and those below it in the tree have found
    down,     ///< what all ranks have found
    refused,  ///< the sender takes no part in this call and all later ones
    told,     ///< the message about a mismatch has been written
    call,     ///< the sender's call, described; follows the packet
  };
  Kind kind = Kind::up;
  std::uint64_t comm = 0;
  std::uint64_t number = 0;
  std::int64_t from = 0;
  std::uint64_t most = 0;     ///< the greatest hash
  std::uint64_t least = 0;    ///< the greatest complement of a hash
  std::uint64_t balance = 0;  ///< the sum
};

/// Sends and receives packets. Used by one thread at a time; never waits.
class CheckMessages {
 public:
  /// `comm` returns errors, and is freed by close().
  explicit CheckMessages(MPI_Comm comm) : comm_(comm) {}

  void send(int world_rank, const CheckPacket& packet, std::string_view rest = {});
  /// Receives packets that have arrived, up to a number of them.
  void receive(const std::function<void(const CheckPacket& packet, std::string_view rest)>& consume);
  /// True if everything has been sent.
  [[nodiscard]] bool all_sent();
  /// After all ranks have received all that was sent to them.
  void close();

 private:
  struct Sent {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  MPI_Comm comm_;
  std::list<Sent> sent_;  ///< not complete
  std::string received_;
};

}  // namespace circoll::interpose
