// One rank proves algorithms whose ranks all do the same, with the verdict that all ranks give.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "mutations.hpp"
#include "schedule/rotation.hpp"
#include "verified_case.hpp"

namespace circoll {
namespace {

/// Algorithms that are built by rotation, once for each collective without a twin before it.
std::vector<Selection> rotating() {
  std::vector<Selection> all;
  for (const Algorithm* a : all_algorithms()) {
    if (a->rotation == Rotation::none) continue;
    for (const Collective c : a->collectives) {
      if (all.empty() || all.back().algorithm != a || !are_twins(all.back().collective, c)) all.push_back({a, c, {}});
    }
  }
  return all;
}

class Rotations : public testing::TestWithParam<Selection> {};

/// Where all ranks take p times as long as one, or p^2 times, not every p is taken.
bool is_taken(const Selection& s, Rank p) {
#ifndef CIRCOLL_SANITIZED
  if (p <= 64) return true;
#endif
  const bool many_blocks = is_exchange(s.collective) || s.algorithm->family == Family::ring ||
                           s.algorithm->family == Family::linear || s.algorithm->family == Family::pairwise ||
                           s.algorithm->param("segments") != nullptr;
  return p <= 40 || (many_blocks ? p == 64 || p == 97 : p <= 130 || p % 16 == 0 || p % 16 == 15);
}

void expect_verdict_of_all_ranks(const Selection& s, Rank first, Rank last) {
  for (Rank p = first; p <= last; ++p) {
    if (!is_taken(s, p)) continue;
    for (const bool in_place : {false, true}) {
      if (in_place && (p > 24 || !has_in_place_schedule(s.collective, Shape{.size = p}))) continue;
      const Shape shape{.size = p, .in_place = in_place};
      const Verdict one = verify_algorithm(*s.algorithm, s.collective, shape, {}, ProofMethod::rotation);
      const Verdict all = verify_algorithm(*s.algorithm, s.collective, shape, {}, ProofMethod::all_ranks);
      ASSERT_TRUE(one.proven()) << one.refutation->to_string();
      ASSERT_TRUE(all.proven()) << all.refutation->to_string();
      EXPECT_TRUE(one.by_rotation);
      EXPECT_FALSE(all.by_rotation);
      EXPECT_EQ(one.counted, all.counted) << s.id() << " p=" << p;
      EXPECT_EQ(one.path, all.path) << s.id() << " p=" << p;
      EXPECT_EQ(one.messages, all.messages) << s.id() << " p=" << p;
      EXPECT_EQ(one.reductions, all.reductions) << s.id() << " p=" << p;
    }
  }
}

TEST_P(Rotations, HaveTheVerdictOfAllRanks) { expect_verdict_of_all_ranks(GetParam(), 1, 64); }

TEST_P(Rotations, HaveTheVerdictOfAllRanksUpTo256) { expect_verdict_of_all_ranks(GetParam(), 65, 256); }

TEST_P(Rotations, AreTheScheduleOfRank0SeenFromAnotherRank) {
  const Selection& s = GetParam();
  for (const Rank p : {2, 3, 7, 8, 12}) {
    const std::vector<Schedule> ranks = build_all_ranks(*s.algorithm, s.collective, {.size = p});
    for (Rank r = 0; r < p; ++r) {
      const Schedule& here = ranks[static_cast<std::size_t>(r)];
      ASSERT_EQ(here.shape.rank, r);
      ASSERT_EQ(here.steps.size(), ranks[0].steps.size());
      for (std::size_t i = 0; i < here.steps.size(); ++i) {
        ASSERT_EQ(here.steps[i].kind, ranks[0].steps[i].kind);
        const Rank peer = is_message(here.steps[i]) ? (ranks[0].steps[i].peer + r) % p : -1;
        ASSERT_EQ(here.steps[i].peer, peer);
      }
    }
  }
}

/// The damaged rank of a case, seen from rank 0, and its dependencies if they were damaged.
struct Orbit {
  Schedule schedule;
  std::vector<Dependencies> dependencies;
};
Orbit orbit_of(const Case& sound, const Case& damaged, Rotation rotation) {
  std::size_t rank = 0;
  for (std::size_t r = 0; r < sound.ranks.size(); ++r) {
    const bool same =
        damaged.dependencies.empty() || damaged.dependencies[r].targets == derive_dependencies(sound.ranks[r]).targets;
    if (damaged.ranks[r] != sound.ranks[r] || !same) rank = r;
  }
  Orbit orbit{damaged.ranks[rank], {}};
  if (!damaged.dependencies.empty()) orbit.dependencies.push_back(damaged.dependencies[rank]);
  const auto p = static_cast<Rank>(sound.ranks.size());
  // The damage may make the caller's buffers differ from the collective's, so their slots are set by hand.
  const Buffer recv = orbit.schedule.buffers[recv_buffer];
  orbit.schedule = rotated(orbit.schedule, rotation, (p - static_cast<Rank>(rank)) % p);
  if (recv != sound.ranks[rank].buffers[recv_buffer]) orbit.schedule.buffers[recv_buffer].slots = recv.slots;
  return orbit;
}

struct Damage {
  const char* name;
  Mutation mutate;
  bool at_counts = false;  ///< it must be seen by counting only
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"drop_send", drop_send},
      {"drop_recv", drop_recv},
      {"drop_message", drop_message},
      {"wrong_peer", wrong_peer},
      {"peer_outside", peer_outside},
      {"count_twice", count_twice},
      {"forget_reduction", forget_reduction},
      {"copy_instead_of_reduction", copy_instead_of_reduction},
      {"write_send_buffer", write_send_buffer},
      {"shift_blocks", shift_blocks},
      {"shorten_message", shorten_message},
      {"too_small_scratch", too_small_scratch},
      {"bigger_user_buffer", bigger_user_buffer},
      {"cyclic_wait", cyclic_wait},
      {"forget_dependency", forget_dependency},
      {"other_round", other_round},
      {"hidden_round", hidden_round},
      {"fewer_rounds_declared", fewer_rounds_declared, true},
      {"wrong_volume_declared", wrong_volume_declared, true},
      {"wrong_reductions_declared", wrong_reductions_declared, true},
      {"other_blocks_declared", other_blocks_declared, true},
      {"one_way_round_declared", one_way_round_declared, true},
      {"shorter_path_declared", shorter_path_declared, true},
      {"longer_one_way_declared", longer_one_way_declared, true},
      {"fewer_combined_declared", fewer_combined_declared, true},
      {"more_levels_declared", more_levels_declared, true},
      {"never_written", never_written},
      {"copy_between_views", copy_between_views},
      {"wait_in_a_circle", wait_in_a_circle},
      {"false_directness", false_directness},
      {"reused_arrival_buffer", reused_arrival_buffer},
  };
  return all;
}

