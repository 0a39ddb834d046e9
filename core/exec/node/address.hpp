// The address of a process's segment, by which its peers on the node find it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/node/place.hpp"
#include "exec/node/reason.hpp"

namespace circoll::node {

/// The layout of segments and addresses. Processes of different versions do not share memory.
inline constexpr std::uint32_t layout_version = 2;

/// Where the segment of a process is, or why it has none. Plain data, to be exchanged, as by MPI_Allgather; it may come
/// from anywhere, and what it says is believed only as far as it has been checked.
struct Address {
  std::uint32_t version = layout_version;
  Reason reason = Reason::no_segment;  ///< why there is no segment; `none` if there is
  std::int32_t pid = 0;
  std::int32_t file = -1;        ///< the descriptor of the segment's file in its process
  std::uint64_t start_time = 0;  ///< of the process, which tells it from a later one with the same pid
  Place place{};
  std::uint64_t device = 0;  ///< of the file, as fstat has it
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;   ///< of the whole file
  std::uint64_t nonce = 0;   ///< a random number, in the segment's header, too
  std::uint64_t header = 0;  ///< where the process itself sees the header, for direct reading
};
static_assert(std::is_trivially_copyable_v<Address> && std::has_unique_object_representations_v<Address>,
              "addresses are sent as bytes");

/// Why `peer` cannot be reached from `own`, as far as the addresses tell; no system call is made. Network namespaces
/// must be the same, though memory does not need it: hosts that are emulated on one machine, each with a network
/// namespace, are different nodes. This errs on the safe side: containers of a node that have networks of their own
/// send messages.
[[nodiscard]] Reason obstacle_between(const Address& own, const Address& peer);

/// True if the process of an address still exists, by pid and start time, or if that cannot be told. It is for peers
/// without obstacle_between(). Costs some microseconds. A process that has called exec is the same one.
[[nodiscard]] bool is_alive(const Address& address);

}  // namespace circoll::node
