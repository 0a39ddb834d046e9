// A connection of this process with one that is forked for the test.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "exec/node/board.hpp"
#include "exec/node/exchange.hpp"
#include "exec/node/segment.hpp"
#include "node_processes.hpp"

namespace circoll::node {

/// One process's end of a connection.
struct End {
  explicit End(std::size_t bytes) : segment(bytes), board(segment.data(), 4), store(board.memory()) {}
  void connect(const Address& peer, const Ways& ways) {
    connection = std::make_unique<Connection>(segment, board, store, peer, ways);
  }

  Segment segment;
  Board board;
  Store store;
  std::unique_ptr<Connection> connection{};
};

/// Connects this process with a forked one, which runs body(end, line).
class Pair {
 public:
  using Body = std::function<void(End&, const Wire&)>;
  Pair(std::size_t bytes, const Ways& ways, const Body& body)
      : own(bytes), peer_([bytes, ways, body](const Wire& line) {
          End end(bytes);
          line.put(end.segment.address());
          end.connect(*line.get<Address>(), ways);
          body(end, line);
        }) {
    peer_.line().put(own.segment.address());
    own.connect(*peer_.line().get<Address>(), ways);
  }

  End own;
  [[nodiscard]] const Wire& line() const { return peer_.line(); }
  void kill_it() {
    peer_.kill_it();
    peer_.wait_for_end();
  }

 private:
  Process peer_;
};

}  // namespace circoll::node
