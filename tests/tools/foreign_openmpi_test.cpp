// Rules files of Open MPI, classic and JSON: every trap of their readers.
#include <gtest/gtest.h>

#include "circoll/error.hpp"
#include "foreign_files.hpp"

namespace circoll::foreign {
namespace {

using C = Collective;

/// A classic file about allreduce with these lists.
std::string allreduce_file(const std::string& lists) { return "1\n2\n" + lists; }

TEST(OpenMpiClassic, LabelsMeanSomethingElseFromSixOn) {
  const std::string text = allreduce_file("2\n8 1 0 3 0 0\n64 1 0 1 0 0\n");
  const auto five = read_for("openmpi-5.0", text);
  EXPECT_EQ(algorithm(five, C::allreduce, 4, 8), "recursive_doubling");
  EXPECT_EQ(algorithm(five, C::allreduce, 63, 8), "recursive_doubling");
  EXPECT_EQ(algorithm(five, C::allreduce, 64, 8), "basic_linear");
  const auto six = read_for("openmpi-6.0-classic", text);
  EXPECT_EQ(algorithm(six, C::allreduce, 7, 8), "recursive_doubling");
  EXPECT_EQ(algorithm(six, C::allreduce, 8, 8), "basic_linear");
  EXPECT_TRUE(warns(*five, "means something else from Open MPI 6.0 on", 2)) << all_warnings(*five);
  EXPECT_TRUE(warns(*six, "means something else until Open MPI 5.0", 2)) << all_warnings(*six);
  EXPECT_TRUE(warns(*five, "the first list serves fewer ranks than 8, too", 4)) << all_warnings(*five);
}

TEST(OpenMpiClassic, TwoRangesAreWrittenSoThatAllVersionsAgree) {
  const std::vector<Rule> rules{{.collective = C::bcast, .ranks = {1, 15}, .algorithm = "binomial", .from = "a"},
                                {.collective = C::bcast, .ranks = {16}, .algorithm = "chain", .from = "b"}};
  for (const std::string_view id : {"openmpi-4.1", "openmpi-5.0", "openmpi-6.0-classic"}) {
    const std::string text = export_rules(rules, find_reader(id)).files.front().text;
    for (const std::string_view other : {"openmpi-4.1", "openmpi-5.0", "openmpi-6.0-classic"}) {
      const auto file = read_for(other, text);
      EXPECT_EQ(algorithm(file, C::bcast, 15, 8), "binomial") << id << other;
      EXPECT_EQ(algorithm(file, C::bcast, 16, 8), "chain") << id << other;
    }
  }
  // Rules that begin at two ranks need no range for one, which nothing would reach.
  const std::vector<Rule> two{{.collective = C::bcast, .ranks = {2, 15}, .algorithm = "binomial", .from = "a"}};
  const auto file = read_for("openmpi-4.1", export_rules(two, find_reader("openmpi-4.1")).files.front().text);
  EXPECT_TRUE(file->warnings().empty()) << all_warnings(*file);
  EXPECT_EQ(algorithm(file, C::bcast, 16, 8), "");
  std::vector<Rule> three = rules;
  three[1].ranks.to = 31;
  EXPECT_TRUE(
      lost(export_rules(three, find_reader("openmpi-4.1")), "from Open MPI 6.0 on this file means something else"));
}

TEST(OpenMpiClassic, ErrorsRejectTheWholeFile) {
  const auto late = read_for("openmpi-4.1", allreduce_file("1\n2 1\n16 3 0 0\n"));
  EXPECT_TRUE(late->rejected());
  EXPECT_TRUE(warns(*late, "must be 0", 5)) << all_warnings(*late);
  EXPECT_EQ(algorithm(late, C::allreduce, 4, 64), "");
  EXPECT_TRUE(read_for("openmpi-4.1", allreduce_file("1\n2 2\n0 3 0 0\n"))->rejected());
  EXPECT_TRUE(read_for("openmpi-4.1", "1\n22\n0\n")->rejected());
  EXPECT_TRUE(read_for("openmpi-4.1", "23\n")->rejected());
  EXPECT_TRUE(read_for("openmpi-4.1", "1\n2\n1\n-2\n0\n")->rejected());
  EXPECT_TRUE(read_for("openmpi-4.1", "")->rejected());
  EXPECT_FALSE(read_for("openmpi-4.1", "0\n")->rejected());
}

TEST(OpenMpiClassic, TheHeaderIsForLaterReleases) {
  const std::string text = "rule-file-version-2\n1\n3\n1\n2\n2\n0 1 0 0 5\n100 2 0 0\n";
  EXPECT_TRUE(read_for("openmpi-4.1", text)->rejected());
  const auto five = read_for("openmpi-5.0", text);
  EXPECT_EQ(algorithm(five, C::alltoall, 2, 99), "linear");
  EXPECT_EQ(algorithm(five, C::alltoall, 2, 100), "pairwise");
  // Without the header the fifth number is the next rule's size.
  const auto without = read_for("openmpi-5.0", text.substr(20));
  EXPECT_TRUE(without->rejected() || algorithm(without, C::alltoall, 2, 99) != "linear" ||
              algorithm(without, C::alltoall, 2, 100) != "pairwise");
}

TEST(OpenMpiClassic, NumbersAreReadAsScanfReadsThem) {
  const auto file = read_for("openmpi-4.1", allreduce_file("1\n2 3 # sizes\n0 3 0 0\n0100 1 0 0\n64k 2 0 0\n"));
  EXPECT_FALSE(file->rejected());
  EXPECT_EQ(algorithm(file, C::allreduce, 2, 63), "recursive_doubling");
  EXPECT_TRUE(warns(*file, "'0100' is read as an octal number, 64", 6)) << all_warnings(*file);
  EXPECT_TRUE(warns(*file, "units such as K are not known", 7)) << all_warnings(*file);
  EXPECT_EQ(algorithm(file, C::allreduce, 2, 64), "nonoverlapping");
}

TEST(OpenMpiClassic, BytesDifferByCollective) {
  const auto rules = [](int id) { return "1\n" + std::to_string(id) + "\n1\n2 2\n0 1 0 0\n256 2 0 0\n"; };
  const auto at = [&](std::string_view id, int number, C collective, Count bytes) {
    return algorithm(read_for(id, rules(number)), collective, 4, bytes);
  };
  EXPECT_EQ(at("openmpi-4.1", 0, C::allgather, 252), "linear");  // all blocks
  EXPECT_EQ(at("openmpi-4.1", 0, C::allgather, 256), "bruck");
  EXPECT_EQ(at("openmpi-4.1", 3, C::alltoall, 256), "pairwise");
  EXPECT_EQ(at("openmpi-4.1", 13, C::reduce_scatter_block, 256), "recursive_doubling");
  EXPECT_EQ(at("openmpi-4.1", 12, C::reduce_scatter, 255), "non-overlapping");
  EXPECT_EQ(at("openmpi-5.0", 1, C::allgatherv, 256), "bruck");
  EXPECT_EQ(at("openmpi-6.0-classic", 1, C::allgatherv, 1023), "default");  // per rank
  EXPECT_EQ(at("openmpi-6.0-classic", 1, C::allgatherv, 1024), "bruck");
  EXPECT_EQ(at("openmpi-4.1", 4, C::alltoallv, 1 << 20), "basic_linear");  // always 0
  EXPECT_EQ(at("openmpi-4.1", 6, C::barrier, 0), "linear");
  for (const auto& [number, collective] : {std::pair{14, C::scan}, {8, C::exscan}, {9, C::gather}, {15, C::scatter}}) {
    const auto file = read_for("openmpi-4.1", rules(number));
    const ForeignDecision verdict = file->decide(call_of(collective, 4, 1 << 20));
    EXPECT_NE(verdict.rule.find("from 0 bytes"), std::string::npos) << verdict.rule;  // 8 bytes times 4 ranks
    EXPECT_TRUE(noted(verdict, "whatever the count"));
    EXPECT_TRUE(warns(*file, "one rule from 0 on is safe", 4)) << all_warnings(*file);
  }
}

TEST(OpenMpiClassic, SizesThatDoNotTellAreNotExported) {
  std::vector<Rule> rules{{.collective = C::scan, .bytes = {1024}, .algorithm = "recursive_doubling", .from = "a"},
                          {.collective = C::gather, .bytes = {0, 99}, .algorithm = "binomial", .from = "b"},
                          {.collective = C::scatter, .algorithm = "binomial", .from = "c"}};
  const Exported exported = export_rules(rules, find_reader("openmpi-4.1"));
  EXPECT_TRUE(lost(exported, "a: left out: the library cannot tell sizes of scan apart"));
  EXPECT_TRUE(lost(exported, "b: left out"));
  const auto file = read_for("openmpi-4.1", exported.files.front().text);
  EXPECT_EQ(algorithm(file, C::scatter, 8, 1 << 20), "binomial");
  EXPECT_EQ(algorithm(file, C::gather, 8, 64), "");
}

TEST(OpenMpi, OperatorsThatDoNotCommuteAreGuarded) {
  const std::vector<Rule> rules{{.collective = C::allreduce,
                                 .bytes = {65536},
                                 .operators = Operators::commutative,
                                 .algorithm = "ring",
                                 .from = "r:1"},
                                {.collective = C::allreduce,
                                 .bytes = {0, 1023},
                                 .operators = Operators::commutative,
                                 .algorithm = "recursive_doubling",
                                 .from = "r:2"},
                                {.collective = C::allreduce,
                                 .operators = Operators::noncommutative,
                                 .algorithm = "nonoverlapping",
                                 .from = "r:3"}};
  for (const std::string_view id : {"openmpi-4.1", "openmpi-6.0"}) {
    const Exported safe = export_rules(rules, find_reader(id));
    const auto file = read_for(id, safe.files.front().text);
    EXPECT_EQ(algorithm(file, C::allreduce, 8, 1 << 20), "") << id;
    EXPECT_EQ(algorithm(file, C::allreduce, 8, 8), "recursive_doubling");
    EXPECT_TRUE(lost(safe, "r:1: left out: ring is wrong for operators that do not commute"));
    EXPECT_TRUE(lost(safe, "r:2: holds for operators that do not commute, too"));
    EXPECT_TRUE(lost(safe, "r:3: left out"));
    const Exported promised = export_rules(rules, find_reader(id), {.operators = Operators::commutative});
    const auto ring = read_for(id, promised.files.front().text);
    EXPECT_EQ(algorithm(ring, C::allreduce, 8, 1 << 20), "ring");
    EXPECT_NE(promised.files.back().text.find("FOR PROGRAMS WHOSE OPERATORS COMMUTE"), std::string::npos);
    Call call = call_of(C::allreduce, 8, 1 << 20);
    call.commutative = false;
    EXPECT_TRUE(noted(ring->decide(call), "wrong results"));
    EXPECT_TRUE(std::any_of(ring->warnings().begin(), ring->warnings().end(), [](const Warning& one) {
      return one.grave && one.text.find("does not check") != std::string::npos;
    }));
  }
}

TEST(OpenMpi, RabenseifnerKeepsElementsEnough) {
  const std::vector<Rule> rules{
      {.collective = C::allreduce, .ranks = {2, 64}, .algorithm = "rabenseifner", .from = "r"}};
  const Exported exported = export_rules(rules, find_reader("openmpi-4.1"));
  const auto file = read_for("openmpi-4.1", exported.files.front().text);
  EXPECT_EQ(algorithm(file, C::allreduce, 63, 511), "");
  EXPECT_EQ(algorithm(file, C::allreduce, 63, 512), "rabenseifner");
  EXPECT_EQ(algorithm(file, C::allreduce, 64, 1023), "");
  EXPECT_EQ(algorithm(file, C::allreduce, 64, 1024), "rabenseifner");
  EXPECT_TRUE(lost(exported, "narrowed to elements enough"));
  // From 6.0 on allreduce has no such bound.
  const auto six = read_for("openmpi-6.0", export_rules(rules, find_reader("openmpi-6.0")).files.front().text);
  EXPECT_EQ(algorithm(six, C::allreduce, 64, 8), "rabenseifner");
  Call call = call_of(C::allreduce, 64, 1024);
  call.element_bytes = 1024;
  EXPECT_TRUE(noted(file->decide(call), "replaced by a linear one"));
  call.commutative = false;
  EXPECT_TRUE(noted(six->decide(call), "replaced by a linear one: the operator does not commute"));
}

TEST(OpenMpi, SubstitutesAreSaid) {
  const auto neighbor = read_for("openmpi-4.1", "1\n0\n1\n2 1\n0 5 0 0\n");
  EXPECT_TRUE(noted(neighbor->decide(call_of(C::allgather, 5, 40)), "replaced by ring"));
  EXPECT_FALSE(noted(neighbor->decide(call_of(C::allgather, 6, 48)), "replaced"));
  const auto doubling = read_for("openmpi-4.1", "1\n0\n1\n2 1\n0 3 0 0\n");
  EXPECT_TRUE(noted(doubling->decide(call_of(C::allgather, 6, 48)), "replaced by bruck"));
  const auto two = read_for("openmpi-4.1", "1\n6\n1\n2 1\n0 5 0 0\n");
  EXPECT_TRUE(noted(two->decide(call_of(C::barrier, 3, 0)), "the call fails"));
  EXPECT_TRUE(warns(*two, "two_proc of barrier is for two ranks", 5)) << all_warnings(*two);
}

TEST(OpenMpi, HanStandsBeforeTheRulesFromFiveOn) {
  const std::vector<Rule> rules{{.collective = C::bcast, .algorithm = "binomial", .from = "r"}};
  const auto use = [&](std::string_view id) { return export_rules(rules, find_reader(id)).use.front(); };
  EXPECT_EQ(use("openmpi-4.1").find("han"), std::string::npos);
  EXPECT_NE(use("openmpi-5.0").find("--mca coll_han_priority 0"), std::string::npos);
  EXPECT_NE(use("openmpi-6.0").find("--mca coll_han_priority 0"), std::string::npos);
  const std::string text = "1\n7\n1\n2 1\n0 6 0 0\n";
  EXPECT_TRUE(noted(read_for("openmpi-5.0", text)->decide(call_of(C::bcast, 4, 8)), "HAN"));
  EXPECT_FALSE(noted(read_for("openmpi-4.1", text)->decide(call_of(C::bcast, 4, 8)), "HAN"));
}

TEST(OpenMpi, AlgorithmsDifferByVersion) {
  const std::string sparbit = "1\n0\n1\n2 1\n0 7 0 0\n";
  const auto four = read_for("openmpi-4.1", sparbit);
  EXPECT_TRUE(warns(*four, "there is no algorithm 7 of allgather", 5));
  EXPECT_TRUE(noted(four->decide(call_of(C::allgather, 4, 64)), "fails with MPI_ERR_ARG"));
  EXPECT_EQ(algorithm(read_for("openmpi-5.0", sparbit), C::allgather, 4, 64), "sparbit");
  const std::vector<Rule> rules{{.collective = C::allgather, .algorithm = "sparbit", .from = "r"}};
  EXPECT_THROW((void)export_rules(rules, find_reader("openmpi-4.1")), Error);
}

TEST(OpenMpiClassic, RulesThatNothingReaches) {
  const auto file = read_for("openmpi-4.1", allreduce_file("2\n2 3\n0 3 0 0\n4096 1 0 0\n64 2 0 0\n2 1\n0 1 0 0\n"));
  EXPECT_TRUE(warns(*file, "no number of ranks gets to the list", 4)) << all_warnings(*file);
  const auto sizes = read_for("openmpi-4.1", allreduce_file("1\n2 3\n0 3 0 0\n4096 1 0 0\n64 2 0 0\n"));
  EXPECT_TRUE(warns(*sizes, "no size gets to the rule from 4096 bytes on", 6)) << all_warnings(*sizes);
  const auto barrier = read_for("openmpi-4.1", "1\n6\n1\n2 2\n0 1 0 0\n8 2 0 0\n");
  EXPECT_TRUE(warns(*barrier, "looked up with 0 bytes", 6)) << all_warnings(*barrier);
  const auto twice = read_for("openmpi-4.1", "2\n7\n1\n2 1\n0 1 0 0\n7\n1\n2 1\n0 6 0 0\n");
  EXPECT_TRUE(warns(*twice, "takes the place of this one", 2)) << all_warnings(*twice);
  EXPECT_EQ(algorithm(twice, C::bcast, 4, 8), "binomial");
  EXPECT_TRUE(warns(*read_for("openmpi-4.1", "1\n10\n1\n2 1\n0 1 0 0\n"), "never looks at", 2));
  EXPECT_TRUE(warns(*read_for("openmpi-4.1", "0\n7\n1\n2 1\n0 1 0 0\n"), "is not read", 2));
}

TEST(OpenMpiClassic, ALabelMayBeAnyNumber) {
  for (const char* const label : {"2147483647", "2147483648", "9223372036854775807"}) {
    const auto file = read_for("openmpi-4.1", allreduce_file("1\n" + std::string(label) + " 1\n0 1 0 0\n"));
    EXPECT_EQ(algorithm(file, C::allreduce, 4, 8), "basic_linear") << "the first list serves fewer ranks, too";
  }
}

TEST(OpenMpiClassic, ParametersAndRadix) {
  const std::vector<Rule> rules{
      {.collective = C::bcast, .bytes = {0, 99}, .algorithm = "knomial", .radix = 3, .from = "a"},
      {.collective = C::bcast, .bytes = {100, 999}, .algorithm = "knomial", .radix = 8, .from = "b"},
      {.collective = C::bcast, .bytes = {1000}, .algorithm = "chain", .segment_bytes = 4096, .radix = 2, .from = "c"}};
  const Exported exported = export_rules(rules, find_reader("openmpi-4.1"));
  EXPECT_NE(exported.use.front().find("coll_tuned_bcast_knomial_radix 3"), std::string::npos);
  EXPECT_TRUE(lost(exported, "b: left out: its radix"));
  const auto file = read_for("openmpi-4.1", exported.files.front().text);
  EXPECT_EQ(file->decide(call_of(C::bcast, 4, 1000)).parameters, "segment size 4096, fan-out 2");
  EXPECT_EQ(algorithm(file, C::bcast, 4, 500), "");
}

std::string json_file(const std::string& collectives) {
  return R"({"rule_file_version": 3, "module": "tuned", "collectives": {)" + collectives + "}}";
}

TEST(OpenMpiJson, TheFirstMatchWins) {
  const auto file = read_for("openmpi-6.0", json_file(R"("allreduce": [
    {"comm_size_min": 2, "comm_size_max": 15, "rules": [{"alg": 3}]},
    {"comm_size_min": 8, "comm_size_max": 12, "rules": [{"alg": 1}]},
    {"comm_size_min": 16, "rules": [{"msg_size_max": 65535, "alg": "recursive_doubling"},
      {"msg_size_min": 65536, "msg_size_max": "inf", "alg": 5, "seg_size": 65536},
      {"msg_size_min": 70000, "alg": 2}]}])"));
  EXPECT_EQ(algorithm(file, C::allreduce, 15, 1 << 20), "recursive_doubling");
  EXPECT_EQ(algorithm(file, C::allreduce, 16, 65535), "recursive_doubling");
  const ForeignDecision verdict = file->decide(call_of(C::allreduce, 16, 65536));
  EXPECT_EQ(verdict.algorithm, "segmented_ring");
  EXPECT_EQ(verdict.parameters, "segment size 65536");
  EXPECT_NE(verdict.rule.find("file:5: from 16 on ranks, from 65536 on bytes"), std::string::npos) << verdict.rule;
  EXPECT_TRUE(warns(*file, "nothing gets to these rules", 3)) << all_warnings(*file);
  EXPECT_TRUE(warns(*file, "no size gets to the rule", 6)) << all_warnings(*file);
}

TEST(OpenMpiJson, InfKillsARuleOfRanks) {
  const auto file = read_for("openmpi-6.0", json_file(R"("bcast": [{"comm_size_max": "inf", "rules": [{"alg": 6}]}])"));
  EXPECT_EQ(algorithm(file, C::bcast, 8, 8), "");
  EXPECT_TRUE(warns(*file, "is kept as -1", 1)) << all_warnings(*file);
  const std::vector<Rule> rules{{.collective = C::bcast, .algorithm = "binomial", .from = "r"}};
  EXPECT_EQ(export_rules(rules, find_reader("openmpi-6.0")).files.front().text.find("comm_size_max"),
            std::string::npos);
}

TEST(OpenMpiJson, OneUnknownCollectiveSpoilsAll) {
  const auto file = read_for("openmpi-6.0", json_file(R"("bcast": [{"rules": [{"alg": 6}]}], "reducescatter": [])"));
  EXPECT_TRUE(file->rejected());
  EXPECT_NE(all_warnings(*file).find("the reader wants reduce_scatter"), std::string::npos) << all_warnings(*file);
  EXPECT_EQ(algorithm(file, C::bcast, 8, 8), "");
  EXPECT_FALSE(read_for("openmpi-6.0", json_file(R"("reduce_scatter": [{"rules": [{"alg": 1}]}])"))->rejected());
  EXPECT_TRUE(read_for("openmpi-6.0", "{}")->rejected());
  EXPECT_TRUE(read_for("openmpi-6.0", json_file(R"("bcast": [{"comm_size_min": 1.5, "rules": []}])"))->rejected());
  EXPECT_TRUE(read_for("openmpi-6.0", json_file(R"("bcast": [{"comm_size_min": 2}])"))->rejected());
}

TEST(OpenMpiJson, KeysAndAlgorithmsThatAreNotKnown) {
  const auto file = read_for("openmpi-6.0", json_file(R"("allgather": [{"rules": [
    {"msg_size_max": 9, "alg": "bruck"},
    {"msg_size_max": 99, "alg": "bruck-k-fanout", "segsize": 5},
    {"msg_size_max": 999},
    {"alg": 99}]}])"));
  EXPECT_FALSE(file->rejected());
  EXPECT_EQ(algorithm(file, C::allgather, 2, 8), "bruck");  // by the second rule
  EXPECT_TRUE(warns(*file, "disabled in silence: allgather has no algorithm 'bruck', which is 'bruck-k-fanout'", 2))
      << all_warnings(*file);
  EXPECT_TRUE(warns(*file, "the key 'segsize' is ignored: it is 'seg_size'", 3));
  EXPECT_TRUE(warns(*file, "leaves its calls to the library", 4));
  EXPECT_TRUE(warns(*file, "has no algorithm '99'", 5));
}

