// Profiles as circoll tune --here makes them: choices, merging by ranks, and files that two processes write.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "measured/profile.hpp"
#include "select/profile_search.hpp"
#include "support/profiles.hpp"

namespace circoll {
namespace {

using measured::AskedChoice;
using measured::Chosen;
using measured::ProfilePart;

constexpr RuleOperator sums{.op = Op::sum, .type = Type::float64};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A launch in which algorithms took these times in a cell.
struct Times {
  Collective collective;
  Rank p;
  Count bytes;  // of the vector
  std::vector<std::pair<std::string, double>> seconds;
};
Launch launch_of(const std::vector<Times>& cells) {
  Launch launch{.source = "launch", .type = "float64", .op = "sum"};
  for (const Times& cell : cells) {
    for (const auto& [algorithm, seconds] : cell.seconds) {
      launch.rows.push_back({.collective = cell.collective,
                             .algorithm = algorithm,
                             .served_by = algorithm,
                             .p = cell.p,
                             .bytes = Amounts::of_vector(cell.collective, cell.p, cell.bytes).measured_bytes(),
                             .reps = 10,
                             .median_s = seconds});
    }
  }
  return launch;
}

AskedChoice asked(Collective collective, Count bytes, std::vector<std::string> candidates) {
  return {.collective = collective, .p = 4, .bytes = bytes, .candidates = std::move(candidates)};
}

/// The choice for a bcast after launches with these times for binomial (the model's choice), linear, native.
std::string chosen(const std::vector<std::array<double, 3>>& launches) {
  std::vector<Launch> all;
  for (const auto& [binomial, linear, native] : launches) {
    all.push_back(
        launch_of({{Collective::bcast, 4, 64, {{"binomial", binomial}, {"linear", linear}, {"native", native}}}}));
  }
  const auto result = measured::choose({asked(Collective::bcast, 64, {"binomial", "linear", "native"})}, all, sums);
  EXPECT_EQ(result.size(), 1U);
  return result.empty() ? "" : result.front().use;
}

TEST(ProfileChoice, WhatRunsTodayStaysUnlessBeatenBeyondDoubt) {
  EXPECT_EQ(chosen({{1.02, 1, 2}, {1.02, 1, 2}, {1.02, 1, 2}}), "binomial");  // within the margin
  EXPECT_EQ(chosen({{1.2, 1, 2}, {1.02, 1, 2}, {1.2, 1, 2}}), "binomial");    // in one launch
  EXPECT_EQ(chosen({{1.2, 1, 2}, {1.2, 1, 2}, {1.2, 1, 2}}), "linear");
  EXPECT_EQ(chosen({{1.2, 1, 2}, {0.9, 1, 2}, {1.2, 1, 2}}), "binomial");  // not in every launch
  EXPECT_EQ(chosen({{1.2, 1, 2}, {0.9, 1, 2}, {1.2, 1, 2}, {1.2, 1, 2}, {1.2, 1, 2}}), "binomial");
  EXPECT_EQ(chosen({{2, 1, 1.02}, {2, 1, 1.02}, {2, 1, 1.02}}), "native");  // rather than a third
  EXPECT_EQ(chosen({{1, 2, 1.02}, {1, 2, 1.02}}), "binomial");
}

TEST(ProfileChoice, NoiseIsNoGain) {
  const auto use = [](double high_of_linear) {
    Launch launch = launch_of({{Collective::bcast, 4, 64, {{"binomial", 2}, {"linear", 1}, {"native", 3}}}});
    launch.rows[0].low_s = 1.6;
    launch.rows[0].high_s = 3;
    launch.rows[1].low_s = 0.9;
    launch.rows[1].high_s = high_of_linear;
    return measured::choose({asked(Collective::bcast, 64, {"binomial", "linear", "native"})}, {launch}, sums)[0].use;
  };
  EXPECT_EQ(use(1.5), "linear");
  EXPECT_EQ(use(1.7), "binomial") << "the intervals of the medians overlap";
}

TEST(ProfileChoice, OneMoreLaunchMustConfirm) {
  std::vector<Chosen> made;
  for (const Count bytes : {64, 128, 256}) {
    made.push_back({.collective = Collective::bcast, .p = 4, .bytes = bytes, .base = "binomial", .use = "linear"});
  }
  made.push_back({.collective = Collective::bcast, .p = 4, .bytes = 512, .base = "linear", .use = "linear"});
  const Launch check = launch_of({{Collective::bcast, 4, 64, {{"binomial", 2}, {"linear", 1}}},
                                  {Collective::bcast, 4, 128, {{"binomial", 1.02}, {"linear", 1}}},
                                  {Collective::bcast, 4, 512, {{"linear", 1}}}});
  EXPECT_EQ(drop_unconfirmed(made, check), 2U);
  EXPECT_EQ(made[0].use, "linear");
  EXPECT_EQ(made[1].use, "binomial");
  EXPECT_EQ(made[2].use, "binomial") << "it was not measured";
}

TEST(ProfileChoice, TheModelsChoicesNeedNoRules) {
  const auto cells = measured::rule_cells(
      {{.collective = Collective::bcast, .p = 4, .bytes = 64, .base = "linear", .model = "ring", .use = "ring"},
       {.collective = Collective::bcast, .p = 4, .bytes = 128, .base = "linear", .model = "ring", .use = "linear"}});
  EXPECT_EQ(cells[0].use, "auto");
  EXPECT_EQ(cells[1].use, "linear");
}

TEST(ProfileChoice, AllreduceIsNotLeftToTheLibrary) {
  const Launch launch =
      launch_of({{Collective::allreduce, 4, 64, {{"ring", 3}, {"recursive_doubling", 2}, {"native", 1}}}});
  const auto result =
      measured::choose({asked(Collective::allreduce, 64, {"ring", "recursive_doubling", "native"})}, {launch}, sums);
  ASSERT_EQ(result.size(), 1U);
  EXPECT_EQ(result[0].use, "recursive_doubling");
  EXPECT_EQ(result[0].base, "ring");
}

TEST(ProfileChoice, SizesThatDecideNothingAreOneCell) {
  std::vector<AskedChoice> cells;
  std::vector<Times> times;
  for (const Count bytes : {64, 6400}) {
    cells.push_back(asked(Collective::gatherv, bytes, {"linear", "native"}));
    times.push_back({Collective::gatherv, 4, bytes, {{"linear", bytes == 64 ? 1.0 : 4.0}, {"native", 1.5}}});
  }
  const auto result = measured::choose(cells, {launch_of(times)}, sums);
  ASSERT_EQ(result.size(), 1U);  // geometric means: 2 and 1.5
  EXPECT_EQ(result[0].use, "native");
  EXPECT_EQ(result[0].bytes, 0);
}

TEST(ProfileChoice, GainIsOfTheLaunchThatChecks) {
  const std::vector<Chosen> made{
      {.collective = Collective::bcast, .p = 4, .bytes = 64, .base = "binomial", .use = "linear"},
      {.collective = Collective::bcast, .p = 4, .bytes = 128, .base = "binomial", .use = "binomial"},
      {.collective = Collective::bcast, .p = 4, .bytes = 256, .base = "binomial", .use = "linear"}};
  const measured::Gain gain =
      gain_of(made, launch_of({{Collective::bcast, 4, 64, {{"binomial", 2}, {"linear", 1}, {"native", 4}}},
                               {Collective::bcast, 4, 128, {{"binomial", 2}, {"native", 1}}}}));
  EXPECT_EQ(gain.cells, 2);
  EXPECT_EQ(gain.changed, 1);
  EXPECT_NEAR(gain.over_native, std::sqrt(4 * 0.5), 1e-9);
  EXPECT_NEAR(gain.over_base, std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(gain.changed_by, 2, 1e-9);
  EXPECT_NEAR(gain.least_over_native, 0.5, 1e-9);
  EXPECT_EQ(gain.slowest, "bcast of 128 bytes, binomial");
}

ProfilePart part_of(Rank ranks, const std::string& use, const select::ProfileKey& key = here) {
  return {
      .key = key,
      .ranks = {.ranks = ranks,
                .processors = 8,
                .launches = 5,
                .circoll = "0.1",
                .date = "2026-01-02",
                .host = "n" + std::to_string(ranks)},
      .op = sums,
      .cells = measured::rule_cells({{.collective = Collective::allreduce, .p = ranks, .bytes = 1024, .use = use}})};
}

Decision decide(const std::string& text, Rank p, Count bytes) {
  CallFacts facts = facts_of(Collective::allreduce, p, bytes, Op::sum, Type::float64);
  facts.cores = p;
  facts.nodes = 1;
  return select::make_profile_policy(text, "f", {})->decide(facts);
}

TEST(ProfileWriter, ReachesAsFarAsWasMeasured) {
  const std::string text = merged_profile("", part_of(4, "ring"));
  EXPECT_EQ(decide(text, 4, 8).selection->text(), "ring");
  EXPECT_EQ(decide(text, 4, 2047).selection->text(), "ring");
  EXPECT_NE(decide(text, 4, 2048).reason.find("least predicted time"), std::string::npos);
  CallFacts two = facts_of(Collective::allreduce, 4, 8, Op::sum, Type::float64);
  two.cores = 2;
  two.nodes = 2;
  EXPECT_NE(make_rules_policy(text, "f")->decide(two).reason.find("least predicted time"), std::string::npos);
}

TEST(ProfileWriter, MergesByRanks) {
  std::string text = merged_profile("", part_of(4, "ring"));
  text = merged_profile(text, part_of(2, "recursive_doubling"));
  EXPECT_EQ(decide(text, 4, 8).selection->text(), "ring");
  EXPECT_EQ(decide(text, 2, 8).selection->text(), "recursive_doubling");
  const std::string again = merged_profile(text, part_of(4, "rabenseifner"));
  EXPECT_EQ(decide(again, 4, 8).selection->text(), "rabenseifner");
  EXPECT_EQ(decide(again, 2, 8).selection->text(), "recursive_doubling");
  const select::ProfileHead head = select::read_profile_head(again, "f");
  ASSERT_EQ(head.measured.size(), 2U);
  EXPECT_EQ(head.measured[0].ranks, 2);
  EXPECT_EQ(head.measured[1].host, "n4");
  EXPECT_EQ(merged_profile(again, part_of(4, "rabenseifner")), again);
  EXPECT_THROW((void)merged_profile(text, part_of(2, "ring", {.library = "MPICH 4", .processor = "x"})), Error);
}

/// Rules for a program, on four ranks.
measured::ProgramPart program_part(const std::string& name, const std::string& use) {
  return {
      .key = here,
      .program = {.name = name, .report = "r.json", .launches = 3, .circoll = "0.4", .date = "2026-01-03", .host = "n"},
      .op = sums,
      .cells = {{.collective = Collective::allreduce, .p = 4, .bytes = 1024, .use = use}}};
}

TEST(ProfileWriter, ProgramsAndTheMachineHaveOneFile) {
  std::string text = merged_profile("", program_part("cg", "ring"));
  text = merged_profile(text, part_of(2, "recursive_doubling"));
  text = merged_profile(text, program_part("fft", "rabenseifner"));
  text = merged_profile(text, program_part("cg", "recursive_doubling"));
  const auto use = [&](const std::string& program, Rank p) {
    CallFacts facts = facts_of(Collective::allreduce, p, 1024, Op::sum, Type::float64);
    facts.cores = p;
    facts.nodes = 1;
    return select::make_profile_policy(text, "f", {}, program)->decide(facts).reason;
  };
  EXPECT_NE(use("cg", 4).find("for cg: recursive_doubling"), std::string::npos) << use("cg", 4);
  EXPECT_NE(use("fft", 4).find("for fft: rabenseifner"), std::string::npos) << use("fft", 4);
  EXPECT_NE(use("fft", 2).find(": recursive_doubling"), std::string::npos) << use("fft", 2);
  EXPECT_NE(use("other", 4).find("has nothing for 4 ranks"), std::string::npos) << use("other", 4);
  text = measured::without_program(text, here, "cg");
  EXPECT_EQ(select::read_profile_head(text, "f").find_program("cg"), nullptr);
  EXPECT_NE(select::read_profile_head(text, "f").find_program("fft"), nullptr);
  EXPECT_NE(select::read_profile_head(text, "f").find(2), nullptr);
  EXPECT_NO_THROW((void)select::make_profile_policy(measured::without_program("", here, "cg"), "f", {}));
}

TEST(ProfileWriter, CollectivesThatWereNotMeasuredKeepTheirRules) {
  measured::ProfilePart bcast = part_of(4, "ring");
  bcast.cells = measured::rule_cells({{.collective = Collective::bcast, .p = 4, .bytes = 64, .use = "linear"}});
  const std::string text = merged_profile(merged_profile("", part_of(4, "ring")), bcast);
  EXPECT_EQ(decide(text, 4, 8).selection->text(), "ring");
  EXPECT_NE(text.find("linear"), std::string::npos);
}

TEST(ProfileStore, ANewFileBeginsAsACopy) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/p.json", before = merged_profile("", part_of(2, "ring"));
  (void)store_profile(file, program_part("cg", "ring"), before);
  EXPECT_EQ(content(file), merged_profile(before, program_part("cg", "ring")));
  (void)store_profile(file, program_part("fft", "ring"), merged_profile("", part_of(4, "ring")));
  EXPECT_EQ(select::read_profile_head(content(file), file).find(4), nullptr) << "it is there";
  EXPECT_NE(select::read_profile_head(content(file), file).find_program("cg"), nullptr);
}

TEST(ProfileStore, ProcessesThatWriteAtOnceLoseNothing) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/deep/er/profile.json";
  constexpr int processes = 6;
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) {
      try {
        for (Rank round = 0; round < 4; ++round) (void)store_profile(file, part_of(2 + processes * round + i, "ring"));
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
  }
  // A reader meanwhile sees a whole profile, or none yet.
  int ended = 0, failed = 0;
  while (ended < processes) {
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) > 0) {
      ++ended;
      if (status != 0) ++failed;
    }
    const std::string text = content(file);
    if (!text.empty()) {
      EXPECT_NO_THROW((void)select::read_profile_head(text, file));
    }
  }
  EXPECT_EQ(failed, 0);
  const select::ProfileHead head = select::read_profile_head(content(file), file);
  EXPECT_EQ(head.measured.size(), 4U * processes);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path() + "/deep/er")) {
    files += entry.path().filename() == ".lock" ? 0 : 1;
  }
  EXPECT_EQ(files, 1);  // nothing is left beside it
}

TEST(ProfileStore, WhatIsDamagedIsKeptBeside) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("profile.json", "{ damaged");
  const measured::StoredProfile stored = store_profile(file, part_of(2, "ring"));
  EXPECT_EQ(stored.damaged, file + ".damaged");
  EXPECT_EQ(content(stored.damaged), "{ damaged");
  EXPECT_EQ(select::read_profile_head(content(file), file).key, here);
}

TEST(ProfileStore, WhatCannotBeWrittenIsSaid) {
  const auto sentence = [](const std::string& directory) -> std::string {
    try {
      measured::require_writable(directory);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_NE(sentence("/proc/circoll/profiles").find("the directory '/proc/circoll/profiles' cannot be made: "),
            std::string::npos);
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "");
  EXPECT_NE(sentence(file + "/profiles").find("cannot be made: "), std::string::npos);
  EXPECT_NE(sentence("/sys/kernel").find("the directory '/sys/kernel' cannot be written: "), std::string::npos);
  EXPECT_EQ(sentence(directory.path() + "/new"), "");
}

}  // namespace
}  // namespace circoll
