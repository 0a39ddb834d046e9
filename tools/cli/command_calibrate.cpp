// circoll calibrate makes a machine file from measured times, and compares measured medians with the model.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "commands.hpp"
#include "facts/median.hpp"
#include "facts/text.hpp"
#include "lab.hpp"
#include "measured/calibration.hpp"
#include "measured/file_kind.hpp"
#include "select/machine.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

struct CalibrateOptions {
  std::string measured;
  std::string output;
  std::string compare;
  std::string machine;
  SimulatedBy by;
  bool simulated = false;
};

/// A line whose error is usually larger than this says little.
constexpr double poor_error = 0.25;

std::string line_text(std::string_view name, const Line& line) {
  return fmt::format("{:<10} {:>10.4g} us {:>10.4g} ns/B  {} sizes, error {:.0f} % median, {:.0f} % largest{}\n", name,
                     line.intercept_s * 1e6, line.slope_s_per_byte * 1e9, line.samples, line.median_error * 100,
                     line.largest_error * 100,
                     line.median_error > poor_error ? ": poor; measure again while nothing else runs" : "");
}

std::string about(const Calibration& calibration, const Fit& fit) {
  return fmt::format("{}; median errors of the fit: exchange {:.0f} %, ping-pong {:.0f} %, reduction {:.0f} %",
                     calibration.about, fit.exchange.median_error * 100, fit.ping_pong.median_error * 100,
                     fit.reduction.median_error * 100);
}

std::string ways_text(const Fit& fit) {
  std::string text;
  for (std::size_t i = 0; i < fit.ways.size(); ++i) {
    const NodeWay& way = fit.machine.node_ways[i];
    text += line_text(way.name, fit.ways[i]) +
            fmt::format("           from {} bytes: overhead {:.4g} us, gamma {:.4g} ns/B\n", way.from_bytes,
                        way.overhead_s * 1e6, way.gamma_s_per_byte * 1e9);
  }
  if (fit.machine.crowded_s > 0) text += fmt::format("crowded    {:>10.4g} us\n", fit.machine.crowded_s * 1e6);
  return text;
}

/// The hosts that are slow, and how they get less to pass on.
std::string slow_hosts_text(const Calibration& calibration, const Machine& machine) {
  std::string text;
  for (const SlowHost& host : machine.slow_hosts) {
    text += fmt::format("slow host  {}: long messages take {:.2g} times as long as those of most hosts\n", host.name,
                        host.times);
  }
  const std::string topology = topology_of_slow(machine.slow_hosts, calibration.hosts);
  if (topology.empty()) return text;
  return text + "Such a host has less to pass on with CIRCOLL_TOPOLOGY=FILE, where FILE has these lines:\n" + topology;
}

void calibrate(const CalibrateOptions& options) {
  const std::string text = select::read_text_file(options.measured);
  const Calibration calibration = calibration_from_json(text, options.measured);
  const Fit fit = fit_machine(calibration);
  const std::string machine = to_json(fit.machine, about(calibration, fit));
  if (options.output.empty()) {
    print(machine);
    return;
  }
  std::ofstream file(options.output);
  if (!(file << machine) || !file.flush()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the file {} cannot be written", options.output));
  }
  print(line_text("exchange", fit.exchange) + line_text("ping_pong", fit.ping_pong) +
        line_text("reduction", fit.reduction) + (fit.node_exchange ? line_text("in a node", *fit.node_exchange) : "") +
        fmt::format("alpha {:.4g} us, beta {:.4g} ns/B, gamma {:.4g} ns/B, f_alpha {:.3g}, f_beta {:.3g} -> {}\n",
                    fit.machine.alpha_s * 1e6, fit.machine.beta_s_per_byte * 1e9, fit.machine.gamma_s_per_byte * 1e9,
                    fit.machine.f_alpha, fit.machine.f_beta, options.output) +
        (fit.node_exchange ? fmt::format("inside a node: alpha {:.4g} us, beta {:.4g} ns/B\n",
                                         fit.machine.node_alpha_s * 1e6, fit.machine.node_beta_s_per_byte * 1e9)
                           : "") +
        (fit.slow_exchange.from_bytes > 0
             ? fmt::format("exchanges of {} and more take {:.3g} times what this line says: "
                           "circoll simulate --exchange {:.3g}:{}\n",
                           readable_bytes(fit.slow_exchange.from_bytes), fit.slow_exchange.factor,
                           fit.slow_exchange.factor, fit.slow_exchange.from_bytes)
             : "") +
        ways_text(fit) + slow_hosts_text(calibration, fit.machine));
}

