// Reads files of circoll-bench, and puts several launches together.
#include "measured/measurement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "circoll/error.hpp"
#include "facts/median.hpp"
#include "facts/statistics.hpp"
#include "measured/file_kind.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

[[noreturn]] void fail_unlike(const Launch& one, const Launch& other) {
  throw Error(ErrorCode::invalid_argument, one.source + " has measured something else (" + one.setting + ") than " +
                                               other.source + " (" + other.setting + ")");
}

Measurement read_row(const select::Json& entry, const std::string& source) {
  const select::Members row(entry, source);
  const std::string name = row.text("collective");
  const auto collective = collective_from_string(name);
  if (!collective) row.fail(entry, "'" + name + "' is no collective");
  Measurement one{.collective = *collective,
                  .algorithm = row.text("algorithm"),
                  .served_by = row.text("served_by"),
                  .p = row.integer("p"),
                  .bytes = row.integer("bytes"),
                  .reps = row.integer("reps"),
                  .median_s = row.number("median_us") * 1e-6,
                  .wrong = row.text("correct") == "NO"};
  if (row.find("median_low_us") != nullptr) {
    one.low_s = row.number("median_low_us") * 1e-6;
    one.high_s = row.number("median_high_us") * 1e-6;
  }
  if (one.p < 1 || one.bytes < 0 || one.reps < 0 || !(one.median_s >= 0) || (one.reps > 0 && one.median_s == 0)) {
    row.fail(entry, "'p', 'bytes', 'reps' or 'median_us' is out of range");
  }
  return one;
}

auto cell_of(const Measurement& row) { return std::tie(row.collective, row.p, row.bytes); }

const Measurement* find(const Launch& launch, const Measurement& like, std::string_view algorithm) {
  for (const Measurement& row : launch.rows) {
    if (cell_of(row) == cell_of(like) && row.algorithm == algorithm && row.reps > 0) return &row;
  }
  return nullptr;
}

/// The median and its interval.
std::tuple<double, double, double> middle(std::vector<double> values) {
  std::ranges::sort(values);
  const ConfidenceInterval interval = median_interval(values);
  return {median_of_sorted(values), interval.low, interval.high};
}

Combined combine(const std::vector<Launch>& launches, const Measurement& first) {
  Combined cell{.row = first};
  cell.row.reps = 0;
  std::vector<double> medians, ratios;
  for (const Launch& launch : launches) {
    const Measurement* const own = find(launch, first, first.algorithm);
    if (own == nullptr) continue;
    ++cell.launches;
    cell.row.reps += own->reps;
    cell.row.wrong = cell.row.wrong || own->wrong;
    medians.push_back(own->median_s);
    // Side by side only: what disturbs one launch does not disturb another.
    if (const Measurement* const native = find(launch, first, "native")) {
      ratios.push_back(native->median_s / own->median_s);
    }
  }
  if (!ratios.empty()) cell.least_speedup = *std::ranges::min_element(ratios);
  std::tie(cell.row.median_s, cell.low_s, cell.high_s) = middle(std::move(medians));
  std::tie(cell.speedup, cell.speedup_low, cell.speedup_high) = middle(std::move(ratios));
  return cell;
}

}  // namespace

Launch launch_from_json(std::string_view json, const std::string& source) {
  measured::require_kind(json, source, {measured::FileKind::launch});
  const select::Json root = select::read_json(json, source);
  const select::Json* const rows = root.member("rows");
  if (rows == nullptr || rows->array() == nullptr)
    select::fail_at(source, root.line, "this is no circoll-bench --json");
  const select::Members members(root, source);
  Launch launch{.source = source};
  launch.type = members.text("type");
  launch.op = members.text("op");
  launch.root = members.integer("root");
  if (members.find("mpi") != nullptr) launch.mpi = members.text("mpi");
  launch.setting = launch.type + ", " + launch.op + ", root " + std::to_string(launch.root) + ", started by " +
                   (members.find("sync") == nullptr ? "barrier" : members.text("sync"));
  if (!launch.mpi.empty()) launch.setting += ", " + launch.mpi;
  for (const char* const key : {"between_s", "spread_s"}) {
    const double seconds = members.find(key) == nullptr ? 0 : members.number(key);
    if (seconds > 0) launch.setting += std::string(", ") + key + " " + std::to_string(seconds);
  }
  const std::string policy = members.find("policy") == nullptr ? "auto" : members.text("policy");
  launch.default_policy = policy == "auto" || policy == "model";
  if (!launch.default_policy) launch.setting += ", auto by " + policy;
  const auto optional = [&](const char* key) { return members.find(key) == nullptr ? "" : members.text(key); };
  launch.library = optional("library");
  launch.processor = optional("processor");
  launch.host = optional("host");
  for (const select::Json& entry : *rows->array()) launch.rows.push_back(read_row(entry, source));
  return launch;
}

std::vector<Launch> read_launches(const std::vector<std::string>& files) {
  std::vector<Launch> launches;
  launches.reserve(files.size());
  for (const std::string& file : files) launches.push_back(launch_from_json(select::read_text_file(file), file));
  return launches;
}

void require_comparable(const std::vector<const Launch*>& launches) {
  require(!launches.empty(), "no launch is given");
  std::map<Rank, const Launch*> first_of;
  for (const Launch* const launch : launches) {
    const Launch& first = *launches.front();
    if (launch->type != first.type || launch->op != first.op || launch->root != first.root) fail_unlike(*launch, first);
    std::set<Rank> sizes;
    for (const Measurement& row : launch->rows) sizes.insert(row.p);
    for (const Rank p : sizes) {
      const Launch& like = *first_of.emplace(p, launch).first->second;
      if (launch->setting != like.setting) fail_unlike(*launch, like);
    }
  }
}

std::vector<Combined> combine(const std::vector<Launch>& launches) {
  std::vector<Combined> cells;
  const auto known = [&](const Measurement& row) {
    return std::ranges::any_of(cells, [&](const Combined& cell) {
      return cell_of(cell.row) == cell_of(row) && cell.row.algorithm == row.algorithm;
    });
  };
  for (const Launch& launch : launches) {
    if (launch.setting != launches.front().setting) fail_unlike(launch, launches.front());
    for (const Measurement& row : launch.rows) {
      if (!known(row)) cells.push_back(combine(launches, row));
    }
  }
  return cells;
}

}  // namespace circoll
