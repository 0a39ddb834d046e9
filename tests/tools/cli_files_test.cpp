// Files of schedules in place of ids, and schedules in the formats of other tools, on the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/command.hpp"

namespace circoll {
namespace {

using nlohmann::json;

/// A file that holds the output of a command, or a text.
class File {
 public:
  explicit File(const std::string& name) : path_(testing::TempDir() + "circoll_files_" + name) {}
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const File& of(const std::string& arguments) const {
    const CommandResult outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    return with(outcome.out);
  }
  const File& with(const std::string& text) const {
    std::ofstream(path_) << text;
    return *this;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CliFiles, AreVerifiedLikeAlgorithms) {
  const File file("ring.txt");
  for (const char* const form : {"text", "json"}) {
    file.of(std::string("show allreduce/ring -p 4 --format ") + form);
    const CommandResult outcome = run("verify " + file.path());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "proven")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "6 rounds, 24 messages; at most, in blocks: 6 sent, 6 received, 3 combined"))
        << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "for commutative operators; same bits on all ranks: yes")) << outcome.out;
  }
  EXPECT_TRUE(
      contains(run("verify " + file.of("show allreduce/recursive_doubling -p 5").path()).out, "for all associative"));
  EXPECT_TRUE(contains(run("verify " + file.of("show allreduce/circulant_idempotent -p 5").path()).out, "idempotent"));
  // One block is taken for another. The verifier finds that, with rank and step.
  std::string text = run("show allgather/ring -p 3").out;
  const std::size_t at = text.find("send -> 1: recv[2+1]");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 20, "send -> 1: recv[0+1]");
  const CommandResult wrong = run("verify " + file.with(text).path() + " --json");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_FALSE(json::parse(wrong.out).at(0).at("proven").get<bool>());
}

TEST(CliFiles, AreAnalysedAndSimulatedLikeAlgorithms) {
  const File file("circulant.txt");
  file.of("show allreduce/circulant_optimal -p 8");
  const std::string failures = "--failed 3 --json";
  EXPECT_EQ(json::parse(run("faults " + file.path() + " " + failures).out).at("failures"),
            json::parse(run("faults allreduce/circulant_optimal -p 8 " + failures).out).at("failures"));
  EXPECT_EQ(run("faults " + file.path() + " --repair").exit_code, 0);
  const json from_file = json::parse(run("simulate " + file.path() + " --bytes 64Ki --json").out);
  const json by_id = json::parse(run("simulate allreduce/circulant_optimal -p 8 --bytes 64Ki --json").out);
  EXPECT_EQ(from_file.at("time_s"), by_id.at("time_s"));
  EXPECT_EQ(from_file.at("messages"), by_id.at("messages"));
}

TEST(CliFiles, ArePricedLikeAlgorithms) {
  const File file("priced.txt");
  for (const char* const id : {"allreduce/rabenseifner", "bcast/binomial", "allgather/bruck", "alltoall/pairwise"}) {
    file.of(std::string("show ") + id + " -p 6");
    const json from_file = json::parse(run("cost " + file.path() + " --bytes 60Ki --json").out);
    const json by_id = json::parse(run(std::string("cost ") + id + " -p 6 --bytes 60Ki --json").out);
    EXPECT_EQ(from_file.at("terms"), by_id.at("terms")) << id;
    EXPECT_EQ(from_file.at("time_s"), by_id.at("time_s")) << id;
    EXPECT_EQ(from_file.at("p"), 6);
  }
  EXPECT_TRUE(contains(run("cost " + file.path()).out, "alltoall/pairwise  p = 6")) << file.path();
  EXPECT_EQ(run("cost " + file.path() + " --sizes 2>&1").exit_code, 2);
}

TEST(CliFiles, AreExecutedLikeAlgorithms) {
  const File file("executed.json");
  for (const char* const words :
       {"allreduce/ring -p 5", "allreduce/circulant -p 6 --in-place", "reduce_scatter/ring -p 4",
        "alltoallv/pairwise -p 3", "gatherv/binomial -p 5 --root 3", "bcast/circulant_pipelined -p 4 -n 3",
        "barrier/dissemination -p 5"}) {
    file.of(std::string("show ") + words + " --format json");
    for (const char* const mode : {"", " --threads"}) {
      const CommandResult outcome = run("execute " + file.path() + " -n 37 --type int32 --json" + mode);
      EXPECT_EQ(outcome.exit_code, 0) << words << outcome.out;
      EXPECT_TRUE(json::parse(outcome.out).at("correct").get<bool>()) << words;
    }
  }
  EXPECT_EQ(run("execute " + file.of("show allgatherv/ring -p 3").path() + " --counts 5,0,7").exit_code, 0);
  EXPECT_EQ(run("execute " + file.path() + " -p 3 2>&1").exit_code, 2);
  file.of("show allreduce/circulant_idempotent -p 5");
  EXPECT_EQ(run("execute " + file.path() + " -o max").exit_code, 0);
  const CommandResult sum = run("execute " + file.path() + " -o sum 2>&1");
  EXPECT_EQ(sum.exit_code, 2);
  EXPECT_TRUE(contains(sum.out, "for idempotent operators only")) << sum.out;
}

