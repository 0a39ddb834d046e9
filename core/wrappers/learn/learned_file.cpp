#include "wrappers/learn/learned_file.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/files.hpp"
#include "interpose/ledger.hpp"
#include "select/rules.hpp"
#include "select/text_file.hpp"

namespace circoll::interpose {
namespace {

using Json = nlohmann::ordered_json;

/// Kinds of operators as rules name them.
Json operators_of(const LearnedKey& key) {
  return {key.commutative ? "commutative" : "noncommutative", key.exact ? "exact" : "inexact",
          key.idempotent ? "idempotent" : "nonidempotent"};
}

Json rule_of(const LearnedKey& key, const LearnedRow& row) {
  const auto one = [](std::int64_t value) { return Json{value, value + 1}; };
  Json rule{{"p", one(key.ranks)}, {"nodes", one(key.nodes)}, {"ranks_per_node", one(key.ranks_per_node)}};
  if (is_reducing(key.collective)) rule["op"] = operators_of(key);
  if (size_decides(key.collective)) {
    const Count least = least_bytes(key.size_class);
    rule["bytes"] = Json{least, key.size_class == 0 ? 1 : 2 * least};
  }
  rule["use"] = row.use;
  return rule;
}

Json file_of(const select::ProfileKey& machine) {
  return {{"circoll_rules", 1},
          {"about", "learned while programs ran: CIRCOLL_POLICY=learn"},
          {"learned", {{"version", 1}, {"library", machine.library}, {"processor", machine.processor}}}};
}

/// True if the rules language can say this one.
bool can_be_said(const LearnedKey& key, const LearnedRow& row) {
  Json file = file_of({});
  file[std::string(to_string(key.collective))] = {rule_of(key, row), {{"otherwise", "auto"}}};
  try {
    return !select::read_rules(file.dump(), "rule", {}).empty();
  } catch (const Error&) {
    return false;
  }
}

/// The operator of a rule that is for one kind of them.
bool read_operator(const select::OpSet ops, LearnedKey& key) {
  if (!is_reducing(key.collective)) return true;
  for (std::size_t i = 0; i < select::op_kinds.size(); ++i) {
    if (ops != 1U << i) continue;
    const select::OpKind& kind = select::op_kinds.at(i);
    key.commutative = kind.commutative;
    key.exact = kind.exact;
    key.idempotent = kind.idempotent;
    return true;
  }
  return false;
}

bool is_one(const select::Interval& interval) { return interval.to == interval.from + 1; }

LearnedKey key_of(Collective collective, const select::Rule& rule, const std::string& source) {
  LearnedKey key;
  key.collective = collective;
  key.ranks = rule.p.from;
  key.nodes = rule.nodes.from;
  key.ranks_per_node = rule.ranks_per_node.from;
  key.size_class = size_decides(collective) ? size_class(rule.bytes.from) : 0;
  const Count least = least_bytes(key.size_class);
  const bool one_class =
      !size_decides(collective) || (rule.bytes.from == least && rule.bytes.to == (key.size_class == 0 ? 1 : 2 * least));
  if (!one_class || !is_one(rule.p) || !is_one(rule.nodes) || !is_one(rule.ranks_per_node) ||
      !read_operator(rule.ops, key)) {
    select::fail_at(source, rule.line, "a rule that was learned is about one p, placement, kind and power of two");
  }
  return key;
}

}  // namespace

std::string learned_text(const Learned& learned, const select::ProfileKey& machine) {
  Json file = file_of(machine);
  for (const auto& [key, row] : learned.rows) {
    if (!row.settled || !can_be_said(key, row)) continue;
    file[std::string(to_string(key.collective))].push_back(rule_of(key, row));
  }
  for (const Collective collective : all_collectives) {
    const auto list = file.find(std::string(to_string(collective)));
    if (list != file.end()) list->push_back({{"otherwise", "auto"}});
  }
  return file.dump(1) + "\n";
}

LearnedFile read_learned(std::string_view text, const std::string& source) {
  const select::Json root = select::read_json(text, source);
  const select::Json* const head = root.member("learned");
  if (head == nullptr) select::fail_at(source, root.line, "nothing was learned in this file: there is no \"learned\"");
  const select::Members members(*head, source, {"version", "library", "processor"});
  members.require_version("version");
  LearnedFile file{.machine = {.library = members.text("library"), .processor = members.text("processor")}};
  for (const auto& [collective, rules] : select::read_rules(text, source, {})) {
    for (const select::Rule& rule : rules.rules) {
      file.learned.rows[key_of(collective, rule, source)] = {.settled = true, .use = rule.use.text};
    }
  }
  return file;
}

std::string why_not_here(const select::ProfileKey& learned, const select::ProfileKey& here) {
  if (learned.library != here.library) return "it was learned with " + learned.library + ", not " + here.library;
  if (learned.processor == here.processor) return {};
  return "it was learned on '" + learned.processor + "', not '" + here.processor + "'";
}

void store_learned(const std::string& file, const Learned& learned, const select::ProfileKey& machine) {
  const FileLock lock(directory_of(file) + "/." + std::filesystem::path(file).filename().string() + ".lock");
  Learned all;
  if (std::filesystem::exists(file)) {
    LearnedFile before = read_learned(select::read_text_file(file), file);
    if (const std::string why = why_not_here(before.machine, machine); !why.empty()) {
      throw Error(ErrorCode::invalid_argument, file + " stays as it is: " + why);
    }
    all = std::move(before.learned);
  }
  for (const auto& [key, row] : learned.rows) {
    if (row.settled) all.rows.insert_or_assign(key, row);
  }
  replace_file(file, learned_text(all, machine));
}

}  // namespace circoll::interpose
