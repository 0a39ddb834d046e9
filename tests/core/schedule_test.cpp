// The builder, derived dependencies, composition and reversal.
#include "circoll/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "circoll/algorithm.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "circoll/verify.hpp"
#include "patterns/broadcast_rounds.hpp"
#include "patterns/circulant.hpp"
#include "schedule/block_set.hpp"
#include "verify/proof.hpp"

namespace circoll {
namespace {

bool waits(const Dependencies& d, StepIndex earlier, StepIndex later) {
  const auto next = d.successors(earlier);
  return std::find(next.begin(), next.end(), later) != next.end();
}

TEST(Builder, MergesAdjacentRangesAndDropsEmptyOnes) {
  Region region(Range{1, 0, 2});
  region.append(Range{1, 2, 3});
  region.append(Range{1, 7, 0});
  region.append(Range{1, 9, 1});
  region.append(Range{0, 9, 1});
  ASSERT_EQ(region.ranges().size(), 3U);
  EXPECT_EQ(region.ranges()[0], (Range{1, 0, 5}));
  EXPECT_EQ(region.count(), 7);
}

TEST(Builder, CyclicRangesStayOneRange) {
  Builder b("x", Collective::allgather, {.size = 5, .rank = 2});
  EXPECT_EQ(b.output(3, 4).ranges().size(), 1U);
  EXPECT_EQ(b.output(3, 4).ranges()[0], (Range{recv_buffer, 3, 4}));
  EXPECT_EQ(b.part(b.output(3, 4), 2, 2).ranges()[0], (Range{recv_buffer, 0, 2}));
}

TEST(Builder, InPlaceContributionsLieInTheReceiveBuffer) {
  Builder b("x", Collective::allgather, {.size = 5, .rank = 2, .in_place = true});
  EXPECT_EQ(b.input().ranges()[0], (Range{recv_buffer, 2, 1}));
  b.copy(b.output(2, 1), b.input());
  EXPECT_EQ(b.step_count(), 0U) << "a copy onto itself is none";
  Builder non_root("x", Collective::reduce, {.size = 5, .rank = 2, .root = 1, .in_place = true});
  EXPECT_EQ(non_root.input().ranges()[0].buffer, send_buffer) << "only the root can be in place";
}

TEST(Builder, RefusesMisuse) {
  Builder b("x", Collective::allreduce, {.size = 3, .rank = 1});
  EXPECT_THROW(b.send(1, b.input()), Error);
  EXPECT_THROW(b.send(3, b.input()), Error);
  EXPECT_THROW(b.copy(b.output(), Region{}), Error);
  EXPECT_THROW((void)b.input(0, 2), Error);
  EXPECT_THROW((void)b.part(b.input(), 1, 1), Error);
  b.send(2, b.input());
  EXPECT_THROW(b.cut(2), Error);
  EXPECT_THROW(Builder("x", Collective::allreduce, {.size = 3, .rank = 3}), Error);
}

TEST(Builder, RefusesBuffersAndRanksThatItHasNot) {
  Builder other("x", Collective::allgather, {.size = 9, .rank = 0});
  const Region scratch = other.region(other.scratch(2, 0));
  const Region behind = other.output(8, 1);
  Builder b("x", Collective::allgather, {.size = 5, .rank = 1});
  EXPECT_THROW((void)b.region(2), Error);
  EXPECT_THROW((void)b.region(-1), Error);
  for (const Region& region : {scratch, behind}) {
    EXPECT_THROW((void)b.part(region, 0, 1), Error);
    EXPECT_THROW((void)b.scratch_like(region), Error);
    EXPECT_THROW(b.send(2, region), Error);
  }
  EXPECT_THROW((void)b.part(b.output(), -1, 1), Error);
  EXPECT_THROW((void)b.scratch(2, -3), Error);
  EXPECT_THROW((void)b.scratch(std::vector<Block>{0, 5}), Error);
  const std::int32_t own = b.scratch(1, 0);
  EXPECT_THROW((void)b.view(own, std::vector<Block>{5}), Error);
  EXPECT_THROW((void)b.view(own + 1, 1, 0), Error);
  const Schedule part = std::move(other).finish();
  EXPECT_THROW(b.embed(part, {.ranks = {0, 1}, .send = b.input(), .recv = b.output() + b.output(0, 4)}), Error);
}

TEST(Builder, ScratchLikeAProgressionNeedsNoList) {
  Builder b("x", Collective::allgather, {.size = 8, .rank = 2});
  const std::int32_t s = b.scratch_like(b.output(6, 4));
  const std::int32_t t = b.scratch_like(b.output(6, 1) + b.output(1, 1));
  const Schedule schedule = std::move(b).finish();
  EXPECT_TRUE(schedule.buffers[static_cast<std::size_t>(s)].list.empty());
  EXPECT_EQ(schedule.block_of(s, 3), 1);
  EXPECT_EQ(schedule.buffers[static_cast<std::size_t>(t)].list, (std::vector<Block>{6, 1}));
}

TEST(Dependencies, FollowFromRanges) {
  Builder b("x", Collective::allgather, {.size = 4, .rank = 0});
  b.recv(1, b.output(1, 2));          // 0 writes 1, 2
  b.recv(2, b.output(3, 2));          // 1 writes 3, 0
  b.send(3, b.output(2, 2));          // 2 reads 2, 3
  b.copy(b.output(2, 1), b.input());  // 3 writes 2
  b.send(1, b.output(2, 1));          // 4 reads 2
  const Dependencies d = derive_dependencies(std::move(b).finish());
  EXPECT_TRUE(waits(d, 0, 2));
  EXPECT_TRUE(waits(d, 1, 2));
  EXPECT_TRUE(waits(d, 2, 3)) << "write after read";
  EXPECT_TRUE(waits(d, 3, 4));
  EXPECT_FALSE(waits(d, 0, 1));
  EXPECT_FALSE(waits(d, 0, 4)) << "implied by the copy";
  EXPECT_EQ(d.in_degree, (std::vector<std::uint32_t>{0, 0, 2, 1, 1}));
}

TEST(Dependencies, ViewsOfOneStorageTakeTurns) {
  Builder b("x", Collective::allreduce, {.size = 4, .rank = 0});
  const std::int32_t first = b.scratch(1, 0);
  const std::int32_t second = b.view(first, 1, 0);
  b.recv(1, b.region(first));                          // 0
  b.reduce(b.output(), b.input(), b.region(first));    // 1
  b.recv(2, b.region(second));                         // 2 waits for 0 and 1
  b.reduce(b.output(), b.output(), b.region(second));  // 3
  const Dependencies d = derive_dependencies(std::move(b).finish());
  EXPECT_TRUE(waits(d, 1, 2));
  EXPECT_TRUE(waits(d, 2, 3));
}

/// In random schedules the derived dependencies leave no race, by the verifier's independent check. Without any edge
/// that no other path replaces there is a race.
TEST(Dependencies, LeaveNoRaceInRandomSchedules) {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  int lost = 0;
  for (int round = 0; round < 400; ++round) {
    const Rank p = pick(2, 9);
    Builder b("x", Collective::allgather, {.size = p, .rank = 0});
    std::vector<std::int32_t> buffers{recv_buffer};
    std::vector<Slot> slots{p};
    for (std::int64_t i = pick(0, 3); i > 0; --i) {
      const Slot n = pick(1, p);
      const bool view = buffers.size() > 1 && pick(0, 1) == 1;
      buffers.push_back(view ? b.view(buffers[1], n, pick(0, p - 1)) : b.scratch(n, pick(0, p - 1)));
      slots.push_back(n);
    }
    const auto region = [&](std::int64_t count) {
      Region r;
      while (count > 0) {
        const auto i = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(buffers.size()) - 1));
        const std::int64_t n = std::min(count, pick(1, slots[i]));
        r.append(b.region(buffers[i], pick(0, slots[i] - 1), n));
        count -= n;
      }
      return r;
    };
    for (std::int64_t i = pick(1, 25); i > 0; --i) {
      const std::int64_t n = pick(1, 4);
      switch (pick(0, 3)) {
        case 0:
          b.send(1, region(n));
          break;
        case 1:
          b.recv(1, region(n));
          break;
        case 2:
          b.copy(region(n), region(n));
          break;
        default:
          b.reduce(region(n), region(n), region(n));
          break;
      }
    }
    const Schedule s = std::move(b).finish();
    Dependencies d = derive_dependencies(s);
    const auto race = verify::find_race(s, d);
    ASSERT_FALSE(race.has_value()) << race->earlier << " " << race->later;
    if (d.targets.empty()) continue;
    const auto gone = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(d.targets.size()) - 1));
    --d.in_degree[d.targets[gone]];
    d.targets.erase(d.targets.begin() + static_cast<std::ptrdiff_t>(gone));
    for (auto& offset : d.offsets) offset -= offset > gone ? 1 : 0;
    lost += verify::find_race(s, d).has_value() ? 1 : 0;
  }
  EXPECT_GT(lost, 100);
}