TEST(CliFiles, AreRankedBesideTheRegistry) {
  const File file("ranked.json");
  file.of("show bcast/binomial -p 6 --root 2 --format json");
  const json table = json::parse(run("simulate bcast " + file.path() + " --bytes 8,64Ki --json").out);
  ASSERT_EQ(table.at("rows").size(), 2U);
  for (const json& row : table.at("rows")) {
    EXPECT_EQ(row.at("p"), 6);
    double own = -1, binomial = -2;
    for (const json& time : row.at("times")) {
      if (time.at("id") == "bcast/file:" + file.path()) own = time.at("time_s").get<double>();
      if (time.at("id") == "bcast/binomial") binomial = time.at("time_s").get<double>();
    }
    EXPECT_EQ(own, binomial);
  }
  const json two = json::parse(run("simulate bcast/linear " + file.path() + " --json").out);
  EXPECT_EQ(two.at("rows").at(0).at("times").size(), 2U);
  for (const char* const wrong : {"simulate bcast {} -p 5", "simulate reduce {}", "simulate bcast /no/such/file"}) {
    std::string command = wrong;
    if (const std::size_t at = command.find("{}"); at != std::string::npos) command.replace(at, 2, file.path());
    EXPECT_EQ(run(command + " 2>&1").exit_code, 2) << command;
  }
}

TEST(CliFiles, AreExplainedAsTheDropInUsesThem) {
  const File file("explained.json");
  const std::string word = "file:" + file.of("show allreduce/ring -p 4 --format json").path();
  const auto choice = [&](const std::string& call) {
    return json::parse(run("explain allreduce --bytes 1Ki --json --policy model --algorithm " + word + " " + call).out);
  };
  EXPECT_EQ(choice("-p 4").at("choice"), "allreduce/" + word);
  const json five = choice("-p 5");
  EXPECT_FALSE(contains(five.at("choice").get<std::string>(), word));
  EXPECT_TRUE(five.at("reason").get<std::string>().starts_with("allreduce/" + word + ": is for 4 ranks; ")) << five;
  EXPECT_TRUE(
      contains(choice("-p 4 --noncommutative").at("reason").get<std::string>(), "needs a commutative operator"));
  EXPECT_TRUE(contains(run("explain allreduce -p 6 --algorithm recursive_doubling").out, "chosen by name"));
  for (const char* const command : {"verify", "cost", "show", "execute", "faults"}) {
    EXPECT_EQ(run(std::string(command) + " " + word).exit_code, 0) << command;
  }
}

TEST(CliFiles, AreProvenBeforeTheyAreUsed) {
  const File file("refuted.txt");
  std::string text = run("show allgather/ring -p 3").out;
  const std::size_t at = text.find("send -> 1: recv[2+1]");
  ASSERT_NE(at, std::string::npos) << text;
  file.with(text.replace(at, 20, "send -> 1: recv[0+1]"));
  for (const char* const command : {"cost ", "simulate ", "faults ", "execute "}) {
    const CommandResult outcome = run(command + file.path() + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 1) << command << outcome.out;
    EXPECT_TRUE(contains(outcome.out, file.path() + ": it is wrong")) << command << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "matching: the send of rank 0, step")) << command << outcome.out;
  }
  EXPECT_EQ(run("show " + file.path() + " --format svg").exit_code, 0);
}

