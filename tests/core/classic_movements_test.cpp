// The classical algorithms that only move data, on examples from the literature: every message with its blocks and
// round.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "messages.hpp"
#include "patterns/trees.hpp"

namespace circoll {
namespace {

TEST(Binomial, ParentsHaveOneBitLess) {
  EXPECT_EQ(parents("bcast/binomial", 8), (std::vector<Rank>{-1, 0, 0, 2, 0, 4, 4, 6}));
  EXPECT_EQ(parents("bcast/binomial", 6, 4), (std::vector<Rank>{4, 0, 4, 2, -1, 4}));
  EXPECT_EQ(parents("scatter/binomial", 8), parents("bcast/binomial", 8));
}

TEST(Binomial, ScatterSendsHalves) {
  const auto by0 = sent_by(0, "scatter/binomial", 8);
  EXPECT_EQ(by0, (std::vector<Message>{{0, 0, 4, {4, 5, 6, 7}}, {1, 0, 2, {2, 3}}, {2, 0, 1, {1}}}));
  EXPECT_EQ(sent_by(4, "scatter/binomial", 6, 4),
            (std::vector<Message>{{0, 4, 2, {2, 3}}, {1, 4, 0, {0, 1}}, {2, 4, 5, {5}}}));
}

TEST(Allgather, BruckDoubles) {
  EXPECT_EQ(sent_by(1, "allgather/bruck", 5),
            (std::vector<Message>{{0, 1, 0, {1}}, {1, 1, 4, {1, 2}}, {2, 1, 2, {1}}}));
}

TEST(Allgather, RingTakesOneRoundPerBlock) {
  EXPECT_EQ(cost_of("allgather/ring", 9).rounds, 8);
  EXPECT_EQ(sent_by(1, "allgather/ring", 4), (std::vector<Message>{{0, 1, 2, {1}}, {1, 1, 2, {0}}, {2, 1, 2, {3}}}));
}

TEST(Allgather, NeighborsExchangeInHalfTheRounds) {
  EXPECT_EQ(sent_by(0, "allgather/neighbor_exchange", 6),
            (std::vector<Message>{{0, 0, 1, {0}}, {1, 0, 5, {0, 1}}, {2, 0, 1, {4, 5}}}));
  EXPECT_EQ(cost_of("allgather/neighbor_exchange", 16).rounds, 8);
  EXPECT_THROW((void)build_schedule("allgather/neighbor_exchange", {.size = 5}), Error);
  EXPECT_FALSE(unmet_need(*find_algorithm(Collective::allgather, "neighbor_exchange"), 5, {}).empty());
}

TEST(Allgather, RecursiveDoublingPassesOnWhatIsMissing) {
  EXPECT_EQ(cost_of("allgather/recursive_doubling", 8), (Cost{3, 7, 7, 0, 1}));
  // p = 6: after the last exchange the ranks 2 and 3 miss the blocks 4 and 5.
  const auto all = messages("allgather/recursive_doubling", 6);
  const std::vector<Message> last(all.end() - 2, all.end());
  EXPECT_EQ(last, (std::vector<Message>{{3, 0, 2, {4, 5}}, {3, 1, 3, {4, 5}}}));
  EXPECT_EQ(cost_of("allgather/recursive_doubling", 6).rounds, 4);
  EXPECT_EQ(cost_of("allgather/recursive_doubling", 7).rounds, 5);
  EXPECT_EQ(cost_of("allgather/recursive_doubling", 5).rounds, 5) << "one rank has it, then two, then four";
}

TEST(Pipeline, SegmentsDownAChain) {
  EXPECT_EQ(cost_of("bcast/pipeline:segments=5", 4, 2).rounds, 5 + 4 - 2);
  EXPECT_EQ(parents("bcast/pipeline:segments=5", 4, 2), (std::vector<Rank>{3, 0, -1, 2}));
  EXPECT_EQ(sent_by(3, "bcast/pipeline:segments=2", 4, 2), (std::vector<Message>{{1, 3, 0, {0}}, {2, 3, 0, {1}}}));
  EXPECT_EQ(cost_of("allreduce/nonoverlapping:segments=5", 4).rounds, 2 * (5 + 4 - 2));
}

TEST(Barrier, DisseminatesAtDoublingDistances) {
  const auto all = messages("barrier/dissemination", 6);
  ASSERT_EQ(all.size(), 18U);
  for (const Message& m : all) EXPECT_EQ(m.to, (m.from + (Rank{1} << m.round)) % 6);
}

TEST(BinaryTree, ParentsAreInLevelOrder) {
  EXPECT_EQ(parents("bcast/binary", 7), (std::vector<Rank>{-1, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(parents("bcast/binary", 4, 3), (std::vector<Rank>{3, 3, 0, -1}));
}

TEST(SplitBinary, HalvesGoDownTwoTrees) {
  EXPECT_EQ(parents("bcast/split_binary", 8), (std::vector<Rank>{-1, 0, 0, 1, 2, 1, 2, 3}));
  const auto all = messages("bcast/split_binary", 8);
  const std::vector<Message> last(all.end() - 7, all.end());
  EXPECT_EQ(last, (std::vector<Message>{{4, 0, 7, {1}},
                                        {4, 1, 2, {0}},
                                        {4, 2, 1, {1}},
                                        {4, 3, 4, {0}},
                                        {4, 4, 3, {1}},
                                        {4, 5, 6, {0}},
                                        {4, 6, 5, {1}}}));
}

TEST(ScatterAllgather, VolumeIsTwoVectors) {
  const Cost c = cost_of("bcast/scatter_allgather", 8);
  EXPECT_EQ(c.rounds, 3 + 7);
  EXPECT_EQ(c.sent, 2 * 7);
}

TEST(SmpLinear, LeadersInALineThenEveryNode) {
  EXPECT_EQ(parents("bcast/smp_linear:cores=3", 8), (std::vector<Rank>{-1, 0, 1, 0, 3, 4, 3, 6}));
  EXPECT_EQ(parents("bcast/smp_linear:cores=3", 8, 4), (std::vector<Rank>{6, 0, 1, 4, -1, 3, 4, 6}))
      << "the root leads its node, and its node comes first";
}

TEST(Alltoall, LinearAndPairwiseSendEveryBlockOnce) {
  EXPECT_EQ(messages("alltoall/linear", 3),
            (std::vector<Message>{
                {0, 0, 1, {1}}, {0, 1, 2, {5}}, {0, 2, 0, {6}}, {1, 0, 2, {2}}, {1, 1, 0, {3}}, {1, 2, 1, {7}}}));
  EXPECT_TRUE(schedules("alltoall/linear", 5)[0].edges.empty());
  // Power of two: the two ranks of a pair exchange, and each exchange waits for the one before.
  EXPECT_EQ(messages("alltoall/pairwise", 4)[4], (Message{1, 0, 2, {2}}));
  EXPECT_EQ(messages("alltoall/pairwise", 4)[6], (Message{1, 2, 0, {8}}));
  EXPECT_EQ(schedules("alltoall/pairwise", 4)[0].edges.size(), 8U);
}

TEST(Alltoall, BruckTravelsBinaryDigits) {
  // Rank 0 of 5 sends over distances 1 and 3, then 2 together with the blocks that came for 3, then 4.
  EXPECT_EQ(messages("alltoall/bruck", 5)[0], (Message{0, 0, 1, {1, 3}}));
  EXPECT_EQ(messages("alltoall/bruck", 5)[5], (Message{1, 0, 2, {2, 22}}));
  EXPECT_EQ(messages("alltoall/bruck", 5)[10], (Message{2, 0, 4, {4}}));
}

TEST(Alltoall, CirculantMovesNoMoreThanBruck) {
  for (Rank p = 1; p <= 1100; ++p) {
    const auto sent = [&](const char* id) { return parse_selection(id).algorithm->cost({.size = p}).sent; };
    ASSERT_LE(sent("alltoall/circulant"), sent("alltoall/bruck")) << p;
    if ((p & (p - 1)) == 0) {
      ASSERT_EQ(sent("alltoall/circulant"), sent("alltoall/bruck")) << p;
    }
  }
}

TEST(Patterns, HeightOfAHeapIsItsLargestDelay) {
  std::int64_t most = 0;
  for (std::int64_t node = 1; node < 3000; ++node) {
    most = std::max(most, patterns::heap_delay(node));
    EXPECT_EQ(patterns::heap_height(node), most) << node;
  }
}

}  // namespace
}  // namespace circoll