TEST(Embedding, OnASubgroupAndASubrangeOfBlocks) {
  // Ranks 1, 3, 5 of 6 gather three blocks in the last three slots; the others look on.
  for (Rank rank = 0; rank < 6; ++rank) {
    Builder b("x", Collective::allgather, {.size = 6, .rank = rank});
    const std::vector<Rank> group{1, 3, 5};
    const auto me = std::find(group.begin(), group.end(), rank) - group.begin();
    const Schedule part = build_schedule("allgather/circulant_optimal", {.size = 3, .rank = me < 3 ? me : 0});
    if (me == 3) {
      b.next_round(part.rounds);
    } else {
      b.embed(part, {.ranks = group, .first_block = 3, .send = b.output(3 + me, 1), .recv = b.output(3, 3)});
    }
    EXPECT_EQ(b.round(), 2U);
    const Schedule s = std::move(b).finish();
    EXPECT_NO_THROW(check_structure(s));
    for (const Step& step : s.steps) {
      EXPECT_TRUE(step.peer < 0 || step.peer % 2 == 1);
      for (const Operand o : {step.dst, step.left}) {
        for (const Range& range : s.operand(o)) EXPECT_GE(range.first, 3);
      }
    }
  }
}

TEST(Embedding, OneAfterAnother) {
  // Two allgathers of one block each give one allgather of two segments.
  static const Algorithm twice{
      .collectives = {Collective::allgather},
      .name = "twice",
      .cost =
          [](const Shape& s) {
            return Cost{2 * patterns::ceil_log2(s.size), 2 * (s.size - 1), 2 * (s.size - 1), 0, 2};
          },
      .path = [](const Shape& s) { return CriticalPath{.blocks = 2 * s.size, .volume = 2 * (s.size - 1)}; },
      .build =
          [](Builder& b) {
            b.cut(2);
            for (Block half = 0; half < 2; ++half) {
              Region everywhere;
              for (Rank r = 0; r < b.size(); ++r) everywhere.append(b.output(2 * r + half, 1));
              b.embed(build_part(b, "allgather/circulant_optimal", part_shape(b)),
                      {.first_block = half, .block_stride = 2, .send = b.input(half, 1), .recv = everywhere});
            }
          },
  };
  for (Rank p = 1; p < 20; ++p) {
    const Verdict verdict = verify_algorithm(twice, Collective::allgather, {.size = p});
    EXPECT_TRUE(verdict.proven()) << verdict.refutation->to_string();
  }
}

