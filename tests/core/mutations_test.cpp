// The verifier is tested by mutation: each mutation damages a correct set of schedules in one place, and the verifier
// must refute the result.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "circoll/verify.hpp"
#include "mutations.hpp"
#include "verified_case.hpp"

namespace circoll {
namespace {

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all{
      {"allreduce/circulant"},
      {"allreduce/circulant_idempotent"},
      {"allreduce/circulant_optimal"},
      {"allreduce/allgather_reduce"},
      {"reduce/circulant_tree"},
      {"reduce/circulant_pipelined", {{"segments", 3}}},
      {"reduce_scatter/circulant"},
      {"reduce_scatter/circulant_optimal"},
      {"reduce_scatter/circulant_ordered"},
      {"allgather/circulant"},
      {"allgather/circulant_optimal"},
      {"gather/circulant"},
      {"scatter/circulant"},
      {"bcast/circulant_pipelined", {{"segments", 4}}},
      {"reduce/binomial"},                     // a tree
      {"allreduce/ring"},                      // a ring
      {"allreduce/rabenseifner"},              // a butterfly
      {"reduce/pipeline", {{"segments", 3}}},  // a pipeline
      {"reduce/split_binary", {{"segments", 2}}},
      {"alltoall/circulant"},
      {"alltoall/linear"},
      {"scan/recursive_doubling"},
      {"exscan/doubling_123"},
  };
  return all;
}

struct Named {
  const char* name;
  Mutation mutate;
  int least_refuted;         // of all subjects and sizes: the mutation must apply somewhere
  std::set<Claim> expected;  // the claims that may be refuted first
};

const std::vector<Named>& mutations() {
  static const std::vector<Named> all{
      {"drop_send", drop_send, 30, {Claim::matching}},
      {"drop_recv", drop_recv, 30, {Claim::matching}},
      {"drop_message", drop_message, 30, {Claim::defined, Claim::result, Claim::exactly_once, Claim::rounds}},
      {"wrong_peer", wrong_peer, 30, {Claim::matching}},
      {"peer_outside", peer_outside, 30, {Claim::structure}},
      {"swap_operands", swap_operands, 6, {Claim::rank_order}},
      {"count_twice", count_twice, 20, {Claim::exactly_once}},
      {"forget_reduction", forget_reduction, 20, {Claim::exactly_once, Claim::defined, Claim::result}},
      {"copy_instead_of_reduction", copy_instead_of_reduction, 20, {Claim::exactly_once}},
      {"write_send_buffer", write_send_buffer, 20, {Claim::send_untouched}},
      {"shift_blocks", shift_blocks, 15, {Claim::matching}},
      {"shorten_message", shorten_message, 15, {Claim::matching}},
      {"too_small_scratch", too_small_scratch, 20, {Claim::structure}},
      {"bigger_user_buffer", bigger_user_buffer, 30, {Claim::structure}},
      {"cyclic_wait", cyclic_wait, 10, {Claim::rounds}},
      {"forget_dependency", forget_dependency, 20, {Claim::no_race}},
      {"other_round", other_round, 20, {Claim::matching, Claim::rounds, Claim::structure}},
      {"hidden_round", hidden_round, 20, {Claim::rounds}},
      {"fewer_rounds_declared", fewer_rounds_declared, 30, {Claim::cost}},
      {"wrong_volume_declared", wrong_volume_declared, 30, {Claim::cost}},
      {"wrong_reductions_declared", wrong_reductions_declared, 30, {Claim::cost}},
      {"other_blocks_declared", other_blocks_declared, 30, {Claim::cost}},
      {"one_way_round_declared", one_way_round_declared, 30, {Claim::cost}},
      {"shorter_path_declared", shorter_path_declared, 30, {Claim::cost}},
      {"longer_one_way_declared", longer_one_way_declared, 30, {Claim::cost}},
      {"fewer_combined_declared", fewer_combined_declared, 30, {Claim::cost}},
      {"more_levels_declared", more_levels_declared, 8, {Claim::cost}},
      {"false_commutativity", false_commutativity, 15, {Claim::rank_order}},
      {"false_same_bits", false_same_bits, 3, {Claim::same_bits}},
      {"never_written", never_written, 10, {Claim::result, Claim::defined, Claim::exactly_once}},
      {"write_slot_twice", write_slot_twice, 3, {Claim::no_race}},
      {"shifted_overlap", shifted_overlap, 3, {Claim::no_race}},
      {"copy_between_views", copy_between_views, 20, {Claim::no_race, Claim::defined}},
      {"wait_in_a_circle", wait_in_a_circle, 30, {Claim::no_deadlock, Claim::rounds}},
      {"false_directness", false_directness, 7, {Claim::direct}},
      {"one_rank_too_many", one_rank_too_many, 8, {Claim::result}},
      {"reused_arrival_buffer", reused_arrival_buffer, 3, {Claim::defined, Claim::no_race, Claim::rounds}},
  };
  return all;
}

class Mutations : public testing::TestWithParam<Named> {};

TEST_P(Mutations, AreRefuted) {
  std::mt19937 random(20261121);
  int refuted = 0;
  for (const Subject& subject : subjects()) {
    for (const Rank p : {3, 4, 5, 7, 8, 9, 11, 16}) {
      Case c = make_case(subject, p, p / 2);
      const Verdict sound = c.verify();
      ASSERT_TRUE(sound.proven()) << sound.refutation->to_string();
      // Nearly every damage changes a count. So no cost is claimed here, and the other claims must notice the damage.
      if (!GetParam().expected.contains(Claim::cost)) {
        c.claims.cost.reset();
        c.claims.path.reset();
      }
      if (!GetParam().mutate(c, random)) continue;
      const Verdict verdict = c.verify();
      EXPECT_FALSE(verdict.proven()) << GetParam().name << " goes unnoticed in " << subject.id << " p=" << p;
      if (!verdict.refutation) continue;
      ++refuted;
      EXPECT_EQ(verdict.refutation->id, parse_selection(subject.id).id());
      EXPECT_EQ(verdict.refutation->size, p);
      EXPECT_TRUE(GetParam().expected.contains(verdict.refutation->claim)) << verdict.refutation->to_string();
      EXPECT_FALSE(verdict.refutation->what.empty());
    }
  }
  EXPECT_GE(refuted, GetParam().least_refuted);
}

INSTANTIATE_TEST_SUITE_P(All, Mutations, testing::ValuesIn(mutations()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace circoll