class DamagedRotations : public testing::TestWithParam<Damage> {};

TEST_P(DamagedRotations, AreRefutedByTheSameClaim) {
  std::mt19937 random(20261125);
  int refuted = 0;
  for (const Selection& s : rotating()) {
    const std::string id = s.id();
    for (const Rank p : {3, 4, 5, 8, 11}) {
      const Case sound = make_case({id.c_str()}, p, 0);
      Case damaged = sound;
      if (!GetParam().at_counts) {
        damaged.claims.cost.reset();
        damaged.claims.path.reset();
      }
      if (!GetParam().mutate(damaged, random)) continue;
      const Orbit orbit = orbit_of(sound, damaged, s.algorithm->rotation);
      std::vector<Schedule> ranks;
      std::vector<Dependencies> dependencies;
      for (Rank r = 0; r < p; ++r) {
        ranks.push_back(rotated(orbit.schedule, s.algorithm->rotation, r));
        if (!orbit.dependencies.empty()) dependencies.push_back(orbit.dependencies.front());
      }
      const Verdict all = verify_schedules(ranks, damaged.claims, dependencies);
      const auto one = verify_rotations(orbit.schedule, s.algorithm->rotation, damaged.claims,
                                        orbit.dependencies.empty() ? nullptr : orbit.dependencies.data());
      ASSERT_TRUE(one.has_value()) << id << " p=" << p;
      ASSERT_EQ(one->proven(), all.proven())
          << id << " p=" << p << " " << (all.proven() ? one->refutation : all.refutation)->to_string();
      if (all.proven()) continue;  // done at all ranks alike it is no damage
      ++refuted;
      EXPECT_EQ(to_string(one->refutation->claim), to_string(all.refutation->claim))
          << one->refutation->to_string() << "\n"
          << all.refutation->to_string();
      EXPECT_EQ(one->refutation->size, p);
      EXPECT_FALSE(one->refutation->what.empty());
    }
  }
  EXPECT_GE(refuted, 1) << "the damage applies nowhere";
}

