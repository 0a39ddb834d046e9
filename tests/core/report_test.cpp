// Ledger, report and trace say what the calls were.
#include "interpose/report.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "interpose/ledger.hpp"
#include "interpose/report_setting.hpp"
#include "interpose/trace.hpp"
#include "mpi/allocations.hpp"

namespace circoll::interpose {
namespace {

using nlohmann::json;

Event served_by(const Selection& selection, Count bytes, double seconds) {
  return {.collective = selection.collective,
          .ranks = 4,
          .served = &selection,
          .reason = "for the test",
          .bytes = bytes,
          .begin_s = 10,
          .end_s = 10 + seconds,
          .inside_s = seconds};
}

Event native(Collective collective, std::string_view reason, Count bytes) {
  return {.collective = collective, .ranks = 4, .reason = reason, .bytes = bytes, .begin_s = 20, .end_s = 21};
}

RunFacts two_ranks() { return {.ranks = 2, .mpi = "an MPI"}; }

using Lines = std::vector<std::string>;

/// The last lines of a report, which its text has, too.
Lines summary_of(const RunFacts& facts, const std::vector<Event>& events) {
  Ledger ledger;
  for (const Event& event : events) ledger.add(event);
  Report report(facts);
  report.add_rank(ledger.serialised());
  report.add_rank("[]");  // a rank that makes no calls
  const std::vector<std::string> lines = report.summary();
  const std::string text = report.text();
  for (const std::string& line : lines) {
    EXPECT_LE(line.size() + std::string("circoll: ").size(), 80U) << line;
    EXPECT_NE(text.find("circoll: " + line + "\n"), std::string::npos) << line;
  }
  return lines;
}

TEST(Ledger, SizeClassesArePowersOfTwo) {
  EXPECT_EQ(size_class(0), 0);
  EXPECT_EQ(least_bytes(0), 0);
  for (const Count bytes : {Count{1}, Count{2}, Count{3}, Count{4}, Count{1023}, Count{1024}, Count{1} << 62}) {
    const Count least = least_bytes(size_class(bytes));
    EXPECT_LE(least, bytes);
    EXPECT_LE(bytes - least, least - 1) << bytes;
    EXPECT_EQ(least & (least - 1), 0);
  }
}

TEST(Report, TellsNeighbourhoodsFromTheCollectivesAmongAllRanks) {
  const Algorithm direct{.name = "direct"};
  const Selection selection{.algorithm = &direct, .collective = Collective::alltoall};
  Ledger ledger;
  for (const NeighborFunction function : all_neighbor_functions) {
    Event event = served_by(selection, 64, 1);
    event.collective = among_all(function);
    ledger.add(event);
    event.collective = function;
    ledger.add(event);
  }
  Report report(two_ranks());
  report.add_rank(ledger.serialised());
  std::map<std::string, int> calls;
  const json rows = json::parse(report.json()).at("rows");
  for (const json& row : rows) {
    const auto name = row.at("collective").get<std::string>();
    calls[name] = row.at("calls").get<int>();
    EXPECT_TRUE(!name.starts_with("neighbor_") || row.at("predicted_s").is_null());
  }
  EXPECT_EQ(calls, (std::map<std::string, int>{{"allgather", 1},
                                               {"allgatherv", 1},
                                               {"alltoall", 1},
                                               {"alltoallv", 2},
                                               {"neighbor_allgather", 1},
                                               {"neighbor_allgatherv", 1},
                                               {"neighbor_alltoall", 1},
                                               {"neighbor_alltoallv", 1},
                                               {"neighbor_alltoallw", 1}}));
  EXPECT_NE(report.text().find("neighbor_alltoallw"), std::string::npos);
}

TEST(Report, OfNeighbourhoodsAdvisesNoTuning) {
  const Algorithm direct{.name = "direct"};
  const Selection selection{.algorithm = &direct, .collective = Collective::alltoall};
  Event among = served_by(selection, 64, 1);
  EXPECT_NE(summary_of(two_ranks(), {among}).back().find("circoll tune"), std::string::npos);
  among.collective = NeighborFunction::alltoall;
  EXPECT_EQ(summary_of(two_ranks(), {among}).back(), "next: has it helped? circoll compare -- PROGRAM");
}

TEST(Report, SaysWhyRanksAgreeAboutDeviceMemory) {
  RunFacts facts = two_ranks();
  EXPECT_EQ(Report(facts).text().find("GPU"), std::string::npos);
  EXPECT_TRUE(json::parse(Report(facts).json()).at("device_memory").is_null());
  facts.devices = "a rank has loaded CUDA";
  EXPECT_NE(
      Report(facts).text().find("memory of GPUs: ranks agree about it in each call, since a rank has loaded CUDA"),
      std::string::npos);
  EXPECT_EQ(json::parse(Report(facts).json()).at("device_memory"), facts.devices);
}

TEST(Report, NamesTheSwitchesAboveTheNodes) {
  RunFacts facts = two_ranks();
  EXPECT_TRUE(json::parse(Report(facts).json()).at("topology").is_null());
  EXPECT_EQ(Report(facts).text().find("topology:"), std::string::npos);
  facts.topology = "8 nodes in 2 parts of level 1";
  EXPECT_NE(Report(facts).text().find("topology: 8 nodes in 2 parts of level 1"), std::string::npos);
  EXPECT_EQ(json::parse(Report(facts).json()).at("topology"), facts.topology);
}

TEST(Report, NamesTheNetworkBetweenHosts) {
  RunFacts facts = two_ranks();
  EXPECT_TRUE(json::parse(Report(facts).json()).at("network").is_null());
  EXPECT_EQ(Report(facts).text().find("network:"), std::string::npos);
  facts.network = "alpha 62 us; from FILE";
  EXPECT_NE(Report(facts).text().find("network: alpha 62 us; from FILE"), std::string::npos);
  EXPECT_EQ(json::parse(Report(facts).json()).at("network"), facts.network);
}

TEST(Report, SaysHowMessagesGoInsideNodes) {
  RunFacts facts = two_ranks();
  const auto line = [&] {
    const std::string text = Report(facts).text();
    const std::size_t at = text.find("messages inside nodes: ");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line(), "messages inside nodes: no rank has another one on its node");
  facts.node = {.ranks = 4, .reason = "of this", .reading_reason = "of that"};
  EXPECT_EQ(line(), "messages inside nodes: by MPI, since of this");
  facts.node.by_memory = 4;
  EXPECT_EQ(line(), "messages inside nodes: through memory that the ranks share; not read directly, since of that");
  facts.node.read_directly = 4;
  EXPECT_EQ(line(), "messages inside nodes: through memory that the ranks share; long ones are read directly");
  facts.node.by_memory = facts.node.read_directly = 3;
  EXPECT_EQ(line(),
            "messages inside nodes: through memory that the ranks share on 3 of 4 ranks, since of this; long ones are "
            "read directly on 3 of 4 ranks, since of that");
}

TEST(Report, SumsOverRanksAndMaxima) {
  const Selection ring = parse_selection("allreduce/ring");
  Ledger first;
  Ledger second;
  first.add(served_by(ring, 8, 1));
  first.add(served_by(ring, 9, 1));
  first.add(served_by(ring, 4096, 1));
  Event own = served_by(ring, 8, 5);
  own.own_s = 0.5;
  second.add(own);
  second.add(native(Collective::bcast, "a reason", 100));
  second.add(native(Collective::bcast, "another", 100));
  Report report(two_ranks());
  report.add_rank(first.serialised());
  report.add_rank(second.serialised());
  const json all = json::parse(report.json());
  EXPECT_EQ(all["circoll_report"], 1);
  EXPECT_EQ(all["ranks"], 2);
  EXPECT_EQ(all["calls"], 6);
  EXPECT_EQ(all["native_calls"], 2);
  ASSERT_EQ(all["rows"].size(), 3U);
  const json& row = all["rows"][0];
  EXPECT_EQ(row["collective"], "allreduce");
  EXPECT_EQ(row["served_by"], "ring");
  EXPECT_EQ(row["mode"], "blocking");
  EXPECT_EQ(row["comm_size"], 4);
  EXPECT_EQ(row["calls"], 4);
  EXPECT_EQ(row["bytes"], 8 + 9 + 4096 + 8);
  EXPECT_DOUBLE_EQ(row["seconds"], 5);
  EXPECT_EQ(row["own"]["ranks"], 1);
  EXPECT_DOUBLE_EQ(row["own"]["max_per_call_s"], 0.5);
  ASSERT_EQ(row["histogram"].size(), 2U);
  EXPECT_EQ(row["histogram"][0]["bytes_from"], 8);
  EXPECT_EQ(row["histogram"][0]["bytes_to"], 15);
  EXPECT_EQ(row["histogram"][0]["calls"], 3);
  EXPECT_EQ(row["histogram"][1]["calls"], 1);
  EXPECT_EQ(row["histogram"][0]["why"], "for the test");
  EXPECT_EQ(all["rows"][1]["why_native"], "a reason");
  EXPECT_EQ(all["rows"][2]["why_native"], "another");
  EXPECT_TRUE(all["rows"][1]["predicted_s"].is_null());
}

TEST(Report, EndsWithWhatWasSpentWhereAndWhatToDoNext) {
  const Selection ring = parse_selection("allreduce/ring");
  Event bcast = native(Collective::bcast, "chosen", 100);
  bcast.inside_s = 1;
  RunFacts facts = two_ranks();
  facts.program_s = {30, 10};
  EXPECT_EQ(
      summary_of(facts, {served_by(ring, 8, 3), bcast}),
      (Lines{"measured: 2s in collectives, 10.0 % of the 20s of the program",
             "  means over the ranks; on the rank where it is most 4s",
             "  75.0 % of them in allreduce on 4 ranks, mostly ring",
             "  25.0 % of them in bcast on 4 ranks, mostly native", "next: has it helped? circoll compare -- PROGRAM",
             "  to tune these calls: circoll tune --for REPORT.json -- PROGRAM"}));
  EXPECT_EQ(summary_of(facts, {bcast}).back(), "next: all calls were native. circoll compare -- PROGRAM compares");
  EXPECT_EQ(summary_of(facts, {served_by(ring, 8, 0.1)}).back(),
            "next: nothing; faster collectives would not be noticed here");
  Event begun = bcast;
  begun.mode = Mode::nonblocking;
  begun.inside_s = 0.1;
  const Lines pending = summary_of(facts, {begun});
  EXPECT_EQ(pending[2], "  100.0 % of them in nonblocking bcast on 4 ranks, mostly native");
  EXPECT_EQ(pending[3], "  of calls that do not block it is the time to begin, without waiting");
  EXPECT_EQ(summary_of(facts, {}), (Lines{"no collectives were called: there is nothing to gain"}));
  facts.program_s.clear();
  EXPECT_EQ(summary_of(facts, {bcast}).front(), "measured: 500ms in collectives");
}

TEST(Report, NamesTheProgramAndTheShortestCalls) {
  RunFacts facts = two_ranks();
  facts.program = "cg";
  facts.program_s = {30, 10};
  Report report(facts);
  Ledger slow, quick;
  for (const double seconds : {3.0, 0.5}) slow.add(served_by(parse_selection("allreduce/ring"), 8, seconds));
  quick.add(served_by(parse_selection("allreduce/ring"), 8, 0.25));
  slow.add(served_by(parse_selection("bcast/pipeline"), 8, 2));
  quick.add(served_by(parse_selection("bcast/pipeline"), 8, 1));
  report.add_rank(slow.serialised());
  report.add_rank(quick.serialised());
  const json all = json::parse(report.json());
  EXPECT_EQ(all["program"]["name"], "cg");
  for (const json& one : all["rows"]) {
    // Ranks may leave a rooted collective at once. So there the rank counts whose shortest call is longest.
    EXPECT_EQ(one["histogram"][0]["least_s"], one["collective"] == "bcast" ? 2 : 0.25) << one;
  }
}

TEST(Report, PredictsWithTheParametersThatRan) {
  const Machine machine{.name = "m", .alpha_s = 1e-6, .beta_s_per_byte = 1e-9, .gamma_s_per_byte = 0};
  const Selection pipeline = parse_selection("bcast/pipeline:segments=8");
  Ledger ledger;
  for (int i = 0; i < 3; ++i) ledger.add(served_by(pipeline, 1 << 20, 1));
  Report report({.ranks = 1, .mpi = "an MPI", .library = Library::mpich, .machine = machine});
  report.add_rank(ledger.serialised());
  const json row = json::parse(report.json())["rows"][0];
  EXPECT_DOUBLE_EQ(row["predicted_s"], 3 * seconds(terms_of(pipeline, 4, 1 << 20), machine));
  EXPECT_EQ(row["served_by"], "pipeline");
  EXPECT_EQ(row["histogram"][0]["algorithm"], "pipeline:segments=8");
}

TEST(Report, TextHasTheRowsAndFitsTheScreen) {
  const Selection longest = parse_selection("reduce_scatter_block/circulant_pipelined");
  Ledger ledger;
  Event long_call = native(Collective::allreduce, "because of a test", 8);
  long_call.end_s = long_call.begin_s + 1e4;
  ledger.add(long_call);
  for (int k = 0; k < 40; ++k) ledger.add(served_by(longest, Count{1} << k, 1e3));
  Report report(two_ranks());
  report.add_rank(ledger.serialised());
  std::istringstream lines(report.text());
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 110U) << line;  // the longest name there is
    EXPECT_TRUE(line.starts_with("circoll:")) << line;
    found = found || line.starts_with("circoll: allreduce             native ");
  }
  EXPECT_TRUE(found) << report.text();
  EXPECT_NE(report.text().find("why    because of a test"), std::string::npos);
}

