// Lanes between processes, and the division of a segment into lanes and memory.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "exec/node/board.hpp"
#include "exec/node/segment.hpp"
#include "gtest/gtest.h"
#include "node_processes.hpp"

namespace circoll::node {
namespace {

/// Memory as a segment gives it, but without a segment.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : lines_(bytes / sizeof(Aligned)) {}
  [[nodiscard]] std::span<std::byte> span() {
    return {reinterpret_cast<std::byte*>(lines_.data()), lines_.size() * sizeof(Aligned)};
  }

 private:
  struct alignas(64) Aligned {
    std::array<std::byte, 64> bytes{};
  };
  std::vector<Aligned> lines_;
};

/// Both ends between this process and one peer.
struct Ends {
  Ends(Board& own, std::uint64_t own_nonce, const Board& peer, std::uint64_t peer_nonce)
      : own_board(&own), peer_board(&peer), own_nonce(own_nonce), out(own.lane_to(peer_nonce)), writer(*out) {}

  /// Opens the receiving end, once the peer has opened its lane.
  bool open() {
    if (reader) return true;
    Lane* const in = peer_board->find_lane(own_nonce);
    if (in == nullptr) return false;
    reader.emplace(*in, *out);
    writer.use_back(*in);
    return true;
  }

  Board* own_board;
  const Board* peer_board;
  std::uint64_t own_nonce;
  Lane* out;
  LaneWriter writer;
  std::optional<LaneReader> reader;
};

/// The content of the number-th message of a sender, which the receiver computes, too.
struct Content {
  std::uint16_t kind;
  std::uint64_t key;
  std::vector<std::byte> data;

  Content(std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed * 1'000'003 + number);
    kind = static_cast<std::uint16_t>(random());
    key = random();
    data.resize(random() % 2 == 0 ? random() % (Line::most_bytes + 1) : random() % (Lane::most_bytes + 1));
    for (std::byte& b : data) b = static_cast<std::byte>(random());
  }
  [[nodiscard]] bool is_at_front(const LaneReader& reader) const {
    const Line& line = *reader.front();
    if (line.kind != kind || line.key != key || LaneReader::bytes_of(line) != data.size()) return false;
    std::vector<std::byte> come(data.size() + 1);
    reader.copy(line, come.data());
    return std::equal(data.begin(), data.end(), come.begin()) && come.back() == std::byte{0};
  }
};

/// Sends and receives `messages` each way, at random speeds. Returns the number that came as they were sent.
std::uint64_t exchange(Ends& ends, std::uint64_t own_seed, std::uint64_t peer_seed, std::uint64_t messages) {
  std::mt19937_64 pace(own_seed);
  std::uint64_t sent = 0, received = 0, right = 0;
  while (sent < messages || received < messages) {
    const bool open = ends.open();
    for (std::uint64_t burst = pace() % 24; burst > 0 && sent < messages; --burst) {
      const Content content(own_seed, sent);
      if (ends.writer.full(Lane::lines_for(content.data.size()))) break;
      ends.writer.put(content.kind, content.key, content.data);
      ++sent;
    }
    for (std::uint64_t burst = pace() % 24; open && burst > 0 && received < messages; --burst) {
      if (ends.reader->front() == nullptr) break;
      right += Content(peer_seed, received++).is_at_front(*ends.reader) ? 1 : 0;
      ends.reader->pop();
    }
    if (pace() % 8 == 0) sched_yield();
  }
  return right;
}

TEST(Lane, IsEmptyInFreshMemory) {
  Memory memory(2 * sizeof(Lane) + 64);
  auto* const lane = reinterpret_cast<Lane*>(memory.span().data());
  const LaneReader reader(lane[0], lane[1]);
  EXPECT_EQ(reader.front(), nullptr);
}

TEST(Lane, AMessageTakesAsManyLinesAsItNeeds) {
  Memory memory(2 * sizeof(Lane));
  auto* const lanes = reinterpret_cast<Lane*>(memory.span().data());
  LaneWriter writer(lanes[0]);
  LaneReader reader(lanes[0], lanes[1]);
  writer.use_back(lanes[1]);
  const std::vector<std::byte> longest(Lane::most_bytes, std::byte{7});
  const std::size_t lines = Lane::lines_for(longest.size());
  EXPECT_EQ(Lane::lines_for(0), 1U);
  EXPECT_EQ(Lane::lines_for(Line::most_bytes), 1U);
  EXPECT_EQ(Lane::lines_for(Line::most_bytes + 1), 2U);
  std::size_t left = Lane::lines;
  for (; !writer.full(lines); left -= lines) writer.put(1, left, longest);
  EXPECT_LT(left, lines);
  for (; left > 0; --left) {
    EXPECT_FALSE(writer.full(left));
    EXPECT_TRUE(writer.full(left + 1));
    writer.put(2, left, {});
  }
  EXPECT_TRUE(writer.full());
  std::size_t messages = 0;
  for (; reader.front() != nullptr; ++messages) reader.pop();
  EXPECT_EQ(messages, Lane::lines / lines + Lane::lines % lines);
  EXPECT_FALSE(writer.full(lines));
}

