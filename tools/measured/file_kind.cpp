#include "measured/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "circoll/error.hpp"
#include "facts/call_trace.hpp"
#include "select/machine.hpp"
#include "select/text_file.hpp"

namespace circoll::measured {
namespace {

using nlohmann::json;

struct KindDescription {
  FileKind kind;
  std::string_view title;
  std::string_view use;  ///< by which command; {0} is the file
};

constexpr std::array descriptions{
    KindDescription{FileKind::report, "a report of a program (CIRCOLL_REPORT)",
                    "'circoll tune --for {0}' measures its calls, and 'circoll compare' compares it with another"},
    KindDescription{FileKind::reports, "a list of reports (CIRCOLL_REPORT)", "'circoll report {0}' adds them up"},
    KindDescription{FileKind::report_sum, "a sum of circoll report --json",
                    "no command reads it; give the reports that were added up"},
    KindDescription{FileKind::trace, "a trace (CIRCOLL_TRACE)", "https://ui.perfetto.dev shows it"},
    KindDescription{FileKind::calls, "a trace of calls (CIRCOLL_TRACE)", "'circoll whatif {0}' plays it"},
    KindDescription{FileKind::comparison, "a comparison of circoll compare --json", "no command reads it"},
    KindDescription{
        FileKind::launch, "a measurement of circoll-bench",
        "'circoll tune {0}' chooses by it, and 'circoll calibrate --compare {0}' compares it with a machine"},
    KindDescription{FileKind::sides, "a measurement of circoll-bench --guidelines",
                    "'circoll guidelines {0}' reads it"},
    KindDescription{FileKind::merged, "a table of circoll merge --json",
                    "no command reads it; give the files that were merged"},
    KindDescription{FileKind::calibration, "a calibration of circoll-bench",
                    "'circoll calibrate {0} -o machine.json' makes a machine of it"},
    KindDescription{FileKind::machine, "a description of a machine",
                    "'circoll cost allreduce -p 8 --machine {0}' uses it"},
    KindDescription{
        FileKind::rules, "a file of Circoll's rules",
        "CIRCOLL_POLICY=file:{0} uses it, and 'circoll export {0} --for READER' writes it for another library"},
    KindDescription{FileKind::profile, "a profile of circoll tune", "CIRCOLL_PROFILE={0} uses it"},
    KindDescription{FileKind::learned, "a file of learned choices", "CIRCOLL_LEARN={0} goes on with it"},
    KindDescription{FileKind::cells, "a list of cells to measure", "'circoll bench --cells {0}' measures them"},
    KindDescription{FileKind::campaign, "a shard of circoll tune --for",
                    "'circoll merge FILES' puts all shards together"},
    KindDescription{FileKind::shard, "a shard of circoll verify", "'circoll merge FILES' puts all shards together"},
    KindDescription{FileKind::topology, "a description of a network", "'circoll simulate --topology {0}' uses it"},
    KindDescription{FileKind::schedules, "a file of schedules", "'circoll verify {0}' proves it"},
    KindDescription{FileKind::doctor, "an answer of circoll doctor --json", "no command reads it"},
};

struct KindKey {
  std::string_view key;
  FileKind kind;
};

constexpr std::array kind_keys{
    KindKey{"circoll_report", FileKind::report},   KindKey{"circoll_comparison", FileKind::comparison},
    KindKey{"circoll_machine", FileKind::machine}, KindKey{"circoll_calibration", FileKind::calibration},
    KindKey{"circoll_cells", FileKind::cells},     KindKey{"circoll_topology", FileKind::topology},
    KindKey{"circoll_doctor", FileKind::doctor},   KindKey{"circoll_report_sum", FileKind::report_sum},
};

bool is_schedule(const json& value) {
  return value.is_object() && value.contains("format") && value["format"] == "circoll-schedule";
}

FileKind kind_of_object(const json& object) {
  const auto member = [&](const char* key, const char* inner) {
    return object.contains(key) && object[key].is_object() && object[key].contains(inner);
  };
  for (const KindKey& one : kind_keys) {
    if (object.contains(one.key)) return one.kind;
  }
  if (object.contains("circoll_rules")) {
    if (object.contains("profile")) return FileKind::profile;
    return object.contains("learned") ? FileKind::learned : FileKind::rules;
  }
  if (object.contains("circoll_shard")) {
    const bool tunes = object.contains("command") && object["command"] == "tune --for";
    return tunes ? FileKind::campaign : FileKind::shard;
  }
  if (member("otherData", "circoll_trace")) return FileKind::trace;
  if (is_schedule(object)) return FileKind::schedules;
  // A report without its first key has rows, too.
  if (!object.contains("rows") || !object["rows"].is_array() || object.contains("native_calls"))
    return FileKind::unknown;
  if (object.contains("sides")) return FileKind::sides;
  return object.contains("launches") ? FileKind::merged : FileKind::launch;
}

bool is_wanted(FileKind kind, std::initializer_list<FileKind> wanted) {
  const auto has = [&](FileKind one) { return std::find(wanted.begin(), wanted.end(), one) != wanted.end(); };
  return has(kind) || (kind == FileKind::sides && has(FileKind::launch));
}

}  // namespace

FileKind kind_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return FileKind::unknown;
  const std::string_view begin = text.substr(first);
  if (trace::is_call_trace(begin)) return FileKind::calls;
  if (begin.starts_with("circoll-schedule ") || begin.starts_with("<algo")) return FileKind::schedules;
  if (!begin.starts_with('{') && !begin.starts_with('[')) return FileKind::unknown;
  // Two levels say all, and a report or a trace has many more.
  const json root = json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth <= 2; }, false);
  if (root.is_object()) return kind_of_object(root);
  if (root.is_discarded() && begin.starts_with("{\"circoll_report\":")) return FileKind::reports;
  return root.is_array() && !root.empty() && is_schedule(root.front()) ? FileKind::schedules : FileKind::unknown;
}

void require_kind(std::string_view text, const std::string& path, std::initializer_list<FileKind> wanted) {
  const FileKind kind = kind_of(text);
  const auto known = std::find_if(descriptions.begin(), descriptions.end(),
                                  [&](const KindDescription& one) { return one.kind == kind; });
  if (known == descriptions.end() || is_wanted(kind, wanted)) return;
  throw Error(ErrorCode::parse,
              fmt::format("{}: this is {}; {}", path, known->title, fmt::format(fmt::runtime(known->use), path)));
}

std::string read_file_of(const std::string& path, std::initializer_list<FileKind> wanted) {
  std::string text = select::read_text_file(path);
  require_kind(text, path, wanted);
  return text;
}

std::string path_of_machine(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.find('/') != std::string::npos || fs::exists(path, error)) return path;
  const fs::path installed =
      fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share" / "circoll" / "machines";
  if (fs::exists(installed / (path + ".json"), error)) return (installed / (path + ".json")).string();
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(installed, error)) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("there is no machine file {}; machines with names are {}", path,
                          names.empty() ? "not installed" : fmt::to_string(fmt::join(names, ", "))));
}

Machine read_machine_file(const std::string& path) {
  const std::string file = path_of_machine(path);
  return machine_from_json(read_file_of(file, {FileKind::machine}), file);
}

void require_rules(std::string_view policy) {
  constexpr std::string_view file = "file:";
  if (!policy.starts_with(file)) return;
  (void)read_file_of(std::string(policy.substr(file.size())), {FileKind::rules, FileKind::profile, FileKind::learned});
}

}  // namespace circoll::measured
