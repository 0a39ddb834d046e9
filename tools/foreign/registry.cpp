// The table of readers, and what is common to all exports: what was written is read back and compared.
#include <algorithm>
#include <vector>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "foreign/formats.hpp"

namespace circoll::foreign {
namespace {

Format classic_of_openmpi(std::string_view id, std::string_view title, std::string_view use) {
  return {.reader = {.id = id, .title = title, .library = "openmpi", .use = use},
          .write = write_openmpi_classic,
          .read = read_openmpi_classic,
          .names = openmpi_names};
}

Format json_of_openmpi(std::string_view id, std::string_view title, Write write) {
  return {.reader = {.id = id, .title = title, .library = "openmpi", .use = "as for 5.0"},
          .write = write,
          .read = read_openmpi_json,
          .names = openmpi_names};
}

Format tree_of_mpich(std::string_view id, std::string_view title, std::string_view use = "as for 4.0") {
  return {.reader = {.id = id, .title = title, .library = "mpich", .use = use},
          .write = mpich::write_selection,
          .read = mpich::read_selection,
          .names = mpich::selection_names};
}

// A line for each reader, those of a library together, the oldest version first.
const std::vector<Format> table{
    classic_of_openmpi("openmpi-4.1", "Open MPI 4.1, rules of coll/tuned",
                       "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE"),
    classic_of_openmpi("openmpi-5.0", "Open MPI 5.0, rules of coll/tuned",
                       "the same, and --mca coll_han_priority 0 where ranks are on several nodes"),
    json_of_openmpi("openmpi-6.0", "Open MPI 6.0, rules of coll/tuned in JSON", write_openmpi_json),
    json_of_openmpi("openmpi-6.0-classic", "Open MPI 6.0, rules of coll/tuned in the classic format",
                    write_openmpi_classic),
    tree_of_mpich("mpich-4.0", "MPICH 4.0, selection tree (csel)", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=FILE"),
    tree_of_mpich("mpich-4.1", "MPICH 4.1, selection tree (csel)"),
    tree_of_mpich("mpich-4.2", "MPICH 4.2, selection tree (csel)"),
    tree_of_mpich("mpich-4.3", "MPICH 4.3, selection tree (csel)"),
    tree_of_mpich("mpich-5.0", "MPICH 5.0, selection tree (csel)"),
};

}  // namespace

std::span<const Format> formats() { return table; }

const Format& format_of(std::string_view id) {
  std::vector<std::string> known;
  for (const Format& format : formats()) {
    if (format.reader.id == id) return format;
    known.emplace_back(format.reader.id);
  }
  throw Error(ErrorCode::unknown_name, unknown_name(id, "reader of tuning files", known));
}

std::span<const Reader> readers() {
  static const std::vector<Reader> all = [] {
    std::vector<Reader> made;
    for (const Format& format : formats()) made.push_back(format.reader);
    return made;
  }();
  return all;
}

const Reader& find_reader(std::string_view id) { return format_of(id).reader; }

std::string head_text(const Reader& reader, const ExportOptions& options, std::span<const std::string> losses,
                      std::string_view mark) {
  const std::string begin(mark);
  std::string text = begin + std::string(reader.title) + "; written by circoll export\n";
  if (!options.about.empty()) text += begin + options.about + "\n";
  if (options.operators != Operators::any) {
    text += begin + "FOR PROGRAMS WHOSE OPERATORS COMMUTE: it is wrong for others\n";
  }
  for (const std::string& loss : losses) text.append(begin).append("- ").append(loss).append("\n");
  return text;
}

void add_side_file(Exported& exported, const Reader& reader, const ExportOptions& options) {
  if (exported.losses.empty() && options.operators == Operators::any) return;
  exported.files.push_back({.suffix = ".losses.txt", .text = head_text(reader, options, exported.losses, "")});
}

Exported export_rules(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  Written written = format_of(reader.id).write(rules, reader, options);
  const bool something = std::ranges::any_of(written.said, [](const Rule& rule) { return !rule.algorithm.empty(); });
  if (!something) {
    std::string why = "nothing of the rules can be said to " + std::string(reader.id);
    for (const std::string& loss : written.exported.losses) why += "\n  " + loss;
    throw Error(ErrorCode::invalid_argument, why);
  }
  const std::string difference = read_back_difference(written, reader);
  check(difference.empty(), difference.c_str());
  return std::move(written.exported);
}

std::unique_ptr<const TuningFile> read(std::string_view text, const std::string& source, const Reader& reader) {
  return format_of(reader.id).read(text, source, reader);
}

}  // namespace circoll::foreign
