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
/// connection.
struct ConnectedPeer {
  ConnectedPeer(const Address& where, bool threads) : address(where), lock(threads) {}

  Address address;
  OptionalLock lock;
  std::unique_ptr<Connection> connection{};
};

/// The part that a process takes.
struct Settings {
  Ways ways{};
  bool threads = false;  ///< several threads may send and receive at a time
};

/// The segment of the process, and its peers. Only one thread at a time may call connect().
class Host {
 public:
  /// `processes` of the node make segments at the same time.
  Host(const Settings& settings, std::size_t processes)
      : settings_(settings),
        segment_(Segment::default_bytes, processes),
        board_(segment_.data()),
        store_(board_.memory(), settings.threads) {
    if (settings.ways.direct) (void)let_peers_copy();  // where the system asks for it
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
    auto made = std::make_unique<ConnectedPeer>(peer, settings_.threads);
    made->connection = std::make_unique<Connection>(segment_, board_, store_, peer, settings_.ways);
    peers_.push_back(std::move(made));
    return *peers_.back();
  }

 private:
  Settings settings_;
  Segment segment_;
  Board board_;
  Store store_;
  std::vector<std::unique_ptr<ConnectedPeer>> peers_;
};

}  // namespace circoll::node
