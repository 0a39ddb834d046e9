// Tuning files of other libraries, written where the user wants them.
#include "exported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "circoll/error.hpp"
#include "commands.hpp"

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

}  // namespace circoll::cli