TEST(Report, NamesPredictionsAsTheModels) {
  Ledger ledger;
  ledger.add(served_by(parse_selection("allreduce/ring"), 8, 1));
  Report report(two_ranks());
  report.add_rank(ledger.serialised());
  const std::string text = report.text();
  EXPECT_NE(text.find(" time model model(native) own/call\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("predicted  "), std::string::npos) << text;
}

TEST(Report, TextOnlyCountsSmallRows) {
  const auto report_of = [](double barrier_s) {
    Ledger ledger;
    ledger.add(served_by(parse_selection("allreduce/ring"), 8, 98.5));
    for (int i = 0; i < 3; ++i) ledger.add(served_by(parse_selection("barrier/dissemination"), 0, barrier_s / 3));
    Event bcast = native(Collective::bcast, "chosen", 8);
    bcast.end_s = bcast.begin_s + 0.5;
    bcast.inside_s = 0.5;
    ledger.add(bcast);
    Event waited = bcast;  // its starting call is short, and its duration is not
    waited.mode = Mode::nonblocking;
    waited.end_s = waited.begin_s + 50;
    waited.inside_s = 1e-6;
    ledger.add(waited);
    Report report(two_ranks());
    report.add_rank(ledger.serialised());
    return report;
  };
  const Report two_small = report_of(0.9);
  const std::string text = two_small.text();
  EXPECT_NE(text.find("circoll: and 2 more rows below 1 % of the time in collectives, with 4 calls; JSON has all\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("circoll: barrier "), std::string::npos) << text;
  EXPECT_NE(text.find("circoll: allreduce "), std::string::npos) << text;
  EXPECT_NE(text.find("nonblocking calls\n"), std::string::npos) << text;
  EXPECT_EQ(json::parse(two_small.json())["rows"].size(), 4U);
  const std::string other = report_of(1.1).text();
  EXPECT_NE(other.find("and 1 more row below 1 % of the time in collectives, with 1 call;"), std::string::npos)
      << other;
  EXPECT_NE(other.find("circoll: barrier "), std::string::npos) << other;
}

TEST(Report, OneLineHasServedCallsAndTheShareOfTime) {
  const auto line_of = [](const std::vector<Event>& events, std::vector<double> program_s) {
    Ledger ledger;
    for (const Event& event : events) ledger.add(event);
    RunFacts facts = two_ranks();
    facts.program_s = std::move(program_s);
    Report report(facts);
    report.add_rank(ledger.serialised());
    report.add_rank("[]");
    return report.one_line();
  };
  const Selection ring = parse_selection("allreduce/ring");
  const Event served = served_by(ring, 8, 3);
  Event chosen = native(Collective::bcast, "chosen", 8);
  chosen.inside_s = 1;
  const Event rare = native(Collective::bcast, "rare", 8);
  EXPECT_EQ(line_of({served, chosen}, {20, 20}),
            "served 1 of 2 collective calls; 10 % of the program's time in collectives");
  EXPECT_EQ(line_of({rare, chosen, chosen}, {30, 20}),
            "served 0 of 3 collective calls, most often for the reason 'chosen'; 4 % of the program's time in "
            "collectives");
  EXPECT_EQ(line_of({served}, {400, 400}),
            "served 1 of 1 collective call; less than 1 % of the program's time in collectives");
  EXPECT_EQ(line_of({served}, {}), "served 1 of 1 collective call");
  EXPECT_EQ(line_of({}, {1, 1}), "no collectives were called");
}

TEST(Report, JsonLineIsTheJsonOnOneLine) {
  Ledger ledger;
  ledger.add(served_by(parse_selection("allreduce/ring"), 8, 1));
  Report report(two_ranks());
  report.add_rank(ledger.serialised());
  EXPECT_EQ(report.json_line().find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(report.json_line()), json::parse(report.json()));
}

TEST(FileName, PlaceholdersAreFilledIn) {
  const FileNameFacts facts{.host = "node7", .process = "42", .job = "1234", .ranks = 8};
  EXPECT_EQ(filled_in("r/%j.%h.%p.%n.json", facts), "r/1234.node7.42.8.json");
  EXPECT_EQ(filled_in("100%%h", facts), "100%h");
  EXPECT_EQ(filled_in("a%xb%", facts), "a%xb%");
  EXPECT_EQ(filled_in("%j", {.process = "42"}), "42");
  EXPECT_EQ(filled_in("%h", {.host = "%p", .process = "42"}), "%p") << "values have no placeholders";
  EXPECT_EQ(unknown_placeholders("%j%h%p%n%%"), std::vector<std::string>{});
  EXPECT_EQ(unknown_placeholders("a%xb%%%J%"), (std::vector<std::string>{"%x", "%J", "%"}));
}

TEST(FileName, LinesAreAppended) {
  const std::string path = testing::TempDir() + "circoll_report_lines.jsonl";
  std::remove(path.c_str());
  EXPECT_TRUE(append_line(path, "one"));
  EXPECT_TRUE(append_line(path, "two"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "one\ntwo\n");
  EXPECT_FALSE(append_line(path + "/missing", "three"));
  EXPECT_TRUE(append_line("/dev/null", "four")) << "a device is never stored";
  std::remove(path.c_str());
}

TEST(Report, RowsOfUnequalRanksTakeTheMeanBlock) {
  const Selection linear = parse_selection("gatherv/linear");
  Ledger small;
  Ledger large;
  small.add(served_by(linear, 0, 1));
  large.add(served_by(linear, 2000, 1));
  Report report(two_ranks());
  report.add_rank(small.serialised());
  report.add_rank(large.serialised());
  const json row = json::parse(report.json())["rows"][0];
  EXPECT_DOUBLE_EQ(row["predicted_s"], seconds(terms_of(linear, 4, 4000), Machine{}));
}

/// Our names of the algorithms that Open MPI 4.1 and MPICH 4.0 document (ompi_info; control variables of MPICH). The
/// names that the registry declares are compared with them.
using Names = std::map<Collective, std::set<std::string>>;
const Names& in_openmpi() {
  static const Names names{
      {Collective::allreduce,
       {"linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}},
      {Collective::reduce, {"linear", "chain", "pipeline", "binary", "split_binary", "binomial", "rabenseifner"}},
      {Collective::reduce_scatter, {"linear", "nonoverlapping", "recursive_halving", "ring"}},
      {Collective::reduce_scatter_block, {"linear", "recursive_doubling", "recursive_halving"}},
      {Collective::allgather, {"gather_bcast", "bruck", "recursive_doubling", "ring", "neighbor_exchange"}},
      {Collective::allgatherv, {"gather_bcast", "bruck", "ring", "neighbor_exchange"}},
      {Collective::gather, {"linear", "binomial"}},
      {Collective::gatherv, {"linear"}},
      {Collective::scatter, {"linear", "binomial"}},
      {Collective::scatterv, {"linear"}},
      {Collective::bcast,
       {"linear", "chain", "pipeline", "split_binary", "binary", "binomial", "knomial", "scatter_allgather"}},
      {Collective::barrier, {"linear", "recursive_doubling", "dissemination", "tree"}},
      {Collective::alltoall, {"linear", "pairwise", "bruck"}},
      {Collective::alltoallv, {"linear", "pairwise"}},
      {Collective::scan, {"linear", "recursive_doubling"}},
      {Collective::exscan, {"linear", "recursive_doubling"}},
  };
  return names;
}
const Names& in_mpich() {
  static const Names names{
      {Collective::allreduce,
       {"binomial", "knomial", "leaders", "nonoverlapping", "rabenseifner", "recursive_doubling", "ring"}},
      {Collective::reduce, {"binomial", "knomial", "pipeline", "rabenseifner"}},
      {Collective::reduce_scatter, {"pairwise", "recursive_doubling", "recursive_halving"}},
      {Collective::reduce_scatter_block, {"pairwise", "recursive_doubling", "recursive_halving"}},
      {Collective::allgather, {"bruck", "recursive_doubling", "ring"}},
      {Collective::allgatherv, {"bruck", "recursive_doubling", "ring"}},
      {Collective::gather, {"binomial"}},
      {Collective::gatherv, {"linear"}},
      {Collective::scatter, {"binomial"}},
      {Collective::scatterv, {"linear"}},
      {Collective::bcast, {"binomial", "knomial", "pipeline", "scatter_allgather"}},
      {Collective::barrier, {"recursive_doubling", "dissemination"}},
      {Collective::alltoall, {"linear", "pairwise", "bruck"}},
      {Collective::alltoallv, {"linear", "pairwise"}},
      {Collective::scan, {"recursive_doubling"}},
      {Collective::exscan, {"recursive_doubling"}},
  };
  return names;
}

TEST(Estimator, NativeIsWhatTheLibraryHas) {
  for (const Library library : {Library::openmpi, Library::mpich}) {
    Estimator estimator(default_machine(), library, false, false);
    for (const auto& [collective, names] : library == Library::openmpi ? in_openmpi() : in_mpich()) {
      for (const Rank p : {1, 2, 3, 6, 7, 11, 24, 64}) {
        for (const Count bytes : {0, 8, 1 << 14, 1 << 20}) {
          const auto estimate = estimator.native(collective, p, bytes);
          ASSERT_TRUE(estimate.has_value()) << to_string(collective) << " p=" << p;
          EXPECT_TRUE(names.contains(estimate->algorithm))
              << to_string(collective) << " p=" << p << ": " << estimate->algorithm << " is not the library's";
          EXPECT_GE(estimate->seconds, 0);
        }
      }
    }
    EXPECT_FALSE(estimator.native(Collective::bcast, 0, 8).has_value());
  }
}

TEST(Estimator, NativeIsTheBestThatTheLibraryHas) {
  Estimator estimator(default_machine(), Library::mpich, false, false);
  // MPICH has neither of these algorithms, and both are faster than its best one.
  for (const auto& [faster, bytes] : {std::pair{"allgather_reduce", 8}, {"circulant_optimal", 1 << 20}}) {
    EXPECT_LT(*estimator.served(Collective::allreduce, 11, bytes, faster),
              estimator.native(Collective::allreduce, 11, bytes)->seconds);
  }
  EXPECT_EQ(estimator.native(Collective::allreduce, 11, 8)->algorithm, "recursive_doubling");
  EXPECT_EQ(estimator.native(Collective::reduce_scatter, 11, 8)->algorithm, "recursive_halving");
}

TEST(Estimator, MessagesThroughMemoryArePricedAsSuch) {
  Machine machine = default_machine();
  machine.node_ways = {
      {.name = "a", .alpha_s = 1e-7, .beta_s_per_byte = 1e-11, .gamma_s_per_byte = 1e-11},
      {.name = "b", .from_bytes = 4096, .alpha_s = 3e-6, .beta_s_per_byte = 2e-11, .gamma_s_per_byte = 1e-11}};
  machine.crowded_s = 5e-6;
  Estimator flat(machine, Library::mpich, false, false), memory(machine, Library::mpich, true, false),
      crowded(machine, Library::mpich, true, true);
  const auto served = [](const Estimator& one, Count bytes) {
    return *one.served(Collective::allreduce, 2, bytes, "recursive_doubling");
  };
  EXPECT_NEAR(served(flat, 8), machine.alpha_s, 0.01 * machine.alpha_s);
  EXPECT_NEAR(served(memory, 8), 1e-7, 1e-9);
  EXPECT_NEAR(served(memory, 8192), 3e-6 + 8192 * 3e-11, 1e-12);
  EXPECT_NEAR(served(crowded, 8), 5.1e-6, 1e-9);
  // The price of the library's own collective does not change, because its messages go their own way.
  EXPECT_EQ(crowded.native(Collective::bcast, 2, 8)->seconds, flat.native(Collective::bcast, 2, 8)->seconds);
}

TEST(Estimator, OpenMpiTakesItsOwnDecisionForAllreduce) {
  Estimator estimator(default_machine(), Library::openmpi, false, false);
  const auto policy = make_policy("openmpi_fixed");
  for (const Count bytes : {4, 5000, 1 << 20}) {
    const auto decided = policy->decide({.collective = Collective::allreduce, .p = 12, .bytes = bytes});
    EXPECT_EQ(estimator.native(Collective::allreduce, 12, bytes)->algorithm, decided.selection->algorithm->name);
  }
}

json written(const Trace& trace) {
  std::string text = "[0";
  trace.write(
      3, [](double time_s) { return time_s * 1e6; }, [&](std::string_view part) { text += part; });
  return json::parse(text + "]");
}

TEST(Trace, BlockingCallsAreCompleteEvents) {
  const Selection ring = parse_selection("allreduce/ring");
  Trace trace(10);
  trace.add(served_by(ring, 8, 2));
  trace.add(native(Collective::bcast, "a \"reason\"", 5));
  EXPECT_DOUBLE_EQ(trace.begin_s(), 10);
  const json events = written(trace);
  std::vector<json> complete;
  for (const json& event : events) {
    if (event.is_object() && event["ph"] == "X") complete.push_back(event);
  }
  ASSERT_EQ(complete.size(), 2U);
  EXPECT_EQ(complete[0]["pid"], 3);
  EXPECT_DOUBLE_EQ(complete[0]["ts"], 10e6);
  EXPECT_DOUBLE_EQ(complete[0]["dur"], 2e6);
  EXPECT_EQ(complete[0]["args"]["algorithm"], "ring");
  EXPECT_EQ(complete[0]["args"]["why"], "for the test");
  EXPECT_EQ(complete[0]["args"]["bytes"], 8);
  EXPECT_EQ(complete[1]["args"]["why"], "a \"reason\"");
  EXPECT_EQ(complete[1]["cat"], "native");
}

TEST(Trace, OverlappingCallsArePairs) {
  const Selection ring = parse_selection("allreduce/ring");
  Trace trace(10);
  for (const Mode mode : {Mode::nonblocking, Mode::persistent}) {
    Event event = served_by(ring, 8, 2);
    event.mode = mode;
    event.inside_s = 0.25;
    event.thread = 7;
    trace.add(event);
  }
  std::set<std::string> begun;
  std::set<std::string> ended;
  int starts = 0;
  for (const json& event : written(trace)) {
    if (!event.is_object() || event["ph"] == "M") continue;
    EXPECT_EQ(event["tid"], 7);
    if (event["ph"] == "X") {
      ++starts;
      EXPECT_DOUBLE_EQ(event["dur"], 0.25e6);
      continue;
    }
    (event["ph"] == "b" ? begun : ended).insert(event["id2"]["local"]);
    EXPECT_DOUBLE_EQ(event["ts"], event["ph"] == "b" ? 10e6 : 12e6);
  }
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(begun.size(), 2U);
  EXPECT_EQ(begun, ended);
}

TEST(Trace, DropsBeyondItsLimitAndSaysSo) {
  Trace trace(3);
  for (int i = 0; i < 5; ++i) trace.add(native(Collective::barrier, "a reason", i));
  EXPECT_EQ(trace.dropped(), 2);
  int kept = 0;
  bool labelled = false;
  for (const json& event : written(trace)) {
    if (!event.is_object()) continue;
    if (event["ph"] == "X") {
      EXPECT_EQ(event["args"]["bytes"], kept++);
    }
    labelled = labelled || event["name"] == "process_labels";
  }
  EXPECT_EQ(kept, 3);
  EXPECT_TRUE(labelled);
}

#ifndef CIRCOLL_SANITIZED
TEST(Recording, RepeatedCallsAllocateNothing) {
  const Selection pipeline = parse_selection("bcast/pipeline:segments=8");
  Ledger ledger;
  Trace trace;
  const auto record = [&](const Event& event) {
    ledger.add(event);
    trace.add(event);
  };
  const auto record_all = [&] {
    for (const Count bytes : {8, 9, 4096}) record(served_by(pipeline, bytes, 1));
    record(native(Collective::barrier, "a reason that is longer than what a string keeps in itself", 0));
  };
  record_all();
  const long before = test::allocations.load();
  for (int i = 0; i < 1000; ++i) record_all();
  EXPECT_EQ(test::allocations.load() - before, 0);
  EXPECT_GT(before, 0);
}
#endif

}  // namespace
}  // namespace circoll::interpose
