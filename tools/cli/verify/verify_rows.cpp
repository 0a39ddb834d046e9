// The rows of verify, and the parts that shards have of them.
#include "verify_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "show/values_json.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

std::string report(const std::vector<VerifyRow>& rows, bool json) {
  if (json) {
    ordered_json list = ordered_json::array();
    for (const VerifyRow& v : rows) {
      list.push_back({{"id", v.id},
                      {"proven", !v.refuted()},
                      {"instances", v.instances},
                      {"by_rotation", v.by_rotation},
                      {"seconds", v.seconds}});
      if (!v.applies()) list.back()["proven"] = nullptr;
      if (v.refuted()) list.back()["refutation"] = v.refutation;
    }
    return list.dump(2) + "\n";
  }
  std::string text;
  for (const VerifyRow& v : rows) {
    if (!v.applies()) {
      text += fmt::format("{:<44}{:<9}no p, root and segments asked for fit it\n", v.id, "-");
      continue;
    }
    text += fmt::format("{:<44}{:<9}{:>8} {:<9} {:>8.2f} s{}\n", v.id, v.refuted() ? "REFUTED" : "proven", v.instances,
                        v.instances == 1 ? "instance" : "instances", v.seconds,
                        v.by_rotation == 0             ? ""
                        : v.by_rotation == v.instances ? ", by rotation"
                                                       : fmt::format(", {} by rotation", v.by_rotation));
    if (v.refuted()) text += "  " + v.line + "\n";
  }
  return text;
}

/// Selections that share their proofs, as verify_range has it: an algorithm that serves a collective and its twin.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<Selection>& selections) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& g) {
      const Selection& first = selections[g.front()];
      return first.algorithm == selections[i].algorithm && first.params == selections[i].params &&
             are_twins(first.collective, selections[i].collective);
    });
    group == groups.end() ? groups.push_back({i}) : group->push_back(i);
  }
  return groups;
}

/// `number`: of the algorithm among all that were asked for.
ordered_json part_of(const VerifyRow& row, std::size_t number) {
  ordered_json part{{"number", number},
                    {"id", row.id},
                    {"instances", row.instances},
                    {"by_rotation", row.by_rotation},
                    {"seconds", row.seconds}};
  if (row.refuted()) part.update({{"refutation", row.refutation}, {"line", row.line}});
  return part;
}

/// Takes a part of a shard into the row of its algorithm.
void add_part(VerifyRow& row, const ordered_json& part) {
  row.instances += part.at("instances").get<std::int64_t>();
  row.by_rotation += part.value("by_rotation", std::int64_t{0});
  row.seconds += part.at("seconds").get<double>();
  if (!part.contains("refutation")) return;
  const ordered_json& refutation = part.at("refutation");
  if (row.refuted() && row.refutation.at("p").get<Rank>() <= refutation.at("p").get<Rank>()) return;
  row.refutation = refutation;
  row.line = part.at("line").get<std::string>();
}

}  // namespace

VerifyRow row_of(const RangeVerdict& verdict) {
  VerifyRow row{
      .id = verdict.id, .instances = verdict.instances, .by_rotation = verdict.by_rotation, .seconds = verdict.seconds};
  if (verdict.refutation) {
    row.refutation = as_json(*verdict.refutation);
    row.line = verdict.refutation->to_string();
  }
  return row;
}

void print_rows(const std::vector<VerifyRow>& rows, const std::set<std::string>& named, bool json, Context& context) {
  const bool none = std::ranges::none_of(rows, [](const VerifyRow& row) { return row.applies(); });
  std::int64_t refuted = 0;
  std::int64_t instances = 0;
  std::int64_t algorithms = 0;
  for (const VerifyRow& row : rows) {
    // An algorithm that needs an even p, say, may be left out of its collective. A named algorithm may not.
    if (!row.applies() && (none || named.contains(row.id))) {
      throw Error(ErrorCode::invalid_argument,
                  row.id + ": nothing to verify, no p, root and segments asked for fit it");
    }
    refuted += row.refuted() ? 1 : 0;
    algorithms += row.applies() ? 1 : 0;
    instances += row.instances;
  }
  print(report(rows, json));
  if (!json) {
    print(fmt::format("{} algorithm{}, {} instance{} proven, {} refuted\n", algorithms, algorithms == 1 ? "" : "s",
                      instances, instances == 1 ? "" : "s", refuted));
  }
  if (refuted > 0) context.exit_code = exit_failure;
}

void verify_shard(const std::vector<Selection>& selections, const VerifyRange& range, ShardedWork work,
                  const ShardOptions& options) {
  const Shard shard = options.parsed();
  const std::vector<std::vector<std::size_t>> groups = groups_of(selections);
  const auto columns = static_cast<std::int64_t>(groups.size());
  const bool all = range.only.empty();
  const std::int64_t rows = all ? range.last - range.first + 1 : static_cast<std::int64_t>(range.only.size());
  work.items = rows * columns;
  ShardFile file(options.output, work, shard);
  if (file.complete()) {
    print(fmt::format("{}: shard {} was done before\n", options.output, to_string(shard)));
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<Selection> asked;
    std::vector<std::pair<std::int64_t, std::int64_t>> items;  // and their columns
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t item = row * columns + column;
      if (!has_cell(shard, row, column) || file.has(item)) continue;
      for (const std::size_t number : groups[static_cast<std::size_t>(column)]) asked.push_back(selections[number]);
      items.emplace_back(item, column);
    }
    if (asked.empty()) continue;
    VerifyRange one = range;
    one.first = one.last = all ? range.first + row : range.only[static_cast<std::size_t>(row)];
    const std::vector<RangeVerdict> verdicts = verify_range(asked, one);
    auto verdict = verdicts.begin();
    for (const auto& [item, column] : items) {
      ordered_json part = ordered_json::array();
      for (const std::size_t number : groups[static_cast<std::size_t>(column)]) {
        part.push_back(part_of(row_of(*verdict++), number));
      }
      file.add(item, part.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    }
  }
  file.finish();
  print(fmt::format("{}: shard {}, {} of {} cells of algorithm and p\n", options.output, to_string(shard), file.parts(),
                    work.items));
}

std::vector<VerifyRow> combined_rows(const std::vector<ShardResult>& shards) {
  const std::map<std::int64_t, std::string> parts = combine_shards(shards);
  std::map<std::size_t, VerifyRow> by_number;
  try {
    for (const auto& [item, text] : parts) {
      for (const ordered_json& part : ordered_json::parse(text)) {
        VerifyRow& row = by_number[part.at("number").get<std::size_t>()];
        if (row.id.empty()) row.id = part.at("id").get<std::string>();
        add_part(row, part);
      }
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::parse, fmt::format("a part of the shards is no result of verify: {}", error.what()));
  }
  std::vector<VerifyRow> rows;
  rows.reserve(by_number.size());
  for (auto& [number, row] : by_number) rows.push_back(std::move(row));
  return rows;
}

std::set<std::string> named_in(const ShardedWork& work) {
  std::set<std::string> named;
  std::istringstream words(work.argument("what"));
  for (std::string word; words >> word;) {
    if (word.find('/') != std::string::npos) named.insert(parse_selection(word).id());
  }
  return named;
}

}  // namespace circoll::cli
