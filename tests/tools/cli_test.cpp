// The circoll binary, from outside: output, exit codes, help.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/circoll.h"
#include "circoll/text.hpp"
#include "show/picture.hpp"
#include "support/command.hpp"
#include "support/xml.hpp"

namespace circoll {
namespace {

constexpr std::string_view id = "allreduce/circulant_optimal";
const std::string show = "show " + std::string(id) + " ";

TEST(Cli, HelpEndsWithExamples) {
  for (const std::string command : {"", "bench", "completion", "man", "cost", "list", "show", "explain", "calibrate",
                                    "merge", "compare", "guidelines", "tune", "export", "lint"}) {
    const CommandResult outcome = run(command + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_TRUE(contains(outcome.out, "Examples:\n  circoll ")) << outcome.out;
  }
}

/// The first words of the lines of help that name commands.
std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) listed = line == "Commands:" || line.starts_with("For ") || line == "Lab:";
    if (listed && line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST(Cli, HelpListsSixCommandsAndAllByFloor) {
  const std::string help = run("--help").out;
  const std::vector<std::string> six{"run", "compare", "doctor", "tune", "explain", "bench"};
  EXPECT_EQ(commands_in(help), six) << help;
  EXPECT_TRUE(contains(help, "'circoll --help --all' lists all commands")) << help;
  EXPECT_TRUE(contains(help, "Time a program without and with Circoll\n")) << help;
  const std::string all = run("--help --all").out;
  for (const char* const floor : {"\nFor programs:\n", "\nFor tuning:\n", "\nFor algorithms:\n", "\nLab:\n"})
    EXPECT_TRUE(contains(all, floor)) << all;
  EXPECT_GE(commands_in(all).size(), 21U);
  for (const char* const words : {"--help-all", "--all --help", "--all"}) EXPECT_EQ(run(words).out, all) << words;
}

TEST(Cli, FormerNamesOfCommandsWorkWithAWarning) {
  for (const auto& [before, now] :
       {std::pair("check", "lint"), std::pair("combine", "merge"), std::pair("local", "execute")}) {
    const std::string old(before);
    EXPECT_EQ(run(old + " --help 2>/dev/null").out, run(std::string(now) + " --help").out);
    const std::string warning = "circoll: '" + old + "' is called '" + now + "' now\n";
    EXPECT_EQ(run(old + " --help 2>&1 >/dev/null").out, warning);
    EXPECT_EQ(run("--dry-run " + old + " --help 2>&1 >/dev/null").out, warning);
    EXPECT_EQ(run(std::string(now) + " --help 2>&1 >/dev/null").out, "");
    EXPECT_FALSE(contains(run("--help --all").out, "\n  " + old + " ")) << old;
    EXPECT_FALSE(contains(run("__complete ''").out, old + "\t")) << old;
    EXPECT_EQ(run("man " + old + " 2>/dev/null").exit_code, 2) << old;
  }
}

TEST(Cli, VerifySaysWhatIsProven) {
  const CommandResult proven = run("verify allgather reduce/circulant -p 1..9 --root all --jobs 2 2>&1");
  EXPECT_EQ(proven.exit_code, 0);
  EXPECT_TRUE(contains(proven.out, "allgather/circulant_optimal                 proven"));
  EXPECT_TRUE(contains(proven.out, ", 0 refuted\n")) << proven.out;
  const auto rows = nlohmann::json::parse(run("verify bcast -p 7 --root 0,6 --segments 1,9 --json").out);
  ASSERT_EQ(rows.size(), algorithms_of(Collective::bcast).size());
  EXPECT_EQ(rows[0].at("instances"), 4);
  EXPECT_EQ(rows[0].at("proven"), true);
}

TEST(Cli, VerifyTakesListsOfRanks) {
  const auto instances = [](const std::string& sizes) {
    const CommandResult outcome = run("verify allreduce/ring -p " + sizes + " --json");
    EXPECT_EQ(outcome.exit_code, 0);
    return nlohmann::json::parse(outcome.out)[0].at("instances").get<int>();
  };
  EXPECT_EQ(instances("9,2..4,3"), instances("2") + instances("3") + instances("4") + instances("9"));
}

TEST(Cli, VerifyLeavesOutWhatDoesNotApply) {
  const CommandResult odd = run("verify allgather -p 7");
  EXPECT_EQ(odd.exit_code, 0);
  EXPECT_TRUE(contains(odd.out, "allgather/neighbor_exchange                 -        no p")) << odd.out;
  for (const auto& row : nlohmann::json::parse(run("verify allgather -p 7 --json").out)) {
    const Selection selection = parse_selection(row.at("id").get<std::string>());
    EXPECT_EQ(row.at("proven").is_null(), selection.algorithm->needs.even_size) << selection.id();
  }
}

TEST(Cli, ListShowsBits) {
  const CommandResult table = run("list --bits -p 4 -c allreduce");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(contains(table.out, "allreduce, p = 4\n")) << table.out;
  EXPECT_TRUE(contains(table.out, "  (0+1)+(2+3)\n")) << table.out;
  EXPECT_TRUE(contains(table.out, "  ((0+1)+2)+3  and others, by element\n    allreduce/ring\n")) << table.out;
  std::size_t algorithms = 0;
  for (const auto& row : nlohmann::json::parse(run("list --bits -p 6 --root 5 -c reduce --json").out)) {
    EXPECT_EQ(row.at("root"), 5);
    EXPECT_EQ(row.at("class").get<std::string>().size(), 32U);
    algorithms += row.at("algorithms").size();
  }
  EXPECT_GT(algorithms, 5U);
}

TEST(Cli, LocalExecutesAndChecks) {
  for (const std::string threads : {"--threads", "--single-thread"}) {
    const CommandResult outcome =
        run("execute reduce_scatter/circulant -p 6 --count 100 --type int32 --op sum " + threads);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(contains(outcome.out, "correct")) << outcome.out;
  }
}

TEST(Cli, VersionIsThatOfTheLibrary) { EXPECT_EQ(run("--version").out, std::string(circoll_version()) + "\n"); }

TEST(Cli, ListNamesTheCollectivesOnALineEach) {
  const CommandResult outcome = run("list --collectives");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.out.starts_with("allreduce\nreduce\nreduce_scatter_block\n")) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("\nalltoallv\nscan\nexscan\n")) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), std::ssize(all_collectives));
}

