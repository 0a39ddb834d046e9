// The trees into which rules are put: those of a library, and plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "circoll/error.hpp"
#include "foreign/mpich_csel.hpp"
#include "foreign/mpich_writer.hpp"

namespace circoll::foreign {
namespace {

using mpich::Version;

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

std::string decided(std::string_view text, const Call& call) {
  return read(text, "f.json", reader_of(Version::v4_0))->decide(call).algorithm;
}

TEST(ForeignMpichBase, ABaseKeepsItsMeaningBelowOtherTests) {
  // comm_size<8 is < where the base has it and <= below is_sendbuf_inplace; both must stay.
  mpich::Tree base = mpich::parse_tree(with("bcast", R"({"comm_size<8":{"algorithm=MPIR_Bcast_intra_binomial":{}},
    "comm_size=any":{"avg_msg_size<=1":{"comm_size<9":{"algorithm=MPIR_Bcast_intra_binomial":{}},
    "comm_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}},
    "avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}}})"),
                                       "base")
                         .tree;
  const std::string text = mpich::to_json(base);
  const Rule rule{.collective = Collective::bcast,
                  .ranks = {4, 20},
                  .bytes = {100, 200},
                  .algorithm = "scatter_recursive_doubling_allgather"};
  const Exported exported = export_rules(std::span(&rule, 1), reader_of(Version::v4_0), {.base = text});
  for (Rank p = 2; p < 30; ++p) {
    for (const Count bytes : {0, 1, 2, 99, 100, 200, 201}) {
      const Call call{.collective = Collective::bcast, .ranks = p, .nodes = p, .bytes = bytes, .element_bytes = 1};
      const bool in =
          p >= 4 && p <= 20 && bytes >= 100 && bytes <= 200 && std::has_single_bit(static_cast<unsigned>(p));
      EXPECT_EQ(decided(exported.files[0].text, call), in ? rule.algorithm : decided(text, call)) << p << " " << bytes;
    }
  }
}

TEST(ForeignMpichBase, BasesAreCheckedAgainstTheVersion) {
  const Rule rule{.collective = Collective::allreduce, .algorithm = "recursive_doubling"};
  const auto refused = [&](const std::string& base, Version version) {
    try {
      (void)export_rules(std::span(&rule, 1), reader_of(version), {.base = base});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string old = mpich::to_json(mpich::plain_tree(Version::v4_0));
  EXPECT_EQ(refused(old, Version::v4_0), "");
  EXPECT_NE(refused(old, Version::v4_1).find("no algorithm 'MPIR_Barrier_intra_dissemination'"), std::string::npos);
  EXPECT_NE(refused("no tree", Version::v4_0).find("has no tree"), std::string::npos);
  EXPECT_NE(
      refused(R"({"collective=bcast":{"algorithm=MPIR_Bcast_allcomm_nb":{}}})", Version::v4_0).find("nothing for"),
      std::string::npos);
  // The tree stands among other bytes, as in a library.
  const std::string torn = "{\"collective=bcast\":";
  EXPECT_EQ(refused("\x7f library" + torn + std::string(3, '\0') + old + std::string(3, '\0') + torn, Version::v4_0),
            "");
}

TEST(ForeignMpichBase, FlatCompositionsComeBesideTheFile) {
  const std::string composition = R"({"collective=bcast":{"comm_type=intra":{
    "comm_hierarchy=parent":{"composition=MPIDI_Bcast_intra_composition_alpha":{}},
    "comm_hierarchy=any":{"composition=MPIDI_Bcast_intra_composition_gamma":{}}}},
    "collective=scan":{"composition=MPIDI_Scan_intra_composition_alpha":{}}})";
  const std::string base = mpich::to_json(mpich::plain_tree(Version::v4_0)) + composition;
  Rule rule{.collective = Collective::bcast, .algorithm = "binomial"};
  const auto has = [&](const Exported& exported) {
    return std::any_of(exported.files.begin(), exported.files.end(),
                       [](const File& file) { return file.suffix == ".composition.json"; });
  };
  const Exported exported = export_rules(std::span(&rule, 1), reader_of(Version::v4_0), {.base = base});
  ASSERT_TRUE(has(exported));
  const mpich::Tree tree = mpich::parse_tree(exported.files[1].text, "composition").tree;
  EXPECT_EQ(mpich::flat_composition(tree, "bcast"), "");  // nothing is divided any more
  EXPECT_NE(exported.files[1].text.find("composition_gamma"), std::string::npos);
  EXPECT_EQ(exported.files[1].text.find("Bcast_intra_composition_alpha"), std::string::npos);
  rule.ranks_per_node = {1, 1};
  EXPECT_FALSE(has(export_rules(std::span(&rule, 1), reader_of(Version::v4_0), {.base = base})));
}

TEST(ForeignMpichBase, TheInstalledTreeIsFoundAndRead) {
  const auto found = find_base(reader_of(Version::v4_0));
  if (!found) GTEST_SKIP() << "no MPICH 4.0 here";
  const mpich::Base base = mpich::base_of(found->text, Version::v4_0);
  const auto file = read(mpich::to_json(base.selection), "base", reader_of(Version::v4_0));
  EXPECT_FALSE(file->rejected());
  const Call call{.collective = Collective::bcast, .ranks = 16, .nodes = 16, .bytes = 100000};
  EXPECT_EQ(file->decide(call).algorithm, "scatter_recursive_doubling_allgather");
  EXPECT_TRUE(std::none_of(file->warnings().begin(), file->warnings().end(), [](const Warning& w) { return w.grave; }));
  // The base has a trap of its own: a test of sizes below one of buffers.
  EXPECT_TRUE(std::any_of(file->warnings().begin(), file->warnings().end(),
                          [](const Warning& w) { return w.text.find("read as <=") != std::string::npos; }));
  ASSERT_TRUE(base.composition.has_value());
  for (const std::string_view name : {"allreduce", "bcast", "reduce", "barrier"})
    EXPECT_NE(mpich::flat_composition(*base.composition, name), "") << name;
}

}  // namespace
}  // namespace circoll::foreign
