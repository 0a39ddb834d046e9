// Rules in files: their choices, their conditions about the placement, and errors that name the line.
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "choices.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"

namespace circoll {
namespace {

TEST(Rules, AreFollowed) {
  const auto policy = make_rules_policy(sample_rules, "sample.json");
  Decision decision = policy->decide(allreduce_of(7, 4095));
  EXPECT_EQ(decision.selection->algorithm->name, "recursive_doubling");
  EXPECT_EQ(decision.reason, "rule sample.json:6: recursive_doubling");
  decision = policy->decide(allreduce_of(7, 7 * 4096));
  EXPECT_EQ(decision.selection->algorithm->name, "segmented_ring");
  EXPECT_EQ(decision.selection->params.at("segments"), 4);  // a p-th of the vector, in segments of 1 KiB
  EXPECT_EQ(chosen(*policy, allreduce_of(8, 4095)), "native");
  EXPECT_EQ(chosen(*policy, allreduce_of(8, 4095, ordered)), "nonoverlapping");
  EXPECT_EQ(chosen(*policy, {.collective = Collective::bcast, .p = 4, .bytes = 5}), "pipeline");
  EXPECT_EQ(chosen(*policy, {.collective = Collective::bcast, .p = 5, .bytes = 5}), "binomial");
  decision = policy->decide({.collective = Collective::scan, .p = 4, .bytes = 5});
  EXPECT_NE(decision.reason.find("no rules of scan"), std::string::npos);
  EXPECT_TRUE(decision.selection);
}

constexpr std::string_view placed_rules = R"({
  "circoll_rules": 1,
  "bcast": [
    {"nodes": [1, 2], "use": "binomial"},
    {"nodes": [2], "ranks_per_node": [1, 2], "use": "linear"},
    {"nodes": [2], "ranks_per_node": [2, "4"], "use": "chain"},
    {"nodes": [2, 9], "ranks_per_node": [4], "bytes": [0, "1Ki"], "use": "binary"},
    {"nodes": [2, 9], "ranks_per_node": [4], "bytes": ["1KiB"], "use": "pipeline"},
    {"nodes": [9], "ranks_per_node": [4], "use": "native"}
  ]
}
)";

TEST(Rules, LookAtThePlacement) {
  const auto policy = make_rules_policy(placed_rules, "r");
  const auto name = [&](Rank p, Rank cores, Rank nodes, Count bytes = 8) {
    return chosen(*policy, {.collective = Collective::bcast, .p = p, .bytes = bytes, .cores = cores, .nodes = nodes});
  };
  EXPECT_EQ(name(8, 8, 1), "binomial");
  EXPECT_EQ(name(8, 1, 8), "linear");
  EXPECT_EQ(name(8, 2, 4), "chain");
  EXPECT_EQ(name(8, 2, 7), "chain") << "one node has two ranks";
  EXPECT_EQ(name(8, 4, 2, 1023), "binary");
  EXPECT_EQ(name(8, 4, 5, 1024), "pipeline") << "the fullest node counts";
  EXPECT_EQ(name(36, 4, 9), "native");
  // If the number of nodes is not given, ranks fill nodes in order.
  EXPECT_EQ(name(36, 4, 0), "native");
  EXPECT_EQ(name(35, 4, 0), "native");
  EXPECT_EQ(name(32, 4, 0), "binary");
  EXPECT_EQ(name(3, 8, 0), "binomial") << "nodes with more room than there are ranks";
  EXPECT_EQ(name(3, 1, 0), "linear") << "nothing is known of nodes";
}

