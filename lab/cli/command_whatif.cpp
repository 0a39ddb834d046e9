// circoll whatif: a recorded program, played with other algorithms, machines, numbers of ranks and loads.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "cli/lab_commands.hpp"
#include "facts/call_trace.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "sim/sim.hpp"
#include "whatif/answer.hpp"
#include "whatif/export.hpp"
#include "whatif/recording.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

struct WhatIfOptions {
  std::string trace;
  std::string machine;
  Rank ranks = 0;
  Rank cores = 0;
  bool balanced = false;
  std::vector<std::string> algorithms;
  std::vector<std::string> policies{"auto", "classic"};
  bool fit = true;
  std::string goal;    ///< a file to write; empty: none
  std::string chakra;  ///< likewise, the begin of their names
  bool json = false;
};

/// "allreduce=ring:segments=4", and "allreduce/ring", too.
Selection read_algorithm(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t slash = text.find('/');
  if (slash < equals) return parse_selection(text);
  if (equals == std::string::npos)
    misuse("--algorithm is COLLECTIVE=ALGORITHM, such as allreduce=ring, not '" + text + "'");
  return parse_selection(parse_collective(text.substr(0, equals)), text.substr(equals + 1));
}

std::string line_of(const whatif::Row& row, const whatif::Row* base) {
  std::string change;
  if (base != nullptr && base->times.run_s > 0) {
    const double percent = std::round((row.times.run_s / base->times.run_s - 1) * 1000) / 10;
    change = percent == 0 ? "0 %" : fmt::format("{:+.1f} %", percent);
  }
  return fmt::format("  {:<52}{:>10}{:>13}{:>11}{:>10}\n", row.what, readable_time(row.times.run_s),
                     readable_time(row.times.mean_in_collectives_s()), readable_time(row.times.mean_waiting_s()),
                     change);
}

std::string as_text(const whatif::Answer& answer, const trace::Trace& trace) {
  const trace::RunFacts& facts = trace.facts;
  std::string text =
      fmt::format("{} on {} ranks with {}: {} calls of collectives\n",
                  facts.program.empty() ? "a program" : facts.program, facts.ranks, facts.mpi, trace.calls());
  text += fmt::format("  {:<52}{:>10}{:>13}{:>11}{:>10}\n", "", "run", "collectives", "waiting", "change");
  text += line_of(answer.recorded, nullptr) + line_of(answer.today, nullptr);
  if (answer.asked) text += line_of(*answer.asked, nullptr);
  if (!answer.changes.empty()) text += "what if\n";
  for (const whatif::Row& row : answer.changes) text += line_of(row, &answer.base());
  text += "collectives and waiting are means of the ranks, and waiting is a part of collectives\n";
  for (const std::string& note : answer.notes) text += "note: " + note + "\n";
  return text + answer.verdict + "\n";
}

ordered_json as_json(const whatif::Row& row) {
  return {{"what", row.what},
          {"run_s", row.times.run_s},
          {"in_collectives_s", row.times.mean_in_collectives_s()},
          {"waiting_s", row.times.mean_waiting_s()},
          {"ranks", {{"in_collectives_s", row.times.in_collectives_s}, {"waiting_s", row.times.waiting_s}}}};
}

ordered_json as_json(const whatif::Answer& answer, const trace::Trace& trace) {
  ordered_json json = {{"circoll_whatif", 1},
                       {"program", trace.facts.program},
                       {"mpi", trace.facts.mpi},
                       {"ranks", trace.facts.ranks},
                       {"calls", trace.calls()},
                       {"recorded", as_json(answer.recorded)},
                       {"simulated", as_json(answer.today)}};
  if (answer.asked) json["asked"] = as_json(*answer.asked);
  json["changes"] = ordered_json::array();
  for (const whatif::Row& row : answer.changes) json["changes"].push_back(as_json(row));
  json["notes"] = answer.notes;
  json["verdict"] = answer.verdict;
  return json;
}

/// Writes to a file part by part. Throws std::runtime_error if that fails.
template <typename Write>
void write_parts(const std::string& path, const Write& write) {
  std::ofstream file(path, std::ios::binary);
  write([&](std::string_view part) {
    file << part;
    if (interrupted()) throw sim::Stopped{};
  });
  if (!file.flush()) throw std::runtime_error("the file '" + path + "' could not be written");
}

