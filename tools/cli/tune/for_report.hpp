// circoll tune --for: measures the calls that a program has made, and writes rules for them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "measured/campaign.hpp"
#include "measured/shard.hpp"

namespace circoll::cli {

/// The options of circoll tune --for.
struct TuneForOptions {
  std::string report{};  ///< empty: circoll tune does something else
  std::string mpi = "auto";
  std::string launcher{};  ///< "srun -n {np}"; empty: the one of the report's MPI
  std::string bench{};     ///< circoll-bench of that MPI; empty: the installed one
  std::string machine{};   ///< a file
  std::string type = "float64", op = "sum";
  std::string sync = "auto";
  std::string job{};  ///< the kind of script to print; empty: measure
  std::string shard{};
  std::uint64_t seed = 1;
  long most_ranks = 0;  ///< 0: the processors of this node, or of `nodes`
  long nodes = 1;
  long ranks_per_node = 0;  ///< 0: the processors of this node
  int shards = 0;           ///< of a script; 0: one for each launch
  bool oversubscribe = false;
  CampaignOptions campaign{};
  TuneOptions tune{};

  [[nodiscard]] bool asked() const { return !report.empty(); }
};

/// Adds --for and what goes with it to circoll tune.
[[nodiscard]] std::shared_ptr<TuneForOptions> add_tune_for(CLI::App& command);
/// Takes over the options that circoll tune has for other purposes, too: --mpi, --launches.
void read_shared_options(const CLI::App& command, TuneForOptions& options);

/// Does what the options ask for. `output`: the file of rules, or of a shard's results.
void tune_for_report(const TuneForOptions& given, const std::string& output);

/// The program whose report was read, the campaign, and the options with what was left to be found out.
struct PlannedCampaign {
  ProgramReport report{};
  Campaign campaign{};
  std::string report_hash{};  ///< of its text
};

/// The script of a job that does the campaign's shards and puts them together. `kind` is "slurm" or "local".
[[nodiscard]] std::string job_script(const TuneForOptions& options, const PlannedCampaign& planned,
                                     const std::string& output);

/// A launch of the bench as a part of a shard, as JSON, and read again.
[[nodiscard]] std::string campaign_part(const CampaignCell& cell, const CampaignItem& item, const std::string& bench);
/// Puts measured parts together, of which these are the texts. Writes rules, or prints them if `output` is empty, and
/// says what the program gains. If no gain is sure, it says so and writes nothing. Throws Error(parse) if a part is
/// none of a campaign.
void finish_campaign(const std::vector<std::pair<std::int64_t, std::string>>& texts, const ShardedWork& work,
                     const std::string& output);

}  // namespace circoll::cli
