// MPICH's selection trees: each trap of the format, and rules that are read back as they were written.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "foreign/formats.hpp"
#include "foreign/mpich_csel.hpp"
#include "foreign/mpich_writer.hpp"

namespace circoll::foreign {
namespace {

using mpich::Version;

constexpr Version all_versions[] = {Version::v4_0, Version::v4_1, Version::v4_2, Version::v4_3, Version::v5_0};

const Reader& reader_of(Version version) { return find_reader("mpich-" + std::string(mpich::to_string(version))); }

/// The plain tree, in which one collective has other members for intracommunicators.
std::string with(std::string_view collective, std::string_view intra, Version version = Version::v4_0) {
  mpich::Tree tree = mpich::plain_tree(version);
  for (mpich::Tree& member : tree.members) {
    if (member.key != "collective=" + std::string(collective)) continue;
    mpich::Tree given = mpich::parse_tree(intra, "given").tree;
    given.key = "comm_type=intra";
    const mpich::Tree* const inter = member.find("comm_type=inter");
    std::vector<mpich::Tree> members{given};
    if (inter != nullptr) members.push_back(*inter);
    member.members = members;
  }
  return mpich::to_json(tree);
}

std::string warnings_of(const TuningFile& file) {
  std::string text;
  for (const Warning& warning : file.warnings()) text += std::to_string(warning.line) + ": " + warning.text + "\n";
  return text;
}

/// The decision of a file about a call: the algorithm, or how the program ends.
std::string decided(std::string_view text, const Call& call, Version version = Version::v4_0) {
  const ForeignDecision verdict = read(text, "f.json", reader_of(version))->decide(call);
  if (!verdict.algorithm.empty()) return verdict.algorithm;
  return verdict.notes.empty() ? "" : verdict.notes.front();
}

Call allreduce(Rank p, Count bytes) {
  return {.collective = Collective::allreduce, .ranks = p, .nodes = p, .bytes = bytes};
}

constexpr std::string_view doubling = R"("algorithm=MPIR_Allreduce_intra_recursive_doubling":{})";
constexpr std::string_view halving = R"("algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather":{})";

std::string two(std::string_view first, std::string_view second) {
  return "{\"" + std::string(first) + "\":{" + std::string(doubling) + "},\"" + std::string(second) + "\":{" +
         std::string(halving) + "}}";
}

TEST(ForeignMpich, PlainTreesAreWholeAndWithoutWarnings) {
  for (const Version version : all_versions) {
    const auto file = read(mpich::to_json(mpich::plain_tree(version)), "plain", reader_of(version));
    EXPECT_FALSE(file->rejected());
    EXPECT_EQ(warnings_of(*file), "");
  }
}

TEST(ForeignMpich, LessIsLessOrEqualBelowATestOfOperators) {
  const std::string at_creation = with("allreduce", two("comm_size<4", "comm_size=any"));
  EXPECT_EQ(decided(at_creation, allreduce(3, 800)), "recursive_doubling");
  EXPECT_EQ(decided(at_creation, allreduce(4, 800)), "reduce_scatter_allgather");
  EXPECT_EQ(warnings_of(*read(at_creation, "f", reader_of(Version::v4_0))).find("read as <="), std::string::npos);
  const std::string below = with("allreduce", R"({"is_commutative=yes":)" + two("comm_size<4", "comm_size=any") +
                                                  R"(,"is_commutative=no":{)" + std::string(doubling) + "}}");
  EXPECT_EQ(decided(below, allreduce(4, 800)), "recursive_doubling");
  EXPECT_EQ(decided(below, allreduce(5, 800)), "reduce_scatter_allgather");
  EXPECT_NE(warnings_of(*read(below, "f", reader_of(Version::v4_0))).find("read as <="), std::string::npos);
}

TEST(ForeignMpich, NothingIsTriedAgain) {
  const std::string text = with("allreduce", R"({"is_op_built_in=yes":{"is_commutative=no":{)" + std::string(doubling) +
                                                 R"(}},"is_op_built_in=no":{)" + std::string(doubling) + "}}");
  EXPECT_EQ(decided(text, allreduce(4, 800)), "the program ends: no test holds, and nothing is tried again");
  Call own = allreduce(4, 800);
  own.predefined_op = false;
  EXPECT_EQ(decided(text, own), "recursive_doubling");
  EXPECT_NE(warnings_of(*read(text, "f", reader_of(Version::v4_0))).find("does not hold find no algorithm"),
            std::string::npos);
}

TEST(ForeignMpich, TestsThatRunOutAtCreationStartAgain) {
  // The pruned tree is the whole one, in which < then means <=.
  const std::string text = with("allreduce", R"({"comm_hierarchy=parent":{)" + std::string(doubling) + "}}");
  EXPECT_EQ(decided(text, allreduce(4, 800)), "the program ends: no test holds, and nothing is tried again");
  Call shared = allreduce(4, 800);
  shared.nodes = 2;
  shared.ranks_per_node = 2;
  EXPECT_EQ(decided(text, shared), "recursive_doubling");
}

TEST(ForeignMpich, TestsOnTheWrongCollectiveEndTheProgram) {
  struct Case {
    Collective collective;
    std::string_view test;
  };
  constexpr Case cases[] = {{Collective::allgather, "avg_msg_size<=10"},
                            {Collective::barrier, "avg_msg_size<=10"},
                            {Collective::scan, "total_msg_size<=10"},
                            {Collective::gatherv, "total_msg_size<=10"},
                            {Collective::bcast, "is_commutative=no"},
                            {Collective::scan, "is_commutative=no"},
                            {Collective::reduce_scatter, "is_op_built_in=no"},
                            {Collective::allgather, "is_sendbuf_inplace=yes"},
                            {Collective::reduce_scatter_block, "is_block_regular=no"},
                            {Collective::alltoall, "count<=10"},
                            {Collective::gather, "count<pow2"}};
  for (const Case& c : cases) {
    const std::string name(to_string(c.collective));
    const auto names = mpich::names_of(c.collective, Version::v4_0);
    ASSERT_FALSE(names.empty());
    const std::string leaf = mpich::leaves_of(c.collective, names.front(), Version::v4_0)->blocking;
    const std::string rest = c.test.starts_with("is_") ? std::string(c.test.substr(0, c.test.find('='))) + "=yes" : "";
    const std::string any = rest.empty() ? std::string(c.test.substr(0, c.test.find('<'))) + "=any" : rest;
    const std::string other = any == c.test ? any.substr(0, any.size() - 3) + "no" : any;
    const std::string text = with(name, "{\"" + std::string(c.test) + "\":{\"algorithm=" + leaf + "\":{}},\"" + other +
                                            "\":{\"algorithm=" + leaf + "\":{}}}");
    const auto file = read(text, "f.json", reader_of(Version::v4_0));
    EXPECT_FALSE(file->rejected());
    const Call call{.collective = c.collective, .ranks = 4, .nodes = 4, .bytes = 64};
    EXPECT_TRUE(file->decide(call).algorithm.empty()) << text;
    EXPECT_NE(warnings_of(*file).find("is not defined for " + name), std::string::npos) << c.test;
  }
}

TEST(ForeignMpich, WhatEndsMpiInitIsRejected) {
  const std::string whole = mpich::to_json(mpich::plain_tree(Version::v4_0));
  const std::string d(doubling);
  const std::string rejected[] = {
      "{}",
      "",
      "{\"collective=bcast\": ",
      with("allreduce", "{}"),
      with("allreduce", R"({"comm_sizes<=3":{)" + d + R"(},"comm_size=any":{)" + d + "}}"),
      with("allreduce", R"({"algorithm=MPIR_Allreduce_intra_rung":{}})"),
      with("allreduce", R"({"algorithm=MPIR_Allreduce_intra_ring":{}})"),  // of 4.1
      with("allreduce", R"({"avg_msg_size<=3":{)" + d + "}}"),
      with("allreduce", R"({"comm_size=pow2":{)" + d + "}}"),
      with("allreduce", R"({"comm_size=any":{)" + d + R"(},"comm_size<=3":{)" + d + "}}"),
      with("allreduce", R"({"comm_size<=3":{)" + d + "}," + d + "}"),
      with("allreduce", R"({"comm_avg_ppn<3":{)" + d + R"(},"comm_size=any":{)" + d + "}}"),  // of 4.1
      with("allreduce", R"({"is_commutative=any":{)" + d + "}}"),
      with("allreduce", R"({"algorithm=MPIR_Allreduce_intra_recursive_doubling":{},"k=2":{}})"),
      R"({"collective=allreduces":{)" + d + "}}",
      R"({"collective=allreduce":3})",
      std::string(40, '{'),
  };
  for (const std::string& text : rejected) {
    const auto file = read(text, "f.json", reader_of(Version::v4_0));
    EXPECT_TRUE(file->rejected()) << text;
    EXPECT_FALSE(file->warnings().empty());
    EXPECT_TRUE(file->decide(allreduce(4, 8)).algorithm.empty());
  }
  EXPECT_FALSE(read(whole, "f.json", reader_of(Version::v4_0))->rejected());
  // The removed dissemination.
  EXPECT_TRUE(read(whole, "f.json", reader_of(Version::v4_1))->rejected());
}

TEST(ForeignMpich, AMissingCollectiveEndsItsCalls) {
  mpich::Tree tree = mpich::plain_tree(Version::v4_0);
  std::erase_if(tree.members, [](const mpich::Tree& member) { return member.key == "collective=scan"; });
  const auto file = read(mpich::to_json(tree), "f.json", reader_of(Version::v4_0));
  EXPECT_FALSE(file->rejected());
  EXPECT_NE(warnings_of(*file).find("has none for: scan"), std::string::npos);
  EXPECT_TRUE(file->decide({.collective = Collective::scan, .ranks = 4}).algorithm.empty());
  EXPECT_EQ(file->decide(allreduce(4, 8)).algorithm, "recursive_doubling");
}

TEST(ForeignMpich, NumbersAreReadByAtoi) {
  struct Case {
    std::string_view bound;
    std::int32_t value;
    bool warned;
  };
  constexpr Case cases[] = {{"64k", 64, true},       {"64", 64, false},
                            {"4294967297", 1, true}, {"2147483648", INT32_MIN, true},
                            {"x", 0, true},          {" 128", 128, false}};
  for (const Case& c : cases) {
    const mpich::Condition condition = mpich::condition_of("avg_msg_size<=" + std::string(c.bound), Version::v4_0);
    EXPECT_EQ(condition.test, mpich::Test::average_le);
    EXPECT_EQ(condition.value, c.value) << c.bound;
    EXPECT_EQ(condition.exact, !c.warned) << c.bound;
  }
  const std::string text = with("allreduce", two("avg_msg_size<=64k", "avg_msg_size=any"));
  EXPECT_EQ(decided(text, allreduce(4, 800)), "reduce_scatter_allgather");
  EXPECT_NE(warnings_of(*read(text, "f", reader_of(Version::v4_0))).find("is read as 64"), std::string::npos);
}

TEST(ForeignMpich, ARepeatedKeyKeepsItsPlaceAndTheLastValue) {
  std::string text = with("allreduce", "{" + std::string(doubling) + "}");
  text = text.substr(0, text.rfind('}')) + ",\"collective=allreduce\":{" + std::string(halving) + "}}";
  const auto file = read(text, "f.json", reader_of(Version::v4_0));
  EXPECT_EQ(file->decide(allreduce(4, 800)).algorithm, "reduce_scatter_allgather");
  EXPECT_NE(warnings_of(*file).find("is dropped, and this takes its place"), std::string::npos);
}

TEST(ForeignMpich, BlanksInKeysCountForNothing) {
  const std::string text = with("allreduce", two("avg_msg_size <= 64", "avg_msg_size = any"));
  EXPECT_EQ(decided(text, allreduce(4, 64)), "recursive_doubling");
  EXPECT_EQ(decided(text, allreduce(4, 65)), "reduce_scatter_allgather");
}

TEST(ForeignMpich, SizesAreThoseOfTheLibrary) {
  const auto file = [](std::string_view name, std::string_view test, std::string_view a, std::string_view b) {
    return with(name, "{\"" + std::string(test) + "<=100\":{\"algorithm=MPIR_" + std::string(a) + "\":{}},\"" +
                          std::string(test) + "=any\":{\"algorithm=MPIR_" + std::string(b) + "\":{}}}");
  };
  Call call{.collective = Collective::allgather, .ranks = 4, .nodes = 4, .bytes = 100, .element_bytes = 4};
  const std::string gathered = file("allgather", "total_msg_size", "Allgather_intra_brucks", "Allgather_intra_ring");
  EXPECT_EQ(decided(gathered, call), "brucks");
  call.bytes = 104;
  EXPECT_EQ(decided(gathered, call), "ring");
  // The total size of an allreduce is the data of all ranks.
  const std::string reduced = with("allreduce", two("total_msg_size<=100", "total_msg_size=any"));
  EXPECT_EQ(decided(reduced, allreduce(4, 24)), "recursive_doubling");
  EXPECT_EQ(decided(reduced, allreduce(4, 32)), "reduce_scatter_allgather");
  // The size of an alltoall is that of a block.
  call = {.collective = Collective::alltoall, .ranks = 4, .nodes = 4, .bytes = 400};
  const std::string exchanged = file("alltoall", "avg_msg_size", "Alltoall_intra_brucks", "Alltoall_intra_scattered");
  EXPECT_EQ(decided(exchanged, call), "brucks");
  call.bytes = 404;
  EXPECT_EQ(decided(exchanged, call), "scattered");
  EXPECT_NE(warnings_of(*read(exchanged, "f", reader_of(Version::v4_0))).find("reads the send type"),
            std::string::npos);
  // The size of a gather is in elements.
  call = {.collective = Collective::gather, .ranks = 4, .nodes = 4, .bytes = 400, .element_bytes = 4};
  const std::string elements = file("gather", "total_msg_size", "Gather_intra_binomial", "Gather_allcomm_nb");
  EXPECT_EQ(decided(elements, call), "binomial");
  EXPECT_NE(warnings_of(*read(elements, "f", reader_of(Version::v4_0))).find("counts elements"), std::string::npos);
}

TEST(ForeignMpich, HierarchiesDifferByVersion) {
  const std::string text = two("comm_hierarchy=node", "comm_hierarchy=any");
  EXPECT_EQ(decided(with("allreduce", text), allreduce(4, 800)), "reduce_scatter_allgather");
  EXPECT_EQ(decided(with("allreduce", text, Version::v4_1), allreduce(4, 800), Version::v4_1), "recursive_doubling");
}

TEST(ForeignMpich, UncheckedLeavesAreNamed) {
  const std::string text = with("allreduce", "{" + std::string(halving) + "}");
  const auto file = read(text, "f.json", reader_of(Version::v4_0));
  const std::string warnings = warnings_of(*file);
  EXPECT_NE(warnings.find("operators of programs"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("less than an element for each rank"), std::string::npos);
  Call call = allreduce(8, 32);
  call.predefined_op = false;
  const ForeignDecision verdict = file->decide(call);
  EXPECT_EQ(verdict.algorithm, "reduce_scatter_allgather");
  EXPECT_EQ(std::count_if(verdict.notes.begin(), verdict.notes.end(),
                          [](const std::string& note) { return note.find("wrong here") != std::string::npos; }),
            2);
}

TEST(ForeignMpich, ParametersThatAreMissingAreWarned) {
  const auto text = [](std::string_view members) {
    std::string t = with("iallreduce", R"({"algorithm=MPIR_Iallreduce_intra_tsp_tree":)" + std::string(members) + "}");
    return t;
  };
  const auto warned = [&](std::string_view members, Version version) {
    std::string t = text(members);
    if (version == Version::v5_0) {
      const std::string old = "MPIR_Barrier_intra_dissemination\": {}";
      t.replace(t.find(old), old.size(), "MPIR_Barrier_intra_k_dissemination\": {\"k=2\": {}}");
    }
    return warnings_of(*read(t, "f", reader_of(version)));
  };
  EXPECT_NE(warned("{}", Version::v4_0).find("from memory that nobody has set"), std::string::npos);
  constexpr std::string_view numbered = R"({"tree_type=2":{},"k=2":{},"chunk_size=0":{},"buffer_per_child=0":{}})";
  constexpr std::string_view named = R"({"tree_type=knomial_2":{},"k=2":{},"chunk_size=0":{},"buffer_per_child=0":{}})";
  EXPECT_EQ(warned(numbered, Version::v4_0).find("means kary"), std::string::npos);
  EXPECT_NE(warned(named, Version::v4_0).find("'knomial_2' means kary"), std::string::npos);
  EXPECT_NE(warned(numbered, Version::v5_0).find("'2' means kary"), std::string::npos);
  EXPECT_EQ(warned(named, Version::v5_0).find("means kary"), std::string::npos);
  EXPECT_NE(warned(R"({"q=3":{}})", Version::v4_0).find("no parameter 'q'"), std::string::npos);
}

TEST(ForeignMpich, UnreachableTestsAreWarned) {
  const std::string d(doubling);
  const std::string h(halving);
  const std::string text = with("allreduce", R"({"avg_msg_size<=100":{)" + d + R"(},"avg_msg_size<=50":{)" + d +
                                                 R"(},"avg_msg_size=any":{)" + d + "}}");
  EXPECT_NE(warnings_of(*read(text, "f", reader_of(Version::v4_0))).find("never holds after"), std::string::npos);
  const std::string both = with("allreduce", R"({"is_commutative=yes":{)" + d + R"(},"is_commutative=no":{)" + d +
                                                 R"(},"comm_size=any":{)" + d + "}}");
  EXPECT_NE(warnings_of(*read(both, "f", reader_of(Version::v4_0))).find("never reached"), std::string::npos);
}

TEST(ForeignMpich, WholePagesAreWarnedAndNeverWritten) {
  std::string text = mpich::to_json(mpich::plain_tree(Version::v4_0));
  text.resize((text.size() / 4096 + 1) * 4096, ' ');
  EXPECT_NE(warnings_of(*read(text, "f", reader_of(Version::v4_0))).find("multiple of 4096"), std::string::npos);
  // Bounds of more digits make the file longer by a byte each, so that some rule would come to whole pages.
  Count bound = 1;
  for (int digits = 0; digits < 9; ++digits, bound *= 10) {
    for (Rank p = 2; p < 100000; p *= 10) {
      const Rule rule{.collective = Collective::allreduce,
                      .ranks = {2, p},
                      .bytes = {bound, 2000000000},
                      .algorithm = "recursive_doubling"};
      const Exported exported = export_rules(std::span(&rule, 1), reader_of(Version::v4_0));
      for (const File& file : exported.files) {
        const bool tree = file.suffix != ".losses.txt";
        EXPECT_FALSE(tree && file.text.size() % 4096 == 0);
      }
    }
  }
}

TEST(ForeignMpich, NonblockingAlgorithmsAreReachedThroughNb) {
  const Rule rule{
      .collective = Collective::allreduce, .ranks = {4, 8}, .bytes = {1000, 100000}, .algorithm = "tsp_ring"};
  const Exported exported = export_rules(std::span(&rule, 1), reader_of(Version::v4_0));
  const auto file = read(exported.files[0].text, "f", reader_of(Version::v4_0));
  EXPECT_EQ(file->decide(allreduce(4, 1000)).algorithm, "tsp_ring");
  EXPECT_EQ(file->decide(allreduce(4, 999)).algorithm, "recursive_doubling");
  EXPECT_EQ(file->decide(allreduce(9, 1000)).algorithm, "recursive_doubling");
  const auto said = [&](std::string_view text) {
    return std::any_of(exported.losses.begin(), exported.losses.end(),
                       [&](const std::string& loss) { return loss.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(said("MPI_Iallreduce"));
  EXPECT_TRUE(said("operators that commute"));
}

TEST(ForeignMpich, TreesOfRadixAreNumberedFirstAndNamedLater) {
  const Rule rule{.collective = Collective::bcast, .algorithm = "tsp_tree", .segment_bytes = 8192, .radix = 4};
  const auto text = [&](Version version) {
    return export_rules(std::span(&rule, 1), reader_of(version)).files[0].text;
  };
  EXPECT_NE(text(Version::v4_0).find("\"tree_type=2\""), std::string::npos);
  EXPECT_NE(text(Version::v4_0).find("\"k=4\""), std::string::npos);
  EXPECT_NE(text(Version::v4_0).find("\"chunk_size=8192\""), std::string::npos);
  EXPECT_NE(text(Version::v5_0).find("\"tree_type=knomial_2\""), std::string::npos);
  // Releases between the two differ among themselves, so that control variables say it.
  const Exported between = export_rules(std::span(&rule, 1), reader_of(Version::v4_2));
  EXPECT_NE(std::find(between.use.begin(), between.use.end(), "export MPIR_CVAR_IBCAST_INTRA_ALGORITHM=tsp_tree"),
            between.use.end());
}

TEST(ForeignMpich, ControlVariablesSayWhatLeavesCannot) {
  Rule rule{.collective = Collective::reduce, .algorithm = "tsp_ring"};
  const Exported exported = export_rules(std::span(&rule, 1), reader_of(Version::v4_0));
  for (const std::string_view line :
       {"export MPIR_CVAR_REDUCE_INTRA_ALGORITHM=nb", "export MPIR_CVAR_IREDUCE_INTRA_ALGORITHM=tsp_ring"})
    EXPECT_NE(std::find(exported.use.begin(), exported.use.end(), line), exported.use.end()) << line;
  rule.bytes.from = 100;  // not for all calls
  EXPECT_THROW((void)export_rules(std::span(&rule, 1), reader_of(Version::v4_0)), Error);
}

TEST(ForeignMpich, WhatCannotBeSaidIsTheLibrarysAndALoss) {
  const Reader& reader = reader_of(Version::v4_0);
  struct Case {
    Rule rule;
    std::string_view why;
  };
  const Case cases[] = {
      {{.collective = Collective::gather, .bytes = {0, 100}, .algorithm = "binomial"}, "no test of sizes"},
      {{.collective = Collective::scan, .bytes = {0, 100}, .algorithm = "recursive_doubling"}, "no test of sizes"},
      {{.collective = Collective::bcast, .nodes = {3, 4}, .algorithm = "binomial"}, "no other numbers of nodes"},
      {{.collective = Collective::bcast, .algorithm = "chain"}, "no such algorithm"},
      {{.collective = Collective::bcast, .bytes = {3000000000}, .algorithm = "binomial"}, "no bounds above"},
      {{.collective = Collective::scan, .operators = Operators::commutative, .algorithm = "recursive_doubling"},
       "does not test operators"},
      {{.collective = Collective::alltoallv, .algorithm = "pairwise_sendrecv_replace"}, "in place only"},
  };
  const Rule good{.collective = Collective::allreduce, .algorithm = "recursive_doubling"};
  for (const Case& c : cases) {
    const Rule later{.collective = c.rule.collective, .algorithm = "nothing"};
    const Rule rules[] = {c.rule, good, later};
    const Exported exported = export_rules(rules, reader);
    EXPECT_TRUE(std::any_of(exported.losses.begin(), exported.losses.end(), [&](const std::string& loss) {
      return loss.find(c.why) != std::string::npos;
    })) << c.why;
    const std::string plain = mpich::to_json(mpich::plain_tree(Version::v4_0));
    const Call call{.collective = c.rule.collective, .ranks = 5, .nodes = 5, .bytes = 50};
    EXPECT_EQ(decided(exported.files[0].text, call), decided(plain, call));
  }
}

}  // namespace
}  // namespace circoll::foreign