TEST(CliFiles, OfOtherCallsAreRefused) {
  const File file("wrong.txt");
  const auto refused = [&](const std::string& text, const std::string& why) {
    for (const char* const command : {"verify ", "faults ", "simulate ", "cost ", "execute ", "show "}) {
      const CommandResult outcome = run(command + file.with(text).path() + " 2>&1");
      EXPECT_EQ(outcome.exit_code, 2) << command << outcome.out;
      EXPECT_TRUE(contains(outcome.out, why)) << command << outcome.out;
      EXPECT_TRUE(contains(outcome.out, file.path())) << command << outcome.out;
    }
  };
  const std::string good = run("show allreduce/ring -p 3").out;
  refused("", "there is no schedule in it");
  refused("nonsense", "line 1");
  refused(run("show allreduce/ring -p 3 --rank 0").out, "rank 0 of 3");
  refused(good + run("show allreduce/ring -p 3 --rank 0").out, "where rank 0 of 4 is expected");
  refused(run("show allreduce/ring -p 2 --rank 0").out + run("show allreduce/circulant -p 2 --rank 1").out,
          "another call");
  std::string wider = good;
  const std::size_t at = wider.find("buffer recv: 3 slots");
  ASSERT_NE(at, std::string::npos);
  wider.replace(at, 20, "buffer recv: 4 slots");
  refused(wider, "buffers send and recv");
  EXPECT_EQ(run("faults " + file.with(good).path() + " -p 3 2>&1").exit_code, 2);
  EXPECT_EQ(run("simulate " + file.path() + " -p 3 2>&1").exit_code, 2);
  EXPECT_EQ(run("cost " + file.path() + " -p 3 2>&1").exit_code, 2);
  EXPECT_EQ(run("show " + file.path() + " -p 3 2>&1").exit_code, 2);
  EXPECT_EQ(run("verify " + file.path() + " allreduce/ring 2>&1").exit_code, 2);
}

TEST(CliFiles, MakeOptionsMeaninglessWhichAreRefused) {
  const File file("alone.txt");
  file.of("show bcast/binomial -p 4");
  const auto refused = [&](const std::string& command, const std::string& options, const std::string& named) {
    const CommandResult outcome = run(command + " " + file.path() + " " + options + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << command << options << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "a file of schedules has its own ranks, root and segments; leave out " + named))
        << command << options << outcome.out;
  };
  for (const char* const command : {"verify", "show", "cost", "execute", "simulate", "faults"}) {
    refused(command, "-p 4", "--ranks");
    refused(command, "--root 0", "--root");
  }
  for (const char* const command : {"verify", "show", "execute"}) refused(command, "--segments 2", "--segments");
  for (const char* const command : {"show", "execute", "faults"}) refused(command, "--in-place", "--in-place");
  for (const char* const option :
       {"--bytes 8", "--jobs 1", "--in-place-up-to 3", "--on-arrival", "--symmetric", "--all-ranks", "--shard 1/2"}) {
    refused("verify", option, std::string(option).substr(0, std::string_view(option).find(' ')));
  }
  refused("show", "--bytes 8", "--bytes");
  EXPECT_EQ(run("show " + file.path() + " --bytes 8 --format goal").exit_code, 0);
  EXPECT_EQ(run("verify " + file.path() + " --json").exit_code, 0);
}

TEST(CliFiles, WithAWrongStepNameItsRankAndLine) {
  const File file("step.txt");
  for (const char* const form : {"text", "json"}) {
    std::string text = run("show allreduce/ring -p 3 --format " + std::string(form)).out;
    const std::string send = form == std::string("text") ? "send -> 2:" : "\"send\", \"round\": 0, \"peer\": 2";
    const std::size_t at = text.find(send);  // the first one is rank 1's
    ASSERT_NE(at, std::string::npos) << text;
    const std::size_t digit = text.find('2', at);
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    for (const auto& [peer, why] : {std::pair('1', "the peer is its own rank"), std::pair('9', "no peer 9")}) {
      text[digit] = peer;
      const CommandResult outcome = run("verify " + file.with(text).path() + " 2>&1");
      EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
      EXPECT_TRUE(contains(outcome.out, file.path() + ": schedule of rank 1, step ")) << outcome.out;
      EXPECT_TRUE(contains(outcome.out, " (line " + std::to_string(line) + "): " + why)) << outcome.out;
    }
  }
}