TEST(Cli, ListAsJsonGivesDeclaredAndCountedCosts) {
  const auto all = nlohmann::json::parse(run("list --json").out);
  std::size_t ids = 0;
  for (const Collective collective : all_collectives) ids += algorithms_of(collective).size();
  ASSERT_EQ(all.size(), ids);
  for (const auto& entry : all) {
    const Selection selection = parse_selection(entry.at("id").get<std::string>());
    ASSERT_NE(selection.algorithm, nullptr);
    std::size_t sizes = 0;
    for (Rank p = 2; p <= 16; ++p) {
      const OperatorTraits any{.commutative = true, .idempotent = true};
      sizes += unmet_need(*selection.algorithm, p, any).empty() ? 1U : 0U;
    }
    EXPECT_EQ(entry.at("cost").size(), sizes) << selection.id();
    for (const auto& cost : entry.at("cost")) {
      const Cost declared = selection.algorithm->cost({.size = cost.at("p").get<Rank>()});
      EXPECT_EQ(cost.at("declared").at("rounds"), declared.rounds);
      EXPECT_EQ(cost.at("declared").at("sent"), declared.sent);
      EXPECT_EQ(cost.at("declared").at("reduced"), declared.reduced);
      EXPECT_EQ(cost.at("declared"), cost.at("counted")) << selection.id();
    }
  }
  const auto some = nlohmann::json::parse(run("list --json -c allreduce -p 7 -p 100").out);
  for (const auto& entry : some) {
    const bool even = parse_selection(entry.at("id").get<std::string>()).algorithm->needs.even_size;
    EXPECT_EQ(entry.at("cost").size(), even ? 1U : 2U);
    EXPECT_EQ(entry.at("cost").back().at("p"), 100);
  }
}

