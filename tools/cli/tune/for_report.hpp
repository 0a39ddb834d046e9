// circoll tune --for: measures the calls that a program has made, and writes rules for it into the profile.
#pragma once

#include <memory>
#include <string>

#include "commands.hpp"
#include "measured/campaign.hpp"
#include "measured/shard.hpp"
#include "options/cli11.hpp"

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
  std::string name{};                  ///< of the program; empty: as the report has it
  std::vector<std::string> program{};  ///< to be run with the rules; empty: it is not run
  std::string job{};                   ///< the kind of script to print; empty: measure
  std::string shard{};
  std::uint64_t seed = 1;
  long ranks = 0;       ///< of the program, as the report has them
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

/// Does what the options ask for. `output`: the profile, or the file of a shard's results. Empty: the user's profile.
void tune_for_report(const TuneForOptions& given, const std::string& output);

/// The program whose report was read, the campaign, and the options with what was left to be found out.
struct PlannedCampaign {
  ProgramReport report{};
  Campaign campaign{};
  std::string report_hash{};  ///< of its text
  std::string program{};      ///< its name
};

/// The script of a job that does the campaign's shards and puts them together. `output`: the profile.
[[nodiscard]] std::string job_script(const TuneForOptions& options, const PlannedCampaign& planned,
                                     const std::string& output);

/// A launch of the bench as a part of a shard, as JSON, and read again.
[[nodiscard]] std::string campaign_part(const CampaignCell& cell, const CampaignItem& item, const std::string& bench);
/// Puts measured parts together, of which these are the texts. If gains are sure, it writes rules for the program into
/// a profile: `output`, or the user's. `options` have the program's command. If there is one, the program is run with
/// and without the rules before, and must be faster. Otherwise nothing is written. It says all of that. Throws
/// Error(parse) if a part is none of a campaign.
void finish_campaign(const std::vector<std::pair<std::int64_t, std::string>>& texts, const ShardedWork& work,
                     const std::string& output, const TuneForOptions* options = nullptr);

/// Runs the program in turns without and with rules, and compares its times. `before` and `after` are the texts of
/// profiles.
[[nodiscard]] RunComparison try_rules(const TuneForOptions& options, const std::string& before,
                                      const std::string& after);

}  // namespace circoll::cli
