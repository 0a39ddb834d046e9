// Messages whose parts the receiver takes where they lie, by all ways.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/node/exchange.hpp"
#include "gtest/gtest.h"
#include "node_pair.hpp"

namespace circoll::node {
namespace {

std::byte value(std::size_t message, std::size_t at) {
  return static_cast<std::byte>(at * 31 + at / 251 + message * 7);
}

std::vector<std::byte> content(std::size_t message, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t at = 0; at < bytes; ++at) data[at] = value(message, at);
  return data;
}

/// Counts the bytes that come in order and are right.
class Counter final : public Taker {
 public:
  /// Parts are read into `own`, if there is any.
  explicit Counter(std::size_t message, std::span<std::byte> own = {}) : message_(message), own_(own) {}
  std::span<std::byte> place(std::size_t at, std::size_t bytes) override {
    return own_.empty() ? own_ : own_.subspan(at, std::min(bytes, std::size_t{65536}));
  }
  void take(std::size_t at, std::span<const std::byte> part) override {
    aligned_ = aligned_ && reinterpret_cast<std::uintptr_t>(part.data()) % part_unit == 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (at + i == right_ && part[i] == value(message_, at + i)) ++right_;
    }
    taken_ += part.size();
  }
  [[nodiscard]] std::size_t right() const { return right_; }
  [[nodiscard]] std::size_t taken() const { return taken_; }
  [[nodiscard]] bool aligned() const { return aligned_; }

 private:
  std::size_t message_;
  std::span<std::byte> own_;
  std::size_t right_ = 0;
  std::size_t taken_ = 0;
  bool aligned_ = true;
};

const std::vector<std::size_t> sizes{0, 16, 48, 64, 4096, 16384, 32768, 65536, 65552, 200'000, 262'144};

void expect_taken(std::size_t bytes, const Ways& ways, bool early) {
  const Pair pair(bytes, ways, [early](End& end, const Wire& line) {
    while (!end.connection->poll()) sched_yield();  // the peer's first message: now it is known to read directly
    std::vector<std::vector<std::byte>> data;
    std::vector<Outgoing> sends(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) data.push_back(content(i, sizes[i]));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sends[i] = {.key = i, .data = std::span<const std::byte>(data[i])};
      end.connection->send(sends[i]);
      while (!early && !sends[i].over) (void)end.connection->poll();
    }
    if (early) line.go_on();
    for (Outgoing& one : sends) {
      while (!one.over) (void)end.connection->poll();
    }
    line.wait();
  });
  Outgoing hello{.key = 99};
  pair.own.connection->send(hello);
  if (early) {  // the message comes before anybody expects it
    pair.line().wait();
    for (int i = 0; i < 1000; ++i) (void)pair.own.connection->poll();
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::byte> passage(sizes[i]);
    std::vector<std::byte> own(i % 2 * sizes[i]);
    Counter counter(i, own);
    Incoming receive{.key = i, .into = std::span<std::byte>(passage), .taker = &counter};
    pair.own.connection->receive(receive);
    while (!receive.over) {
      if (!pair.own.connection->poll()) sched_yield();
    }
    EXPECT_EQ(receive.reason, Reason::none);
    EXPECT_EQ(counter.right(), sizes[i]);
    EXPECT_EQ(counter.taken(), sizes[i]);
    EXPECT_TRUE(counter.aligned()) << sizes[i];
  }
  pair.line().go_on();
}

TEST(Taker, GetsEveryPartOnce) {
  for (const bool early : {false, true}) expect_taken(Segment::default_bytes, {}, early);
}
TEST(Taker, OfWhatIsReadDirectly) {
  for (const bool early : {false, true}) expect_taken(Segment::default_bytes, {.direct_from = 49}, early);
}
TEST(Taker, OfPipes) {
  for (const bool early : {false, true})
    expect_taken(Segment::default_bytes, {.direct = false, .stored_to = 64}, early);
}
TEST(Taker, OfPieces) {
  for (const bool early : {false, true}) expect_taken(8192, {.direct = false}, early);
}

/// The second part cannot be read into its place. So the message comes another way, and its first part comes again.
TEST(Taker, GetsNoPartAgainAfterARefusal) {
  constexpr std::size_t bytes = 131072;
  const Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    while (!end.connection->poll()) sched_yield();
    const std::vector<std::byte> data = content(0, bytes);
    Outgoing message{.key = 0, .data = std::span<const std::byte>(data)};
    end.connection->send(message);
    while (!message.over) (void)end.connection->poll();
    line.wait();
  });
  Outgoing hello{.key = 99};
  pair.own.connection->send(hello);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const first = static_cast<std::byte*>(memory);
  ASSERT_EQ(mprotect(first + bytes / 2, bytes / 2, PROT_NONE), 0);
  Counter counter(0, std::span(first, bytes));
  std::vector<std::byte> passage(bytes);
  Incoming receive{.key = 0, .into = std::span<std::byte>(passage), .taker = &counter};
  pair.own.connection->receive(receive);
  while (!receive.over) {
    if (!pair.own.connection->poll()) sched_yield();
  }
  EXPECT_EQ(receive.reason, Reason::none);
  EXPECT_EQ(counter.right(), bytes);
  EXPECT_EQ(counter.taken(), bytes);
  munmap(memory, bytes);
  pair.line().go_on();
}

TEST(Taker, OfAMessageThatIsTooLongGetsNoMoreThanItExpects) {
  const Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    const std::vector<std::byte> data = content(0, 4096);
    for (const std::size_t bytes : {48, 4096}) {
      Outgoing message{.key = 0, .data = std::span(data).first(bytes)};
      end.connection->send(message);
      while (!message.over) (void)end.connection->poll();
    }
    line.wait();
  });
  for (const std::size_t bytes : {32, 1024}) {
    std::vector<std::byte> passage(bytes);
    Counter counter(0);
    Incoming receive{.key = 0, .into = std::span<std::byte>(passage), .taker = &counter};
    pair.own.connection->receive(receive);
    while (!receive.over) (void)pair.own.connection->poll();
    EXPECT_TRUE(receive.truncated);
    EXPECT_EQ(counter.right(), bytes);
    EXPECT_EQ(counter.taken(), bytes);
  }
  pair.line().go_on();
}

}  // namespace
}  // namespace circoll::node
