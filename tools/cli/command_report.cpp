// circoll report: the reports of many jobs as one table.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"
#include "measured/report_sum.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines = 10;   ///< of a table; JSON has all
constexpr std::size_t most_reason = 80;  ///< characters

struct ReportOptions {
  std::vector<std::string> paths;
  bool json = false;
};

struct ReadReports {
  std::vector<ProgramReport> reports;
  std::vector<std::string> left_out;  ///< why files of directories are none of them
};

/// The files of a directory that may be reports. Those of spawned processes end in a number.
std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.find(".json") != std::string::npos) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void add_to(ReadReports& all, std::vector<ProgramReport> reports) {
  std::move(reports.begin(), reports.end(), std::back_inserter(all.reports));
}

ReadReports read_all(const std::vector<std::string>& paths) {
  ReadReports all;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      add_to(all, read_reports(path));
      continue;
    }
    for (const std::string& file : files_in(path)) {
      try {
        add_to(all, read_reports(file));
      } catch (const Error& error) {
        all.left_out.emplace_back(error.what());
      }
    }
  }
  return all;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "- %";
}

std::string calls_percent(std::int64_t native, std::int64_t calls) {
  return percent(static_cast<double>(calls) - static_cast<double>(native), static_cast<double>(calls));
}

std::string counted(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string head(const ReportSum& sum) {
  std::string text = counted(static_cast<std::size_t>(sum.jobs), "job") + " of ";
  text += sum.least_ranks == sum.most_ranks ? fmt::format("{} ranks", sum.most_ranks)
                                            : fmt::format("{} to {} ranks", sum.least_ranks, sum.most_ranks);
  std::string separator = ": ";
  for (const auto& [mpi, jobs] : sum.mpis) {
    text += separator + (sum.mpis.size() == 1 ? mpi : fmt::format("{} ({})", mpi, jobs));
    separator = ", ";
  }
  return shortened(text, 100) + "\n";
}

std::string as_text(const ReportSum& sum) {
  if (sum.jobs == 0) return "no reports; CIRCOLL_REPORT=DIRECTORY/%j.json writes one for each job\n";
  std::string text = head(sum);
  text += fmt::format("\n{:<21} {:>6} {:>13} {:>8} {:>9} {:>8}  {}\n", "collective", "jobs", "calls", "served", "time",
                      "share", "mostly by");
  const std::size_t shown = std::min(most_lines, sum.collectives.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const CollectiveSum& one = sum.collectives[i];
    text += fmt::format("{:<21} {:>6} {:>13} {:>8} {:>9} {:>8}  {}\n", to_string(one.collective), one.jobs, one.calls,
                        calls_percent(one.native_calls, one.calls), readable_time(one.seconds),
                        percent(one.seconds, sum.collectives_s), shortened(one.mostly, 26));
  }
  if (shown < sum.collectives.size()) text += fmt::format("and {} more\n", sum.collectives.size() - shown);
  if (!sum.reasons.empty()) {
    text += fmt::format("\n{:>13} {:>6}  {}\n", "native calls", "jobs", "reason");
    const std::size_t reasons = std::min(most_lines, sum.reasons.size());
    for (std::size_t i = 0; i < reasons; ++i) {
      const ReasonSum& one = sum.reasons[i];
      text += fmt::format("{:>13} {:>6}  {}\n", one.calls, one.jobs, shortened(one.reason, most_reason - 5));
    }
    if (reasons < sum.reasons.size()) text += fmt::format("and {} more\n", sum.reasons.size() - reasons);
  }
  text += "\ntime, share: measured inside collectives, mean over the ranks of a job, added up over the jobs\n";
  text += "Collectives took " + readable_time(sum.collectives_s);
  if (sum.program_s > 0)
    text += fmt::format(", {} of the programs' time", percent(sum.program_collectives_s, sum.program_s));
  return text + fmt::format(".\nCircoll served {} of {} collective calls.\n",
                            calls_percent(sum.native_calls, sum.calls), sum.calls);
}

std::string as_json(const ReportSum& sum, const std::vector<std::string>& left_out) {
  using Json = nlohmann::ordered_json;
  Json collectives = Json::array();
  for (const CollectiveSum& one : sum.collectives) {
    collectives.push_back({{"collective", to_string(one.collective)},
                           {"jobs", one.jobs},
                           {"calls", one.calls},
                           {"native_calls", one.native_calls},
                           {"seconds", one.seconds},
                           {"mostly", one.mostly}});
  }
  Json reasons = Json::array();
  for (const ReasonSum& one : sum.reasons) {
    reasons.push_back({{"reason", one.reason}, {"jobs", one.jobs}, {"native_calls", one.calls}});
  }
  const Json document{{"circoll_report_sum", 1},
                      {"jobs", sum.jobs},
                      {"least_ranks", sum.least_ranks},
                      {"most_ranks", sum.most_ranks},
                      {"mpis", sum.mpis},
                      {"calls", sum.calls},
                      {"native_calls", sum.native_calls},
                      {"collectives_s", sum.collectives_s},
                      {"program_s", sum.program_s},
                      {"program_collectives_s", sum.program_collectives_s},
                      {"collectives", std::move(collectives)},
                      {"reasons", std::move(reasons)},
                      {"left_out", left_out}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* const command = app.add_subcommand("report", "Add up the reports of many jobs");
  command
      ->add_option("paths", options->paths,
                   "Reports of CIRCOLL_REPORT=FILE.json or FILE.jsonl, or directories that have them")
      ->type_name("FILE|DIR")
      ->required();
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "In a directory, other files are left out, with a message. Directories below it are not read.\n"
      "Exit code 1 if there is no report.\n"
      "Examples:\n"
      "  CIRCOLL_REPORT=reports/%j.json mpirun -np 4 circoll run -- ./program\n"
      "  circoll report reports\n"
      "  circoll report --json jobs.jsonl");
  command->callback([options, &context] {
    const ReadReports all = read_all(options->paths);
    const ReportSum sum = add_up(all.reports);
    print(options->json ? as_json(sum, all.left_out) : as_text(sum));
    for (const std::string& why : all.left_out) fmt::print(stderr, "circoll: left out: {}\n", why);
    if (sum.jobs == 0) context.exit_code = exit_failure;
  });
}

}  // namespace circoll::cli