TEST(OpenMpiJson, DistributionsOfRanks) {
  const std::vector<Rule> rules{
      {.collective = C::bcast, .nodes = {1, 1}, .bytes = {0, 99}, .algorithm = "chain", .from = "a"},
      {.collective = C::bcast, .ranks_per_node = {1, 1}, .algorithm = "pipeline", .from = "b"},
      {.collective = C::bcast, .nodes = {2, 3}, .algorithm = "knomial", .from = "c"},
      {.collective = C::barrier, .algorithm = "bruck", .from = "d"}};
  const Exported exported = export_rules(rules, find_reader("openmpi-6.0"));
  EXPECT_TRUE(lost(exported, "c: left out: the format does not know where ranks are"));
  const auto file = read_for("openmpi-6.0", exported.files.front().text);
  Call call{.collective = C::bcast, .ranks = 4, .nodes = 1, .ranks_per_node = 4, .bytes = 8};
  EXPECT_EQ(file->decide(call).algorithm, "chain");
  call.bytes = 100;
  EXPECT_EQ(file->decide(call).algorithm, "");
  call.nodes = 4;
  call.ranks_per_node = 1;
  EXPECT_EQ(file->decide(call).algorithm, "pipeline");
  call.nodes = call.ranks_per_node = 2;
  EXPECT_EQ(file->decide(call).algorithm, "");
  EXPECT_EQ(exported.files.back().suffix, ".losses.txt");
  const auto strange =
      read_for("openmpi-6.0", json_file(R"("bcast": [{"comm_rank_distribution": "spread", "rules": [{"alg": 6}]}])"));
  EXPECT_TRUE(warns(*strange, "taken for \"any\"", 1));
  EXPECT_EQ(algorithm(strange, C::bcast, 4, 8), "binomial");
}

TEST(OpenMpiJson, WhatIsNoJsonIsReadAsAClassicFile) {
  EXPECT_EQ(algorithm(read_for("openmpi-6.0", "1\n7\n1\n2 1\n0 6 0 0\n"), C::bcast, 4, 8), "binomial");
  EXPECT_TRUE(read_for("openmpi-6.0", R"({"a": 1, "a": 2})")->rejected());
}

}  // namespace
}  // namespace circoll::foreign
