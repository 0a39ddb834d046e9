#include "wrappers/learn/learned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/files.hpp"
#include "facts/text.hpp"
#include "interpose/ledger.hpp"
#include "select/rules.hpp"
#include "select/text_file.hpp"

namespace circoll::interpose {
namespace {

using Json = nlohmann::ordered_json;

std::string operator_text(const LearnedKey& key) {
  if (!is_reducing(key.collective)) return {};
  return std::string(key.exact ? "exact" : "inexact") + (key.idempotent ? ", idempotent" : "") +
         (key.commutative ? "" : ", noncommutative");
}

/// "1Ki..2047", "0"
std::string sizes_text(const LearnedKey& key) {
  if (!size_decides(key.collective)) return "-";
  const Count least = least_bytes(key.size_class);
  return least <= 1 ? std::to_string(least) : exact_number(least) + ".." + std::to_string(2 * (least - 1) + 1);
}

std::string tried_text(const LearnedRow& row) {
  std::string text;
  for (const TriedAlgorithm& tried : row.tried) {
    text += fmt::format("{}{} {:.2f} ({} calls)", text.empty() ? "" : ", ", tried.name, tried.ratio, tried.calls);
  }
  return text.empty() ? "nothing yet" : text;
}

Json to_json(const LearnedKey& key, const LearnedRow& row) {
  Json tried = Json::array();
  for (const TriedAlgorithm& one : row.tried) {
    tried.push_back({{"algorithm", one.name}, {"ratio", one.ratio}, {"calls", one.calls}});
  }
  return {{"comm_size", key.ranks},
          {"nodes", key.nodes},
          {"ranks_per_node", key.ranks_per_node},
          {"collective", to_string(key.collective)},
          {"commutative", key.commutative},
          {"exact", key.exact},
          {"idempotent", key.idempotent},
          {"bytes_from", least_bytes(key.size_class)},
          {"communicators", row.communicators},
          {"calls", row.calls},
          {"searches", row.searches},
          {"settled", row.settled},
          {"unlearned", row.unlearned},
          {"use", row.use},
          {"best_s", row.best_s},
          {"gain", row.gain},
          {"saved_s", row.saved_s},
          {"spent_s", row.spent_s},
          {"tried", std::move(tried)}};
}

Json to_json(const Learned& learned) {
  Json rows = Json::array();
  for (const auto& [key, row] : learned.rows) rows.push_back(to_json(key, row));
  return {{"in_collectives_s", learned.in_collectives_s},
          {"tried_s", learned.tried_s},
          {"saved_s", learned.saved_s()},
          {"rows", std::move(rows)}};
}

}  // namespace

void join(LearnedRow& all, const LearnedRow& one) {
  LearnedRow sum = all.calls >= one.calls ? all : one;
  sum.communicators = all.communicators + one.communicators;
  sum.calls = all.calls + one.calls;
  sum.searches = all.searches + one.searches;
  sum.saved_s = all.saved_s + one.saved_s;
  sum.spent_s = all.spent_s + one.spent_s;
  all = std::move(sum);
}

void Learned::add(const LearnedKey& key, const LearnedRow& row) {
  if (const auto [known, is_new] = rows.try_emplace(key, row); !is_new) join(known->second, row);
}

void Learned::add(const Learned& other) {
  for (const auto& [key, row] : other.rows) add(key, row);
  in_collectives_s += other.in_collectives_s;
  tried_s += other.tried_s;
}

double Learned::saved_s() const {
  double sum = 0;
  for (const auto& [key, row] : rows) sum += row.saved_s;
  return sum;
}

std::string too_few_calls(const Learned& learned) {
  std::int64_t calls = 0, most = 0;
  for (const auto& [key, row] : learned.rows) {
    if (row.settled) return {};
    calls += row.calls;
    most = std::max(most, row.calls);
  }
  return fmt::format(
      "too few calls to learn from: {}, at most {} of a kind; a kind takes hundreds, brief ones thousands", calls,
      most);
}

std::string serialised(const Learned& learned) { return to_json(learned).dump(); }

Learned learned_from(std::string_view serialised) {
  const auto root = nlohmann::json::parse(serialised);
  Learned learned{.in_collectives_s = root.at("in_collectives_s"), .tried_s = root.at("tried_s")};
  for (const auto& one : root.at("rows")) {
    const auto collective = collective_from_string(one.at("collective").get<std::string>());
    check(collective.has_value(), "a row names a collective");
    LearnedRow row{.communicators = one.at("communicators"),
                   .calls = one.at("calls"),
                   .searches = one.at("searches"),
                   .settled = one.at("settled"),
                   .unlearned = one.at("unlearned"),
                   .use = one.at("use"),
                   .best_s = one.at("best_s"),
                   .gain = one.at("gain"),
                   .saved_s = one.at("saved_s"),
                   .spent_s = one.at("spent_s")};
    for (const auto& tried : one.at("tried")) {
      row.tried.push_back({.name = tried.at("algorithm"), .ratio = tried.at("ratio"), .calls = tried.at("calls")});
    }
    LearnedKey key;
    key.ranks = one.at("comm_size");
    key.nodes = one.at("nodes");
    key.ranks_per_node = one.at("ranks_per_node");
    key.collective = *collective;
    key.commutative = one.at("commutative");
    key.exact = one.at("exact");
    key.idempotent = one.at("idempotent");
    key.size_class = size_class(one.at("bytes_from").get<Count>());
    learned.add(key, row);
  }
  return learned;
}

std::vector<std::string> report_lines(const Learned& learned, bool asked) {
  const double share = learned.in_collectives_s > 0 ? learned.tried_s / learned.in_collectives_s * 100 : 0;
  const auto changed =
      std::count_if(learned.rows.begin(), learned.rows.end(), [](const auto& row) { return row.second.use != "auto"; });
  std::vector<std::string> lines{fmt::format(
      "learned: {} in calls that learn; trying took {} of it ({:.1f} %), and saved {}; {} of {} kinds changed",
      readable_time(learned.in_collectives_s, ""), readable_time(learned.tried_s, ""), share,
      readable_time(learned.saved_s(), ""), changed, learned.rows.size())};
  const std::string why = asked ? too_few_calls(learned) : "";
  if (!why.empty()) lines.push_back("learned: " + why);
  if (learned.rows.empty()) return lines;
  lines.emplace_back(
      "ranks: of the communicator; gain: time without learning / now; tried: time / the best one's then");
  lines.push_back(fmt::format("{:>5} {:<20} {:<18} {:>9}  {:<28} {:>6} {:>8} {:>8}", "ranks", "collective", "bytes",
                              "calls", "serves now", "gain", "saved", "spent"));
  for (const auto& [key, row] : learned.rows) {
    const std::string serves = row.use == "auto" ? row.unlearned + " as before" : row.use;
    lines.push_back(fmt::format("{:>5} {:<20} {:<18} {:>9}  {:<28} {:>6.2f} {:>8} {:>8}", key.ranks,
                                to_string(key.collective), sizes_text(key), row.calls, serves, row.gain,
                                readable_time(row.saved_s, ""), readable_time(row.spent_s, "")));
    const std::string op = operator_text(key);
    lines.push_back(fmt::format("      tried: {}{}{}", tried_text(row), row.settled ? "" : "; not all yet",
                                op.empty() ? "" : "; operators that are " + op));
  }
  return lines;
}

std::string report_json(const Learned& learned) { return to_json(learned).dump(); }

namespace {

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

bool is_one(const select::ValueRange& interval) { return interval.to == interval.from + 1; }

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
