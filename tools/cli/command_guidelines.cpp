// circoll guidelines finds where collectives are slower than a substitute, and writes rules against it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "exported.hpp"
#include "measured/guidelines.hpp"
#include "options/ranges.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

struct GuidelineOptions {
  std::vector<std::string> files;
  std::vector<std::string> of{"native", "auto"};
  GuidelineTest test;
  std::string rules;
  ExportRequest exported;
  std::string output;  ///< the file of the other library
  bool paper = false;
  bool all = false;
  bool json = false;
};

struct Counted {
  std::size_t violated = 0;
  std::size_t too_few = 0;
};

Counted count(const std::vector<Finding>& findings) {
  Counted counted;
  for (const Finding& finding : findings) {
    if (finding.verdict == GuidelineVerdict::violated) ++counted.violated;
    if (finding.verdict == GuidelineVerdict::too_few) ++counted.too_few;
  }
  return counted;
}

/// The comparisons of the algorithm that has most. They are corrected together.
std::size_t most_of_one_algorithm(const std::vector<Finding>& findings) {
  std::map<std::string, std::size_t> counts;
  std::size_t most = 0;
  for (const Finding& finding : findings) most = std::max(most, ++counts[finding.algorithm]);
  return most;
}

std::string as_text(const GuidelineOptions& options, const std::string& setting, const std::vector<Finding>& findings) {
  std::string text =
      fmt::format("# {} launches; {}; one-sided Mann-Whitney test of their medians, corrected after Holm\n",
                  options.files.size(), setting);
  text += fmt::format("{:<52} {:<5} {:<18} {:>4} {:>10} {:>8} {:>11} {:>11} {:>7} {:>8}  {}\n", "# guideline", "paper",
                      "algorithm", "p", "bytes", "launches", "left_us", "right_us", "factor", "p_value", "verdict");
  for (const Finding& finding : findings) {
    if (!options.all && finding.verdict == GuidelineVerdict::holds) continue;
    text +=
        fmt::format("{:<52} {:<5} {:<18} {:>4} {:>10} {:>8} {:>11.2f} {:>11.2f} {:>7.3f} {:>8.4f}  {}\n",
                    to_string(*finding.guideline), finding.guideline->source.empty() ? "-" : finding.guideline->source,
                    finding.algorithm, finding.p, finding.bytes,
                    fmt::format("{}, {}", finding.left_launches, finding.right_launches), finding.left_s * 1e6,
                    finding.right_s * 1e6, finding.factor, finding.corrected, to_string(finding.verdict));
  }
  const Counted counted = count(findings);
  text += fmt::format(
      "# {} comparisons, {} violated: slower by a factor above {:g}, with a corrected p value of at most {:g}\n",
      findings.size(), counted.violated, 1 + options.test.least_effect, options.test.significance);
  if (counted.too_few > 0) {
    text += fmt::format(
        "# {} more are slower by that factor, but so few launches cannot show that it is not by chance. {} launches "
        "can\n",
        counted.too_few, launches_needed(most_of_one_algorithm(findings), options.test));
  }
  return text;
}

std::string as_json(const GuidelineOptions& options, const std::string& setting, const std::vector<Finding>& findings) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    rows.push_back({{"guideline", to_string(*finding.guideline)},
                    {"paper", finding.guideline->source},
                    {"algorithm", finding.algorithm},
                    {"p", finding.p},
                    {"bytes", finding.bytes},
                    {"right_bytes", finding.right_bytes},
                    {"left_launches", finding.left_launches},
                    {"right_launches", finding.right_launches},
                    {"left_us", finding.left_s * 1e6},
                    {"right_us", finding.right_s * 1e6},
                    {"factor", finding.factor},
                    {"p_value", finding.p_value},
                    {"corrected_p_value", finding.corrected},
                    {"verdict", to_string(finding.verdict)}});
  }
  const Counted counted = count(findings);
  const nlohmann::ordered_json document = {{"launches", options.files.size()},
                                           {"setting", setting},
                                           {"significance", options.test.significance},
                                           {"least_effect", options.test.least_effect},
                                           {"violated", counted.violated},
                                           {"too_few_launches", counted.too_few},
                                           {"comparisons", rows}};
  return document.dump(2) + "\n";
}