/// A file that Circoll writes, as short as it can be recognised.
struct Written {
  const char* text;
  const char* kind;  ///< in messages
  const char* use;   ///< by which command
};
constexpr Written written[] = {
    {R"({"circoll_report": 1, "rows": []})", "a report of a program (CIRCOLL_REPORT)", "'circoll tune --for FILE'"},
    {"{\"circoll_report\":1}\n{\"circoll_report\":1}\n", "a list of reports", "'circoll report FILE'"},
    {R"({"circoll_report_sum": 1})", "a sum of circoll report --json", "no command"},
    {R"({"otherData": {"circoll_trace": 1}, "traceEvents": []})", "a trace (CIRCOLL_TRACE)", "perfetto"},
    {"circoll-calls 1\n", "a trace of calls (CIRCOLL_TRACE)", "'circoll whatif FILE'"},
    {R"({"circoll_comparison": 1})", "a comparison of circoll compare --json", "no command"},
    {R"({"type": "byte", "rows": [{"p": 2}]})", "a measurement of circoll-bench;", "'circoll tune FILE'"},
    {R"({"launches": 3, "setting": "", "rows": []})", "a table of circoll merge --json", "no command"},
    {R"({"circoll_calibration": 1})", "a calibration of circoll-bench", "'circoll calibrate FILE "},
    {R"({"circoll_machine": 1})", "a description of a machine", "--machine FILE'"},
    {R"({"circoll_rules": 1, "bcast": []})", "a file of Circoll's rules", "'circoll export FILE "},
    {R"({"circoll_cells": 1})", "a list of cells to measure", "'circoll bench --cells FILE'"},
    {R"({"circoll_shard": 1, "command": "verify"})", "a shard of circoll verify", "'circoll merge FILES'"},
    {R"({"circoll_shard": 1, "command": "tune --for"})", "a shard of circoll tune --for",
     "'circoll merge FILES' puts all"},
    {R"({"circoll_topology": 1})", "a description of a network", "'circoll simulate --topology FILE'"},
    {R"([{"format": "circoll-schedule"}])", "a file of schedules", "'circoll verify FILE'"},
    {"circoll-schedule 1\n", "a file of schedules", "'circoll verify FILE'"},
    {R"({"circoll_doctor": 1})", "an answer of circoll doctor --json", "no command"},
};

/// A command that reads a file, and the kinds that it reads, by their first words.
struct FileReader {
  const char* command;  ///< without the file at its end
  std::vector<std::string> reads;
};

TEST(CliFiles, OfAnotherKindAreNamedWithTheirCommand) {
  const std::vector<FileReader> readers{
      {"tune ", {"a measurement"}},
      {"tune --for ", {"a report"}},
      {"whatif ", {"a trace of calls"}},
      {"report ", {"a report", "a list of reports"}},
      {"merge ", {"a measurement", "a shard"}},
      {"guidelines ", {"a measurement"}},
      {"calibrate ", {"a calibration"}},
      {"calibrate --compare ", {"a measurement"}},
      {"cost allreduce -p 4 --machine ", {"a description of a machine"}},
      {"explain allreduce -p 4 --machine ", {"a description of a machine"}},
      {"explain allreduce -p 4 --policy file:", {"a file of Circoll's rules"}},
      {"export --for openmpi-4.1 ", {"a file of Circoll's rules"}},
      {"lint --for openmpi-4.1 ", {}},
      {"verify ", {"a file of schedules"}},
      {"execute ", {"a file of schedules"}},
      {"simulate bcast -p 4 --topology ", {"a description of a network"}},
  };
  const File file("kind.json");
  for (const FileReader& reader : readers) {
    for (const Written& one : written) {
      const CommandResult outcome = run(reader.command + file.with(one.text).path() + " 2>&1");
      const bool reads = std::any_of(reader.reads.begin(), reader.reads.end(), [&](const std::string& kind) {
        return std::string_view(one.kind).starts_with(kind);
      });
      const std::string said = file.path() + ": this is " + one.kind;
      EXPECT_EQ(contains(outcome.out, said), !reads) << reader.command << outcome.out;
      if (reads) continue;
      EXPECT_EQ(outcome.exit_code, 2) << reader.command << outcome.out;
      std::string use = one.use;
      if (const std::size_t at = use.find("FILE"); at != std::string::npos && !use.starts_with("'circoll merge"))
        use.replace(at, 4, file.path());
      EXPECT_TRUE(contains(outcome.out, use)) << reader.command << outcome.out;
    }
  }
}

