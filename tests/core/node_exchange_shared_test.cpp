// Long messages between two processes, which the receiver reads and the sender writes at the same time.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/node/exchange.hpp"
#include "exec/node/shared_copy.hpp"
#include "gtest/gtest.h"
#include "node_pair.hpp"

namespace circoll::node {
namespace {

constexpr std::size_t mega = std::size_t{1} << 20U;

/// Memory of whole pages, which can be forbidden to all processes and permitted again.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : data_(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
              bytes) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { (void)munmap(data_.data(), data_.size()); }
  void forbid() const { (void)mprotect(data_.data(), data_.size(), PROT_NONE); }
  void permit() const { (void)mprotect(data_.data(), data_.size(), PROT_READ | PROT_WRITE); }
  [[nodiscard]] std::span<std::byte> data() const { return data_; }

 private:
  std::span<std::byte> data_;
};

void fill(std::span<std::byte> data, unsigned kind) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>((i * 2654435761U >> 7U) + kind);
}
bool is_filled(std::span<const std::byte> data, unsigned kind) {
  std::vector<std::byte> expected(data.size());
  fill(expected, kind);
  return std::equal(data.begin(), data.end(), expected.begin());
}

template <typename Message>
void finish(Connection& connection, const Message& message) {
  while (!message.over) {
    if (!connection.poll()) sched_yield();
  }
}
/// Polls as long as something moves. At least one poll must move something.
void poll_all(Connection& connection, bool idle = true) {
  while (!connection.poll(idle)) sched_yield();
  while (connection.poll(idle)) {
  }
}
/// Waits for the peer's first message, after which it is known to read directly.
void await_hello(Connection& connection) { poll_all(connection); }
void say_hello(Connection& connection) {
  Outgoing hello{.key = 99};
  connection.send(hello);
}

/// A sender of one message of key 1. It looks at its connection only when the test tells it.
struct Sender {
  std::size_t bytes = mega;
  bool may_help = true;
  bool idle = true;
  void operator()(End& end, const Wire& line) const {
    std::vector<std::byte> data(bytes);
    fill(data, 1);
    await_hello(*end.connection);
    Outgoing message{.key = 1, .data = data, .may_help = may_help};
    end.connection->send(message);
    line.wait();
    for (int turn = 0; turn < 100; ++turn) (void)end.connection->poll(idle);
    line.put(end.connection->written_bytes());
    finish(*end.connection, message);
    line.wait();
  }
};

/// Receives a part of the message, lets the sender do all that it can, and receives the rest.
std::uint64_t receive_with_help(const Pair& pair, Incoming& message) {
  Connection& connection = *pair.own.connection;
  say_hello(connection);
  connection.receive(message);
  while (!connection.poll()) sched_yield();  // the announcement
  pair.line().go_on();
  const auto written = pair.line().get<std::uint64_t>();
  finish(connection, message);
  pair.line().go_on();
  return written.value_or(~0ULL);
}

bool permitted() {
  const Segment segment(1 << 16);
  return DirectCopy(segment.address(), segment.address()).writing() == Reason::none;
}

class SharedExchange : public testing::Test {
 protected:
  void SetUp() override {
    if (!permitted()) GTEST_SKIP() << "no direct copies";
  }
};

TEST_F(SharedExchange, TheSenderWritesWhatTheReceiverHasNotRead) {
  for (const std::size_t bytes : {Ways{}.shared_from, Ways{}.shared_from + 1, mega - 1, mega, 3 * mega + 4097}) {
    const Pair pair(Segment::default_bytes, {}, Sender{.bytes = bytes});
    std::vector<std::byte> into(bytes + 5);
    Incoming message{.key = 1, .into = into};
    EXPECT_GE(receive_with_help(pair, message), bytes / 2 - 1);
    EXPECT_TRUE(is_filled(std::span(into).first(bytes), 1));
    EXPECT_EQ(message.bytes, bytes);
    EXPECT_TRUE(message.reason == Reason::none && !message.truncated);
    EXPECT_EQ(into[bytes], std::byte{0});
  }
}

TEST_F(SharedExchange, NotWhereTheSenderHasOtherThingsToDo) {
  for (const Sender& sender :
       {Sender{.bytes = Ways{}.shared_from - 1}, Sender{.may_help = false}, Sender{.idle = false}}) {
    const Pair pair(Segment::default_bytes, {}, sender);
    std::vector<std::byte> into(sender.bytes);
    Incoming message{.key = 1, .into = into};
    EXPECT_EQ(receive_with_help(pair, message), 0U);
    EXPECT_TRUE(is_filled(into, 1));
  }
}

