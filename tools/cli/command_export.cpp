// circoll export writes rules in the formats of other MPI libraries, as tune and guidelines do by it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "commands.hpp"
#include "exported.hpp"
#include "facts/text.hpp"
#include "foreign/foreign.hpp"
#include "measured/file_kind.hpp"
#include "measured/measurement.hpp"
#include "measured/tuning.hpp"
#include "options/ranges.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

/// "4.1" of "openmpi-4.1".
std::string version_of(const std::string& id) {
  const std::size_t dash = id.find('-');
  return dash == std::string::npos ? "" : id.substr(dash + 1);
}

/// True for "openmpi 4.1.4" and openmpi-4.1.
bool is_same_version(const std::string& mpi, const std::string& id) {
  const std::string version = mpi.substr(std::min(mpi.find(' ') + 1, mpi.size())), wanted = version_of(id);
  return version == wanted || version.starts_with(wanted + ".");
}

std::string of_other_versions(const std::vector<const Launch*>& launches, const std::string& id) {
  std::set<std::string> others;
  for (const Launch* const launch : launches) {
    if (!launch->mpi.empty() && !is_same_version(launch->mpi, id)) others.insert(launch->mpi);
  }
  std::string text;
  for (const std::string& mpi : others) text += fmt::format("measured under {}, which may differ from {}\n", mpi, id);
  return text;
}

/// Writes the files of an export. Returns lines about what they cannot say, and how they are used.
std::string write_files(const foreign::Exported& exported, const std::string& path) {
  for (const foreign::File& file : exported.files) write_file(path + file.suffix, file.text);
  std::string text;
  for (const std::string& loss : exported.losses) text += fmt::format("  - {}\n", loss);
  for (std::string use : exported.use) {
    for (std::size_t at = use.find("{}"); at != std::string::npos; at = use.find("{}", at + path.size())) {
      use.replace(at, 2, path);
    }
    text += use + "\n";
  }
  return text;
}

struct ExportCommand {
  std::vector<std::string> files;
  bool measured = false;
  std::string reader;
  std::string output;
  std::string machine;
  std::string ranks = "2..1024";
  std::string bytes = "8..16Mi";
  std::vector<std::string> collectives;
  Rank cores = 0;
  bool commutative = false;
  std::string base;
  TuneOptions tune;
  bool list = false;
};

/// "A..B": A, and then `factor` times as much each, and B; or one number.
std::vector<std::int64_t> grid_of(const std::string& text, std::int64_t least, std::int64_t factor,
                                  const char* option) {
  const std::size_t dots = text.find("..");
  const auto low = parse_bytes(std::string_view(text).substr(0, dots));
  const auto high = dots == std::string::npos ? low : parse_bytes(std::string_view(text).substr(dots + 2));
  if (!low || !high || *low < least || *high < *low || *high > std::int64_t{1} << 40) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is A..B or a number, from {} on; not '{}'", option, least, text));
  }
  std::vector<std::int64_t> grid;
  for (std::int64_t at = *low; at < *high; at = std::max(at * factor, at + 1)) grid.push_back(at);
  grid.push_back(*high);
  return grid;
}

std::vector<Collective> chosen(const std::vector<std::string>& names) {
  std::vector<Collective> collectives;
  collectives.reserve(names.size());
  for (const std::string& name : names) collectives.push_back(*collective_from_string(name));
  return collectives;
}

foreign::Translated from_launches(const ExportCommand& options, const foreign::Reader& reader, std::string& about) {
  const std::vector<Launch> launches = read_launches(options.files);
  const std::vector<RuleCell> cells = tune(launches, options.tune);
  about = fmt::format("the fastest of what was measured in {} launches; {}", launches.size(), launches.front().setting);
  return foreign::translate_cells(cells, measured_operator(launches.front()), reader);
}

foreign::Translated from_model(const ExportCommand& options, const foreign::Reader& reader, std::string& about) {
  const Machine machine = options.machine.empty() ? default_machine() : measured::read_machine_file(options.machine);
  about = fmt::format("the model of the machine '{}', asked about {} ranks and {} bytes", machine.name, options.ranks,
                      options.bytes);
  return foreign::translate_model(
      machine,
      {.collectives = chosen(options.collectives),
       .ranks = grid_of(options.ranks, 2, 2, "-p"),
       .bytes = grid_of(options.bytes, 0, 4, "--bytes"),
       .ranks_per_node = std::max<Rank>(options.cores, 1),
       .operators = options.commutative ? foreign::Operators::commutative : foreign::Operators::any},
      reader);
}

foreign::Translated translated(const ExportCommand& options, const foreign::Reader& reader, std::string& about) {
  if (options.files.empty()) return from_model(options, reader, about);
  if (!options.machine.empty()) {
    throw Error(ErrorCode::invalid_argument, "either files or the model of a --machine are exported, not both");
  }
  foreign::Translated result;
  if (options.measured) {
    result = from_launches(options, reader, about);
  } else {
    if (options.files.size() != 1) {
      throw Error(ErrorCode::invalid_argument, "one rules file is exported; for launches say --measured");
    }
    about = options.files.front();
    using measured::FileKind;
    const std::string rules = measured::read_file_of(about, {FileKind::rules, FileKind::profile, FileKind::learned});
    result = foreign::translate_rules(rules, about, reader, {.ranks_per_node = options.cores});
    if (options.cores > 0) about += fmt::format(", for jobs whose ranks fill nodes of {} in order", options.cores);
  }
  if (const std::vector<Collective> only = chosen(options.collectives); !only.empty()) {
    std::erase_if(result.rules,
                  [&](const foreign::Rule& rule) { return std::ranges::find(only, rule.collective) == only.end(); });
  }
  return result;
}