TEST(Reversal, RefusesReductions) {
  Builder b("x", Collective::bcast, {.size = 4, .rank = 0});
  const Schedule reduction = build_schedule("allreduce/circulant", {.size = 4, .rank = 0});
  EXPECT_THROW(append_reversed(b, reduction, Reversal::reduce), Error);
}

TEST(Skips, HalveRoundingUp) {
  for (Rank p = 1; p < 5000; ++p) {
    const patterns::Skips s(p);
    ASSERT_EQ(s.q(), patterns::ceil_log2(p));
    ASSERT_EQ(s[0], 1);
    ASSERT_EQ(s[s.q()], p);
    for (int k = 0; k < s.q(); ++k) {
      ASSERT_EQ(s[k], (s[k + 1] + 1) / 2);
      ASSERT_EQ(s.jump(k), s[k] - (s.odd(k) ? 1 : 0));
    }
  }
}

/// The conditions that make the n-block schedules correct (arXiv 2407.18004). Ranks receive the blocks that are sent.
/// In q rounds a rank receives each block of the phase once, but not the one with its own number.
TEST(BroadcastRounds, SendWhatIsReceived) {
  for (const Rank p : {2, 3, 4, 5, 7, 9, 16, 17, 31, 33, 100, 255, 257, 1000, 1023}) {
    const patterns::Skips s(p);
    const int q = s.q();
    std::vector<patterns::RoundBlocks> received;
    for (Rank r = 0; r < p; ++r) received.push_back(patterns::blocks_received(r, s));
    for (Rank r = 0; r < p; ++r) {
      const auto sent = patterns::blocks_sent(r, s);
      std::set<int> blocks;
      for (int k = 0; k < q; ++k) {
        blocks.insert(received[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)]);
        const Rank to = (r + s[k]) % p;
        if (to == 0) continue;
        ASSERT_EQ(sent[static_cast<std::size_t>(k)],
                  received[static_cast<std::size_t>(to)][static_cast<std::size_t>(k)])
            << p << " " << r << " " << k;
      }
      ASSERT_EQ(blocks.size(), static_cast<std::size_t>(q));
    }
  }
}

