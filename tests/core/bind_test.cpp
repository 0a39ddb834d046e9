// Binding of schedules to bytes: the places of pieces, their merging, and sizes that follow from the layout.
#include <gtest/gtest.h>

#include <numeric>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/plan.hpp"
#include "plan/addresses.hpp"

namespace circoll {
namespace {

/// A schedule of rank 0 of 4 with given buffers, to which steps are added by hand.
class Hand {
 public:
  Hand(Block user_blocks, std::int64_t segments, std::vector<Buffer> buffers) {
    schedule.collective = Collective::allgatherv;
    schedule.shape.size = 4;
    schedule.user_blocks = user_blocks;
    schedule.segments = segments;
    schedule.buffers = std::move(buffers);
    for (std::size_t i = 0; i < schedule.buffers.size(); ++i) {
      if (schedule.buffers[i].storage == 0) schedule.buffers[i].storage = static_cast<std::int32_t>(i);
    }
  }
  Operand operand(const std::vector<Range>& ranges) {
    const Operand o{static_cast<std::uint32_t>(schedule.ranges.size()), static_cast<std::uint32_t>(ranges.size())};
    schedule.ranges.insert(schedule.ranges.end(), ranges.begin(), ranges.end());
    return o;
  }
  void send(Rank to, const std::vector<Range>& ranges) {
    schedule.steps.push_back({.kind = StepKind::send, .peer = to, .left = operand(ranges)});
  }
  void recv(Rank from, const std::vector<Range>& ranges) {
    schedule.steps.push_back({.kind = StepKind::recv, .peer = from, .dst = operand(ranges)});
  }
  void reduce(const std::vector<Range>& dst, const std::vector<Range>& left, const std::vector<Range>& right) {
    const Operand d = operand(dst);
    const Operand l = operand(left);
    schedule.steps.push_back({.kind = StepKind::reduce, .dst = d, .left = l, .right = operand(right)});
  }
  Schedule schedule;
};

std::vector<Piece> pieces(const Plan& plan, std::size_t step) {
  const auto span = plan.pieces_of(plan.steps[step]);
  return {span.begin(), span.end()};
}

void expect_piece(const Piece& piece, Area area, Count offset_bytes, Count elements) {
  EXPECT_EQ(piece.area, area);
  EXPECT_EQ(piece.offset_bytes, offset_bytes);
  EXPECT_EQ(piece.elements, elements);
}

TEST(Bind, CyclicRangeHasTwoPieces) {
  Hand hand(4, 1, {{.slots = 0}, {.slots = 4}});
  hand.send(1, {{recv_buffer, 3, 3}});
  const Plan plan = bind(hand.schedule, Layout::irregular({1, 2, 3, 4}, 1), 8);
  const auto list = pieces(plan, 0);
  ASSERT_EQ(list.size(), 2U);
  expect_piece(list[0], Area::recv, 6 * 8, 4);
  expect_piece(list[1], Area::recv, 0, 3);
  EXPECT_EQ(plan.steps[0].elements, 7);
}

TEST(Bind, AnswersOfWindowsAreSent) {
  for (Rank rank = 0; rank < 4; ++rank) {
    const Schedule schedule = build_schedule("bcast/binomial:window=1", {.size = 4, .rank = rank});
    for (const Count count : {0, 5}) {
      const Plan plan = bind(schedule, Layout::uniform(1, 1, count), 8);
      for (StepIndex s = 0; s < schedule.steps.size(); ++s) {
        const bool answers = schedule.operand(message_operand(schedule.steps[s])).empty();
        EXPECT_EQ(plan.steps[s].empty, !answers && count == 0) << "rank " << rank << ", step " << s;
      }
    }
  }
}

TEST(Bind, AdjacentPiecesMergeAndEmptyOnesVanish) {
  Hand hand(4, 1, {{.slots = 0}, {.slots = 4}});
  hand.send(1, {{recv_buffer, 0, 1}, {recv_buffer, 1, 1}, {recv_buffer, 2, 1}, {recv_buffer, 3, 1}});
  hand.send(1, {{recv_buffer, 1, 1}});
  const Plan plan = bind(hand.schedule, Layout::irregular({5, 0, 2, 1}, 1), 4);
  ASSERT_EQ(pieces(plan, 0).size(), 1U);
  expect_piece(pieces(plan, 0)[0], Area::recv, 0, 8);
  EXPECT_TRUE(plan.steps[1].empty);
  EXPECT_EQ(plan.steps[1].length, 0U);
  EXPECT_EQ(plan.steps[1].tag, 1U);
  EXPECT_EQ(plan.tags, 2U);
}

TEST(Bind, TagsCountPerPeerAndDirection) {
  Hand hand(4, 1, {{.slots = 4}, {.slots = 4}});
  hand.send(1, {{send_buffer, 0, 1}});
  hand.recv(1, {{recv_buffer, 0, 1}});
  hand.send(2, {{send_buffer, 1, 1}});
  hand.send(1, {{send_buffer, 2, 1}});
  const Plan plan = bind(hand.schedule, Layout::uniform(4, 1, 1), 1);
  EXPECT_EQ(plan.steps[0].tag, 0U);
  EXPECT_EQ(plan.steps[1].tag, 0U);
  EXPECT_EQ(plan.steps[2].tag, 0U);
  EXPECT_EQ(plan.steps[3].tag, 1U);
}

TEST(Bind, DisplacementsPlaceUserBlocks) {
  Hand hand(4, 2, {{.slots = 0}, {.slots = 8}});
  hand.send(1, {{recv_buffer, 1, 4}});
  const std::vector<Count> displacements{100, 50, 20, 0};
  const Plan plan = bind(hand.schedule, Layout::uniform(4, 2, 5), 2, {.send = {}, .recv = displacements});
  const auto list = pieces(plan, 0);  // second half of block 0, block 1, first half of block 2
  ASSERT_EQ(list.size(), 3U);
  expect_piece(list[0], Area::recv, 2 * 103, 2);
  expect_piece(list[1], Area::recv, 2 * 50, 5);
  expect_piece(list[2], Area::recv, 2 * 20, 3);
}

TEST(Bind, ViewsShareTheStorageOfTheLargest) {
  Hand hand(4, 1,
            {{.slots = 4},
             {.slots = 4},
             {.slots = 1, .first_block = 0, .storage = 2},
             {.slots = 2, .first_block = 1, .storage = 2},
             {.slots = 1, .first_block = 3, .storage = 4}});
  hand.recv(1, {{2, 0, 1}});
  hand.recv(2, {{3, 0, 2}});
  hand.recv(3, {{4, 0, 1}});
  const Plan plan = bind(hand.schedule, Layout::irregular({1, 10, 20, 3}, 1), 4);
  expect_piece(pieces(plan, 0)[0], Area::scratch, 0, 1);
  expect_piece(pieces(plan, 1)[0], Area::scratch, 0, 30);
  expect_piece(pieces(plan, 2)[0], Area::scratch, 128, 3);  // 120 bytes, up to the next multiple of 64
  EXPECT_EQ(plan.scratch_bytes, 192);
}

TEST(Bind, OperandsAreCutIntoRunsOfEqualLength) {
  Hand hand(4, 1, {{.slots = 4}, {.slots = 4}, {.slots = 4, .first_block = 2}});
  hand.reduce({{recv_buffer, 2, 4}}, {{send_buffer, 2, 4}}, {{2, 0, 4}});
  const Plan plan = bind(hand.schedule, Layout::irregular({1, 2, 3, 4}, 1), 8);
  const auto runs = plan.runs_of(plan.steps[0]);
  ASSERT_EQ(runs.size(), 2U);
  expect_piece(runs[0].dst, Area::recv, 3 * 8, 7);
  expect_piece(runs[0].left, Area::send, 3 * 8, 7);
  expect_piece(runs[0].right, Area::scratch, 0, 7);
  expect_piece(runs[1].dst, Area::recv, 0, 3);
  expect_piece(runs[1].right, Area::scratch, 7 * 8, 3);
}

TEST(Bind, BarrierMessagesAreNeverEmpty) {
  Hand hand(1, 1, {{.slots = 1}, {.slots = 1}});
  hand.schedule.collective = Collective::barrier;
  hand.send(1, {});
  const Plan plan = bind(hand.schedule, Layout::uniform(1, 1, 0), 1);
  EXPECT_FALSE(plan.steps[0].empty);
  EXPECT_EQ(plan.steps[0].elements, 0);
}

TEST(Bind, PrefixesEqualSumsOverSlots) {
  const std::vector<Layout> layouts{Layout::uniform(5, 3, 7), Layout::uniform(5, 3, 6), Layout::uniform(5, 3, 1),
                                    Layout::irregular({3, 0, 8, 1, 5}, 3)};
  for (const Layout& layout : layouts) {
    for (const std::int64_t stride : {0, 1, 2, 3, 4, 6, 14}) {
      Hand hand(5, 3, {{.slots = 15}, {.slots = 15}, {.slots = 40, .first_block = 7, .stride = stride}});
      hand.schedule.buffers.push_back({.slots = 4, .list = {14, 3, 3, 0}, .storage = 3});
      const Addresses addresses(hand.schedule, layout, 4);
      for (const std::int32_t buffer : {0, 1, 2, 3}) {
        Count sum = 0;
        for (Slot slot = 0; slot < hand.schedule.buffers[static_cast<std::size_t>(buffer)].slots; ++slot) {
          EXPECT_EQ(addresses.prefix(buffer, slot), sum) << "stride " << stride << " buffer " << buffer;
          sum += layout.count(hand.schedule.block_of(buffer, slot));
        }
      }
    }
  }
}

TEST(Bind, SparseLayoutsKnowSomeBlocks) {
  // Row and column 1 of 3 x 3 blocks.
  const Layout layout = Layout::sparse(9, {1, 3, 4, 5, 7}, {10, 0, 5, 6, 7}, 1);
  EXPECT_EQ(layout.user_count(1), 10);
  EXPECT_EQ(layout.user_count(7), 7);
  EXPECT_EQ(layout.user_prefix(6) - layout.user_prefix(3), 11);
  EXPECT_EQ(layout.total(), 28);
  EXPECT_FALSE(layout.is_uniform());
  EXPECT_THROW((void)layout.user_count(2), Error);
  EXPECT_THROW((void)Layout::sparse(9, {3, 1}, {1, 1}, 1), Error);
  EXPECT_THROW((void)Layout::sparse(9, {1, 9}, {1, 1}, 1), Error);
  EXPECT_THROW((void)Layout::sparse(9, {1}, {1, 1}, 1), Error);
  const Layout cut = Layout::sparse(9, {1, 4}, {5, 3}, 2);
  EXPECT_EQ(cut.count(2), 3);
  EXPECT_EQ(cut.count(3), 2);
  EXPECT_EQ(cut.prefix(8) - cut.prefix(2), 5);
}

// Rank 1 of 3 knows the blocks that it sends, 3 to 5, and those that it receives, 1, 4 and 7.
TEST(Bind, ExchangeLayoutsKnowARowAndAColumn) {
  const std::vector<Count> sent{10, 11, 12};
  const std::vector<Count> received{20, 99, 22};
  const Layout layout = Layout::exchange(1, sent, received, 1);
  EXPECT_EQ(layout.user_blocks(), 9);
  EXPECT_EQ(layout.user_count(1), 20);
  EXPECT_EQ(layout.user_count(3), 10);
  EXPECT_EQ(layout.user_count(4), 11);
  EXPECT_EQ(layout.user_count(5), 12);
  EXPECT_EQ(layout.user_count(7), 22);
  EXPECT_THROW((void)layout.user_count(0), Error);
  EXPECT_THROW((void)layout.user_count(8), Error);
  EXPECT_THROW((void)Layout::exchange(3, sent, received, 1), Error);
  EXPECT_THROW((void)Layout::exchange(0, sent, std::vector<Count>{1}, 1), Error);
}

TEST(Bind, HugeUniformLayoutsCostNothing) {
  const Block p = 1'000'000'000;
  Hand hand(p, 1, {{.slots = p}, {.slots = p}});
  hand.send(1, {{recv_buffer, p - 1, p / 2}});
  const Plan plan = bind(hand.schedule, Layout::uniform(p, 1, 3), 8);
  EXPECT_EQ(pieces(plan, 0).size(), 2U);
  EXPECT_LT(plan.memory_bytes(), 10'000U);
}

TEST(Bind, RefusesWhatDoesNotFit) {
  Hand hand(4, 1, {{.slots = 4}, {.slots = 4}});
  EXPECT_THROW((void)bind(hand.schedule, Layout::uniform(3, 1, 1), 1), Error);
  EXPECT_THROW((void)bind(hand.schedule, Layout::uniform(4, 2, 1), 1), Error);
  EXPECT_THROW((void)bind(hand.schedule, Layout::uniform(4, 1, Count{1} << 60), 8), Error);
  const std::vector<Count> few{0, 1};
  EXPECT_THROW((void)bind(hand.schedule, Layout::uniform(4, 1, 1), 1, {.send = {}, .recv = few}), Error);
}

}  // namespace
}  // namespace circoll