TEST(Lane, TakesItsLinesUntilTheReceiverHasRead) {
  Memory memory(2 * sizeof(Lane));
  auto* const lanes = reinterpret_cast<Lane*>(memory.span().data());
  LaneWriter writer(lanes[0]);
  LaneReader reader(lanes[0], lanes[1]);
  for (std::size_t round = 0; round < 5; ++round) {
    std::size_t taken = 0;
    for (; !writer.full(); ++taken) writer.put(1, round * 100 + taken, {});
    EXPECT_EQ(taken, round == 0 || round > 1 ? Lane::lines : 0U);
    if (round == 0) continue;  // the lane back is not known: still full
    if (round == 1) writer.use_back(lanes[1]);
    for (std::size_t i = 0; i < Lane::lines; ++i) {
      const Line* const line = reader.front();
      ASSERT_NE(line, nullptr);
      EXPECT_EQ(line->key, (round == 1 ? 0 : round) * 100 + i);
      reader.pop();
    }
    EXPECT_EQ(reader.front(), nullptr);
  }
}

TEST(Lane, TurnsComeRoundAndAreNeverZero) {
  const std::uint64_t many = (std::uint64_t{1} << 31U) * Lane::lines;
  EXPECT_EQ(LaneWriter::turn_of(0), LaneWriter::turn_of(many));
  EXPECT_NE(LaneWriter::turn_of(0), LaneWriter::turn_of(Lane::lines));
  for (const std::uint64_t number : {std::uint64_t{0}, many - 1, many, many + Lane::lines}) {
    EXPECT_NE(LaneWriter::turn_of(number), 0U);
  }
}

TEST(Lane, CarriesMessagesBetweenProcessesInOrder) {
  constexpr std::uint64_t messages = 20'000;
  Segment own;
  ASSERT_TRUE(own) << to_string(own.reason());
  Board board(own.data());
  const Process peer([&](const auto& line) {
    Segment mine;
    line.put(mine.address());
    const auto other = line.template get<Address>();
    const PeerSegment theirs(mine.address(), *other);
    Board mine_board(mine.data());
    const Board their_board(theirs.data());
    Ends ends(mine_board, mine.address().nonce, their_board, other->nonce);
    line.put(exchange(ends, 2, 1, messages));
    line.wait();
  });
  const auto address = peer.line().get<Address>();
  ASSERT_TRUE(address);
  peer.line().put(own.address());
  const PeerSegment theirs(own.address(), *address);
  ASSERT_TRUE(theirs) << to_string(theirs.reason());
  const Board their_board(theirs.data());
  Ends ends(board, own.address().nonce, their_board, address->nonce);
  EXPECT_EQ(exchange(ends, 1, 2, messages), messages);
  EXPECT_EQ(peer.line().get<std::uint64_t>(), messages);
  peer.line().go_on();
}

TEST(Board, OpensALanePerReceiverUntilThereIsNoRoom) {
  Memory memory(64 + 8 * sizeof(Lane));
  Board board(memory.span());
  EXPECT_EQ(board.most_lanes(), 4U);  // half is for long messages
  std::vector<Lane*> lanes;
  for (std::uint64_t receiver = 1; receiver <= 4; ++receiver) {
    EXPECT_EQ(board.find_lane(receiver), nullptr);
    lanes.push_back(board.lane_to(receiver));
    ASSERT_NE(lanes.back(), nullptr);
    EXPECT_EQ(board.find_lane(receiver), lanes.back());
    EXPECT_EQ(board.lane_to(receiver), lanes.back());
  }
  EXPECT_EQ(board.lane_to(5), nullptr);
  const auto* const end = reinterpret_cast<const std::byte*>(lanes.back() + 1);
  EXPECT_EQ(board.memory().data(), end);
  EXPECT_EQ(board.memory().size(), 4 * sizeof(Lane));
}

TEST(Board, LooksAtNothingBeyondItsMemory) {
  Memory memory(64 + 4 * sizeof(Lane));
  const std::uint32_t absurd = ~std::uint32_t{0};
  std::memcpy(memory.span().data(), &absurd, sizeof absurd);
  const Board hostile(memory.span());
  EXPECT_EQ(hostile.find_lane(77), nullptr);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{63}}) {
    Board none(memory.span().first(bytes));
    EXPECT_EQ(none.lane_to(1), nullptr);
    EXPECT_EQ(none.find_lane(1), nullptr);
    EXPECT_TRUE(none.memory().empty());
  }
  Board crooked(memory.span().subspan(8));
  EXPECT_EQ(crooked.lane_to(1), nullptr);
}

}  // namespace
}  // namespace circoll::node