/// The rows of one call: a collective, p and a size.
struct Cell {
  double best_measured_s = 0;
  std::string best;
  double auto_s = 0;  ///< 0: not measured
  double best_predicted_s = 0;
  double predicted_choice_s = 0;  ///< the measured time of what the model likes best
};

std::map<std::string, Cell> cells_of(const std::vector<Comparison>& rows) {
  std::map<std::string, Cell> cells;
  for (const Comparison& row : rows) {
    if (row.served_by == "native") continue;
    Cell& cell = cells[fmt::format("{:<21} p = {:<4} {:>10} B", to_string(row.collective), row.p, row.bytes)];
    if (cell.best_measured_s == 0 || row.measured_s < cell.best_measured_s) {
      cell.best_measured_s = row.measured_s;
      cell.best = row.served_by;
    }
    if (row.algorithm == "auto") {
      cell.auto_s = row.measured_s;
      continue;
    }
    if (cell.predicted_choice_s == 0 || row.predicted_s < cell.best_predicted_s) {
      cell.best_predicted_s = row.predicted_s;
      cell.predicted_choice_s = row.measured_s;
    }
  }
  return cells;
}

/// "within 10 % of the best in 75 % of 40 cells, ..."
std::string shares(const std::map<std::string, Cell>& cells, double Cell::*time) {
  std::size_t all = 0;
  for (const auto& [name, cell] : cells) all += cell.*time > 0 ? 1U : 0U;
  if (all == 0) return "not measured";
  std::string text;
  for (const int percent : {10, 25, 50, 100}) {
    std::size_t within = 0;
    for (const auto& [name, cell] : cells) {
      within += cell.*time > 0 && cell.*time <= cell.best_measured_s * (1 + percent / 100.0) ? 1U : 0U;
    }
    text += fmt::format("{}within {} % in {:.0f} %", text.empty() ? "" : ", ", percent,
                        100.0 * static_cast<double>(within) / static_cast<double>(all));
  }
  return fmt::format("{} of {} cells", text, all);
}

/// Median errors, |predicted - measured| / measured, of the rows of each group.
std::string errors_of(const std::map<std::string, std::vector<double>>& groups) {
  std::string text;
  for (const auto& [name, all] : groups) {
    std::vector<double> errors = all;
    std::ranges::sort(errors);
    text += fmt::format("{:<40} {:>5} rows, error {:>4.0f} % median, {:>4.0f} % at the 90th percentile\n", name,
                        errors.size(), 100 * median_of_sorted(errors), 100 * errors[(errors.size() - 1) * 9 / 10]);
  }
  return text;
}