TEST(Cli, ShowWritesWhatTheLibraryWrites) {
  std::vector<Schedule> ranks;
  std::string text;
  for (Rank rank = 0; rank < 5; ++rank) {
    ranks.push_back(build_schedule(id, {.size = 5, .rank = rank, .in_place = true}));
    text += (rank == 0 ? "" : "\n") + to_text(ranks.back());
  }
  EXPECT_EQ(run(show + "-p 5 --in-place --rank 3").out, to_text(ranks[3]));
  EXPECT_EQ(run(show + "-p 5 --in-place --rank 3 --format json").out, to_json(ranks[3]));
  EXPECT_EQ(run(show + "-p 5 --in-place").out, text);
  EXPECT_TRUE(schedules_from_text(run(show + "-p 5 --in-place").out) == ranks);
  EXPECT_TRUE(schedules_from_json(run(show + "-p 5 --in-place --format json").out) == ranks);
  EXPECT_EQ(run(show + "-p 5 --in-place --format svg").out, to_svg(ranks));
}

TEST(Cli, ExplainSaysWhatAndWhy) {
  const CommandResult text = run("explain allreduce -p 64 --bytes 8Ki --type float64 --op sum");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_TRUE(contains(text.out, "float64 sum (commutative, not exact)")) << text.out;
  EXPECT_TRUE(contains(text.out, "\nbecause    least predicted time of ")) << text.out;
  EXPECT_TRUE(contains(text.out, "\nruled out  allreduce/circulant: may give ranks different bits")) << text.out;
  EXPECT_TRUE(contains(text.out, "\nruled out  allreduce/circulant_idempotent: needs an idempotent operator"));
  const auto json = nlohmann::json::parse(run("explain allreduce -p 6 --bytes 100 --policy openmpi_fixed --json").out);
  EXPECT_EQ(json.at("choice"), "allreduce/recursive_doubling");
  EXPECT_EQ(json.at("policy"), "openmpi_fixed");
  EXPECT_EQ(json.at("reason"), "Open MPI's tree for 6 ranks and 100 bytes");
  const auto allowed = nlohmann::json::parse(run("explain allreduce -p 6 --allow-rank-divergence --json").out);
  for (const auto& out : allowed.at("ruled_out")) EXPECT_NE(out.at("algorithm"), "allreduce/circulant");
  EXPECT_TRUE(contains(run("explain bcast -p 3 --policy native").out, "\nchoice     native\n"));
  const CommandResult own = run("explain allreduce -p 6 --bytes 1Mi --policy classic --noncommutative");
  EXPECT_TRUE(contains(own.out, "the caller's operator (not commutative, not exact)")) << own.out;
  EXPECT_TRUE(contains(own.out, "\nchoice     allreduce/recursive_doubling\n")) << own.out;
}

