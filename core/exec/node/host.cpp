#include "exec/node/host.hpp"

#include <algorithm>

#include "exec/node/direct_copy.hpp"

namespace circoll::node {

Host::Host(const Settings& settings, std::size_t processes)
    : settings_(settings),
      segment_(Segment::default_bytes, processes),
      board_(segment_.data()),
      store_(board_.memory(), settings.threads) {
  if (settings.ways.direct) (void)let_peers_copy();  // where the system asks for it
}

Peer& Host::connect(const Address& peer) {
  const auto known =
      std::find_if(peers_.begin(), peers_.end(), [&](const auto& one) { return one->address.nonce == peer.nonce; });
  if (known != peers_.end()) return **known;
  auto made = std::make_unique<Peer>(peer, settings_.threads);
  made->connection = std::make_unique<Connection>(segment_, board_, store_, peer, settings_.ways);
  peers_.push_back(std::move(made));
  return *peers_.back();
}

}  // namespace circoll::node