/// The program of the question, with what served it, in formats of other simulators.
void write_formats(const WhatIfOptions& o, const trace::Trace& trace, const whatif::Question& question) {
  if (o.goal.empty() && o.chakra.empty()) return;
  const Machine machine = question.machine.value_or(whatif::recorded_machine(trace));
  const whatif::Program program = whatif::program_of(trace, question);
  const whatif::Choose served = whatif::as_served(machine, program.mpi);
  if (!o.goal.empty()) {
    write_parts(o.goal, [&](const auto& sink) { whatif::write_goal(program, served, machine, sink); });
  }
  for (Rank rank = 0; !o.chakra.empty() && rank < program.ranks; ++rank) {
    write_parts(fmt::format("{}.{}.et", o.chakra, rank),
                [&](const auto& sink) { whatif::write_chakra(program, served, machine, rank, sink); });
  }
}

void run(const WhatIfOptions& o) {
  const Interruptible interruptible;
  const trace::Trace trace = whatif::read_recording(o.trace);
  whatif::Question question{
      .ranks = o.ranks, .cores = o.cores, .balanced = o.balanced, .policies = o.policies, .fit = o.fit};
  question.go_on = [] { return !interrupted(); };
  if (!o.machine.empty()) question.machine = measured::read_machine_file(o.machine);
  for (const std::string& algorithm : o.algorithms) question.algorithms.push_back(read_algorithm(algorithm));
  for (const std::string& policy : o.policies) measured::require_rules(policy);
  try {
    write_formats(o, trace, question);
    const whatif::Answer answer = whatif::answer(trace, question);
    print(o.json ? as_json(answer, trace).dump(2) + "\n" : as_text(answer, trace));
  } catch (const sim::Stopped&) {
    throw std::runtime_error("stopped before there was a result");
  }
}

}  // namespace

void add_whatif(CLI::App& app, Context& context) {
  (void)context;
  auto options = std::make_shared<WhatIfOptions>();
  WhatIfOptions& o = *options;
  CLI::App* command = app.add_subcommand(
      "whatif", "Play a recorded program with other algorithms, machines, numbers of ranks and loads");
  command->add_option("trace", o.trace, "A trace of CIRCOLL_TRACE=FILE.calls")->type_name("FILE")->required();
  command->add_option("--machine", o.machine, "Another machine: a machine file (circoll calibrate), leonardo or lumi")
      ->type_name("FILE");
  command->add_option("-p,--ranks", o.ranks, "More ranks, where rank r does what rank r mod p did (weak scaling)")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20U));
  command->add_option("--cores", o.cores, "Ranks on a node (default: as recorded)")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20U));
  command->add_flag("!--no-fit", o.fit,
                    "Take the recorded machine's prices as they are, and do not fit them to the times");
  command->add_flag("--balanced", o.balanced, "Each rank's time between calls is the mean of the ranks");
  command->add_option("--algorithm", o.algorithms, "COLLECTIVE=ALGORITHM[:param=value,...]: a change to try")
      ->type_name("CHOICE")
      ->allow_extra_args(false);
  command->add_option("--policy", o.policies, "Policies to try: auto, classic, openmpi_fixed, file:PATH")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--goal", o.goal, "Also write the program in GOAL, for LogGOPSim, ATLAHS and htsim")
      ->type_name("FILE");
  command->add_option("--chakra", o.chakra, "Also write PREFIX.0.et and so on, for ASTRA-sim")->type_name("PREFIX");
  command->add_flag("--json", o.json, "As JSON, with the times of each rank");
  command->footer(
      "Record with CIRCOLL_TRACE=run.calls mpirun ... circoll run -- ./program. docs/lab/simulator.md has the model.\n"
      "Examples:\n"
      "  circoll whatif run.calls\n"
      "  circoll whatif run.calls --algorithm allreduce=rabenseifner --policy auto\n"
      "  circoll whatif run.calls --machine leonardo -p 64 --cores 4\n"
      "  circoll whatif run.calls --balanced --json\n"
      "  circoll whatif run.calls --goal run.goal");
  command->callback([options] { run(*options); });
}

}  // namespace circoll::cli
