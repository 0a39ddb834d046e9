// Where a process can be reached by the others of its job.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace circoll::watch {

/// The place where a process listens, to be handed to the others as it is.
struct Address {
  static constexpr std::size_t most = 7;

  std::uint64_t network = 0;  ///< its network stack: processes that share one reach one another by loopback
  std::array<std::uint32_t, most> ipv4{};  ///< of its interfaces, in network byte order; 0: none
  std::uint32_t port = 0;                  ///< in host byte order; 0: it does not listen
};

}  // namespace circoll::watch