/// A report of some calls, on one line.
std::string report_of(int ranks, const char* served_by, int calls, double seconds, const char* mode = "blocking") {
  const bool native = std::string_view(served_by) == "native";
  const json row{{"comm_size", ranks},
                 {"mode", mode},
                 {"collective", "reduce_scatter_block"},
                 {"served_by", served_by},
                 {"why_native", native ? json(std::string(200, 'y')) : json(nullptr)},
                 {"calls", calls},
                 {"bytes", 0},
                 {"mean_s", seconds},
                 {"mean_inside_s", seconds},
                 {"histogram", json::array()}};
  return json{{"circoll_report", 1}, {"mpi", "Open MPI v4.1.4"},           {"ranks", ranks},
              {"calls", calls},      {"native_calls", native ? calls : 0}, {"program", {{"mean_s", 20.0}}},
              {"rows", {row}}}
      .dump();
}

TEST(CliFiles, LongNamesOfACollectiveHaveALineInAComparison) {
  const File first("without.json"), second("with.json");
  first.with(report_of(100000, "native", 20, 3, "nonblocking"));
  second.with(report_of(100000, "native", 20, 2, "nonblocking"));
  const CommandResult shown = run("compare --plot " + first.path() + " " + second.path());
  EXPECT_EQ(shown.exit_code, 0) << shown.out;
  std::istringstream lines(shown.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_TRUE(
      contains(shown.out, "\n  nonblocking reduce_scatter_block, 100000 ranks\n" + std::string(38, ' ') + "20 "));
  EXPECT_TRUE(contains(shown.out, "  native\n")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "; one pair says so.\n")) << shown.out;
}