TEST(Cli, ExplainReadsRulesAndMachines) {
  const TemporaryFile rules("{\"circoll_rules\": 1,\n\"bcast\": [{\"use\": \"binary:segment=1Ki\"}]}", "rules");
  const CommandResult good = run("explain bcast -p 9 --bytes 4Ki --policy file:" + rules.path);
  EXPECT_TRUE(contains(good.out, "\nchoice     bcast/binary:segments=4\n")) << good.out;
  EXPECT_TRUE(contains(good.out, rules.path + ":2: binary:segment=1Ki\n")) << good.out;
  const TemporaryFile wrong("{\"circoll_rules\": 1,\n\"bcast\": [{\"use\": \"binery\"}]}", "wrong");
  const CommandResult bad = run("explain bcast -p 9 --policy file:" + wrong.path + " 2>&1");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(contains(bad.out, wrong.path + ":2: bcast has no algorithm 'binery'")) << bad.out;
  const TemporaryFile machine(
      "{\"circoll_machine\": 1, \"name\": \"slow\", \"alpha_s\": 1, \"beta_s_per_byte\": 1e-9, \"gamma_s_per_byte\": "
      "1e-9}",
      "machine");
  const auto json = nlohmann::json::parse(run("explain barrier -p 8 --json --machine " + machine.path).out);
  EXPECT_EQ(json.at("machine"), "slow");
  EXPECT_NEAR(json.at("predicted").at(0).at("predicted_us").get<double>(), 3e6, 1);
}

TEST(Cli, CalibrateFitsAndCompares) {
  nlohmann::json samples = nlohmann::json::array();
  for (const double bytes : {1.0, 1000.0, 1e6}) {
    samples.push_back({{"kind", "exchange"}, {"bytes", std::int64_t(bytes)}, {"seconds", 2e-6 + bytes * 1e-9}});
    samples.push_back({{"kind", "ping_pong"}, {"bytes", std::int64_t(bytes)}, {"seconds", 1e-6 + bytes * 0.5e-9}});
    samples.push_back({{"kind", "reduction"}, {"bytes", std::int64_t(bytes)}, {"seconds", 1e-8 + bytes * 0.25e-9}});
  }
  nlohmann::json raw = {{"circoll_calibration", 1}, {"name", "m"}, {"about", "x"}, {"samples", samples}};
  const TemporaryFile measured(raw.dump(), "measured");
  const auto machine = nlohmann::json::parse(run("calibrate " + measured.path).out);
  EXPECT_NEAR(machine.at("alpha_s").get<double>(), 2e-6, 1e-12);
  EXPECT_NEAR(machine.at("beta_s_per_byte").get<double>(), 1e-9, 1e-15);
  EXPECT_NEAR(machine.at("gamma_s_per_byte").get<double>(), 0.25e-9, 1e-15);
  EXPECT_NEAR(machine.at("f_alpha").get<double>(), 0.5, 1e-6);
  EXPECT_NEAR(machine.at("f_beta").get<double>(), 0.5, 1e-6);
  const TemporaryFile file("", "fitted");
  const CommandResult fitted = run("calibrate " + measured.path + " -o " + file.path);
  EXPECT_TRUE(contains(fitted.out, "exchange")) << fitted.out;
  EXPECT_TRUE(contains(fitted.out, "alpha 2 us, beta 1 ns/B")) << fitted.out;
  EXPECT_FALSE(contains(fitted.out, "slow host"));

  for (const char* const name : {"h0", "h1", "h2", "h3"})
    raw["hosts"].push_back({{"name", name}, {"seconds", name[1] == '2' ? 0.2 : 0.1}});
  const TemporaryFile hosts(raw.dump(), "hosts");
  const TemporaryFile slow("", "slow");
  const std::string proposed = run("calibrate " + hosts.path + " -o " + slow.path).out;
  EXPECT_TRUE(contains(proposed, "slow host  h2: long messages take 2 times as long")) << proposed;
  EXPECT_TRUE(contains(proposed, "\nSwitchName=slow_h2 Nodes=h2\nSwitchName=others Nodes=h0,h1,h3\n")) << proposed;
  const std::string explain = "explain bcast -p 4 --machine " + slow.path;
  EXPECT_TRUE(contains(run(explain).out, "slow host  h2, 2 times: with CIRCOLL_TOPOLOGY")) << run(explain).out;
  EXPECT_EQ(nlohmann::json::parse(run(explain + " --json").out).at("slow_hosts")[0].at("name"), "h2");

  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [algorithm, median_us] :
       {std::pair("native", 1.0), std::pair("binomial", 6.0), std::pair("auto", 9.0)}) {
    rows.push_back({{"collective", "bcast"},
                    {"algorithm", algorithm},
                    {"p", 4},
                    {"bytes", 1000},
                    {"reps", 9},
                    {"correct", "-"},
                    {"median_us", median_us},
                    {"served_by", algorithm == std::string("native") ? "native" : "binomial"}});
  }
  const TemporaryFile bench(nlohmann::json{{"type", "byte"}, {"op", "bor"}, {"root", 0}, {"rows", rows}}.dump(),
                            "bench");
  const CommandResult compared = run("calibrate --compare " + bench.path + " --machine " + file.path);
  EXPECT_EQ(compared.exit_code, 0);
  EXPECT_TRUE(contains(compared.out, "machine m\n")) << compared.out;
  EXPECT_TRUE(contains(compared.out, "auto, as measured: within 10 % in 0 %, within 25 % in 0 %, within 50 % in 100 %"))
      << compared.out;
}

