// The classical reductions on examples from the literature: every message with its round, and every combination.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "messages.hpp"
#include "patterns/binary_blocks.hpp"
#include "patterns/butterfly.hpp"

namespace circoll {
namespace {

/// Executes the schedules of a reducing collective on texts: contribution r to block b is "rb".
class TextRun {
 public:
  explicit TextRun(const std::vector<Schedule>& ranks) : ranks_(ranks) {}

  /// The texts that the reductions of a round have written, by rank.
  std::vector<std::string> sums_of_round(std::uint32_t round) {
    std::vector<std::string> sums(ranks_.size());
    std::vector<std::size_t> next(ranks_.size(), 0);
    std::map<std::pair<Rank, Rank>, std::deque<std::vector<std::string>>> wire;
    std::vector<std::map<std::pair<std::int32_t, Slot>, std::string>> memory(ranks_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const Schedule& s = ranks_[r];
        for (; next[r] < s.steps.size(); ++next[r], moved = true) {
          const Step& step = s.steps[next[r]];
          const auto rank = static_cast<Rank>(r);
          const auto left = load(s, memory[r], step.left);
          if (step.kind == StepKind::send) wire[{rank, step.peer}].push_back(left);
          if (step.kind == StepKind::copy) store(s, memory[r], step.dst, left);
          if (step.kind == StepKind::recv) {
            auto& queue = wire[{step.peer, rank}];
            if (queue.empty()) break;
            store(s, memory[r], step.dst, queue.front());
            queue.pop_front();
          }
          if (step.kind == StepKind::reduce) {
            auto sum = left;
            const auto right = load(s, memory[r], step.right);
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += "+" + right[i];
            store(s, memory[r], step.dst, sum);
            if (step.round == round) sums[r] = sum.front();
          }
        }
      }
    }
    return sums;
  }

 private:
  using Memory = std::map<std::pair<std::int32_t, Slot>, std::string>;

  template <typename F>
  static void each_slot(const Schedule& s, Operand o, F&& f) {
    for (const Range& range : s.operand(o)) {
      const Buffer& buffer = s.buffers[static_cast<std::size_t>(range.buffer)];
      for (Slot i = 0; i < range.count; ++i) f(range.buffer, (range.first + i) % buffer.slots);
    }
  }
  static std::vector<std::string> load(const Schedule& s, const Memory& memory, Operand o) {
    std::vector<std::string> values;
    each_slot(s, o, [&](std::int32_t buffer, Slot slot) {
      values.push_back(buffer == send_buffer ? std::to_string(s.shape.rank) + std::to_string(s.block_of(buffer, slot))
                                             : memory.at({buffer, slot}));
    });
    return values;
  }
  static void store(const Schedule& s, Memory& memory, Operand o, const std::vector<std::string>& values) {
    std::size_t i = 0;
    each_slot(s, o, [&](std::int32_t buffer, Slot slot) { memory[{buffer, slot}] = values[i++]; });
  }

