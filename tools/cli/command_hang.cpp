// circoll hang says which rank of a job the others wait for, from the records of CIRCOLL_RECORD.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "options/ranges.hpp"
#include "record/diagnosis.hpp"
#include "record/process.hpp"

namespace circoll::cli {
namespace {

using record::SeenJob;
using record::SeenRank;

struct HangOptions {
  std::string where{};  ///< a process, or a directory; empty: the newest job of this user here
  int pause_ms = 300;
  bool no_stacks = false;
  bool wide = false;
  bool json = false;
};

/// True if the process is one of the job's, or has started one: a launcher, or a script.
bool belongs(const SeenJob& job, pid_t pid) {
  return std::ranges::any_of(job.ranks, [&](const SeenRank& rank) {
    auto ancestor = static_cast<pid_t>(rank.record.pid);
    std::set<pid_t> seen;
    while (ancestor > 1 && ancestor != pid && seen.insert(ancestor).second) {
      ancestor = record::look_at(ancestor, 0).parent;
    }
    return ancestor == pid;
  });
}

/// The directories in which the records of a process may lie: its own setting, and the usual one.
std::vector<std::string> directories_of(pid_t pid) {
  std::vector<std::string> directories;
  const std::string own = record::variable_of(pid, "CIRCOLL_RECORD");
  if (!own.empty() && own != "on" && own != "off") directories.push_back(own);
  directories.push_back(record::usual_directory());
  return directories;
}

struct Found {
  std::string directory{};
  std::optional<SeenJob> job{};
  std::size_t others = 0;  ///< jobs in the same directory with living processes
  std::vector<std::string> complaints{};
};

bool lives(const SeenJob& job) {
  return std::ranges::any_of(job.ranks, [](const SeenRank& rank) {
    return record::look_at(static_cast<pid_t>(rank.record.pid), rank.record.process_start).state !=
           record::ProcessState::gone;
  });
}

/// The newest job of a directory that has living processes here, or the newest one.
Found find_in(const std::string& directory, pid_t pid) {
  Found found{.directory = directory};
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return found;
  std::vector<SeenJob> jobs = record::jobs_in(directory, &found.complaints);
  if (pid != 0) std::erase_if(jobs, [&](const SeenJob& job) { return !belongs(job, pid); });
  std::stable_partition(jobs.begin(), jobs.end(), lives);  // clang 14 cannot compile that of std::ranges
  if (jobs.empty()) return found;
  found.job = std::move(jobs.front());
  found.others = static_cast<std::size_t>(std::count_if(jobs.begin() + 1, jobs.end(), lives));
  return found;
}

Found find(const HangOptions& options) {
  if (const auto number = parse_number(options.where); number && *number > 0 && *number < (std::int64_t{1} << 30)) {
    const auto pid = static_cast<pid_t>(*number);
    Found found;
    for (const std::string& directory : directories_of(pid)) {
      found = find_in(directory, pid);
      if (found.job) return found;
    }
    return found;
  }
  if (options.where.empty()) return find_in(record::usual_directory(), 0);
  if (!std::filesystem::is_directory(options.where))
    misuse(fmt::format("'{}' is neither a process nor a directory of records", options.where));
  return find_in(options.where, 0);
}

nlohmann::ordered_json json_of(const record::ReadCall& call, const record::ReadRecord& of, std::int64_t now_ns) {
  nlohmann::ordered_json json{{"call", record::text_of(call, of)},
                              {"collective", to_string(call.collective)},
                              {"comm", fmt::format("{:016x}", call.comm)},
                              {"number", call.number}};
  if (call.root) json["root"] = *call.root;
  if (call.bytes) json["bytes"] = *call.bytes;
  if (call.type) json["type"] = to_string(*call.type);
  if (call.op) json["op"] = to_string(*call.op);
  if (!call.algorithm.empty()) json["algorithm"] = call.algorithm;
  json["ended"] = call.end_ns != 0;
  json["failed"] = call.failed;
  if (call.end_ns != 0) {
    json["seconds"] = static_cast<double>(call.end_ns - call.begin_ns) * 1e-9;
  } else if (now_ns != 0) {
    json["seconds"] = static_cast<double>(now_ns - call.begin_ns) * 1e-9;
  }
  return json;
}

nlohmann::ordered_json json_of(const SeenRank& rank, std::int64_t now_ns) {
  const record::ReadRecord& of = rank.record;
  nlohmann::ordered_json json{{"rank", of.rank},    {"pid", of.pid},
                              {"host", of.host},    {"state", record::to_string(rank.state)},
                              {"busy", rank.burns}, {"finalizing", of.phase != record::Phase::running}};
  constexpr std::size_t last = 8;
  auto calls = nlohmann::ordered_json::array();
  for (std::size_t i = of.calls.size() - std::min(of.calls.size(), last); i < of.calls.size(); ++i)
    calls.push_back(json_of(of.calls[i], of, now_ns));
  const auto open = std::find_if(of.calls.rbegin(), of.calls.rend(), [](const auto& call) { return call.blocks(); });
  json["in"] = open == of.calls.rend() ? nlohmann::ordered_json() : json_of(*open, of, now_ns);
  if (of.wait && open != of.calls.rend() && of.wait->call == open->sequence)
    json["awaits"] = {{"ranks", of.wait->ranks}, {"message", of.wait->message}};
  json["mpi_function"] = rank.mpi_function();
  json["last"] = std::move(calls);
  json["stack"] = rank.stack;
  return json;
}

std::string as_json(const Found& found, const record::Diagnosis& verdict) {
  nlohmann::ordered_json json{{"circoll_hang", 1},
                              {"verdict", verdict.sentence},
                              {"reason", record::to_string(verdict.reason)},
                              {"ranks", verdict.ranks},
                              {"more", verdict.more},
                              {"directory", found.directory},
                              {"unreadable", found.complaints}};
  if (found.job) {
    json["job"] = fmt::format("{:016x}", found.job->id);
    json["size"] = found.job->size;
    json["program"] = found.job->ranks.front().record.program;
    auto ranks = nlohmann::ordered_json::array();
    for (const SeenRank& rank : found.job->ranks)
      ranks.push_back(json_of(rank, rank.elsewhere ? 0 : found.job->now_ns));
    json["processes"] = std::move(ranks);
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void examine(const HangOptions& options, Context& context) {
  Found found = find(options);
  if (!found.job && !options.json) {
    std::string text = fmt::format(
        "there is no record{} in {}: start the program with CIRCOLL_RECORD=on, or with a directory that all nodes "
        "share\n",
        options.where.empty() || std::filesystem::is_directory(options.where) ? "" : " of process " + options.where,
        found.directory);
    for (const std::string& complaint : found.complaints) text += complaint + "\n";
    print(text);
    context.exit_code = exit_failure;
    return;
  }
  record::Diagnosis verdict{.sentence = "there is no record"};
  if (found.job) {
    record::look(*found.job, {.stacks = !options.no_stacks, .pause_ms = options.pause_ms});
    verdict = record::judge(*found.job);
  }
  if (!found.job || verdict.reason != record::Reason::none) context.exit_code = exit_failure;
  if (options.json) return print(as_json(found, verdict));
  std::string text = record::text_of(*found.job, verdict, options.wide);
  for (const std::string& complaint : found.complaints) text += complaint + "\n";
  if (found.others > 0)
    text += fmt::format("{} records here; name a process: circoll hang PID\n",
                        found.others == 1 ? "1 other job has" : fmt::format("{} other jobs have", found.others));
  print(text);
}

}  // namespace

void add_hang(CLI::App& app, Context& context) {
  const auto options = std::make_shared<HangOptions>();
  CLI::App* const command = app.add_subcommand("hang", "Say which rank of a hanging job the others wait for");
  command->add_option("where", options->where,
                      "A process of the job, its launcher, or a directory of CIRCOLL_RECORD; without it the newest job "
                      "of this user on this node");
  command->add_option("--pause", options->pause_ms, "Milliseconds between two looks; calls that began meanwhile go on")
      ->check(options::between(1, 60000))
      ->capture_default_str();
  command->add_flag("--no-stacks", options->no_stacks, "Leave the processes alone: ask none for its stack by a signal");
  command->add_flag("--wide", options->wide, "Lines as long as they need");
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "The program must run under the drop-in with CIRCOLL_RECORD. Works after the job was killed, too.\n"
      "The exit code is 1 if ranks wait in vain, or if there is no record; docs/user/diagnose.md.\n"
      "Examples:\n"
      "  circoll hang\n"
      "  circoll hang 12345 --json\n"
      "  circoll hang /shared/records");
  command->callback([options, &context] { examine(*options, context); });
}

}  // namespace circoll::cli