TEST(Cli, GuidelinesAndTuneWriteRules) {
  const auto launch = [](const char* name, double native_us) {
    nlohmann::json rows = nlohmann::json::array(), sides = nlohmann::json::array();
    const auto side = [&](const char* text, const char* algorithm, double median_us) {
      const nlohmann::json row = {
          {"side", text},  {"collective", text}, {"algorithm", algorithm}, {"served_by", algorithm}, {"p", 4},
          {"bytes", 1024}, {"reps", 9},          {"median_us", median_us}, {"correct", "-"}};
      sides.push_back(row);
      if (collective_from_string(text)) rows.push_back(row);
    };
    side("allreduce", "native", native_us);
    side("allreduce", "ring", 5);
    side("reduce+bcast", "native", 8);
    return TemporaryFile(
        nlohmann::json{
            {"type", "byte"}, {"op", "bor"}, {"root", 0}, {"sync", "clock"}, {"rows", rows}, {"sides", sides}}
            .dump(),
        name);
  };
  const TemporaryFile one = launch("g1", 20), two = launch("g2", 21), three = launch("g3", 22);
  const TemporaryFile rules("", "rules");
  const std::string all = one.path + " " + two.path + " " + three.path;
  const CommandResult found = run("guidelines " + all + " --rules " + rules.path);
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_TRUE(contains(found.out, "allreduce <= reduce+bcast")) << found.out;
  const std::string ask = "explain allreduce -p 4 --bytes 1024 --policy file:" + rules.path + " ";
  EXPECT_TRUE(contains(run(ask).out, "allreduce/ring")) << run(ask).out;
  const auto json = nlohmann::json::parse(run("guidelines --json " + all).out);
  EXPECT_EQ(json.at("violated"), 1);
  EXPECT_EQ(json.at("comparisons")[0].at("verdict"), "violated");
  EXPECT_EQ(run("guidelines --paper " + all).exit_code, 0);
  EXPECT_EQ(run("guidelines --of auto " + all).exit_code, 0);
  EXPECT_EQ(run("guidelines --effect 2 " + all).exit_code, 0);
  const CommandResult few = run("guidelines " + one.path + " " + two.path);
  EXPECT_EQ(few.exit_code, 0);
  EXPECT_TRUE(contains(few.out, "too few launches")) << few.out;
  EXPECT_EQ(run("tune " + all + " -o " + rules.path).exit_code, 0);
  EXPECT_TRUE(contains(run(ask).out, "allreduce/ring"));
  EXPECT_TRUE(contains(run("tune --margin 9 " + all).out, "\"native\""));
  EXPECT_TRUE(contains(run("tune --in-every-launch " + all).out, "or was faster in a launch"));
  EXPECT_EQ(run("tune " + all + " -o /nowhere/rules.json 2>&1").exit_code, 1);
  EXPECT_EQ(run("guidelines " + rules.path + " 2>&1").exit_code, 2);
}

