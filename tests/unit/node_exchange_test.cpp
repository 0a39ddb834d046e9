// Messages between processes of a node, of all sizes and by all ways, expected before or after they come.
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "exec/node/exchange.hpp"
#include "gtest/gtest.h"
#include "node_processes.hpp"

namespace circoll::node {
namespace {

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

 private:
  Process peer_;
};

/// The messages of one direction, which both processes compute: keys that repeat, and sizes of every kind.
struct Traffic {
  std::vector<std::uint64_t> keys{};
  std::vector<std::vector<std::byte>> data{};

  Traffic(std::uint64_t seed, std::size_t messages, std::size_t most) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < messages; ++i) {
      keys.push_back(random() % 5);
      const std::size_t limit = std::vector<std::size_t>{49, 200, 20'000, most}[random() % 4];
      std::vector<std::byte> bytes(random() % limit);
      for (std::size_t j = 0; j < bytes.size(); j += 1 + j / 64) bytes[j] = static_cast<std::byte>(random());
      data.push_back(std::move(bytes));
    }
  }
};

/// Sends one traffic while it receives the other. Receives begin in an order of their own, but for those of one key.
/// Returns how many messages came whole, and as they were sent.
std::size_t exchange(Connection& connection, const Traffic& out, const Traffic& in, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(in.keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t from = 0; from < order.size(); from += 12) {  // within stretches: others would fill all memory
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(from + 12, order.size()));
    std::shuffle(begin, end, random);
  }
  // Receives of one key are matched in the order in which they begin.
  std::vector<std::deque<std::size_t>> of_key(5);
  for (std::size_t i = 0; i < in.keys.size(); ++i) of_key[in.keys[i]].push_back(i);
  for (std::size_t& which : order) {
    auto& queue = of_key[in.keys[which]];
    which = queue.front();
    queue.pop_front();
  }
  std::vector<Outgoing> sends(out.keys.size());
  std::vector<Incoming> receives(in.keys.size());
  std::vector<std::vector<std::byte>> into(in.keys.size());
  std::size_t sent = 0, expected = 0;
  const auto all_over = [](const auto& messages) {
    return std::all_of(messages.begin(), messages.end(), [](const auto& message) { return message.over; });
  };
  while (sent < sends.size() || expected < receives.size() || !all_over(sends) || !all_over(receives)) {
    for (std::uint64_t burst = random() % 6; burst > 0 && sent < sends.size(); --burst, ++sent) {
      sends[sent] = {.key = out.keys[sent], .data = out.data[sent]};
      connection.send(sends[sent]);
    }
    for (std::uint64_t burst = random() % 6; burst > 0 && expected < receives.size(); --burst, ++expected) {
      const std::size_t which = order[expected];
      into[which].resize(in.data[which].size());
      receives[which] = {.key = in.keys[which], .into = into[which]};
      connection.receive(receives[which]);
    }
    if (!connection.poll()) sched_yield();
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < into.size(); ++i) {
    right += into[i] == in.data[i] && receives[i].reason == Reason::none && !receives[i].truncated ? 1 : 0;
  }
  return right;
}

constexpr std::size_t messages = 300;

void expect_exchange(std::size_t bytes, const Ways& ways, std::size_t most) {
  const Traffic here(1, messages, most), there(2, messages, most);
  const Pair pair(bytes, ways, [&](End& end, const Wire& line) {
    line.put(exchange(*end.connection, there, here, 3));
    line.wait();
  });
  ASSERT_EQ(pair.own.connection->reason(), Reason::none) << to_string(pair.own.connection->reason());
  EXPECT_EQ(exchange(*pair.own.connection, here, there, 4), messages);
  EXPECT_EQ(pair.line().get<std::size_t>(), messages);
  pair.line().go_on();
}

TEST(Exchange, ByAllWays) { expect_exchange(Segment::default_bytes, {}, 200'000); }

TEST(Exchange, WithoutDirectReading) { expect_exchange(Segment::default_bytes, {.direct = false}, 200'000); }

TEST(Exchange, DirectlyWhateverTheSize) { expect_exchange(Segment::default_bytes, {.direct_from = 49}, 200'000); }

TEST(Exchange, ThroughLittleMemory) {
  expect_exchange(48 * 1024, {.direct = false, .stored_to = 1024, .pipe_bytes = 4096}, 60'000);
}

/// There is room for lanes only, so that all goes in pieces.
TEST(Exchange, ThroughNoMemory) { expect_exchange(8192, {.direct = false}, 20'000); }

TEST(Exchange, MessagesOfOneKeyKeepTheirOrderAndTruncationIsSeen) {
  const Pair pair(Segment::default_bytes, {.direct = false}, [](End& end, const Wire& line) {
    std::vector<std::vector<std::byte>> data;
    std::vector<Outgoing> sends(4);
    const std::vector<std::size_t> sizes{10, 5000, 100'000, 20};
    for (std::size_t i = 0; i < sizes.size(); ++i) data.emplace_back(sizes[i], static_cast<std::byte>(i + 1));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sends[i] = {.key = 9, .data = data[i]};
      end.connection->send(sends[i]);
    }
    const auto over = [&] { return std::all_of(sends.begin(), sends.end(), [](const auto& s) { return s.over; }); };
    while (!over()) (void)end.connection->poll();
    line.wait();
  });
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::byte> into(1000);
    Incoming message{.key = 9, .into = into};
    pair.own.connection->receive(message);
    while (!message.over) (void)pair.own.connection->poll();
    EXPECT_EQ(into[0], static_cast<std::byte>(i + 1));
    EXPECT_EQ(message.truncated, i == 1 || i == 2);
    EXPECT_EQ(message.bytes, std::vector<std::size_t>({10, 1000, 1000, 20})[i]);
    EXPECT_EQ(into.back(), message.bytes == 1000 ? static_cast<std::byte>(i + 1) : std::byte{0});
  }
  pair.line().go_on();
}

TEST(Exchange, WithAnAddressOfNothingHasAReason) {
  End end(Segment::default_bytes);
  Address nowhere = end.segment.address();
  nowhere.nonce += 1;
  end.connect(nowhere, {});
  EXPECT_NE(end.connection->reason(), Reason::none);
}

}  // namespace
}  // namespace circoll::node
