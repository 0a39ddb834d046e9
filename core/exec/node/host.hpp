// This process among its peers on the node: its segment, and its connections.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/node/address.hpp"
#include "exec/node/board.hpp"
#include "exec/node/exchange.hpp"
#include "exec/node/segment.hpp"
#include "exec/node/store.hpp"
#include "facts/optional_lock.hpp"

namespace circoll::node {

/// A peer of the node. Several communicators meet it by one connection; the lock is for whoever uses that.
struct Peer {
  Peer(const Address& where, bool threads) : address(where), lock(threads) {}

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
  Host(const Settings& settings, std::size_t processes);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// For peers; it says why there is no segment.
  [[nodiscard]] const Address& address() const { return segment_.address(); }
  /// The peer of an address, whose connection says whether there is one. It lives as long as the host.
  [[nodiscard]] Peer& connect(const Address& peer);

 private:
  Settings settings_;
  Segment segment_;
  Board board_;
  Store store_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace circoll::node
