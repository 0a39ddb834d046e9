// Profiles: their heads, the policies made of them, and the search for the profile of a machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "circoll/error.hpp"
#include "facts/processor_name.hpp"
#include "select/profile_search.hpp"
#include "support/profiles.hpp"

namespace circoll {
namespace {

using select::FoundProfile;
using select::ProfileKey;

/// The message of the error that reading a profile gives; empty if there is none.
std::string refusal_of(const std::string& text) {
  try {
    (void)select::make_profile_policy(text, "file", {});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

CallFacts on_one_node(Rank p, Count bytes, Type type = Type::float64) {
  CallFacts facts = facts_of(Collective::allreduce, p, bytes, Op::sum, type);
  facts.cores = p;
  facts.nodes = 1;
  return facts;
}

TEST(Profile, HeadIsRead) {
  const select::ProfileHead head = select::read_profile_head(profile_text(), "file");
  EXPECT_EQ(head.key, here);
  ASSERT_NE(head.find(2), nullptr);
  EXPECT_EQ(head.find(2)->launches, 5);
  EXPECT_EQ(head.find(2)->host, "n1");
  EXPECT_EQ(head.find(4), nullptr);
}

TEST(Profile, ErrorsNameTheLine) {
  EXPECT_EQ(refusal_of(profile_text()), "");
  EXPECT_EQ(refusal_of(R"({"circoll_rules": 1})"), "file:1: this is no profile: there is no \"profile\"");
  EXPECT_EQ(refusal_of(replaced(profile_text(), "\"version\": 1", "\"version\": 2")),
            "file:4: only version 1 of 'version' is known");
  EXPECT_EQ(refusal_of(replaced(profile_text(), "\"ranks\": 2", "\"ranks\": 0")),
            "file:8: 'ranks' must be a number of ranks");
  EXPECT_NE(refusal_of(replaced(profile_text(), "\"host\"", "\"hots\"")).find("file:8: 'hots' is not known here"),
            std::string::npos);
  EXPECT_EQ(refusal_of(replaced(profile_text(), "\"nodes\": [1, 2], ", "")),
            "file:12: a rule of a profile is for one node: \"nodes\": [1, 2]");
  EXPECT_EQ(refusal_of(replaced(profile_text(), "\"nodes\": [1, 2]", "\"nodes\": [1]")),
            "file:12: a rule of a profile is for one node: \"nodes\": [1, 2]");
  EXPECT_NE(refusal_of(replaced(profile_text(), "\"ring\"", "\"rung\"")).find("file:12: "), std::string::npos);
  const std::string twice = replaced(profile_text(), "\"host\": \"n1\"}",
                                     "\"host\": \"n1\"}, {\"ranks\": 2, \"processors\": 2, \"launches\": 5, "
                                     "\"circoll\": \"\", \"date\": \"\", \"host\": \"\"}");
  EXPECT_NE(refusal_of(twice).find("numbers of ranks come in ascending order, each once"), std::string::npos);
}

TEST(Profile, AnyDamageIsAParseErrorOrStillAProfile) {
  const std::string whole = profile_text();
  std::mt19937 random(7);
  const auto pick = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    switch (pick(4)) {
      case 0:
        text.resize(pick(text.size()));
        break;
      case 1:
        text[pick(text.size())] = static_cast<char>(pick(256));
        break;
      case 2:
        text.erase(pick(text.size()), 1 + pick(20));
        break;
      default: {
        const std::size_t from = pick(text.size());
        text.insert(pick(text.size()), text.substr(from, 1 + pick(30)));
      }
    }
    if (!refusal_of(text).empty()) ++refused;
  }
  EXPECT_GT(refused, 1500);
}

TEST(Profile, PolicyFollowsTheRulesWhereItWasMeasured) {
  const auto policy = select::make_profile_policy(profile_text(), "/p.json", {});
  const Decision in = policy->decide(on_one_node(2, 8));
  EXPECT_EQ(in.selection->text(), "ring");
  EXPECT_EQ(in.reason, "profile /p.json:12: ring");
  EXPECT_EQ(in.policy, "auto");
  EXPECT_FALSE(in.candidates.empty());  // for who learns
}

TEST(Profile, OtherCallsGoToTheModel) {
  const auto policy = select::make_profile_policy(profile_text(), "/p.json", {});
  const auto model = make_policy("model");
  const auto same = [&](const CallFacts& facts, const std::string& why) {
    const Decision decision = policy->decide(facts);
    EXPECT_EQ(decision.selection->text(), model->decide(facts).selection->text()) << why;
    EXPECT_NE(decision.reason.find(why), std::string::npos) << decision.reason;
    EXPECT_NE(decision.reason.find("least predicted time"), std::string::npos) << decision.reason;
  };
  same(on_one_node(3, 8), "profile /p.json has nothing for 3 ranks; ");
  same(on_one_node(2, 1 << 20), "profile /p.json:15: auto; ");
  CallFacts two_nodes = on_one_node(2, 8);
  two_nodes.cores = 1;
  two_nodes.nodes = 2;
  same(two_nodes, "profile /p.json is for one node; ");
  CallFacts crowded = on_one_node(2, 8);
  crowded.crowded = true;
  same(crowded, "was measured with a processor for every rank; ");
  CallFacts bcast = on_one_node(2, 8);
  bcast.collective = Collective::bcast;
  same(bcast, "profile /p.json has no rules of bcast; ");
}

TEST(Profile, InexactAllreduceIsNeverNative) {
  const auto policy = select::make_profile_policy(profile_text(), "/p.json", {});
  EXPECT_FALSE(policy->decide(on_one_node(2, 2048, Type::int32)).selection.has_value());
  const Decision inexact = policy->decide(on_one_node(2, 2048));
  ASSERT_TRUE(inexact.selection.has_value());
  EXPECT_TRUE(inexact.selection->algorithm->guarantees.same_bits);
  EXPECT_NE(inexact.reason.find("may give ranks different bits"), std::string::npos);
  const auto divergent = select::make_profile_policy(profile_text(), "/p.json", {.allow_rank_divergence = true});
  EXPECT_FALSE(divergent->decide(on_one_node(2, 2048)).selection.has_value());
}

/// The profile with rules for two programs.
std::string with_programs() {
  return replaced(profile_text(), "  \"allreduce\": [\n", R"(  "programs": {
    "cg": {
      "measured": {"report": "r.json", "launches": 3, "circoll": "0.4", "date": "2026-01-03", "host": "n2", "tried": "no"},
      "allreduce": [
        {"op": "commutative", "p": [2, 5], "bytes": [0, 512], "use": "recursive_doubling"},
        {"p": [2, 5], "bytes": [512, 600], "use": "native"},
        {"otherwise": "auto"}
      ]
    },
    "sgd.py": {
      "measured": {"report": "s.json", "launches": 3, "circoll": "0.4", "date": "2026-01-03", "host": "n2"},
      "bcast": [{"use": "native"}]
    }
  },
  "allreduce": [
)");
}

TEST(Profile, RulesForAProgramComeFirst) {
  const std::string text = with_programs();
  const select::ProfileHead head = select::read_profile_head(text, "file");
  ASSERT_EQ(head.programs.size(), 2U);
  ASSERT_NE(head.find_program("cg"), nullptr);
  EXPECT_EQ(head.find_program("cg")->tried, "no");
  EXPECT_EQ(head.find_program("sgd.py")->report, "s.json");
  EXPECT_EQ(head.find_program("cg2"), nullptr);
  const auto cg = select::make_profile_policy(text, "/p.json", {}, "cg");
  const auto other = select::make_profile_policy(text, "/p.json", {}, "other");
  EXPECT_EQ(cg->decide(on_one_node(2, 8)).reason, "profile /p.json:15 for cg: recursive_doubling");
  EXPECT_FALSE(cg->decide(on_one_node(2, 8)).candidates.empty());
  EXPECT_EQ(other->decide(on_one_node(2, 8)).selection->text(), "ring");
  // They are for several nodes, too.
  CallFacts spread = on_one_node(4, 8);
  spread.cores = 2;
  spread.nodes = 2;
  EXPECT_EQ(cg->decide(spread).selection->text(), "recursive_doubling");
  // Calls that they leave to "auto" go to the machine's rules, and then to the model.
  EXPECT_EQ(cg->decide(on_one_node(2, 1000)).reason, other->decide(on_one_node(2, 1000)).reason);
  EXPECT_EQ(cg->decide(on_one_node(3, 1000)).reason, other->decide(on_one_node(3, 1000)).reason);
  // The MPI library need not give all ranks the same bits.
  EXPECT_FALSE(cg->decide(on_one_node(2, 512, Type::int32)).selection.has_value());
  const Decision inexact = cg->decide(on_one_node(2, 512));
  EXPECT_EQ(inexact.selection->text(), "ring");
  EXPECT_EQ(inexact.reason,
            "profile /p.json:16 for cg: native says native, which may give ranks different bits; "
            "profile /p.json:26: ring");
  CallFacts bcast = on_one_node(3, 8);
  bcast.collective = Collective::bcast;
  EXPECT_FALSE(select::make_profile_policy(text, "/p.json", {}, "sgd.py")->decide(bcast).selection.has_value());
}

TEST(Profile, RulesForProgramsAreChecked) {
  EXPECT_EQ(refusal_of(with_programs()), "");
  EXPECT_EQ(refusal_of(replaced(with_programs(), "\"recursive_doubling\"", "\"rung\"")).substr(0, 8), "file:15:");
  EXPECT_EQ(refusal_of(replaced(with_programs(), "\"bcast\"", "\"bcats\"")).substr(0, 8), "file:22:");
  EXPECT_EQ(refusal_of(replaced(with_programs(), "\"report\": \"s.json\", ", "")), "file:21: 'report' is missing");
  EXPECT_EQ(refusal_of(replaced(profile_text(), "\"allreduce\"", "\"programs\": [],\n\"allreduce\"")),
            "file:11: 'programs' must be {...}, with the names of programs");
}

TEST(Profile, RulesOfAFileAreThoseForAllPrograms) {
  EXPECT_EQ(make_rules_policy(with_programs(), "f")->decide(on_one_node(2, 8)).selection->text(), "ring");
  std::string text = with_programs();
  text = text.erase(text.rfind("  \"allreduce\"")) + "\"about\": \"\"}";
  EXPECT_EQ(refusal_of(text), "");
  try {
    (void)make_rules_policy(text, "f");
    FAIL() << "there are rules for single programs only";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("CIRCOLL_PROFILE=f uses them"), std::string::npos) << error.what();
  }
}

TEST(Profile, NamesOfLibrariesProcessorsAndFiles) {
  EXPECT_EQ(select::library_name("Open MPI v4.1.4, package: Debian, ident: 4.1.4"), "Open MPI 4.1.4");
  EXPECT_EQ(select::library_name("MPICH Version:\t4.0.2\nMPICH Release date:\t..."), "MPICH 4.0.2");
  EXPECT_EQ(select::library_name("Another MPI 3, of somebody"), "Another MPI 3");
  EXPECT_EQ(processor_name_in("processor\t: 0\nmodel name\t: AMD  EPYC 7763 \nmodel name\t: x\n"), "AMD EPYC 7763");
  EXPECT_EQ(processor_name_in("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"), "ARM 0x41 0xd0c");
  EXPECT_EQ(processor_name_in("cpu\t\t: POWER9, altivec supported\n"), "POWER9, altivec supported");
  EXPECT_EQ(processor_name_in("nothing: of the kind"), "");
  EXPECT_FALSE(processor_name().empty());
  const std::string name = select::profile_file_name(here);
  EXPECT_TRUE(name.starts_with("open-mpi-4.1.4-amd-epyc-")) << name;
  EXPECT_NE(name, select::profile_file_name({.library = here.library, .processor = "AMD-EPYC"}));
  EXPECT_EQ(select::profile_file_name({.library = "../..", .processor = "/etc"}).find('/'), std::string::npos);
}

/// The environment of a user with two directories, of which the second one is his home.
class ProfileSearch : public testing::Test {
 protected:
  static std::string in(const TemporaryDirectory& directory, const std::string& name) {
    return directory.path() + "/circoll/profiles/" + name;
  }
  [[nodiscard]] static FoundProfile find(const ProfileKey& key = here, bool all = false) {
    return select::find_profile(key, select::profile_setting(), {}, all);
  }