void compare(const CalibrateOptions& options) {
  const Machine machine = options.machine.empty() ? default_machine() : measured::read_machine_file(options.machine);
  std::vector<Comparison> rows = circoll::compare(select::read_text_file(options.compare), options.compare, machine);
  for (Comparison& row : rows) {
    if (options.simulated && row.served_by != "native") row.predicted_s = lab().simulated_s(row, machine, options.by);
  }
  print(fmt::format("machine {}\n{:<21} {:<40} {:>4} {:>10} {:>13} {:>13} {:>9}\n", machine.name, "collective",
                    "algorithm", "p", "bytes", "measured us", options.simulated ? "simulated us" : "predicted us",
                    "ratio"));
  std::vector<double> errors;
  std::map<std::string, std::vector<double>> by_collective;
  std::map<std::string, std::vector<double>> by_size;
  for (const Comparison& row : rows) {
    const std::string name = row.algorithm == "auto" ? "auto (" + row.served_by + ")" : row.served_by;
    std::string line = fmt::format("{:<21} {:<40} {:>4} {:>10} {:>13.2f}", to_string(row.collective), name, row.p,
                                   row.bytes, row.measured_s * 1e6);
    if (row.served_by != "native") {
      const double ratio = row.predicted_s / row.measured_s;
      line += fmt::format(" {:>13.2f} {:>9.2f}", row.predicted_s * 1e6, ratio);
      if (row.algorithm != "auto" && ratio > 0) {
        errors.push_back(std::max(ratio, 1 / ratio));
        by_collective[std::string(to_string(row.collective))].push_back(std::abs(ratio - 1));
        by_size[fmt::format("{:>10} B", row.bytes)].push_back(std::abs(ratio - 1));
        by_size["all"].push_back(std::abs(ratio - 1));
      }
    }
    print(line + "\n");
  }
  std::ranges::sort(errors);
  const auto cells = cells_of(rows);
  std::string text = "\nbest measured of Circoll, and auto, per cell\n";
  for (const auto& [name, cell] : cells) {
    text += fmt::format("{}  best {:>10.2f} us {:<34}", name, cell.best_measured_s * 1e6, cell.best);
    text += cell.auto_s > 0 ? fmt::format(" auto {:>10.2f} us, {:+.0f} %\n", cell.auto_s * 1e6,
                                          100 * (cell.auto_s / cell.best_measured_s - 1))
                            : std::string("\n");
  }
  text += "\n" + errors_of(by_collective) + errors_of(by_size);
  text += fmt::format(
      "\npredicted and measured differ by a factor of {:.2f} median, {:.2f} at the 90th percentile, {} rows\n",
      median_of_sorted(errors), errors.empty() ? 0.0 : errors[errors.size() * 9 / 10], errors.size());
  text += "auto, as measured: " + shares(cells, &Cell::auto_s) + "\n";
  text +=
      "the algorithm that this machine predicts best, as measured: " + shares(cells, &Cell::predicted_choice_s) + "\n";
  print(text);
}

}  // namespace

void add_calibrate(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command =
      app.add_subcommand("calibrate", "Make a machine file from measurements; compare measurements with the model");
  command->add_option("measured", options->measured, "The file that circoll bench --calibrate wrote")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output,
                      "Write the machine file here, and the quality of the fit to stdout");
  command->add_option("--compare", options->compare,
                      "A file that circoll bench --json wrote: measured against predicted");
  command->add_option("--machine", options->machine, "Machine file for --compare (default: the default machine)");
  const bool simulator = lab().simulated_s != nullptr;
  if (simulator) {
    command->add_flag("--simulated", options->simulated,
                      "For --compare: times of circoll simulate, a rank on each node, instead of the model's");
    command
        ->add_option("--exchange", options->by.exchange,
                     "For --simulated: exchanged messages of so many bytes and more take FACTOR times as long per byte")
        ->type_name("FACTOR:BYTES");
    command->add_flag("--shared", options->by.shared,
                      "For --simulated: messages under way at the same time share a port, in place of taking turns");
  }
  command->footer(
      "Examples:\n"
      "  circoll calibrate measured.json -o machine.json    # after: mpirun -np 2 circoll bench --calibrate "
      "measured.json\n"
      "  circoll calibrate --compare bench.json --machine machine.json\n" +
      std::string(simulator ? "  circoll calibrate --compare bench.json --machine machine.json --simulated\n" : "") +
      "docs/admin/calibration.md says what is measured and how it is fitted.");
  command->callback([options] {
    if (options->compare.empty() == options->measured.empty()) {
      throw Error(ErrorCode::invalid_argument, "calibrate needs either a file of measurements, or --compare");
    }
    if (options->simulated && options->compare.empty()) misuse("--simulated is for --compare");
    if ((!options->by.exchange.empty() || options->by.shared) && !options->simulated)
      misuse("--exchange and --shared are for --simulated");
    if (options->compare.empty()) {
      calibrate(*options);
    } else {
      compare(*options);
    }
  });
}

}  // namespace circoll::cli
