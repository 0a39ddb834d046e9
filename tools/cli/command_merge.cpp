// circoll merge: several launches of circoll-bench as one table.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "measured/measurement.hpp"
#include "measured/shard.hpp"
#include "select/text_file.hpp"
#include "tune/for_report.hpp"
#include "verify/verify_rows.hpp"

namespace circoll::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  bool json = false;
  std::string output;
};

std::string as_text(const std::vector<Launch>& launches, const std::vector<Combined>& cells) {
  std::string text = fmt::format("# {} launches; {}; medians of their medians, with 95 % confidence intervals\n",
                                 launches.size(), launches.front().setting);
  text +=
      fmt::format("{:<21} {:<28} {:>5} {:>11} {:>8} {:>12} {:>12} {:>12} {:>8} {:>8} {:>8}\n", "# collective",
                  "algorithm", "p", "bytes", "launches", "median_us", "low_us", "high_us", "speedup", "low", "high");
  for (const Combined& cell : cells) {
    const Measurement& row = cell.row;
    const std::string name =
        (row.algorithm == "auto" ? "auto (" + row.served_by + ")" : row.algorithm) + (row.wrong ? " WRONG" : "");
    text += fmt::format("{:<21} {:<28} {:>5} {:>11} {:>8} {:>12.2f} {:>12.2f} {:>12.2f} {:>8.2f} {:>8.2f} {:>8.2f}\n",
                        to_string(row.collective), name, row.p, row.bytes, cell.launches, row.median_s * 1e6,
                        cell.low_s * 1e6, cell.high_s * 1e6, cell.speedup, cell.speedup_low, cell.speedup_high);
  }
  return text;
}

std::string as_json(const std::vector<Launch>& launches, const std::vector<Combined>& cells) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Combined& cell : cells) {
    const Measurement& row = cell.row;
    rows.push_back({{"collective", to_string(row.collective)},
                    {"algorithm", row.algorithm},
                    {"served_by", row.served_by},
                    {"p", row.p},
                    {"bytes", row.bytes},
                    {"launches", cell.launches},
                    {"reps", row.reps},
                    {"median_us", row.median_s * 1e6},
                    {"median_low_us", cell.low_s * 1e6},
                    {"median_high_us", cell.high_s * 1e6},
                    {"speedup", cell.speedup},
                    {"speedup_low", cell.speedup_low},
                    {"speedup_high", cell.speedup_high},
                    {"correct", row.wrong ? "NO" : "-"}});
  }
  const nlohmann::ordered_json document = {
      {"launches", launches.size()}, {"setting", launches.front().setting}, {"rows", rows}};
  return document.dump(2) + "\n";
}

/// The shards among the files, which must be all of them then.
void merge_shard_files(const MergeOptions& options, Context& context) {
  std::vector<ShardResult> shards;
  for (const std::string& file : options.files) shards.push_back(shard_from_json(select::read_text_file(file), file));
  const ShardedWork& work = shards.front().work;
  if (work.command == "verify") {
    if (!options.output.empty()) throw Error(ErrorCode::invalid_argument, "-o is for the profile that tune writes");
    print_rows(combined_rows(shards), named_in(work), options.json, context);
  } else if (work.command == "tune --for") {
    const auto parts = combine_shards(shards);
    finish_campaign({parts.begin(), parts.end()}, work, options.output);
  } else {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: this circoll knows no shards of '{}'", options.files.front(), work.command));
  }
}

}  // namespace

void add_merge(CLI::App& app, Context& context) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* const command = app.add_subcommand("merge", "Put several launches of circoll-bench, or shards, together");
  command
      ->add_option("files", options->files,
                   "Launches, by circoll bench --json, a file each; or the shards of circoll verify or tune")
      ->type_name("FILE")
      ->required();
  command->add_option("-o,--output", options->output,
                      "The profile, if they are shards of circoll tune --for; the user's without it");
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "Launches differ by more than the repetitions of one do. A ratio to native is of one launch; intervals take "
      "six.\n"
      "Exit code 1 if a launch had wrong results.\n"
      "Examples:\n"
      "  circoll merge [1-6].json    # after: for i in 1 2 3 4 5 6; do mpirun -np 4 circoll bench --json $i.json; "
      "done\n"
      "  circoll merge verify.*.json    # after: circoll verify all --shard 1/4 -o verify.1.json, and so on");
  command->callback([options, &context] {
    if (is_shard(select::read_text_file(options->files.front()))) return merge_shard_files(*options, context);
    const std::vector<Launch> launches = read_launches(options->files);
    const std::vector<Combined> cells = combine(launches);
    print(options->json ? as_json(launches, cells) : as_text(launches, cells));
    for (const Combined& cell : cells) {
      if (cell.row.wrong) context.exit_code = exit_failure;
    }
  });
}

}  // namespace circoll::cli