TEST(Cli, CombinesLaunches) {
  const auto launch = [](const char* name, double native_us, double auto_us, const std::string& type,
                         const std::string& correct) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [algorithm, median_us] : {std::pair("native", native_us), std::pair("auto", auto_us)}) {
      rows.push_back({{"collective", "bcast"},
                      {"algorithm", algorithm},
                      {"served_by", algorithm == std::string("native") ? "native" : "binomial"},
                      {"p", 4},
                      {"bytes", 1000},
                      {"reps", 9},
                      {"median_us", median_us},
                      {"correct", correct}});
    }
    return TemporaryFile(
        nlohmann::json{{"type", type}, {"op", "bor"}, {"root", 0}, {"sync", "clock"}, {"rows", rows}}.dump(), name);
  };
  const TemporaryFile one = launch("one", 3, 2, "byte", "yes"), two = launch("two", 8, 4, "byte", "yes"),
                      other = launch("other", 1, 1, "int32", "yes"), wrong = launch("wrong", 5, 5, "byte", "NO");
  const auto json = nlohmann::json::parse(run("merge --json " + one.path + " " + two.path).out);
  ASSERT_EQ(json.at("rows").size(), 2U);
  EXPECT_EQ(json.at("rows")[1].at("launches"), 2);
  EXPECT_EQ(json.at("rows")[1].at("reps"), 18);
  EXPECT_NEAR(json.at("rows")[1].at("median_us").get<double>(), 3, 1e-9);
  EXPECT_NEAR(json.at("rows")[1].at("speedup").get<double>(), 1.75, 1e-9);  // of 1.5 and 2
  EXPECT_TRUE(contains(run("merge " + one.path).out, "auto (binomial)"));
  const CommandResult mixed = run("merge " + one.path + " " + other.path + " 2>&1");
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_TRUE(contains(mixed.out, "has measured something else (int32, bor, root 0, started by clock)")) << mixed.out;
  EXPECT_EQ(run("merge " + wrong.path).exit_code, 1);
}

TEST(Cli, SegmentsInBytes) {
  EXPECT_EQ(run("show bcast/pipeline:segment=1Ki -p 3 --bytes 3Ki").out,
            run("show bcast/pipeline:segments=3 -p 3").out);
  EXPECT_EQ(run("verify bcast/pipeline:segment=1Ki -p 1..5 --bytes 3Ki").exit_code, 0);
  const CommandResult local = run("execute allreduce/segmented_ring:segment=100 -p 4 --count 100 --type int32");
  EXPECT_EQ(local.exit_code, 0);
  EXPECT_TRUE(contains(local.out, "segments=1 ")) << local.out;
}

