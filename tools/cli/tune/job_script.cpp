// Scripts for batch systems, and the same tasks for this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "for_report.hpp"
#include "measured/file_kind.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

/// A word for the shell.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_./:=,+-") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The command of one shard, as the shell has it, without --shard and -o.
std::string command_of(const TuneForOptions& options, const std::string& report) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(), "tune", "--for", report};
  const auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
  add("--mpi", options.mpi);
  if (!options.launcher.empty()) add("--launcher", options.launcher);
  if (!options.bench.empty()) add("--bench", options.bench);
  if (!options.machine.empty()) add("--machine", fs::absolute(measured::path_of_machine(options.machine)).string());
  add("--type", options.type);
  add("--op", options.op);
  add("--sync", options.sync);
  add("--seed", std::to_string(options.seed));
  add("--most-ranks", std::to_string(options.most_ranks));
  add("--ranks-per-node", std::to_string(options.ranks_per_node));
  add("--time", fmt::format("{:g}", options.campaign.limit_s));
  add("--launches", std::to_string(options.campaign.launches));
  add("--candidates", std::to_string(options.campaign.candidates));
  add("--candidate-seconds", fmt::format("{:g}", options.campaign.seconds));
  add("--margin", fmt::format("{:g}", options.tune.margin));
  if (!options.name.empty()) add("--program", options.name);
  if (options.oversubscribe) words.emplace_back("--oversubscribe");
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

}  // namespace

std::string job_script(const TuneForOptions& options, const PlannedCampaign& planned, const std::string& output) {
  // Names stand in comments, too, which a line break would end.
  if ((output + options.report).find('\n') != std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "a script cannot name files with line breaks");
  }
  const Campaign& campaign = planned.campaign;
  const int shards = options.shards > 0 ? options.shards : options.campaign.launches;
  Rank ranks = 1;
  for (const CampaignCell& cell : campaign.cells) ranks = std::max(ranks, cell.p);
  const std::string stem =
      fs::absolute(output.empty() ? "circoll-tune." + planned.report_hash.substr(0, 8) : output).string();
  const std::string report = fs::absolute(options.report).string();
  // A task that is late has time to spare; one that is killed goes on when it is submitted again.
  const double minutes = std::ceil((campaign.estimate_s / shards * 2 + 120) / 60);
  const bool slurm = options.job == "slurm";
  std::string text = "#!/bin/bash\n";
  if (slurm) {
    text += fmt::format(
        "#SBATCH --job-name=circoll-tune\n"
        "#SBATCH --array=1-{}%1\n"
        "#SBATCH --nodes={}\n"
        "#SBATCH --ntasks={}\n"
        "#SBATCH --ntasks-per-node={}\n"
        "#SBATCH --exclusive\n"
        "#SBATCH --time={:.0f}\n"
        "#SBATCH --output=circoll-tune.%A_%a.log\n",
        shards, (ranks + options.ranks_per_node - 1) / options.ranks_per_node, ranks,
        std::min<Rank>(ranks, options.ranks_per_node), minutes);
  }
  text += fmt::format(
      "# Measures {} kinds of calls of {} in {} launches, in an order that seed {} gives,\n"
      "# as {} tasks one after another; about {} in all. The last task writes rules for '{}' into {}.\n"
      "# {}\n"
      "set -eu\n"
      "measured={}\n"
      "run_shard() {{\n"
      "  {} --shard \"$1/{}\" -o \"$measured.$1.measured\"\n"
      "}}\n"
      "merge() {{\n"
      "  local files=() shard\n"
      "  for shard in $(seq {}); do\n"
      "    grep -q '\"done\":true' \"$measured.$shard.measured\" 2>/dev/null || return 0\n"
      "    files+=(\"$measured.$shard.measured\")\n"
      "  done\n"
      "  {} merge \"${{files[@]}}\"{}\n"
      "}}\n",
      campaign.cells.size(), report, options.campaign.launches, options.seed, shards,
      readable_time(campaign.estimate_s), planned.program, output.empty() ? "the profile of this user" : stem,
      slurm ? "Submit it by sbatch; a task that failed goes on where it stopped: sbatch --array=TASK."
            : "Run it by bash; started again it goes on where it stopped.",
      quoted(stem), command_of(options, report), shards, shards, quoted(fs::read_symlink("/proc/self/exe").string()),
      output.empty() ? "" : " -o " + quoted(stem));
  text += slurm ? "run_shard \"$SLURM_ARRAY_TASK_ID\"\nmerge\n"
                : fmt::format("for shard in $(seq {}); do run_shard \"$shard\"; done\nmerge\n", shards);
  return text;
}

}  // namespace circoll::cli