TEST(RotationTest, SegmentsToo) {
  for (const Selection& s : rotating()) {
    if (s.algorithm->param("segments") == nullptr) continue;
    for (const Rank p : {1, 2, 3, 5, 8, 13}) {
      for (const std::int64_t segments : {1, 2, 3, 6}) {
        const Shape shape{.size = p, .params = {{"segments", segments}}};
        const Verdict one = verify_algorithm(*s.algorithm, s.collective, shape, {}, ProofMethod::rotation);
        const Verdict all = verify_algorithm(*s.algorithm, s.collective, shape, {}, ProofMethod::all_ranks);
        ASSERT_TRUE(one.proven()) << one.refutation->to_string();
        ASSERT_TRUE(all.proven()) << all.refutation->to_string();
        EXPECT_EQ(one.path, all.path) << s.id() << " p=" << p << " segments=" << segments;
      }
    }
  }
}

TEST(RotationTest, ManyRanksAtOnce) {
  for (const char* id : {"allreduce/circulant", "allgather/circulant", "allgather/circulant_optimal",
                         "barrier/circulant", "barrier/dissemination"}) {
    const Selection s = parse_selection(id);
    for (const Rank p : {Rank{1} << 40, (Rank{1} << 40) - 1, (Rank{1} << 39) + 12345}) {
      const Verdict verdict = verify_algorithm(*s.algorithm, s.collective, {.size = p});
      EXPECT_TRUE(verdict.proven() && verdict.by_rotation) << id << " p=" << p;
      EXPECT_EQ(verdict.messages, verdict.counted.rounds * p) << id;
    }
  }
}

TEST(RotationTest, TheOrderOfRanksIsLeftToAllRanks) {
  const Selection s = parse_selection("allreduce/circulant");
  const Schedule first = build_schedule(*s.algorithm, s.collective, {.size = 7});
  EXPECT_FALSE(verify_rotations(first, Rotation::ranks, {.needs = {.commutative = false}}).has_value());
  EXPECT_FALSE(
      verify_rotations(first, Rotation::ranks, {.needs = {.commutative = true}, .guarantees = {.same_bits = true}})
          .has_value());
}

TEST(RotationTest, MisuseIsRefused) {
  const Schedule tree = build_schedule("bcast/binomial", {.size = 5});
  EXPECT_THROW((void)rotated(tree, Rotation::ranks, 1), Error);
  const Schedule whole = build_schedule("allreduce/circulant", {.size = 5});
  EXPECT_THROW((void)rotated(whole, Rotation::ranks, 5), Error);
  EXPECT_THROW((void)rotated(whole, Rotation::parts, 1), Error);  // one block is no five parts
  const Selection binomial = parse_selection("allreduce/binomial");
  const Verdict verdict =
      verify_algorithm(*binomial.algorithm, binomial.collective, {.size = 5}, {}, ProofMethod::rotation);
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::buildable);
}

std::string name_of(const Selection& s) {
  std::string name = s.id();
  name[name.find('/')] = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, Rotations, testing::ValuesIn(rotating()),
                         [](const auto& param) { return name_of(param.param); });
INSTANTIATE_TEST_SUITE_P(All, DamagedRotations, testing::ValuesIn(damages()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace circoll
