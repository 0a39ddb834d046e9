// circoll lint reads a tuning file as its library does.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "foreign/foreign.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"

namespace circoll::cli {
namespace {

struct LintCommand {
  std::string file;
  std::string reader;
  std::vector<std::string> collectives;
  std::vector<std::string> ranks;
  std::vector<std::string> bytes;
  Rank cores = 1;
  std::string type = "float64";
  bool noncommutative = false;
  bool in_place = false;
  bool json = false;
};

struct Answer {
  foreign::Call call;
  foreign::ForeignDecision verdict;
};

std::vector<std::int64_t> numbers_of(const std::vector<std::string>& texts, std::int64_t least, const char* option) {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : texts) {
    for (const std::string& word : split_list(text)) {
      const auto number = parse_bytes(word);
      if (!number || *number < least) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{} takes numbers from {} on, not '{}'", option, least, word));
      }
      numbers.push_back(*number);
    }
  }
  return numbers;
}

std::vector<Answer> answers(const LintCommand& options, const foreign::TuningFile& file) {
  std::vector<Collective> collectives;
  for (const std::string& name : options.collectives) collectives.push_back(*collective_from_string(name));
  if (collectives.empty()) collectives.assign(all_collectives.begin(), all_collectives.end());
  std::vector<Answer> all;
  const auto element = static_cast<Count>(extent_bytes(*type_from_string(options.type)));
  std::vector<std::int64_t> sizes = numbers_of(options.bytes, 0, "--bytes");
  if (sizes.empty()) sizes = {0};
  for (const Collective collective : collectives) {
    for (const Rank p : numbers_of(options.ranks, 1, "-p")) {
      for (const Count bytes : sizes) {
        const Rank per_node = std::min(options.cores, p);
        foreign::Call call{.collective = collective,
                           .ranks = p,
                           .nodes = (p + per_node - 1) / per_node,
                           .ranks_per_node = per_node,
                           .bytes = bytes,
                           .element_bytes = element,
                           .commutative = !options.noncommutative,
                           .predefined_op = !options.noncommutative,
                           .in_place = options.in_place};
        all.push_back({.call = call, .verdict = file.decide(call)});
        if (!size_decides(collective)) break;
      }
    }
  }
  return all;
}

std::string as_text(const LintCommand& options, const foreign::TuningFile& file, const std::vector<Answer>& all) {
  std::string text;
  for (const foreign::Warning& warning : file.warnings()) {
    const std::string where = warning.line == 0 ? options.file : fmt::format("{}:{}", options.file, warning.line);
    text += fmt::format("{}: {}{}\n", where, warning.grave ? "" : "note: ", warning.text);
  }
  for (const Answer& answer : all) {
    const foreign::ForeignDecision& verdict = answer.verdict;
    const std::string size = size_decides(answer.call.collective) ? fmt::format("{} B", answer.call.bytes) : "";
    text += fmt::format("{:<21} p = {:<6} {:>12}  {}{}\n", to_string(answer.call.collective), answer.call.ranks, size,
                        verdict.algorithm.empty() ? "the library decides" : verdict.algorithm,
                        verdict.parameters.empty() ? "" : ", " + verdict.parameters);
    if (!verdict.rule.empty()) text += fmt::format("    by {}\n", verdict.rule);
    for (const std::string& note : verdict.notes) text += fmt::format("    {}\n", note);
  }
  if (text.empty()) text = fmt::format("{}: nothing to be warned of; -p and --bytes ask about calls\n", options.file);
  return text;
}

std::string as_json(const LintCommand& options, const foreign::TuningFile& file, const std::vector<Answer>& all) {
  using Json = nlohmann::ordered_json;
  Json warnings = Json::array();
  for (const foreign::Warning& warning : file.warnings()) {
    warnings.push_back({{"line", warning.line}, {"text", warning.text}, {"grave", warning.grave}});
  }
  Json calls = Json::array();
  for (const Answer& answer : all) {
    calls.push_back({{"collective", to_string(answer.call.collective)},
                     {"p", answer.call.ranks},
                     {"nodes", answer.call.nodes},
                     {"bytes", answer.call.bytes},
                     {"algorithm", answer.verdict.algorithm.empty() ? Json(nullptr) : Json(answer.verdict.algorithm)},
                     {"parameters", answer.verdict.parameters},
                     {"rule", answer.verdict.rule},
                     {"notes", answer.verdict.notes}});
  }
  const Json json = {{"file", options.file},
                     {"reader", options.reader},
                     {"rejected", file.rejected()},
                     {"warnings", warnings},
                     {"calls", calls}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void run(const LintCommand& options, Context& context) {
  const foreign::Reader& reader = foreign::find_reader(options.reader);
  // Files of Circoll are none of another library, which skips their lines without a word.
  const auto file = foreign::read(measured::read_file_of(options.file, {}), options.file, reader);
  const std::vector<Answer> all = answers(options, *file);
  print(options.json ? as_json(options, *file, all) : as_text(options, *file, all));
  const auto& warnings = file->warnings();
  const bool grave = std::ranges::any_of(warnings, [](const foreign::Warning& one) { return one.grave; });
  if (file->rejected() || grave) context.exit_code = exit_failure;
}

}  // namespace

void add_lint(CLI::App& app, Context& context) {
  auto options = std::make_shared<LintCommand>();
  CLI::App* const command = app.add_subcommand("lint", "Read a tuning file as another MPI library does");
  command->add_option("file", options->file, "The tuning file, by whomever written")->type_name("FILE")->required();
  command->add_option("--for", options->reader, "The library and version; 'circoll export --list' shows all")
      ->required();
  command->add_option("-p,--ranks", options->ranks, "Numbers of ranks: what would the library run?");
  command->add_option("-b,--bytes", options->bytes, "Sizes of the vector: all blocks, where each rank has one");
  command->add_option("-c,--collective", options->collectives, "These collectives only")->transform(collective_name());
  command->add_option("--cores", options->cores, "Ranks on a node")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20))
      ->capture_default_str();
  command->add_option("-t,--type", options->type, "Element type")->transform(type_name())->capture_default_str();
  command->add_flag("--noncommutative", options->noncommutative, "The operator is the caller's, and does not commute");
  command->add_flag("--in-place", options->in_place, "The call is in place");
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "Warns of rules that nothing reaches, of what the library skips, misreads or refuses, and of algorithms that are "
      "wrong for\n"
      "an operator. The exit code is 1 if there is a warning that is no note, or if the library rejects the file.\n"
      "Examples:\n"
      "  circoll lint tuned.rules --for openmpi-4.1\n"
      "  circoll lint tuned.rules --for openmpi-4.1 -p 16,64 --bytes 1Ki,1Mi -c allreduce\n"
      "  circoll lint tuned.rules --for openmpi-6.0 -p 16 --json");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace circoll::cli