TEST_F(SharedExchange, NotWhereTheMessageIsTruncated) {
  const Pair pair(Segment::default_bytes, {}, Sender{});
  std::vector<std::byte> into(mega);
  Incoming message{.key = 1, .into = std::span(into).first(mega - 1)};
  EXPECT_EQ(receive_with_help(pair, message), 0U);
  EXPECT_TRUE(message.truncated);
  EXPECT_TRUE(is_filled(std::span(into).first(mega - 1), 1));
  EXPECT_EQ(into.back(), std::byte{0});
}

TEST_F(SharedExchange, NotWhereTheReceiverWantsNoHelp) {
  const Pair pair(Segment::default_bytes, {}, Sender{});
  std::vector<std::byte> into(mega);
  Incoming message{.key = 1, .into = into, .may_be_helped = false};
  EXPECT_EQ(receive_with_help(pair, message), 0U);
  EXPECT_TRUE(is_filled(into, 1));
}

TEST_F(SharedExchange, NotIntoSeveralPieces) {
  const Pair pair(Segment::default_bytes, {}, Sender{});
  std::vector<std::byte> into(mega);
  const std::vector<std::span<std::byte>> pieces{std::span(into).first(1000), std::span(into).subspan(1000)};
  Incoming message{.key = 1, .into = Pieces<std::byte>::of(pieces)};
  EXPECT_EQ(receive_with_help(pair, message), 0U);
  EXPECT_TRUE(is_filled(into, 1));
}

TEST_F(SharedExchange, MemoryThatTheSenderCannotWriteIsRead) {
  const Pair pair(Segment::default_bytes, {}, Sender{});
  Connection& connection = *pair.own.connection;
  const Pages into(mega);
  Incoming message{.key = 1, .into = into.data()};
  say_hello(connection);
  connection.receive(message);
  while (!connection.poll()) sched_yield();
  into.forbid();
  pair.line().go_on();
  EXPECT_EQ(pair.line().get<std::uint64_t>(), 0U);
  into.permit();
  finish(connection, message);
  EXPECT_EQ(message.reason, Reason::none);
  EXPECT_TRUE(is_filled(into.data(), 1));
  pair.line().go_on();
}

/// The message comes through the segment, and nothing is written beside it.
TEST_F(SharedExchange, MemoryThatTheReceiverCannotReadIsRefused) {
  const Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    const Pages data(mega);
    fill(data.data(), 1);
    await_hello(*end.connection);
    for (int i = 0; i < 3; ++i) {
      Outgoing message{.key = 1, .data = data.data()};
      end.connection->send(message);
      data.forbid();
      line.go_on();
      line.wait();
      data.permit();
      finish(*end.connection, message);
    }
    line.put(end.connection->written_bytes());
    line.wait();
  });
  Connection& connection = *pair.own.connection;
  say_hello(connection);
  for (int i = 0; i < 3; ++i) {
    std::vector<std::byte> into(mega);
    Incoming message{.key = 1, .into = into};
    pair.line().wait();
    connection.receive(message);
    poll_all(connection);
    EXPECT_FALSE(message.over);
    pair.line().go_on();
    finish(connection, message);
    EXPECT_EQ(message.reason, Reason::none);
    EXPECT_TRUE(is_filled(into, 1));
  }
  EXPECT_EQ(pair.line().get<std::uint64_t>(), 0U);
  pair.line().go_on();
}

TEST_F(SharedExchange, SeveralAtATimeInAnyOrder) {
  constexpr std::uint64_t several = 40;  // more than there is memory for from the beginning
  const auto bytes_of = [](std::uint64_t key) { return Ways{}.shared_from + 777 * key; };
  const Pair pair(Segment::default_bytes, {}, [&](End& end, const Wire& line) {
    std::vector<std::vector<std::byte>> data(several);
    std::vector<Outgoing> sends(several);
    await_hello(*end.connection);
    for (std::uint64_t key = 0; key < several; ++key) {
      data[key].resize(bytes_of(key));
      fill(data[key], static_cast<unsigned>(key));
      sends[key] = {.key = key, .data = data[key]};
      end.connection->send(sends[key]);
    }
    for (const Outgoing& one : sends) finish(*end.connection, one);
    line.wait();
  });
  say_hello(*pair.own.connection);
  std::vector<std::vector<std::byte>> into(several);
  std::vector<Incoming> receives(several);
  for (std::uint64_t i = 0; i < several; ++i) {
    const std::uint64_t key = several - 1 - i;
    into[key].resize(bytes_of(key));
    receives[key] = {.key = key, .into = into[key]};
    pair.own.connection->receive(receives[key]);
    (void)pair.own.connection->poll();
  }
  for (const Incoming& one : receives) finish(*pair.own.connection, one);
  for (std::uint64_t key = 0; key < several; ++key) EXPECT_TRUE(is_filled(into[key], static_cast<unsigned>(key)));
  pair.line().go_on();
}

