#include "whatif/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "select/machine.hpp"
#include "whatif/fit.hpp"

namespace circoll::whatif {
namespace {

/// Kinds of a collective by which its algorithms are compared: those that take most time.
constexpr std::size_t most_compared = 64;
/// A change that shortens the run by less does not pay.
constexpr double least_gain = 0.01;

struct WeightedKind {
  const Kind* kind = nullptr;
  double calls = 0;
  double base_s = 0;  ///< of one call
};

/// The kinds of a collective, those first that take most time.
std::vector<WeightedKind> kinds_of(Player& player, const Program& program, Collective collective, const Choose& base) {
  std::vector<double> calls(program.kinds.size(), 0.0);
  for (const Operation& operation : program.operations) calls[operation.kind] += 1;
  std::vector<WeightedKind> found;
  for (std::size_t i = 0; i < program.kinds.size(); ++i) {
    const Kind& kind = program.kinds[i];
    if (kind.p == 1 || !are_twins(kind.collective, collective)) continue;
    found.push_back({.kind = &kind, .calls = calls[i], .base_s = player.time_of(kind, base(kind))});
  }
  std::stable_sort(found.begin(), found.end(), [](const WeightedKind& a, const WeightedKind& b) {
    return a.calls * a.base_s > b.calls * b.base_s;
  });
  if (found.size() > most_compared) found.resize(most_compared);
  return found;
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

/// The gain of a row over another one, as a share of the run.
double gain(const Row& row, const Row& base) {
  return base.times.run_s > 0 ? 1 - row.times.run_s / base.times.run_s : 0;
}

std::string verdict_of(const Answer& answer, const Question& question) {
  std::string text;
  const Row& base = answer.base();
  if (answer.asked && question.ranks == 0) {
    const double change = gain(base, answer.today);
    text = fmt::format("{}: the run takes {} {} time. ", base.what, percent(std::abs(change)),
                       change < 0 ? "more" : "less");
  }
  const auto best = std::max_element(answer.changes.begin(), answer.changes.end(),
                                     [&](const Row& a, const Row& b) { return gain(a, base) < gain(b, base); });
  if (best == answer.changes.end() || gain(*best, base) < least_gain) {
    return text +
           fmt::format("No change pays: none shortens the run by 1 %; {} of it is in collectives",
                       percent(base.times.run_s > 0 ? base.times.mean_in_collectives_s() / base.times.run_s : 0));
  }
  return text + fmt::format("'{}' pays most: the run takes {} less time, {} in place of {}", best->what,
                            percent(gain(*best, base)), readable_time(best->times.run_s),
                            readable_time(base.times.run_s));
}

/// Facts that the numbers do not show.
std::vector<std::string> notes_of(const Answer& answer, const Program& program, const FittedMachine& fit,
                                  std::int64_t unknown) {
  std::vector<std::string> notes;
  if (fit.changes()) {
    std::vector<std::string> parts;
    if (fit.call_s != 0) parts.push_back(readable_time(fit.call_s) + " more for each call");
    if (fit.latency != 1) parts.push_back(fmt::format("rounds times {:.2f}", fit.latency));
    if (fit.bytes != 1) parts.push_back(fmt::format("bytes times {:.2f}", fit.bytes));
    notes.push_back(fmt::format("prices of machine '{}' fitted to the recorded times: {}", fit.machine.name,
                                fmt::join(parts, ", ")));
  }
  const double recorded_s = answer.recorded.times.mean_in_collectives_s() - answer.recorded.times.mean_waiting_s();
  const double played_s = answer.today.times.mean_in_collectives_s() - answer.today.times.mean_waiting_s();
  if (recorded_s > 0 && played_s > 0) {
    const double factor = played_s / recorded_s;
    notes.push_back(
        fmt::format("calibration: collectives without waiting take {:.2f} of the recorded time in the "
                    "simulator{}",
                    factor, factor < 0.5 || factor > 2 ? "; do not rely on the changes" : ""));
  }
  if (program.neighbors > 0)
    notes.push_back(fmt::format("{} calls among neighbours count as time between calls", program.neighbors));
  if (program.foreign > 0) {
    notes.push_back(
        fmt::format("{} calls on communicators with other programs count as time between calls", program.foreign));
  }
  if (program.overlaps > 0)
    notes.push_back(fmt::format("{} calls overlap in threads, and are played one after the other", program.overlaps));
  const bool nonblocking = std::any_of(program.programs.begin(), program.programs.end(), [](const RankProgram& rank) {
    return std::any_of(rank.entries.begin(), rank.entries.end(), [](const Entry& entry) { return !entry.blocks; });
  });
  if (nonblocking) notes.emplace_back("waiting for nonblocking calls counts as time between calls");
  if (unknown > 0)
    notes.push_back(
        fmt::format("{} kinds of calls had algorithms that do not exist here; they are played as native", unknown));
  return notes;
}

std::string name_of(const Question& question, const std::string& machine) {
  std::vector<std::string> parts;
  if (question.machine) parts.push_back("on " + machine);
  if (question.ranks > 0) parts.push_back(fmt::format("{} ranks", question.ranks));
  if (question.cores > 0) parts.push_back(fmt::format("{} on a node", question.cores));
  if (question.balanced) parts.emplace_back("load balanced");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<Selection> best_algorithm(Player& player, const Program& program, Collective collective,
                                        const Choose& base, const Machine& deciding) {
  const std::vector<WeightedKind> kinds = kinds_of(player, program, collective, base);
  double base_s = 0;
  for (const WeightedKind& one : kinds) base_s += one.calls * one.base_s;
  std::optional<Selection> best;
  double best_s = base_s * 0.995;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    const Selection selection{algorithm, collective, {}};
    const Choose choose = by_algorithm(selection, deciding, base);
    double time_s = 0;
    bool takes_part = false;
    for (const WeightedKind& one : kinds) {
      if (!unranked_because(*algorithm, one.kind->collective, one.kind->cores > 1).empty()) {
        time_s += one.calls * one.base_s;
        continue;
      }
      const Selection chosen = choose(*one.kind);
      takes_part = takes_part || chosen.algorithm == algorithm;
      time_s += one.calls * player.time_of(*one.kind, chosen);
      if (time_s >= best_s) break;
    }
    if (!takes_part || time_s >= best_s) continue;
    best = selection;
    best_s = time_s;
  }
  return best;
}

Machine recorded_machine(const trace::Trace& trace) {
  return trace.facts.machine.empty() ? default_machine()
                                     : machine_from_json(trace.facts.machine, "the machine in the trace");
}

Program program_of(const trace::Trace& trace, const Question& question) {
  Program program = program_of(trace, question.ranks > 0 ? question.ranks : trace.facts.ranks, question.cores);
  if (question.balanced) balance(program);
  return program;
}

Answer answer(const trace::Trace& trace, const Question& question) {
  Answer result;
  Program program = program_of(trace, trace.facts.ranks);
  std::set<Collective> collectives;
  for (const Kind& kind : program.kinds) collectives.insert(regular_of(kind.collective));
  const std::size_t rows = 3 + question.policies.size() + question.algorithms.size() + collectives.size();
  std::size_t done = 0;
  const auto row_is_done = [&] {
    if (question.at) question.at(static_cast<double>(++done) / static_cast<double>(rows));
  };
  const Machine before = recorded_machine(trace);
  result.recorded = {"recorded", program.recorded};
  std::int64_t unknown = 0;
  FittedMachine fit{.machine = before};
  if (question.fit) fit = fitted(program, before, as_served(before, program.mpi), question.go_on);
  Player today(fit.machine, question.go_on);
  today.set_call_time(fit.call_s);
  result.today = {"simulated, as it was served", today.play(program, as_served(before, program.mpi, &unknown))};
  result.notes = notes_of(result, program, fit, unknown);
  row_is_done();

  const Machine machine = question.machine.value_or(before);
  Player player(question.machine.value_or(fit.machine), question.go_on);
  if (!question.machine) player.set_call_time(fit.call_s);
  const Choose served = as_served(machine, program.mpi);
  program = program_of(trace, question);
  if (const std::string name = name_of(question, machine.name); !name.empty())
    result.asked = Row{name, player.play(program, served)};
  row_is_done();

  const auto change = [&](std::string what, const Choose& choose) {
    result.changes.push_back({std::move(what), player.play(program, choose)});
    row_is_done();
  };
  for (const std::string& policy : question.policies)
    change("policy " + policy, by_policy(policy, machine, program.mpi));
  for (const Selection& selection : question.algorithms) {
    change(fmt::format("{}/{}", to_string(selection.collective), selection.text()),
           by_algorithm(selection, machine, served));
  }
  for (const Collective collective : collectives) {
    if (const auto best = best_algorithm(player, program, collective, served, machine)) {
      change(fmt::format("{}/{} (the best one)", to_string(collective), best->text()),
             by_algorithm(*best, machine, served));
    } else {
      row_is_done();
    }
  }
  if (!question.balanced && program.ranks > 1) {
    Program balanced = program;
    balance(balanced);
    result.changes.push_back({"load balanced", player.play(balanced, served)});
  }
  row_is_done();
  result.verdict = verdict_of(result, question);
  return result;
}

}  // namespace circoll::whatif