  TemporaryDirectory config_, home_;
  Variable no_profile_{"CIRCOLL_PROFILE", std::nullopt}, no_node_{"CIRCOLL_NODE", std::nullopt};
  Variable no_copy_{"CIRCOLL_NODE_COPY", std::nullopt};
  Variable xdg_{"XDG_CONFIG_HOME", config_.path()}, home_variable_{"HOME", home_.path()};
};

TEST_F(ProfileSearch, DirectoriesComeInOrder) {
  const std::vector<std::string> all = select::profile_directories();
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(all.front(), config_.path() + "/circoll/profiles");
  EXPECT_EQ(all.back(), "/etc/circoll/profiles");
  {
    const Variable none("XDG_CONFIG_HOME", std::nullopt);
    EXPECT_EQ(select::user_profiles(), home_.path() + "/.config/circoll/profiles");
    const Variable no_home("HOME", std::nullopt);
    EXPECT_EQ(select::user_profiles(), std::nullopt);
    EXPECT_EQ(select::profile_directories().back(), "/etc/circoll/profiles");
  }
  const Variable relative("XDG_CONFIG_HOME", "config");  // XDG wants such a path to be ignored
  EXPECT_EQ(select::user_profiles(), home_.path() + "/.config/circoll/profiles");
}

TEST_F(ProfileSearch, FindsByContentAndPrefersTheOwnName) {
  EXPECT_TRUE(find().file.empty());
  EXPECT_EQ(find().why, "there is none for Open MPI 4.1.4 on 'AMD EPYC'");
  EXPECT_TRUE(find().places.starts_with(" in " + config_.path())) << find().places;
  const std::string other = config_.write("circoll/profiles/a.json", profile_text(here, "circulant_optimal"));
  EXPECT_EQ(find().file, other);
  const std::string own = config_.write("circoll/profiles/" + select::profile_file_name(here), profile_text());
  EXPECT_EQ(find().file, own);
  const FoundProfile all = find(here, true);
  ASSERT_EQ(all.refused.size(), 1U);
  EXPECT_EQ(all.refused[0].why, own + " comes first");
  EXPECT_EQ(select::known_keys(select::profile_setting()), std::vector{here});
}

TEST_F(ProfileSearch, ForeignProfilesAreRefusedInSilence) {
  config_.write("circoll/profiles/mpich.json", profile_text({.library = "MPICH 4.0.2", .processor = "AMD EPYC"}));
  config_.write("circoll/profiles/old.json", profile_text({.library = "Open MPI 4.1.3", .processor = "AMD EPYC"}));
  config_.write("circoll/profiles/xeon.json", profile_text({.library = "Open MPI 4.1.4", .processor = "Xeon"}));
  config_.write("circoll/profiles/note.txt", "no profile");
  const FoundProfile found = find();
  EXPECT_TRUE(found.file.empty());
  ASSERT_EQ(found.refused.size(), 3U);
  EXPECT_EQ(found.refused[0].why, "it is for MPICH 4.0.2, not Open MPI 4.1.4");
  EXPECT_EQ(found.refused[1].why, "it is for Open MPI 4.1.3, not Open MPI 4.1.4");
  EXPECT_EQ(found.refused[2].why, "it is for the processor 'Xeon', not 'AMD EPYC'");
  EXPECT_EQ(select::complaint(found, select::profile_setting()), "");
}

TEST_F(ProfileSearch, AnotherPatchLevelIsNamed) {
  const auto write = [&](const std::string& name, const std::string& library, const std::string& processor) {
    config_.write("circoll/profiles/" + name, profile_text({.library = library, .processor = processor}));
  };
  write("a.json", "Open MPI 4.0.4", here.processor);
  write("b.json", "Open MPI 4.1.3", "Xeon");
  write("c.json", "Open MPI 4.1", here.processor);
  EXPECT_EQ(find().other_patch, "");
  write("d.json", "Open MPI 4.1.3", here.processor);
  EXPECT_EQ(find().other_patch, "Open MPI 4.1.3");
  write("e.json", here.library, here.processor);
  EXPECT_EQ(find().other_patch, "") << "there is a profile";
}

TEST_F(ProfileSearch, DamagedProfilesAreOneComplaint) {
  config_.write("circoll/profiles/a.json", "{");
  config_.write("circoll/profiles/b.json", profile_text() + "}");
  const std::string good = config_.write("circoll/profiles/c.json", profile_text());
  const FoundProfile found = find();
  EXPECT_EQ(found.file, good);
  const std::string complaint = select::complaint(found, select::profile_setting());
  EXPECT_TRUE(complaint.starts_with("a profile is damaged and not used: " + in(config_, "a.json:1: "))) << complaint;
  EXPECT_TRUE(complaint.ends_with("; so are 1 more")) << complaint;
}

TEST_F(ProfileSearch, TheVariableDecides) {
  const std::string file = config_.write("circoll/profiles/a.json", profile_text());
  const std::string foreign = home_.write("mpich.json", profile_text({.library = "MPICH 4", .processor = "AMD EPYC"}));
  {
    const Variable off("CIRCOLL_PROFILE", "off");
    EXPECT_TRUE(find().file.empty());
    EXPECT_EQ(find().why, "CIRCOLL_PROFILE is off");
  }
  {
    const Variable named("CIRCOLL_PROFILE", foreign);
    EXPECT_TRUE(find().file.empty());
    EXPECT_EQ(select::complaint(find(), select::profile_setting()),
              "CIRCOLL_PROFILE: " + foreign + " is not used: it is for MPICH 4, not Open MPI 4.1.4");
  }
  {
    const Variable directory("CIRCOLL_PROFILE", home_.path());
    EXPECT_TRUE(find().file.empty());
    EXPECT_NE(select::complaint(find(), select::profile_setting()), "");
    const std::string own = home_.write("own.json", profile_text());
    EXPECT_EQ(find().file, own);
  }
  {
    const Variable missing("CIRCOLL_PROFILE", home_.path() + "/none.json");
    EXPECT_NE(select::complaint(find(), select::profile_setting()).find("cannot be read"), std::string::npos);
  }
  {
    const Variable no_memory("CIRCOLL_NODE", "off");
    EXPECT_EQ(find().why, "CIRCOLL_NODE is off");
  }
  EXPECT_EQ(find().file, file);
}

}  // namespace
}  // namespace circoll