TEST(BlockSet, DenseAndSparseAgree) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    BlockSet dense(50, true);
    BlockSet sparse(50, false);
    for (int i = 0; i < 12; ++i) {
      const Block first = std::uniform_int_distribution<Block>(0, 49)(random);
      const Block end = std::uniform_int_distribution<Block>(first, std::min<Block>(50, first + 6))(random);
      dense.insert(first, end);
      sparse.insert(first, end);
    }
    EXPECT_EQ(dense.intervals(), sparse.intervals());
    for (Block b = 0; b < 50; ++b) {
      Block until_dense = 0;
      Block until_sparse = 0;
      EXPECT_EQ(dense.contains(b, 50, until_dense), sparse.contains(b, 50, until_sparse));
      EXPECT_EQ(until_dense, until_sparse);
    }
  }
}

TEST(Structure, IsChecked) {
  const auto damaged = [](const std::function<void(Schedule&)>& damage) {
    Schedule s = build_schedule("reduce_scatter/circulant", {.size = 6, .rank = 1});
    damage(s);
    return s;
  };
  EXPECT_NO_THROW(check_structure(damaged([](Schedule&) {})));
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.ranges[0].first = 6; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.ranges[0].count = 7; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.ranges[0].buffer = 99; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.steps[0].peer = 1; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.steps[0].round = 3; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.steps[0].left.length = 1000; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.buffers[2].list[0] = 6; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.buffers[2].storage = 0; })), Error);
  EXPECT_THROW(check_structure(damaged([](Schedule& s) { s.edges.emplace_back(3, 3); })), Error);
}

