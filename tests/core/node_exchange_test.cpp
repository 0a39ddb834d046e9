// Messages between processes of a node, of all sizes and by all ways, expected before or after they come.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "exec/node/exchange.hpp"
#include "gtest/gtest.h"
#include "node_pair.hpp"

namespace circoll::node {
namespace {

/// The messages of one direction, which both processes compute. Keys repeat, and sizes are of every kind.
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

/// Memory divided into a few pieces, or left whole.
template <typename Byte>
class Divided {
 public:
  Divided() = default;
  Divided(std::span<Byte> memory, std::mt19937_64& random) : pieces_(memory) {
    if (random() % 2 == 0) return;
    const std::size_t most = memory.size() / 3 + 1;
    while (!memory.empty()) {
      const std::size_t bytes = std::min<std::size_t>(random() % most + 1, memory.size());
      many_.push_back(memory.first(bytes));
      if (random() % 8 == 0) many_.push_back(memory.first(0));
      memory = memory.subspan(bytes);
    }
    if (!many_.empty()) pieces_ = Pieces<Byte>::of(many_);
  }
  [[nodiscard]] const Pieces<Byte>& pieces() const { return pieces_; }

 private:
  std::vector<std::span<Byte>> many_{};
  Pieces<Byte> pieces_{};
};

/// Sends one traffic while it receives the other. Receives begin in an order of their own, except those of one key.
/// Returns the number of messages that came whole, and as they were sent.
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
  std::deque<Divided<const std::byte>> out_pieces;
  std::deque<Divided<std::byte>> in_pieces;
  std::size_t sent = 0, expected = 0;
  const auto all_over = [](const auto& messages) {
    return std::all_of(messages.begin(), messages.end(), [](const auto& message) { return message.over; });
  };
  while (sent < sends.size() || expected < receives.size() || !all_over(sends) || !all_over(receives)) {
    for (std::uint64_t burst = random() % 6; burst > 0 && sent < sends.size(); --burst, ++sent) {
      out_pieces.emplace_back(std::span<const std::byte>(out.data[sent]), random);
      sends[sent] = {.key = out.keys[sent], .data = out_pieces.back().pieces()};
      connection.send(sends[sent]);
    }
    for (std::uint64_t burst = random() % 6; burst > 0 && expected < receives.size(); --burst, ++expected) {
      const std::size_t which = order[expected];
      into[which].resize(in.data[which].size());
      in_pieces.emplace_back(std::span<std::byte>(into[which]), random);
      receives[which] = {.key = in.keys[which], .into = in_pieces.back().pieces()};
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

TEST(Exchange, DirectlyByBothEnds) {
  expect_exchange(Segment::default_bytes, {.direct_from = 49, .shared_from = 5000}, 600'000);
}

/// The processors are far apart, and one message in 32 measures anew whether they are.
TEST(Exchange, BetweenProcessorsFarApart) {
  expect_exchange(Segment::default_bytes, {.far_from = 1000, .far_ns = 0, .shared_from = 5000}, 600'000);
}

/// There is seldom room for the progress of a message.
TEST(Exchange, DirectlyByBothEndsWithLittleMemory) {
  expect_exchange(8192, {.direct_from = 49, .shared_from = 5000}, 300'000);
}

TEST(Exchange, ThroughLittleMemory) {
  expect_exchange(48 * 1024, {.direct = false, .stored_to = 1024, .pipe_bytes = 4096}, 60'000);
}

/// The segment has room for lanes only, so that all messages go in pieces.
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

/// A page that this process can read and others cannot, as memory of devices may be. It is the page of the clock.
std::span<const std::byte> unreadable_page() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("[vvar]") == std::string::npos) continue;
    return {reinterpret_cast<const std::byte*>(std::stoull(line, nullptr, 16)), 256};
  }
  return {};
}

TEST(Exchange, OfMemoryThatOthersCannotReadTakesAnotherWay) {
  if (unreadable_page().empty()) GTEST_SKIP() << "there is no such page here";
  const Pair pair(Segment::default_bytes, {.direct_from = 64}, [](End& end, const Wire& line) {
    std::array<std::byte, 200> right;
    right.fill(std::byte{7});
    while (!end.connection->poll()) sched_yield();  // the peer's first message: now it is known to read directly
    for (int i = 0; i < 3; ++i) {
      std::array<Outgoing, 3> sends{Outgoing{.key = 1, .data = unreadable_page()}, Outgoing{.key = 1, .data = right},
                                    Outgoing{.key = 1, .data = unreadable_page()}};
      for (Outgoing& one : sends) end.connection->send(one);
      while (!std::all_of(sends.begin(), sends.end(), [](const Outgoing& one) { return one.over; }))
        (void)end.connection->poll();
    }
    line.wait();
  });
  Outgoing hello{.key = 9};
  pair.own.connection->send(hello);
  for (int i = 0; i < 3; ++i) {
    std::array<std::array<std::byte, 256>, 3> into{};
    std::array<Incoming, 3> receives{};
    for (std::size_t j = 0; j < 3; ++j) {
      receives[j] = {.key = 1, .into = into[j]};
      pair.own.connection->receive(receives[j]);
    }
    while (!std::all_of(receives.begin(), receives.end(), [](const Incoming& one) { return one.over; }))
      (void)pair.own.connection->poll();
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(receives[j].reason, Reason::none);
      EXPECT_EQ(receives[j].bytes, j == 1 ? 200U : 256U);
      EXPECT_EQ(into[j][0] == std::byte{7} && into[j][199] == std::byte{7}, j == 1);
    }
  }
  pair.line().go_on();
}

/// A message that both ends give up ends without harm, and later messages arrive right.
TEST(Exchange, GivenUpMessagesAreInNobodysWay) {
  for (const Ways& ways : {Ways{}, Ways{.direct = false}, Ways{.direct = false, .stored_to = 0, .pipe_bytes = 4096}}) {
    const Pair pair(Segment::default_bytes, ways, [](End& end, const Wire& line) {
      std::vector<std::byte> data(100'000, std::byte{3});
      Outgoing given_up{.key = 1, .data = data};
      end.connection->send(given_up);
      for (int i = 0; i < 100 && !given_up.over; ++i) (void)end.connection->poll();
      if (!given_up.over) end.connection->abandon(given_up);
      data.assign(data.size(), std::byte{4});
      Outgoing last{.key = 2, .data = data};
      end.connection->send(last);
      while (!last.over) (void)end.connection->poll();
      line.wait();
    });
    Connection& connection = *pair.own.connection;
    std::vector<std::byte> first(100'000), never(10), second(100'000);
    Incoming nothing{.key = 5, .into = never};
    connection.receive(nothing);
    connection.abandon(nothing);
    Incoming given_up{.key = 1, .into = first};
    connection.receive(given_up);
    for (int i = 0; i < 50 && !given_up.over; ++i) (void)connection.poll();
    if (!given_up.over) connection.abandon(given_up);
    const std::vector<std::byte> before = first;
    Incoming last{.key = 2, .into = second};
    connection.receive(last);
    while (!last.over) (void)connection.poll();
    EXPECT_EQ(second, std::vector<std::byte>(100'000, std::byte{4}));
    EXPECT_EQ(first, before);
    pair.line().go_on();
  }
}

/// take_at_once() takes the next message of the lane if nothing else is to be done. Otherwise it changes nothing.
TEST(Exchange, TakesAtOnceWhatComesNext) {
  using Taken = Connection::Taken;
  const Pair pair(Segment::default_bytes, {.direct = false}, [](End& end, const Wire& line) {
    const auto send = [&](std::uint64_t key, std::size_t bytes) {
      const std::vector<std::byte> data(bytes, static_cast<std::byte>(key));
      while (!end.connection->send_at_once(key, data)) (void)end.connection->poll();
    };
    send(1, 8);
    send(2, 48);
    send(3, 0);
    line.wait();
    send(4, 4);
    send(5, 16);
    send(6, 1000);
    EXPECT_FALSE(end.connection->send_at_once(7, std::vector<std::byte>(Connection::most_at_once + 1)));
    line.wait();
  });
  Connection& connection = *pair.own.connection;
  std::array<std::byte, 48> into{};
  const auto take = [&](std::uint64_t key, std::size_t bytes) {
    into.fill({});
    Taken taken = Taken::nothing;
    while (taken == Taken::nothing) taken = connection.take_at_once(key, std::span(into).first(bytes));
    return taken;
  };
  EXPECT_EQ(connection.take_at_once(1, into), Taken::other);  // the peer's lane has not been looked for
  Incoming other{.key = 77, .into = into};
  connection.receive(other);
  while (!connection.poll()) sched_yield();  // 1 has come, with others perhaps, and nobody has expected it
  connection.abandon(other);
  EXPECT_EQ(connection.take_at_once(1, into), Taken::other);
  for (const std::uint64_t key : {1, 2, 3}) {
    Incoming message{.key = key, .into = into};
    connection.receive(message);
    while (!message.over) (void)connection.poll();
    EXPECT_EQ(message.bytes, key == 1 ? 8U : key == 2 ? 48U : 0U);
  }
  EXPECT_EQ(connection.take_at_once(4, into), Taken::nothing);
  pair.line().go_on();
  EXPECT_EQ(take(5, 16), Taken::other);  // 4 comes first
  EXPECT_EQ(take(4, 3), Taken::other);   // it is longer
  EXPECT_EQ(take(4, 48), Taken::other);  // it is shorter
  EXPECT_EQ(take(4, 4), Taken::message);
  EXPECT_EQ(into[3], std::byte{4});
  EXPECT_EQ(into[4], std::byte{0});
  connection.receive(other);
  EXPECT_EQ(take(5, 16), Taken::other);  // somebody waits for another message
  connection.abandon(other);
  EXPECT_EQ(take(5, 16), Taken::message);
  EXPECT_EQ(into[15], std::byte{5});
  EXPECT_EQ(take(6, 48), Taken::other);
  std::vector<std::byte> rest(1001);
  EXPECT_EQ(connection.take_at_once(6, rest), Taken::other);
  EXPECT_EQ(connection.take_at_once(6, std::span(rest).first(1000)), Taken::message);
  EXPECT_EQ(std::count(rest.begin(), rest.end(), std::byte{6}), 1000);
  EXPECT_EQ(rest.back(), std::byte{0});
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
