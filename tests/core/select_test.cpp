// Policies: their choices, the algorithms that they may not choose, and their reasons.
#include "circoll/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "choices.hpp"
#include "circoll/error.hpp"
#include "circoll/local.hpp"
#include "circoll/ops.hpp"
#include "model/sharing.hpp"
#include "select/policies.hpp"

namespace circoll {
namespace {

/// The tree of Open MPI's decision function, written once more and in another form than the policy's.
std::string tree(Rank communicator_size, Count total_dsize) {
  std::string alg;
  if (communicator_size < 4) {
    if (total_dsize < 8) {
      alg = "ring";
    } else if (total_dsize < 4096) {
      alg = "recursive_doubling";
    } else if (total_dsize < 8192) {
      alg = "ring";
    } else if (total_dsize < 16384) {
      alg = "recursive_doubling";
    } else if (total_dsize < 65536) {
      alg = "ring";
    } else if (total_dsize < 262144) {
      alg = "segmented_ring";
    } else {
      alg = "rabenseifner";
    }
  } else if (communicator_size < 8) {
    alg = total_dsize < 16 ? "ring" : total_dsize < 8192 ? "recursive_doubling" : "rabenseifner";
  } else if (communicator_size < 16) {
    alg = total_dsize < 8192 ? "recursive_doubling" : "rabenseifner";
  } else if (communicator_size < 32) {
    alg = total_dsize < 64 ? "segmented_ring" : total_dsize < 4096 ? "recursive_doubling" : "rabenseifner";
  } else if (communicator_size < 64) {
    alg = total_dsize < 128 ? "segmented_ring" : "rabenseifner";
  } else if (communicator_size < 128) {
    alg = total_dsize < 262144 ? "recursive_doubling" : "rabenseifner";
  } else if (communicator_size < 256) {
    alg = total_dsize < 131072 ? "nonoverlapping" : total_dsize < 262144 ? "recursive_doubling" : "rabenseifner";
  } else if (communicator_size < 512) {
    alg = total_dsize < 4096 ? "nonoverlapping" : "rabenseifner";
  } else if (communicator_size < 2048) {
    alg = total_dsize < 2048 ? "nonoverlapping" : total_dsize < 16384 ? "recursive_doubling" : "rabenseifner";
  } else if (communicator_size < 4096) {
    alg = total_dsize < 2048    ? "nonoverlapping"
          : total_dsize < 4096  ? "segmented_ring"
          : total_dsize < 16384 ? "recursive_doubling"
                                : "rabenseifner";
  } else {
    alg = total_dsize < 2048    ? "nonoverlapping"
          : total_dsize < 16384 ? "segmented_ring"
          : total_dsize < 32768 ? "recursive_doubling"
                                : "rabenseifner";
  }
  return alg;
}

TEST(OpenMpiFixed, EveryBranchAtBothSidesOfEveryThreshold) {
  std::vector<Rank> sizes{1, 2, 3};
  for (const Rank limit : {4, 8, 16, 32, 64, 128, 256, 512, 2048, 4096}) {
    for (const Rank p : {limit - 1, limit, limit + 1}) sizes.push_back(p);
  }
  std::vector<Count> bytes{0, 1, Count{1} << 40};
  for (const Count limit : {8, 16, 64, 128, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144}) {
    for (const Count b : {limit - 1, limit, limit + 1}) bytes.push_back(b);
  }
  for (const Rank p : sizes) {
    for (const Count b : bytes) {
      EXPECT_EQ(select::openmpi_tree(p, b), tree(p, b)) << "p = " << p << ", " << b << " bytes";
    }
  }
}

TEST(OpenMpiFixed, DecidesByTheTree) {
  const auto policy = make_policy("openmpi_fixed");
  for (const Rank p : {2, 3, 4, 7, 8, 15, 16, 31, 32}) {
    for (const Count bytes : {4, 8, 100, 4096, 8192, 65536}) {
      const Decision decision = policy->decide(allreduce_of(p, bytes));
      ASSERT_TRUE(decision.selection);
      EXPECT_EQ(decision.selection->algorithm->name, tree(p, bytes)) << p << " " << bytes;
      EXPECT_NE(decision.reason.find("tree"), std::string::npos);
      EXPECT_TRUE(decision.ruled_out.empty());
      EXPECT_EQ(decision.policy, "openmpi_fixed");
    }
  }
}

TEST(OpenMpiFixed, OtherOperatorsAndCollectives) {
  const auto policy = make_policy("openmpi_fixed");
  const Decision decision = policy->decide(allreduce_of(6, 100, ordered));
  ASSERT_TRUE(decision.selection);
  EXPECT_EQ(decision.selection->algorithm->name, "nonoverlapping");
  EXPECT_NE(decision.reason.find("does not commute"), std::string::npos);
  const Decision other = policy->decide({.collective = Collective::allgather, .p = 6, .bytes = 600});
  EXPECT_EQ(other.selection->id(), resolve({}, {.collective = Collective::allgather, .p = 6, .bytes = 600}).id());
  EXPECT_NE(other.reason.find("allreduce alone"), std::string::npos);
}

TEST(Classic, PredefinedOrNotShortOrLong) {
  const auto policy = make_policy("classic");
  CallFacts facts = allreduce_of(8, 2048);
  EXPECT_EQ(chosen(*policy, facts), "binomial");
  facts.bytes = 2049;
  EXPECT_EQ(chosen(*policy, facts), "rabenseifner");
  facts.predefined_op = false;
  EXPECT_EQ(chosen(*policy, facts), "recursive_doubling");
  facts.bytes = 8;
  EXPECT_EQ(chosen(*policy, facts), "recursive_doubling");
  facts.collective = Collective::reduce;
  EXPECT_EQ(chosen(*policy, facts), "binomial");
  facts.predefined_op = true;
  facts.bytes = 2049;
  EXPECT_EQ(chosen(*policy, facts), "rabenseifner");
}

TEST(Classic, CollectivesWithoutAnOperatorAndReduceScatter) {
  const auto policy = make_policy("classic");
  const auto name = [&](Collective collective, Rank p, Count bytes) {
    return chosen(*policy, {.collective = collective, .p = p, .bytes = bytes});
  };
  EXPECT_EQ(name(Collective::bcast, 7, 1 << 20), "binomial");
  EXPECT_EQ(name(Collective::bcast, 8, 12288), "binomial");
  EXPECT_EQ(name(Collective::bcast, 8, 12289), "scatter_allgather");
  EXPECT_EQ(name(Collective::allgather, 8, 81920), "recursive_doubling");
  EXPECT_EQ(name(Collective::allgather, 7, 81920), "bruck");
  EXPECT_EQ(name(Collective::allgather, 8, 81921), "ring");
  EXPECT_EQ(name(Collective::reduce_scatter_block, 8, 524288), "recursive_halving");
  EXPECT_EQ(name(Collective::reduce_scatter_block, 8, 524289), "pairwise");
  EXPECT_EQ(chosen(*policy, {.collective = Collective::reduce_scatter, .p = 8, .bytes = 8, .op = ordered}),
            "recursive_doubling");
  EXPECT_EQ(name(Collective::gather, 8, 8), "binomial");
  EXPECT_EQ(name(Collective::gatherv, 8, 0), "linear");
  EXPECT_EQ(name(Collective::barrier, 8, 0), "dissemination");
  EXPECT_EQ(name(Collective::alltoall, 8, 8 * 256), "bruck");
  EXPECT_EQ(name(Collective::alltoall, 8, 8 * 257), "pairwise");
  EXPECT_EQ(name(Collective::alltoall, 7, 7), "pairwise");
  EXPECT_EQ(name(Collective::scan, 8, 8), "recursive_doubling");
  EXPECT_EQ(name(Collective::exscan, 8, 8), "recursive_doubling");
}

TEST(Model, TheLeastTimeOfAllThatMayServe) {
  PolicyOptions options;
  options.machine.alpha_s = 5e-6;
  options.machine.beta_s_per_byte = 1e-9;
  const auto policy = make_policy("model", options);
  for (const Collective collective : {Collective::allreduce, Collective::bcast, Collective::allgather}) {
    for (const Rank p : {2, 5, 8}) {
      for (const Count bytes : {8, 5000, 300'000}) {
        const CallFacts facts{.collective = collective, .p = p, .bytes = bytes, .op = commuting, .exact_op = false};
        const Decision decision = policy->decide(facts);
        ASSERT_TRUE(decision.selection);
        const double own = seconds(terms_between_hosts(*decision.selection, p, bytes), options.machine);
        std::size_t may = 0;
        for (const Algorithm* algorithm : algorithms_of(collective)) {
          // The facts of these calls do not say the nodes.
          const bool for_nodes = std::any_of(algorithm->params.begin(), algorithm->params.end(),
                                             [](const ParamDeclaration& param) { return param.name == "cores"; });
          const bool usable = unmet_need(*algorithm, p, commuting).empty() && !for_nodes && algorithm->automatic &&
                              (collective != Collective::allreduce || algorithm->guarantees.same_bits);
          const auto out = std::find_if(decision.ruled_out.begin(), decision.ruled_out.end(),
                                        [&](const RuledOut& r) { return r.id == algorithm->id(collective); });
          EXPECT_EQ(usable, out == decision.ruled_out.end()) << algorithm->id(collective);
          if (!usable) {
            EXPECT_FALSE(out->why.empty());
            continue;
          }
          ++may;
          const Selection best = with_best_segments({algorithm, collective, {}}, p, bytes, options.machine);
          EXPECT_LE(own, between_hosts(best, p, bytes, options.machine).time_s * (1 + 1e-9)) << best.id();
        }
        EXPECT_EQ(decision.candidates.size(), may);
        EXPECT_NEAR(decision.candidates.front().seconds, own, own * 1e-12);
      }
    }
  }
}

TEST(Model, TheMachineDecides) {
  // An expensive round asks for few rounds, an expensive byte for little volume.
  const auto policy_of = [](double alpha_s, double beta_s) {
    PolicyOptions options;
    options.machine.alpha_s = alpha_s;
    options.machine.beta_s_per_byte = beta_s;
    return make_policy("model", options);
  };
  const CallFacts facts = allreduce_of(16, 10'000, commuting, true);
  const Decision few_rounds = policy_of(1, 1e-12)->decide(facts);
  const Decision little_volume = policy_of(1e-12, 1)->decide(facts);
  EXPECT_EQ(few_rounds.selection->algorithm->cost({.size = 16, .params = few_rounds.selection->params}).rounds, 4);
  const Terms terms = terms_of(*little_volume.selection, 16, 10'000);
  EXPECT_LT(terms.bytes + terms.bytes_uni, 2 * 10'000);
  EXPECT_GT(terms_of(*few_rounds.selection, 16, 10'000).bytes, 2 * 10'000);
}

TEST(Model, RankDivergenceOnlyWhereAllowed) {
  const auto strict = make_policy("model");
  const auto loose = make_policy("model", {.machine = default_machine(), .allow_rank_divergence = true});
  const auto has = [](const Decision& decision, std::string_view name) {
    return std::any_of(decision.candidates.begin(), decision.candidates.end(),
                       [&](const Candidate& c) { return c.selection.algorithm->name == name; });
  };
  const CallFacts facts = allreduce_of(16, 100'000);
  EXPECT_FALSE(has(strict->decide(facts), "circulant"));
  EXPECT_TRUE(has(loose->decide(facts), "circulant"));
  EXPECT_TRUE(has(strict->decide(allreduce_of(16, 100'000, commuting, true)), "circulant"));
}

TEST(Model, UnknownSizesDecideNothing) {
  const auto policy = make_policy("auto");
  const Decision decision = policy->decide({.collective = Collective::alltoallv, .p = 12});
  EXPECT_TRUE(decision.selection->algorithm->guarantees.direct);
  EXPECT_NE(decision.reason.find("do not all know"), std::string::npos);
  EXPECT_EQ(Amounts::of_vector(Collective::gatherv, 4, 100).deciding_bytes(), 0);
  EXPECT_EQ(Amounts::of_vector(Collective::gather, 4, 100).deciding_bytes(), 100);
}

TEST(Policies, NativeFixedAndUnknown) {
  EXPECT_FALSE(make_policy("native")->decide(allreduce_of(4, 8)).selection);
  const auto fixed = make_fixed_policy(parse_selection("allreduce/circulant"));
  EXPECT_EQ(chosen(*fixed, allreduce_of(4, 8, commuting, true)), "circulant");
  EXPECT_EQ(chosen(*fixed, allreduce_of(4, 8)), "native");  // not the same bits
  EXPECT_EQ(chosen(*fixed, allreduce_of(4, 8, ordered, true)), "native");
  EXPECT_EQ(chosen(*fixed, {.collective = Collective::bcast, .p = 4}), "native");
  const auto loose = make_fixed_policy(parse_selection("allreduce/circulant"), {default_machine(), true});
  EXPECT_EQ(chosen(*loose, allreduce_of(4, 8)), "circulant");
  EXPECT_THROW((void)make_policy("fastest"), Error);
  EXPECT_THROW((void)make_policy("file:/no/such/file"), Error);
}

/// The policies that are always there, and rules.
std::vector<std::unique_ptr<const Policy>> all_policies() {
  std::vector<std::unique_ptr<const Policy>> policies;
  for (const std::string_view name : {"auto", "model", "classic", "openmpi_fixed", "native"}) {
    policies.push_back(make_policy(name));
  }
  policies.push_back(make_rules_policy(sample_rules, "sample"));
  // An "otherwise" that cannot always be followed.
  policies.push_back(make_rules_policy(
      R"({"circoll_rules": 1, "allreduce": [{"otherwise": "circulant"}],
          "allgather": [{"otherwise": "neighbor_exchange"}],
          "reduce": [{"otherwise": "circulant_pipelined"}]})",
      "otherwise"));
  for (const std::string_view id :
       {"allreduce/circulant", "reduce/ring", "bcast/pipeline", "allgather/neighbor_exchange"}) {
    policies.push_back(make_fixed_policy(parse_selection(id)));
  }
  return policies;
}

TEST(Policies, NeverBreakANeedOrTheSameBits) {
  const auto policies = all_policies();
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int i = 0; i < 600; ++i) {
    CallFacts facts{.collective = all_collectives[static_cast<std::size_t>(below(all_collectives.size()))],
                    .p = 1 + below(33)};
    const Count bytes = below(2) == 0 ? below(100) : below(200'000);
    facts.bytes = Amounts::of_vector(facts.collective, facts.p, bytes).deciding_bytes();
    if (is_reducing(facts.collective)) {
      facts.op = {.commutative = below(3) > 0, .idempotent = below(2) == 0};
      facts.exact_op = below(2) == 0;
      facts.predefined_op = below(2) == 0;
    }
    for (const auto& policy : policies) {
      const Decision decision = policy->decide(facts);
      EXPECT_FALSE(decision.reason.empty());
      if (!decision.selection) continue;
      const Selection& selection = *decision.selection;
      EXPECT_EQ(selection.collective, facts.collective);
      EXPECT_TRUE(selection.algorithm->serves(facts.collective));
      EXPECT_EQ(unmet_need(*selection.algorithm, facts.p, facts.op), "") << decision.policy << " " << selection.id();
      if (facts.collective == Collective::allreduce && !facts.exact_op) {
        EXPECT_TRUE(selection.algorithm->guarantees.same_bits) << decision.policy << " " << selection.id();
      }
      for (const ParamDeclaration& param : selection.algorithm->params) {
        if (param.name != "segments") continue;
        ASSERT_TRUE(selection.params.contains("segments")) << selection.id();
        EXPECT_GE(selection.params.at("segments"), param.minimum);
        EXPECT_LE(selection.params.at("segments"), param.maximum);
      }
      EXPECT_FALSE(selection.params.contains("segment"));
      const Decision again = policy->decide(facts);
      EXPECT_EQ(again.selection->id(), selection.id());
      EXPECT_EQ(again.selection->params, selection.params);
    }
  }
}

TEST(Segments, InBytes) {
  const auto segments = [](std::string_view id, Rank p, Count bytes) {
    return with_segment_count(parse_selection(id), p, bytes).params.at("segments");
  };
  // The unit is a p-th of the vector, a rank's block, the vector, half of the vector.
  EXPECT_EQ(segments("allreduce/segmented_ring:segment=64Ki", 4, 1 << 20), 4);
  EXPECT_EQ(segments("allreduce/segmented_ring:segment=64Ki", 4, (1 << 20) + 1), 5);
  EXPECT_EQ(segments("allgather/ring:segment=1Ki", 4, 1 << 20), 256);
  EXPECT_EQ(segments("bcast/pipeline:segment=64Ki", 4, 1 << 20), 16);
  EXPECT_EQ(segments("bcast/split_binary:segment=64Ki", 4, 1 << 20), 8);
  EXPECT_EQ(segments("bcast/pipeline:segment=64Ki", 4, 0), 1);  // clamped to the declared range
  EXPECT_EQ(segments("bcast/pipeline:segment=1", 2, Count{1} << 40), 1 << 20);
  EXPECT_EQ(with_segment_count(parse_selection("bcast/binomial"), 4, 100).params.size(), 0U);
}

TEST(Segments, MisuseOfBytes) {
  EXPECT_THROW((void)parse_selection("bcast/pipeline:segment=64Ki,segments=3"), Error);
  EXPECT_THROW((void)parse_selection("bcast/pipeline:segments=3,segment=64Ki"), Error);
  EXPECT_THROW((void)parse_selection("bcast/pipeline:segment=0"), Error);
  EXPECT_THROW((void)parse_selection("bcast/binomial:segment=4"), Error);
  try {
    (void)build_schedule("bcast/pipeline:segment=64Ki", {.size = 4});
    ADD_FAILURE() << "no size is known";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("give segments=NUMBER, or the size (--bytes)"), std::string::npos);
  }
}

TEST(Segments, InBytesAreExecuted) {
  local::World world(3);
  world.run([](local::Comm& comm) {
    std::vector<int> x(5000, 1);
    allreduce(in_place, x, Op::sum, comm, "segmented_ring:segment=1Ki");
    EXPECT_TRUE(std::all_of(x.begin(), x.end(), [](int v) { return v == 3; }));
  });
}

TEST(Policies, ServeCallsInProcess) {
  const auto classic = make_policy("classic");
  const auto native = make_policy("native");
  local::World world(5);
  world.run([&](local::Comm& comm) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{3000}}) {
      std::vector<double> x(count, 1.0), y(count);
      allreduce(x, y, Op::sum, comm, *classic);
      EXPECT_EQ(y.back(), 5.0);
      EXPECT_THROW(allreduce(x, y, Op::sum, comm, *native), Error);  // there is none in a process
      allreduce(x, y, Op::sum, comm);
      EXPECT_EQ(y.front(), 5.0);
    }
  });
}

TEST(Resolve, ByNameAndByPolicy) {
  const CallFacts facts = allreduce_of(5, 1000);
  EXPECT_EQ(resolve("ring", facts).id(), "allreduce/ring");
  EXPECT_EQ(resolve("allreduce/ring", facts).id(), "allreduce/ring");
  EXPECT_EQ(resolve("auto", facts).id(), resolve({}, facts).id());
  EXPECT_EQ(resolve("circulant", facts).id(), "allreduce/circulant");  // named by the call itself: bound by needs only
  EXPECT_THROW((void)resolve("bcast/binomial", facts), Error);
  EXPECT_THROW((void)resolve("ring", allreduce_of(5, 1000, ordered)), Error);
  EXPECT_EQ(resolve("segmented_ring:segment=100", facts).params.at("segments"), 2);
  const auto policy = make_policy("openmpi_fixed");
  EXPECT_EQ(resolve(*policy, facts).algorithm->name, tree(5, 1000));
  EXPECT_THROW((void)resolve(*make_policy("native"), facts), Error);
}

TEST(Facts, OfPredefinedOperators) {
  EXPECT_FALSE(facts_of(Collective::allreduce, 4, 8, Op::sum, Type::float64).exact_op);
  EXPECT_TRUE(facts_of(Collective::allreduce, 4, 8, Op::sum, Type::int32).exact_op);
  EXPECT_TRUE(facts_of(Collective::allreduce, 4, 8, Op::max, Type::int32).op.idempotent);
  EXPECT_TRUE(facts_of(Collective::bcast, 4, 8, Op::sum, Type::float64).exact_op);
  EXPECT_EQ(facts_of(Collective::scatterv, 4, 8, Op::sum, Type::float64).bytes, 0);
}

TEST(Select, FloatingPointSumsGetTheSameBitsEverywhere) {
  for (const Rank p : {1, 2, 3, 8, 100, 1000}) {
    for (const Count bytes : {0, 8, 1000, 100'000, 100'000'000}) {
      const Selection selection = resolve({}, facts_of(Collective::allreduce, p, bytes, Op::sum, Type::float64));
      EXPECT_TRUE(selection.algorithm->guarantees.same_bits);
    }
  }
}

TEST(Select, DefaultsMeetNeeds) {
  for (const Collective collective : all_collectives) {
    if (algorithms_of(collective).empty()) continue;
    for (const Rank p : {1, 2, 3, 8, 100, 1000}) {
      for (const Count bytes : {0, 8, 1000, 100'000, 100'000'000}) {
        const Selection selection = resolve({}, facts_of(collective, p, bytes, Op::sum, Type::int64));
        EXPECT_TRUE(selection.algorithm->serves(collective));
        EXPECT_EQ(unmet_need(*selection.algorithm, p, {.commutative = true, .idempotent = false}), "");
      }
    }
  }
}

}  // namespace
}  // namespace circoll