  const std::vector<Schedule>& ranks_;
};

using Texts = std::vector<std::string>;

// The example on 5 nodes in Open MPI's ompi_coll_base_allreduce_intra_ring (whose table misprints 00 as 01 in
// the first block from step 1 on).
TEST(Ring, FiveNodesStepByStep) {
  const auto ranks = schedules("allreduce/ring", 5);
  TextRun run(ranks);
  EXPECT_EQ(run.sums_of_round(0), (Texts{"44+04", "00+10", "11+21", "22+32", "33+43"}));
  EXPECT_EQ(run.sums_of_round(1), (Texts{"33+43+03", "44+04+14", "00+10+20", "11+21+31", "22+32+42"}));
  EXPECT_EQ(run.sums_of_round(2), (Texts{"22+32+42+02", "33+43+03+13", "44+04+14+24", "00+10+20+30", "11+21+31+41"}));
  EXPECT_EQ(run.sums_of_round(3),
            (Texts{"11+21+31+41+01", "22+32+42+02+12", "33+43+03+13+23", "44+04+14+24+34", "00+10+20+30+40"}));
  const auto all = messages(ranks);
  ASSERT_EQ(all.size(), 40U) << "2 (p - 1) steps of all ranks";
  for (const Message& m : all) {
    EXPECT_EQ(m.to, (m.from + 1) % 5);
    // Computation: block r - k; distribution: the same, shifted by one.
    const Rank shift = m.round < 4 ? m.from - m.round : m.from + 1 - (m.round - 4);
    EXPECT_EQ(m.blocks, (std::vector<Block>{(shift + 10) % 5}));
  }
}

TEST(Ring, SegmentsFollowOneAnother) {
  const auto all = sent_by(0, "allreduce/segmented_ring:segments=3", 4);
  ASSERT_EQ(all.size(), 18U);
  EXPECT_EQ(all[0], (Message{0, 0, 1, {0}}));
  EXPECT_EQ(all[1], (Message{1, 0, 1, {1}}));
  EXPECT_EQ(all[2], (Message{2, 0, 1, {2}}));
  EXPECT_EQ(all[3], (Message{3, 0, 1, {9}}));
}

TEST(RecursiveDoubling, PartnersAtDoublingDistances) {
  const auto all = messages("allreduce/recursive_doubling", 8);
  ASSERT_EQ(all.size(), 24U);
  for (const Message& m : all) EXPECT_EQ(m.to, m.from ^ (Rank{1} << m.round));
  EXPECT_EQ(cost_of("allreduce/recursive_doubling", 8), (Cost{3, 3, 3, 3, 0}));
}

TEST(RecursiveDoubling, RanksBeyondThePowerOfTwoFoldInFirst) {
  const auto all = messages("allreduce/recursive_doubling", 6);  // places: (0, 1), (2, 3), 4, 5
  ASSERT_EQ(all.size(), 2U + 2 * 4 + 2);
  EXPECT_EQ(all[0], (Message{0, 1, 0, {0}}));
  EXPECT_EQ(all[1], (Message{0, 3, 2, {0}}));
  EXPECT_EQ(all[2], (Message{1, 0, 2, {0}}));
  EXPECT_EQ(all[4], (Message{1, 4, 5, {0}}));
  EXPECT_EQ(all[6], (Message{2, 0, 4, {0}}));
  EXPECT_EQ(all[10], (Message{3, 0, 1, {0}}));
  EXPECT_EQ(all[11], (Message{3, 2, 3, {0}}));
  EXPECT_EQ(cost_of("allreduce/recursive_doubling", 6), (Cost{4, 3, 3, 3, 0}));
}

TEST(RecursiveDoubling, KeepsTheOrderOfRanks) {
  const auto ranks = schedules("allreduce/recursive_doubling", 6);
  EXPECT_EQ(TextRun(ranks).sums_of_round(2)[5], "00+10+20+30+40+50");
}

TEST(Rabenseifner, VolumeOfThePaper) {
  for (const Rank p : {2, 4, 8, 16, 32, 64}) {
    const Cost c = cost_of("allreduce/rabenseifner", p);  // blocks of m / p
    EXPECT_EQ(c.rounds, 2 * patterns::floor_log2(p)) << p;
    EXPECT_EQ(c.sent, 2 * (p - 1)) << p;
    EXPECT_EQ(c.reduced, p - 1) << p;
  }
  // (3 + 2 floor(log2 p)) alpha; 3/2 of the combinations.
  const Cost c = cost_of("allreduce/rabenseifner", 13);
  EXPECT_EQ(c.rounds, 3 + 2 * 3);
  EXPECT_EQ(c.reduced, 4 + 7);
}

TEST(Rabenseifner, RemovesTheOddRanksOfTheFirstPairs) {
  const auto all = messages("allreduce/rabenseifner", 6);  // p' = 4: ranks 0 .. 3 form pairs
  const std::vector<Message> first(all.begin(), all.begin() + 6);
  EXPECT_EQ(first, (std::vector<Message>{{0, 0, 1, {2, 3}},  // even: second half to the right
                                         {0, 1, 0, {0, 1}},  // odd: first half to the left
                                         {0, 2, 3, {2, 3}},
                                         {0, 3, 2, {0, 1}},
                                         {1, 1, 0, {2, 3}},  // odd: its result to the left
                                         {1, 3, 2, {2, 3}}}));
  // Halving: place 0 (rank 0) exchanges with place 1 (rank 2), then with place 2 (rank 4).
  const auto by0 = sent_by(0, "allreduce/rabenseifner", 6);
  ASSERT_EQ(by0.size(), 6U);
  EXPECT_EQ(by0[1], (Message{2, 0, 2, {2, 3}}));
  EXPECT_EQ(by0[2], (Message{3, 0, 4, {1}}));
  EXPECT_EQ(by0[3], (Message{4, 0, 4, {0}}));
  EXPECT_EQ(by0[4], (Message{5, 0, 2, {0, 1}}));
  EXPECT_EQ(by0[5], (Message{6, 0, 1, {0, 1, 2, 3}})) << "the removed rank gets the whole result";
}

TEST(Rabenseifner, ARemovedRootChangesRolesWithItsPartner) {
  for (const Rank p : {3, 6, 7, 13}) {
    EXPECT_EQ(cost_of("reduce/rabenseifner", p, 0).rounds, cost_of("reduce/rabenseifner", p, 1).rounds);
    EXPECT_EQ(cost_of("reduce/rabenseifner", p, 0).received, cost_of("reduce/rabenseifner", p, 1).received);
  }
  const auto by0 = sent_by(0, "reduce/rabenseifner", 3, 1);
  ASSERT_EQ(by0.size(), 2U) << "the second half, then the combined first half, then nothing";
  EXPECT_EQ(by0[0], (Message{0, 0, 1, {1}}));
  EXPECT_EQ(by0[1], (Message{1, 0, 1, {0}}));
}

TEST(Binomial, ReducesInRankOrderToEveryRoot) {
  for (Rank root = 0; root < 7; ++root) {
    const auto ranks = schedules("reduce/binomial", 7, root);
    EXPECT_EQ(messages(ranks).size(), 6U) << "every rank but the root sends once";
    EXPECT_EQ(TextRun(ranks).sums_of_round(2)[static_cast<std::size_t>(root)], "00+10+20+30+40+50+60");
  }
}

TEST(Linear, OneRankAfterTheOther) {
  const auto all = messages("reduce/linear", 4, 2);
  EXPECT_EQ(all, (std::vector<Message>{{0, 0, 2, {0}}, {1, 1, 2, {0}}, {2, 3, 2, {0}}}));
  EXPECT_EQ(cost_of("allreduce/linear", 7), (Cost{12, 6, 6, 6, 0}));
  EXPECT_EQ(cost_of("barrier/linear", 7).rounds, 12);
}

TEST(ReduceScatter, PairwiseSendsOwnContributions) {
  EXPECT_EQ(sent_by(1, "reduce_scatter/pairwise", 4),
            (std::vector<Message>{{0, 1, 2, {2}}, {1, 1, 3, {3}}, {2, 1, 0, {0}}}));
}

TEST(ReduceScatter, HalvesAndDistancesHalve) {
  EXPECT_EQ(sent_by(0, "reduce_scatter/recursive_halving", 8),
            (std::vector<Message>{{0, 0, 4, {4, 5, 6, 7}}, {1, 0, 2, {2, 3}}, {2, 0, 1, {1}}}));
  EXPECT_EQ(cost_of("reduce_scatter/recursive_halving", 8), (Cost{3, 7, 7, 7, 0}));
}

TEST(ReduceScatter, GroupsJoinInRankOrder) {
  EXPECT_EQ(sent_by(0, "reduce_scatter/recursive_doubling", 4),
            (std::vector<Message>{{0, 0, 1, {1, 2, 3}}, {1, 0, 2, {2}}}));
  const auto ranks = schedules("reduce_scatter/recursive_doubling", 5);
  EXPECT_EQ(TextRun(ranks).sums_of_round(2)[4], "04+14+24+34+44");
}

TEST(SplitBinary, ReducesInRankOrderToEveryRoot) {
  for (Rank root = 0; root < 7; ++root) {
    const auto ranks = schedules("reduce/split_binary", 7, root);
    TextRun run(ranks);
    EXPECT_EQ(run.sums_of_round(ranks[0].rounds - 1)[static_cast<std::size_t>(root)], "00+10+20+30+40+50+60");
  }
  const auto all = messages("reduce/split_binary", 7, 3);  // 3 divides 0 1 2 and 4 5 6
  ASSERT_EQ(all.size(), 6U);
  for (const Message& m : all) {
    const Rank parent = m.from == 1 || m.from == 5 ? 3 : m.from < 3 ? 1 : 5;
    EXPECT_EQ(m.to, parent) << m.from;
  }
}

TEST(BinaryBlocks, ThirteenIsEightAndFourAndOne) {
  const patterns::BinaryBlocks blocks(13);
  ASSERT_EQ(blocks.count(), 3);
  EXPECT_EQ(blocks.first(1), 8);
  EXPECT_EQ(blocks.first(2), 12);
  EXPECT_EQ(blocks.start(1), 2) << "after its own two exchanges";
  EXPECT_EQ(blocks.start(0), 6) << "after rank 12 has sent to four ranks";
  EXPECT_EQ(blocks.rounds(), 8);
  EXPECT_EQ(cost_of("allreduce/binary_blocks", 13).rounds, 16);
  // Rank 12 divides its vector among 8 .. 11; distances double, so bits come in opposite order.
  EXPECT_EQ(sent_by(12, "allreduce/binary_blocks", 13),
            (std::vector<Message>{{2, 12, 8, {0, 1}}, {3, 12, 9, {4, 5}}, {4, 12, 10, {2, 3}}, {5, 12, 11, {6, 7}}}));
}

TEST(BinaryBlocks, PowersOfTwoAreRabenseifners) {
  for (const Rank p : {2, 8, 32}) {
    EXPECT_EQ(messages("allreduce/binary_blocks", p), messages("allreduce/rabenseifner", p));
  }
}

TEST(BinaryBlocks, AreBetterBalancedThanFolding) {
  // p = 24 = 16 + 8, delta 1: the ratio of neighbouring blocks limits the overhead.
  const Cost blocks = cost_of("allreduce/binary_blocks", 24);
  const Cost folding = cost_of("allreduce/rabenseifner", 24);
  EXPECT_LT(blocks.sent, folding.sent);
  EXPECT_LT(blocks.reduced, folding.reduced);
}

TEST(Exscan, DistancesOneTwoThreeSixTwelve) {
  std::map<std::uint32_t, std::set<Rank>> distances;
  for (const Message& m : messages("exscan/doubling_123", 20)) distances[m.round].insert(m.to - m.from);
  EXPECT_EQ(distances, (std::map<std::uint32_t, std::set<Rank>>{{0, {1}}, {1, {2}}, {2, {3}}, {3, {6}}, {4, {12}}}));
  // ceil(log2(p-1) + log2(4/3)) rounds: one less than doubling over most of the range.
  for (Rank p = 3; p <= 5000; ++p) {
    std::int64_t rounds = 0;
    while ((3 << rounds) < 4 * (p - 1)) ++rounds;
    ASSERT_EQ(parse_selection("exscan/doubling_123").algorithm->cost({.size = p}).rounds, rounds) << p;
  }
}

TEST(Scan, NobodyHearsWhatNobodyNeeds) {
  // The sum of ranks 2 and 3, and that of all, belong to no result.
  EXPECT_EQ(messages("scan/recursive_doubling", 4),
            (std::vector<Message>{{0, 0, 1, {0}}, {0, 1, 0, {0}}, {0, 2, 3, {0}}, {1, 0, 2, {0}}, {1, 1, 3, {0}}}));
}

TEST(Scan, PipelineSendsASegmentARoundFromEachRank) {
  for (const std::string id : {"scan/pipeline:segments=5", "exscan/pipeline:segments=5"}) {
    std::vector<Message> expected;
    for (std::uint32_t round = 0; round < 5 + 4 - 2; ++round) {
      for (Rank r = 0; r < 3; ++r) {
        const Block segment = static_cast<Block>(round) - r;
        if (segment >= 0 && segment < 5) expected.push_back({round, r, r + 1, {segment}});
      }
    }
    EXPECT_EQ(messages(id, 4), expected) << id;
  }
}

TEST(Patterns, FoldingKeepsTheOrderOfRanks) {
  for (Rank p = 1; p < 70; ++p) {
    for (Rank root = 0; root < p; ++root) {
      const patterns::Folding folding(p, root);
      EXPECT_FALSE(folding.removed(root));
      Rank before = -1;
      for (Rank place = 0; place < folding.places(); ++place) {
        const Rank rank = folding.rank_at(place);
        EXPECT_GT(rank, before);
        EXPECT_EQ(folding.place_of(rank), place);
        EXPECT_FALSE(folding.removed(rank));
        EXPECT_LE(folding.ranks_below(place), rank);
        before = rank;
      }
    }
  }
}

}  // namespace
}  // namespace circoll