TEST(Rules, ArePartsOfAllPlacements) {
  const auto refusal = [](const std::string& entries) -> std::string {
    try {
      (void)make_rules_policy("{\"circoll_rules\": 1, \"bcast\": [\n" + entries + "]}", "r");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string one = R"({"nodes": [1, 2], "use": "binomial"},)";
  EXPECT_EQ(refusal(one + R"({"nodes": [2], "use": "native"})"), "");
  EXPECT_EQ(refusal(one + "\n" + R"({"nodes": [3], "use": "native"})"),
            "r:1: no rule of bcast covers p = 2, nodes in [2, 3), bytes in [0, unbounded); add one, or {\"otherwise\": "
            "\"auto\"}");
  EXPECT_EQ(refusal(one + R"({"otherwise": "native"})"), "");
  // Several nodes, one of which has more than one rank, hold at least three ranks.
  EXPECT_EQ(
      refusal(one + R"({"nodes": [2], "ranks_per_node": [1, 2], "use": "linear"},
                             {"nodes": [2], "ranks_per_node": [2], "p": [4], "use": "linear"})"),
      "r:1: no rule of bcast covers p = 3, nodes in [2, unbounded), ranks_per_node in [2, unbounded), bytes in [0, "
      "unbounded); add one, or {\"otherwise\": \"auto\"}");
  EXPECT_EQ(refusal(one + R"({"nodes": [2], "ranks_per_node": [1, 2], "use": "linear"},
                             {"nodes": [2], "ranks_per_node": [2], "p": [3], "use": "linear"})"),
            "");
  EXPECT_EQ(
      refusal("\n" + one + "\n" + R"({"ranks_per_node": [1, 2], "use": "native"},{"otherwise": "auto"})"),
      "r:4: this rule overlaps that of line 3: both cover p = 1, nodes in [1, 2), ranks_per_node in [1, 2), bytes = 0");
  // The second and the third rule would overlap for one rank only, and neither is for one rank.
  EXPECT_EQ(refusal(R"({"p": [1, 2], "use": "native"}, {"p": [2], "nodes": [1, 2], "use": "binomial"},
                       {"p": [2], "ranks_per_node": [1, 2], "use": "linear"},
                       {"p": [2], "nodes": [2], "ranks_per_node": [2], "use": "linear"})"),
            "");
  EXPECT_EQ(refusal(R"({"p": [5], "nodes": [1, 3], "ranks_per_node": [1, 3], "use": "native"}, {"otherwise": "auto"})"),
            "r:2: no call has so many ranks on so many nodes");
  EXPECT_EQ(refusal(R"({"nodes": [0], "use": "native"})"), "r:2: 'nodes' begins at 1");
  EXPECT_EQ(refusal(R"({"ranks_per_node": 4, "use": "native"})").find("r:2: 'ranks_per_node' is [FROM, TO]"), 0U);
}

TEST(Rules, NeedsHoldForTheRanksThatThePlacementAllows) {
  const std::string begin =
      R"({"circoll_rules": 1, "allgather": [{"otherwise": "auto"}], "bcast": [{"otherwise": "auto"}],
    "allreduce": [{"op": "commutative", )";
  const std::string end = R"(, "use": "circulant_idempotent"}, {"otherwise": "auto"}]})";
  EXPECT_THROW((void)make_rules_policy(begin + R"("nodes": [2])" + end, "r"), Error) << "not for sums";
  const std::string exchange = R"({"circoll_rules": 1, "allgather": [{"p": [1, 5], "nodes": [)";
  const std::string use = R"(], "use": "neighbor_exchange"}, {"otherwise": "auto"}]})";
  EXPECT_THROW((void)make_rules_policy(exchange + "3" + use, "r"), Error) << "an odd p is left";
  EXPECT_NO_THROW((void)make_rules_policy(exchange + "4" + use, "r")) << "four nodes have four ranks at least";
}

TEST(Rules, EveryErrorNamesItsLine) {
  const auto expect_error = [](const std::string& text, const std::string& where, const std::string& what) {
    try {
      (void)make_rules_policy(text, "r");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(where + ": ")) << error.what();
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const auto rules = [](const std::string& collective, const std::string& list) {
    return "{\n\"circoll_rules\": 1,\n\"" + collective + "\": [\n" + list + "\n]}";
  };
  expect_error("", "r:1", "parse error");
  expect_error("{\n\"circoll_rules\": 1,\n,}", "r:3", "parse error");
  expect_error("[]", "r:1", "object");
  expect_error("{}", "r:1", "'circoll_rules' is missing");
  expect_error("{\n\"circoll_report\": 1, \"rows\": []}", "r:2",
               "this is a file of the kind 'report'; 'rules' is needed here");
  expect_error("{\n\"circoll_rules\":\n 2}", "r:2", "version 1");
  expect_error("{\n\"circoll_rules\": 1,\n\"allredúce\": []}", "r:3", "is not known here");
  expect_error("{\n\"circoll_rules\": 1,\n\"bcast\": [],\n\"bcast\": []}", "r:4", "given twice");
  expect_error("{\n\"circoll_rules\": 1,\n\"bcast\": []}", "r:3", "at least one");
  expect_error("{\n\"circoll_rules\": 1,\n\"bcast\": 7}", "r:3", "list");
  expect_error(rules("bcast", "{\"use\": \"binomial\", \"size\": 3}"), "r:4", "'size' is not known");
  expect_error(rules("bcast", "{\"p\": [2]}"), "r:4", "'use' is missing");
  expect_error(rules("bcast", "{\"use\": \"binomail\"}"), "r:4", "did you mean binomial");
  expect_error(rules("bcast", "{\"use\": \"pipeline:segments=0\"}"), "r:4", "outside 1");
  expect_error(rules("bcast", "{\"use\": \"allgather/ring\"}"), "r:4", "another collective");
  expect_error(rules("bcast", "{\"use\": \"binomial\", \"p\": [4, 4]}"), "r:4", "is empty");
  expect_error(rules("bcast", "{\"use\": \"binomial\", \"p\": [0, 4]}"), "r:4", "begins at 1");
  expect_error(rules("bcast", "{\"use\": \"binomial\",\n \"bytes\": [\"4Kx\"]}"), "r:5", "'bytes' is [FROM, TO]");
  expect_error(rules("bcast", "{\"use\": \"binomial\", \"bytes\": [-1]}"), "r:4", "'bytes' is [FROM, TO]");
  expect_error(rules("bcast", "{\"use\": \"binomial\", \"op\": \"any\"}"), "r:4", "no operator");
  expect_error(rules("reduce", "{\"use\": \"binomial\", \"op\": \"sum\"}"), "r:4", "none of any, commutative");
  expect_error(rules("gatherv", "{\"use\": \"linear\", \"bytes\": [0, 8]}"), "r:4", "do not all know");
  // Missing and overlapping ranges.
  expect_error(rules("bcast", "{\"p\": [2], \"use\": \"binomial\"}"), "r:3", "covers p = 1, bytes in [0, unbounded)");
  expect_error(rules("bcast", "{\"bytes\": [0, 8], \"use\": \"binomial\"},\n{\"bytes\": [9], \"use\": \"linear\"}"),
               "r:4", "bytes in [8, 9)");
  expect_error(rules("bcast", "{\"bytes\": [0, 8], \"use\": \"binomial\"}"), "r:4", "bytes in [8, unbounded)");
  expect_error(rules("bcast", "{\"bytes\": [0, 9], \"use\": \"binomial\"},\n{\"bytes\": [8], \"use\": \"linear\"}"),
               "r:5", "overlaps that of line 4: both cover p = 1, bytes = 8");
  expect_error(rules("bcast", "{\"p\": [1, 9], \"use\": \"binomial\"},\n{\"p\": [8], \"use\": \"linear\"}"), "r:5",
               "both cover p = 8");
  expect_error(rules("reduce", "{\"op\": \"commutative\", \"use\": \"binomial\"}"), "r:3", "noncommutative");
  expect_error(rules("reduce",
                     "{\"op\": \"commutative\", \"use\": \"binomial\"},\n{\"op\": \"exact\", \"use\": \"linear\"},\n"
                     "{\"otherwise\": \"auto\"}"),
               "r:5", "overlaps that of line 4");
  expect_error(rules("bcast", "{\"otherwise\": \"auto\"},\n{\"use\": \"linear\"}"), "r:5", "comes last");
  // Algorithms that could not serve all calls of their rule.
  expect_error(rules("allreduce", "{\"use\": \"ring\"}"), "r:4", "needs a commutative operator");
  expect_error(rules("allreduce", "{\"op\": \"commutative\", \"use\": \"circulant\"},\n{\"otherwise\": \"auto\"}"),
               "r:4", "different bits");
  expect_error(rules("allreduce", "{\"op\": \"commutative\", \"use\": \"circulant_idempotent\"}"), "r:4", "idempotent");
  expect_error(rules("allgather", "{\"p\": [4, 6], \"use\": \"neighbor_exchange\"},\n{\"otherwise\": \"auto\"}"), "r:4",
               "p = 5 it needs an even number");
  EXPECT_NO_THROW((void)make_rules_policy(
      rules("allgather", "{\"p\": [4, 5], \"use\": \"neighbor_exchange\"},\n{\"otherwise\": \"auto\"}"), "r"));
  EXPECT_NO_THROW((void)make_rules_policy(
      rules("allreduce", "{\"op\": \"commutative\", \"use\": \"circulant\"},\n{\"otherwise\": \"auto\"}"), "r",
      {default_machine(), true}));
  EXPECT_NO_THROW((void)make_rules_policy(
      rules("allreduce", "{\"op\": \"idempotent\", \"use\": \"binomial\"},\n{\"otherwise\": \"auto\"}"), "r"));
  EXPECT_NO_THROW((void)make_rules_policy(rules("allreduce", "{\"use\": \"native\"}"), "r"));
  expect_error(std::string(100'000, '['), "r:1", "16 levels");
}

TEST(Rules, MutatedFilesAreRulesOrErrors) {
  std::mt19937 random(11);
  const std::string_view pieces[] = {
      "[",     "]",    "{",      "}",       ",",       ":",    "\"",  "0",  "-1",       "99999999999999999999",
      "1e999", "null", "\"op\"", "\"use\"", "\\u0000", "\xff", "4Ki", "\n", "otherwise"};
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text(sample_rules);
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      const std::string_view piece = pieces[random() % std::size(pieces)];
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 8);
          break;
        case 1:
          text.insert(at, piece);
          break;
        default:
          text.replace(at, std::min<std::size_t>(piece.size(), text.size() - at), piece);
      }
      if (text.empty()) text = "{";
    }
    try {
      const auto policy = make_rules_policy(text, "mutated");
      EXPECT_FALSE(policy->decide(allreduce_of(4, 100)).reason.empty());
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with("mutated:")) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace circoll