TEST(CliFiles, ReportsOfManyJobsAreOneTable) {
  const std::string directory = testing::TempDir() + "circoll_files_reports";
  std::filesystem::remove_all(directory);
  EXPECT_EQ(run("report " + directory + " 2>/dev/null").exit_code, 2) << "there is no such directory";
  std::filesystem::create_directory(directory);
  const CommandResult empty = run("report " + directory);
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_TRUE(contains(empty.out, "no reports; CIRCOLL_REPORT=DIRECTORY/%j.json")) << empty.out;
  std::ofstream(directory + "/1.json") << report_of(4, "circulant_pipelined", 75, 3);
  std::ofstream(directory + "/all.jsonl") << report_of(8, "native", 20, 1) << "\n"
                                          << report_of(8, "native", 5, 1) << "\n";
  std::ofstream(directory + "/trace.json") << R"({"otherData": {"circoll_trace": 1}, "traceEvents": []})";
  std::ofstream(directory + "/note.txt") << "not read";
  const CommandResult table = run("report " + directory + " 2>&1 >/dev/null");
  EXPECT_EQ(table.out, "circoll: left out: " + directory + "/trace.json: this is a trace (CIRCOLL_TRACE); " +
                           "https://ui.perfetto.dev shows it\n");
  const CommandResult shown = run("report " + directory + " 2>/dev/null");
  EXPECT_EQ(shown.exit_code, 0) << shown.out;
  std::istringstream lines(shown.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_TRUE(shown.out.starts_with("3 jobs of 4 to 8 ranks: Open MPI v4.1.4\n")) << shown.out;
  EXPECT_TRUE(contains(
      shown.out, "\nreduce_scatter_block       3           100   75.0 %       5 s  100.0 %  circulant_pipelined\n"))
      << shown.out;
  EXPECT_TRUE(contains(shown.out, "\n           25      2  yyy")) << shown.out;
  EXPECT_TRUE(
      shown.out.ends_with("\nCollectives took 5 s, 8.3 % of the programs' time.\n"
                          "Circoll served 75.0 % of 100 collective calls.\n"))
      << shown.out;
  const json sum = json::parse(run("report --json " + directory + " 2>/dev/null").out);
  EXPECT_EQ(sum.at("jobs"), 3);
  EXPECT_EQ(sum.at("native_calls"), 25);
  EXPECT_EQ(sum.at("reasons").at(0).at("reason"), std::string(200, 'y'));
  EXPECT_EQ(sum.at("left_out").size(), 1U);
  EXPECT_EQ(run("report " + directory + "/trace.json 2>/dev/null").exit_code, 2) << "a file that is named is read";
  std::filesystem::remove_all(directory);
}

TEST(CliFiles, OfMscclAreProvenPricedPlayedAndExecuted) {
  const File file("bruck.xml");
  file.of("show allreduce/rabenseifner -p 6 --format msccl");
  EXPECT_EQ(content(file.path()).rfind("<algo name=\"allreduce/rabenseifner\"", 0), 0U);
  const CommandResult verified = run("verify " + file.path());
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  EXPECT_TRUE(contains(verified.out, "allreduce/rabenseifner")) << verified.out;
  EXPECT_TRUE(contains(verified.out, "for commutative operators; same bits on all ranks: yes")) << verified.out;
  for (const char* const command : {"cost ", "simulate ", "faults ", "execute --threads ", "show --format svg "})
    EXPECT_EQ(run(command + file.path() + " > /dev/null").exit_code, 0) << command;
  const CommandResult executed = run("execute " + file.path() + " -n 37 --type int32 --json");
  EXPECT_TRUE(json::parse(executed.out).at("correct").get<bool>()) << executed.out;

  // An error is told with its line, rank and step.
  std::string text = content(file.path());
  const std::size_t at = text.find("type=\"rrc\"");
  ASSERT_NE(at, std::string::npos) << text;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  file.with(text.replace(at, 10, "type=\"r\""));
  const CommandResult wrong = run("verify " + file.path());
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_TRUE(contains(wrong.out, "REFUTED")) << wrong.out;
  const CommandResult used = run("cost " + file.path() + " 2>&1");
  EXPECT_EQ(used.exit_code, 1) << used.out;
  EXPECT_TRUE(contains(used.out, file.path() + ": it is wrong")) << used.out;
  file.with(text.replace(at, 8, "type=\"x\""));
  const CommandResult unread = run("verify " + file.path() + " 2>&1");
  EXPECT_EQ(unread.exit_code, 2) << unread.out;
  EXPECT_TRUE(contains(unread.out, file.path() + ": line " + std::to_string(line) + ": type=\"x\"")) << unread.out;
  EXPECT_EQ(run("show bcast/binomial -p 4 --format msccl 2>&1").exit_code, 2);
}

TEST(CliFiles, AreWrittenForOtherTools) {
  const CommandResult goal = run("show allreduce/recursive_doubling -p 4 --bytes 8 --format goal");
  EXPECT_EQ(goal.exit_code, 0);
  EXPECT_EQ(goal.out.rfind("num_ranks 4\n\nrank 0 {\n", 0), 0U) << goal.out;
  EXPECT_TRUE(contains(goal.out, "send 8b to 1 tag 0")) << goal.out;
  EXPECT_EQ(run("show allreduce/ring -p 4 --format goal 2>&1").exit_code, 2);
  EXPECT_EQ(run("show allreduce/ring -p 4 --format goal --bytes 8 --rank 1 2>&1").exit_code, 2);
  const std::string prefix = testing::TempDir() + "circoll_files_trace";
  EXPECT_EQ(run("show allreduce/ring -p 2 --format chakra --bytes 8 --output " + prefix).exit_code, 0);
  for (const char* const end : {".0.et", ".1.et"}) {
    EXPECT_EQ(content(prefix + end).substr(0, 8),
              "\x07\x0a\x05"
              "1.0.0")
        << end;
    std::remove((prefix + end).c_str());
  }
  EXPECT_EQ(run("show allreduce/ring -p 2 --format chakra --bytes 8 2>&1").exit_code, 2);
  EXPECT_EQ(run("show allreduce/ring -p 2 --output " + prefix + " 2>&1").exit_code, 2);
  const CommandResult dot = run("show bcast/binomial -p 4 --format dot");
  EXPECT_EQ(dot.out.rfind("digraph \"bcast/binomial, p = 4\" {", 0), 0U) << dot.out;
}

TEST(CliFiles, RecordsOfBitsAreCompared) {
  namespace fs = std::filesystem;
  const std::string work = testing::TempDir() + "circoll_files_bits";
  const auto write = [&](const std::string& name, const std::string& result) {
    fs::create_directories(work + "/" + name);
    std::ofstream(work + "/" + name + "/rank-0.bits")
        << "circoll_bits 1 rank 0 of 1\ncomm 0 1.0 1 0\nsite 0 main\n"
        << "call 0 1 0 allreduce float64 sum 8 -1 a " << result << " ring\nend 1 unseen 0\n";
  };
  write("one", "b");
  write("two", "b");
  write("three", "c");
  const std::string compare = "bits-compare " + work + "/one " + work + "/";
  const CommandResult same = run(compare + "two");
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_TRUE(contains(same.out, "Verdict: no collective changes bits: 1 call on 1 rank, 2 runs.")) << same.out;
  const CommandResult other = run(compare + "three --json");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(json::parse(other.out).at("kinds").at(0).at("changed"), 1);
  const CommandResult none = run(compare + "nothing 2>&1");
  EXPECT_EQ(none.exit_code, 2);
  fs::remove_all(work);
}

}  // namespace
}  // namespace circoll