/// The guidelines that --of and --paper ask for.
bool is_asked(const GuidelineOptions& options, const Finding& finding) {
  return (!options.paper || !finding.guideline->source.empty()) &&
         std::ranges::find(options.of, finding.algorithm) != options.of.end();
}

/// Mends what native violates in the library's own format, as far as an algorithm inside it is faster.
void export_fixes(const GuidelineOptions& options, const std::vector<GuidelineRun>& runs,
                  const std::vector<Finding>& findings, const std::string& setting) {
  std::vector<const Launch*> launches;
  launches.reserve(runs.size());
  for (const GuidelineRun& run : runs) launches.push_back(&run.launch);
  const std::string said = write_exported(
      options.exported, options.output, guideline_fixes(runs, findings, options.test, options.exported.library()),
      launches, fmt::format("where native violates a guideline; {} launches; {}", runs.size(), setting));
  // Programs may read the standard output.
  if (options.json) {
    fmt::print(stderr, "{}", said);
  } else {
    print(said);
  }
}

void run(const GuidelineOptions& options, Context& context) {
  std::vector<GuidelineRun> runs;
  for (const std::string& file : options.files) {
    runs.push_back(guideline_run_from_json(select::read_text_file(file), file));
  }
  const std::vector<Finding> findings = check_guidelines(runs, options.test);
  if (!options.rules.empty()) {
    const std::vector<RuleCell> fixes = guideline_fixes(runs, findings, options.test);
    if (fixes.empty()) {
      fmt::print(stderr, "circoll: no rule helps; with {} all collectives stay native\n", options.rules);
    }
    const std::string rules = rules_json(
        fixes, measured_operator(runs.front().launch),
        {.about = fmt::format("native, but where it violates a guideline and Circoll is faster; {} launches; {}",
                              runs.size(), runs.front().launch.setting),
         .otherwise = "native",
         .all_collectives = true});
    write_file(options.rules, rules);
  }
  std::vector<Finding> asked;
  const std::string& setting = runs.front().launch.setting;
  if (options.exported.wanted()) export_fixes(options, runs, findings, setting);
  std::ranges::copy_if(findings, std::back_inserter(asked),
                       [&](const Finding& finding) { return is_asked(options, finding); });
  print(options.json ? as_json(options, setting, asked) : as_text(options, setting, asked));
  if (count(asked).violated > 0) context.exit_code = exit_failure;
}

}  // namespace

void add_guidelines(CLI::App& app, Context& context) {
  auto options = std::make_shared<GuidelineOptions>();
  CLI::App* const command =
      app.add_subcommand("guidelines", "Find violated performance guidelines, and write rules against them");
  command->add_option("files", options->files, "Launches, by circoll bench --guidelines --json, a file each")
      ->type_name("FILE")
      ->required();
  command->add_option("--of", options->of, "Algorithms whose guidelines are checked, as circoll-bench names them")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--effect", options->test.least_effect, "Slower by this share at least is a violation")
      ->check(options::at_least(0))
      ->capture_default_str();
  command->add_option("--significance", options->test.significance, "The largest corrected p value of a violation")
      ->check(options::inside_zero_one())
      ->capture_default_str();
  command->add_flag("--paper", options->paper, "(2) to (6) of the paper only");
  command->add_flag("--all", options->all, "Show also what holds");
  command->add_option("--rules", options->rules, "Write rules that serve better what native violates to this file");
  add_export_options(*command, options->exported);
  command->add_option("-o,--output", options->output, "The file of --export");
  command->add_flag("--json", options->json, "For programs; with what holds");
  command->footer(
      "A guideline says that a collective is not slower than other calls that would do for it; "
      "docs/admin/measuring.md\n"
      "lists them. A launch counts by its median. Six launches can show violations among 46 comparisons, seven among "
      "171.\n"
      "Exit code 1 if one of those asked for is violated.\n"
      "Examples:\n"
      "  circoll guidelines [1-7].json    # after: mpirun -np 4 circoll bench --guidelines --json 1.json, and so on\n"
      "  circoll guidelines [1-7].json --of auto --paper\n"
      "  circoll guidelines [1-7].json --rules rules.json\n"
      "  CIRCOLL_POLICY=file:rules.json mpirun -np 4 circoll run -- ./program\n"
      "  circoll guidelines [1-7].json --export openmpi-4.1 -o repaired.conf    # after: circoll bench --guidelines\n"
      "                                   #   --native-algorithms");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace circoll::cli
