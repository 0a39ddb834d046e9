// This process among its peers on the node: its segment, and its connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "exec/node/board.hpp"
#include "exec/node/exchange.hpp"
#include "exec/node/place.hpp"
#include "exec/node/segment.hpp"
#include "facts/spin_lock.hpp"

namespace circoll::node {

/// A peer of the node. Several communicators share one connection to it. A thread holds the lock while it uses the
/// connection, whatever MPI's thread level: PT-SCOTCH 7.0 calls MPI in several threads of programs that have asked for
/// MPI_THREAD_FUNNELED. An allreduce of 8 bytes among two ranks takes 0.18 us with and without the lock (AMD EPYC).
struct ConnectedPeer {
  explicit ConnectedPeer(const Address& where) : address(where) {}

  Address address;
  SpinLock lock{};
  std::unique_ptr<Connection> connection{};
};

/// The segment of the process, and its peers. Only one thread at a time may call connect().
class Host {
 public:
  /// `processes` of the node make segments at the same time.
  Host(const Ways& ways, std::size_t processes)
      : ways_(ways), segment_(Segment::default_bytes, processes), board_(segment_.data()), store_(board_.memory()) {
    if (ways.direct) (void)let_peers_copy();  // where the system asks for it
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// The address for peers, which says why if there is no segment.
  [[nodiscard]] const Address& address() const { return segment_.address(); }
  /// The peer of an address, whose connection says whether there is one. It lives as long as the host.
  [[nodiscard]] ConnectedPeer& connect(const Address& peer) {
    const auto known =
        std::find_if(peers_.begin(), peers_.end(), [&](const auto& one) { return one->address.nonce == peer.nonce; });
    if (known != peers_.end()) return **known;
    auto made = std::make_unique<ConnectedPeer>(peer);
    made->connection = std::make_unique<Connection>(segment_, board_, store_, peer, ways_);
    peers_.push_back(std::move(made));
    return *peers_.back();
  }

 private:
  Ways ways_;
  Segment segment_;
  Board board_;
  Store store_;
  std::vector<std::unique_ptr<ConnectedPeer>> peers_;
};

}  // namespace circoll::node