std::string listed() {
  std::string text;
  for (const foreign::Reader& reader : foreign::readers()) {
    text += fmt::format("{:<20} {}\n{:<20}   {}\n", reader.id, reader.title, "", reader.use);
  }
  return text;
}

void run(const ExportCommand& options) {
  if (options.list) return print(listed());
  if (options.reader.empty()) throw Error(ErrorCode::invalid_argument, "--for names the reader; --list shows all");
  const foreign::Reader& reader = foreign::find_reader(options.reader);
  std::string about;
  const foreign::Translated rules = translated(options, reader, about);
  foreign::ExportOptions settings{.about = about, .losses = rules.losses};
  if (options.commutative) settings.operators = foreign::Operators::commutative;
  if (!options.base.empty()) {
    settings.base = foreign::read_base(options.base);
  } else if (const auto found = foreign::find_base(reader)) {
    settings.base = found->text;
    settings.about += fmt::format("; the base is the tree of {}", found->path);
  }
  const foreign::Exported exported = foreign::export_rules(rules.rules, reader, settings);
  if (options.output.empty()) return print(exported.files.front().text);
  const std::string notes = write_files(exported, options.output);
  std::string text;
  for (const foreign::File& file : exported.files) text += fmt::format("{}{}\n", options.output, file.suffix);
  print(text + notes);
}

}  // namespace

std::string ExportRequest::library() const {
  return wanted() ? std::string(foreign::find_reader(id).library) : std::string{};
}

std::string chosen_text(const std::string& path, const std::vector<RuleCell>& cells, std::size_t launches) {
  std::map<std::string, int> chosen;
  for (const RuleCell& cell : cells) ++chosen[cell.use];
  std::string text = fmt::format("{}: {} cells of {} launches\n", path, cells.size(), launches);
  for (const auto& [use, times] : chosen) text += fmt::format("{:>6}  {}\n", times, use);
  return text;
}

void add_export_options(CLI::App& command, ExportRequest& request) {
  command.add_option("--export", request.id,
                     "Write a tuning file of the MPI library itself instead, by the fastest of its own algorithms "
                     "(openmpi-4.1, ...): -o says where");
  command.add_flag("--commutative", request.commutative,
                   "With --export: programs combine by operators that commute only, such as MPI_SUM, so that a format "
                   "without operators may name algorithms that are wrong for others");
  command.add_flag("--all-ranks", request.all_ranks,
                   "With --export: for numbers of ranks around the measured ones, too");
}

std::string write_exported(const ExportRequest& request, const std::string& path, const std::vector<RuleCell>& cells,
                           const std::vector<const Launch*>& launches, const std::string& about) {
  if (path.empty()) throw Error(ErrorCode::invalid_argument, "--export needs -o, the file to write");
  const foreign::Reader& reader = foreign::find_reader(request.id);
  const foreign::Translated translated =
      foreign::translate_cells(cells, measured_operator(*launches.front()), reader, request.all_ranks);
  foreign::ExportOptions options{.about = about, .losses = translated.losses};
  if (request.commutative) options.operators = foreign::Operators::commutative;
  const foreign::Exported exported = foreign::export_rules(translated.rules, reader, options);
  const std::string notes = write_files(exported, path);
  return chosen_text(path, cells, launches.size()) + notes + of_other_versions(launches, request.id);
}

void add_export(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ExportCommand>();
  CLI::App* const command = app.add_subcommand("export", "Write rules in the format of another MPI library");
  command->add_option("files", options->files, "A rules file; none: the model is asked (--machine, -p, --bytes)")
      ->type_name("FILE");
  command->add_option("--for", options->reader, "The library and version that reads it; see --list");
  command->add_option("-o,--output", options->output, "The file to write; without it it is printed");
  command->add_flag("--list", options->list, "List the readers");
  command->add_flag("--measured", options->measured,
                    "The files are launches, of circoll bench --json: the fastest wins");
  command
      ->add_option("--margin", options->tune.margin,
                   "With --measured, native stays unless it takes longer by this share")
      ->check(options::at_least(0))
      ->capture_default_str();
  command->add_option("--machine", options->machine, "A machine file, whose model is exported");
  command->add_option("-p,--ranks", options->ranks, "Numbers of ranks for a model, A..B by doubling")
      ->capture_default_str();
  command->add_option("-b,--bytes", options->bytes, "Sizes of the vector for a model, A..B in steps of 4")
      ->capture_default_str();
  command->add_option("-c,--collective", options->collectives, "These collectives only")->transform(collective_name());
  command->add_option("--cores", options->cores, "For jobs with so many ranks on each node, filled in order")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20));
  command->add_flag("--commutative", options->commutative, "For programs whose operators all commute");
  command->add_option("--base", options->base,
                      "MPICH's own selection tree, in JSON or in a libmpich (default: that of the installed one)");
  command->footer(
      "Choices that a format cannot say are guarded or left out, and stand in the head of the file or beside it. Every "
      "file is read back\n"
      "as the library reads it before it is written. docs/admin/other-mpis.md says more.\n"
      "Examples:\n"
      "  circoll export --list\n"
      "  circoll export rules.json --for openmpi-4.1 -o tuned.rules\n"
      "  circoll export --for openmpi-6.0 -p 2..64 -c allreduce -c bcast    # from the model of the default machine\n"
      "  circoll lint tuned.rules --for openmpi-4.1 -p 16 --bytes 64Ki");
  command->callback([options] { run(*options); });
}

}  // namespace circoll::cli