TEST_F(SharedExchange, AMessageThatTheReceiverGivesUpIsWrittenToNoMore) {
  const Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    Sender{}(end, line);
    std::vector<std::byte> data(mega);
    fill(data, 2);
    Outgoing message{.key = 2, .data = data};
    end.connection->send(message);
    finish(*end.connection, message);
    line.wait();
  });
  Connection& connection = *pair.own.connection;
  std::vector<std::byte> first(mega), second(mega);
  Incoming message{.key = 1, .into = first};
  say_hello(connection);
  connection.receive(message);
  while (!connection.poll()) sched_yield();
  EXPECT_FALSE(message.over);
  connection.abandon(message);
  const std::vector<std::byte> before = first;
  pair.line().go_on();
  EXPECT_EQ(pair.line().get<std::uint64_t>(), 0U);
  pair.line().go_on();  // when its message is over
  Incoming next{.key = 2, .into = second};
  connection.receive(next);
  finish(connection, next);
  EXPECT_EQ(first, before);
  EXPECT_TRUE(is_filled(second, 2));
  pair.line().go_on();
}

TEST_F(SharedExchange, AMessageThatTheSenderGivesUpIsLeftToTheReceiver) {
  const Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    std::vector<std::byte> data(4 * mega);
    await_hello(*end.connection);
    Outgoing given_up{.key = 1, .data = data};
    end.connection->send(given_up);
    line.wait();
    (void)end.connection->poll();  // one part
    const std::uint64_t written = end.connection->written_bytes();
    end.connection->abandon(given_up);
    for (int turn = 0; turn < 100; ++turn) (void)end.connection->poll();
    line.put(written > 0 && end.connection->written_bytes() == written);
    fill(data, 2);
    Outgoing message{.key = 2, .data = data};
    end.connection->send(message);
    finish(*end.connection, message);
    line.wait();
  });
  Connection& connection = *pair.own.connection;
  std::vector<std::byte> first(4 * mega), second(4 * mega);
  Incoming given_up{.key = 1, .into = first};
  Incoming next{.key = 2, .into = second};
  say_hello(connection);
  connection.receive(given_up);
  connection.receive(next);
  while (!connection.poll()) sched_yield();
  pair.line().go_on();
  EXPECT_EQ(pair.line().get<bool>(), true);
  finish(connection, given_up);
  finish(connection, next);
  EXPECT_TRUE(is_filled(second, 2));
  pair.line().go_on();
}

/// Takes all parts of the only message, as if this process were about to write them.
SharedProgress& take_everything(const End& end) {
  auto& progress = *reinterpret_cast<SharedProgress*>(end.store.data(64, sizeof(SharedProgress)).data());
  progress.taken.store(mega);
  return progress;
}

TEST_F(SharedExchange, GivingUpWaitsForThePartThatIsBeingWritten) {
  const Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    const std::vector<std::byte> data(mega);
    await_hello(*end.connection);
    Outgoing message{.key = 1, .data = data};
    end.connection->send(message);
    SharedProgress& progress = take_everything(end);
    line.go_on();
    line.wait();
    usleep(20'000);
    line.go_on();
    progress.written.store(mega);
    finish(*end.connection, message);
    line.wait();
  });
  Connection& connection = *pair.own.connection;
  say_hello(connection);
  pair.line().wait();
  std::vector<std::byte> into(mega);
  Incoming message{.key = 1, .into = into};
  connection.receive(message);
  poll_all(connection);
  EXPECT_FALSE(message.over);
  pair.line().go_on();
  connection.abandon(message);
  char written = 0;
  EXPECT_EQ(recv(pair.line().descriptor(), &written, 1, MSG_DONTWAIT), 1);
  poll_all(connection);
  pair.line().go_on();
}

TEST_F(SharedExchange, GivingUpDoesNotWaitForAPeerThatHasEnded) {
  Pair pair(Segment::default_bytes, {}, [](End& end, const Wire& line) {
    const std::vector<std::byte> data(mega);
    await_hello(*end.connection);
    Outgoing message{.key = 1, .data = data};
    end.connection->send(message);
    (void)take_everything(end);
    line.go_on();
    line.wait();
  });
  Connection& connection = *pair.own.connection;
  say_hello(connection);
  pair.line().wait();
  std::vector<std::byte> into(mega);
  Incoming message{.key = 1, .into = into};
  connection.receive(message);
  poll_all(connection);
  pair.kill_it();
  connection.abandon(message);
  EXPECT_FALSE(message.over);
}

}  // namespace
}  // namespace circoll::node