TEST(Cli, MisuseIsExplainedAndGivesTwo) {
  const auto expect_misuse = [](const std::string& arguments, std::string_view message) {
    const CommandResult outcome = run(arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.out, message)) << arguments << "\n" << outcome.out;
    EXPECT_TRUE(run(arguments + " 2>/dev/null").out.empty()) << "errors go to standard error";
  };
  expect_misuse("", "subcommand is required");
  expect_misuse("verify allreduce/circulent", "did you mean circulant");
  expect_misuse("verify allreduce -p 5..2", "1 <= A <= B");
  expect_misuse("verify allreduce -p 1,5..2", "1 <= A <= B");
  expect_misuse("verify allreduce -p 1,,2", "'' is not a number of ranks");
  expect_misuse("explain barrier -p 4 --bytes 8", "a barrier has no vector");
  expect_misuse("verify allreduce -p x", "'x' is not a number of ranks");
  expect_misuse("verify reduce --root x", "'x' is not 'all'");
  expect_misuse("execute allreduce/circulant -p 4 --count 5 --type nothing",
                "'nothing' is no element type; known are byte, ");
  expect_misuse("list --nonsense", "--nonsense");
  expect_misuse("verify allgather/neighbor_exchange -p 7", "nothing to verify");
  expect_misuse("list --collective alltoallw", "'alltoallw' is no collective (did you mean alltoall, alltoallv?)");
  expect_misuse("show allreduce -p 4", "is not COLLECTIVE/ALGORITHM; algorithms of allreduce are ");
  expect_misuse("execute allreduce/ring --op mean", "'mean' is no operator; known are sum, prod, ");
  expect_misuse("execute allreduce/ring --count -1", "'-1' is not a number (such as 65536");
  expect_misuse("list -p 4", "--json");
  expect_misuse("list --bits", "--ranks");
  expect_misuse("list --bits -p 4 -p 5", "one number");
  expect_misuse("list --bits -p 4 --root 4", "root");
  expect_misuse("list --bits -p 4 -c bcast", "bcast");
  expect_misuse("list --collectives --json", "--collectives");
  expect_misuse("show", "id is required");
  expect_misuse("show allreduce/circulant_optimal", "-p, the number of ranks, is needed");
  expect_misuse("show allreduce/circulant_optimel -p 4", "did you mean circulant_optimal");
  expect_misuse("show allreduse/circulant_optimal -p 4", "did you mean allreduce/circulant_optimal");
  expect_misuse("show allreduce/circulant_optimal:nonsense=3 -p 4", "no parameter 'nonsense'");
  expect_misuse(show + "-p 0", "--ranks");
  expect_misuse(show + "-p 4 --rank 4", "0 .. 3");
  expect_misuse(show + "-p 4 --root 1", "allreduce has no root");
  expect_misuse(show + "-p 4 --segments 3", "no parameter 'segments'");
  expect_misuse(show + "-p 4 --format xml", "--format");
  expect_misuse(show + "-p 4 --rank 1 --format svg", "has all ranks in it");
  expect_misuse("show bcast/pipeline:segment=1Ki -p 4", "give segments=NUMBER, or the size (--bytes)");
  expect_misuse("verify bcast/pipeline:segment=1Ki -p 4", "give segments=NUMBER, or --bytes");
  expect_misuse("explain allreduce -p 4 --policy best", "'best' is no policy: there are auto, model, ");
  expect_misuse("explain allreduce -p 4 --policy best", "and in CIRCOLL_POLICY also learn\n");
  expect_misuse("explain allreduce -p 4 --bytes x", "'x' is not a number of bytes");
  expect_misuse("explain allreduce -p 4 --machine /no/such/file", "cannot be read");
  expect_misuse("calibrate", "either a file of measurements, or --compare");
  expect_misuse("calibrate /no/such/file", "cannot be read");
  const TemporaryFile bench(R"({"circoll": "0.1.0", "rows": []})", "rows");
  expect_misuse("calibrate " + bench.path,
                "this is a measurement of circoll-bench; 'circoll tune " + bench.path + "' chooses by it");
  expect_misuse("explain bcast/binomial -p 4", "'bcast/binomial' is an algorithm: explain says which one is chosen");
  expect_misuse("show bcast/pipeline -p 4 --segments 0", "--segments is at least 1, not 0\n");
  expect_misuse("cost bcast -p 4 --bytes 4Pi", "--bytes is at most 1125899906842624, not 4503599627370496\n");
  expect_misuse("cost bcast -p 4 --alpha -1", "--alpha is at least 0, not -1\n");
  expect_misuse("cost bcast -p 4 --alpha x", "--alpha is a number, not 'x'\n");
  expect_misuse("bench --seconds 0", "--seconds is more than 0, not 0\n");
  expect_misuse("guidelines x --significance 1", "--significance is between 0 and 1, not 1\n");
  expect_misuse("calibrate --compare x --exchange 2:64Ki", "--exchange and --shared are for --simulated");
}

TEST(Cli, UnwritableOutputFails) { EXPECT_EQ(run(show + "-p 4 2>/dev/null >/dev/full").exit_code, 1); }

}  // namespace
}  // namespace circoll