TEST(Registry, ReadsSelections) {
  EXPECT_EQ(parse_selection("bcast/circulant_pipelined:segments=4Ki").params.at("segments"), 4096);
  EXPECT_EQ(parse_selection(Collective::gatherv, "circulant").id(), "gatherv/circulant");
  const auto code = [](std::string_view id) {
    try {
      (void)parse_selection(id);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::ok;
  };
  EXPECT_EQ(code("allreduce"), ErrorCode::unknown_name);
  EXPECT_EQ(code("allreduce/circulent"), ErrorCode::unknown_name);
  EXPECT_EQ(code("allreduce/circulant:segments=2"), ErrorCode::unknown_name);
  EXPECT_EQ(code("bcast/circulant_pipelined:segments"), ErrorCode::parse);
  EXPECT_EQ(code("bcast/circulant_pipelined:"), ErrorCode::parse);
  EXPECT_EQ(code("bcast/circulant_pipelined:segments=4Q"), ErrorCode::parse);
  EXPECT_EQ(code("bcast/circulant_pipelined:segments=0"), ErrorCode::invalid_argument);
  try {
    (void)parse_selection("allreduce/circulent");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean circulant,"), std::string::npos) << error.what();
  }
}

TEST(Registry, EveryPathIsAnAlgorithm) {
  std::set<std::string> ids;
  for (const Algorithm* a : all_algorithms()) {
    ASSERT_FALSE(a->collectives.empty());
    EXPECT_NE(a->cost, nullptr);
    EXPECT_NE(a->build, nullptr);
    EXPECT_FALSE(a->summary.empty() || a->source.empty() || a->formula.rounds.empty());
    for (const Collective c : a->collectives) EXPECT_TRUE(ids.insert(a->id(c)).second) << a->id(c);
  }
}

/// The logarithmic algorithms look at O(log p) ranges, also for a million ranks.
TEST(Building, IsLogarithmic) {
  for (const char* id : {"allreduce/circulant",
                         "allreduce/circulant_optimal",
                         "allreduce/circulant_idempotent",
                         "reduce/circulant",
                         "reduce/circulant_tree",
                         "reduce_scatter/circulant_optimal",
                         "allgather/circulant",
                         "allgather/circulant_optimal",
                         "gather/circulant",
                         "scatter/circulant",
                         "bcast/circulant_pipelined",
                         "barrier/circulant",
                         "bcast/bine",
                         "reduce/bine",
                         "gather/bine",
                         "scatter/bine",
                         "allgather/bine",
                         "reduce_scatter/bine",
                         "allreduce/bine",
                         "allreduce/bine_whole",
                         "allreduce/recursive_multiplying",
                         "allgather/recursive_multiplying",
                         "reduce_scatter/recursive_multiplying",
                         "barrier/recursive_multiplying",
                         "allgather/radix_bruck",
                         "bcast/double_tree",
                         "reduce/double_tree",
                         "allreduce/double_tree"}) {
    for (const Rank rank : {Rank{0}, Rank{1}, Rank{524287}, Rank{1048575}}) {
      const Schedule s = build_schedule(id, {.size = 1 << 20, .rank = rank});
      EXPECT_LE(s.steps.size(), 130U) << id;
      EXPECT_LE(s.ranges.size(), 300U) << id;
      EXPECT_LE(s.buffers.size(), 70U) << id;
      for (const Buffer& b : s.buffers) EXPECT_TRUE(b.list.empty()) << id;
    }
  }
}

/// Each block of a message is a range of its own here. A build whose time grew with the square of p would not end.
TEST(Building, IsLinearInBlocks) {
  const Rank p = 1 << 20;
  for (const char* id : {"allgather/pat", "allgather/swing", "reduce_scatter/pat", "reduce_scatter/swing"}) {
    const Schedule s = build_schedule(id, {.size = p});
    EXPECT_EQ(s.rounds, 20U) << id;
    EXPECT_LE(s.steps.size(), 130U) << id;
    EXPECT_LE(s.ranges.size(), static_cast<std::size_t>(6 * p)) << id;
  }
}

}  // namespace
}  // namespace circoll
