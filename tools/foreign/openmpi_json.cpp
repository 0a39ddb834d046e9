// A JSON rules file of Open MPI decides about calls, and warns of what its author may not have meant.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "foreign/cells.hpp"
#include "foreign/openmpi.hpp"
#include "select/text_file.hpp"

namespace circoll::foreign {
namespace {

using namespace openmpi;
using select::Json;

constexpr Version version = Version::v60;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

enum class Distribution : std::uint8_t { any, one_per_node, single_node };

struct SizeRule {
  std::uint64_t from = 0;
  std::uint64_t to = no_end;
  std::int64_t algorithm = 0;
  std::int64_t fanout = 0;
  std::int64_t segment_bytes = 0;
  std::size_t line = 0;
  bool disabled = false;  ///< by an algorithm that is not known

  [[nodiscard]] bool holds(std::uint64_t bytes) const { return !disabled && bytes >= from && bytes <= to; }
};
struct RankRule {
  std::int32_t from = 0;
  std::int32_t to = std::numeric_limits<std::int32_t>::max();
  Distribution distribution = Distribution::any;
  std::vector<SizeRule> rules{};
  std::size_t line = 0;

  [[nodiscard]] bool holds(const Call& call) const {
    if (distribution == Distribution::one_per_node && call.ranks_per_node != 1) return false;
    if (distribution == Distribution::single_node && call.nodes != 1) return false;
    return call.ranks >= from && call.ranks <= to;
  }
};

/// The reader gives up on the whole file.
struct Rejected {
  std::size_t line;
  std::string why;
};

/// Names of collectives that are known, and of which coll/tuned has no algorithms.
bool is_elsewhere(std::string_view name) {
  constexpr std::array others{"alltoallw",           "gatherv",           "scatterv",           "neighbor_allgather",
                              "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"};
  return std::ranges::find(others, name) != others.end();
}

class JsonTuning final : public TuningFile {
 public:
  JsonTuning(const Json& root, std::string source) : source_(std::move(source)) {
    try {
      read_root(root);
    } catch (const Rejected& rejected) {
      rejected_ = true;
      warn(rejected.line, "the file is rejected as a whole, in silence: " + rejected.why);
    }
    sort_warnings();
  }
  /// A file that is valid JSON and cannot be read here.
  JsonTuning(std::string source, std::string why) : source_(std::move(source)) {
    rejected_ = true;
    warn(0, std::move(why));
  }

  [[nodiscard]] ForeignDecision decide(const Call& call) const override {
    const auto found = lists_.find(call.collective);
    if (rejected_ || found == lists_.end() || call.ranks < 2) return {};
    const auto& list = found->second;
    const auto ranks = std::ranges::find_if(list, [&](const RankRule& rule) { return rule.holds(call); });
    if (ranks == list.end()) return {};
    const auto bytes = static_cast<std::uint64_t>(looked_up_bytes(call, version));
    const auto rule = std::ranges::find_if(ranks->rules, [&](const SizeRule& one) { return one.holds(bytes); });
    if (rule == ranks->rules.end()) return {};
    ForeignDecision verdict =
        verdict_of(call, rule->algorithm, version,
                   source_ + ":" + std::to_string(rule->line) + ": " + text_of(*ranks) + ", " + text_of(*rule));
    if (const KnownAlgorithm* known = algorithm_of(call.collective, rule->algorithm, version)) {
      verdict.parameters = parameters_of(*known, rule->segment_bytes, rule->fanout);
    }
    return verdict;
  }

 private:
  static std::string text_of(const RankRule& rule) {
    const bool open = rule.to == std::numeric_limits<std::int32_t>::max();
    return foreign::text_of(Range{rule.from, open ? unbounded : rule.to}, 0) + " ranks" +
           (rule.distribution == Distribution::any            ? ""
            : rule.distribution == Distribution::one_per_node ? " one-per-node"
                                                              : " single-node");
  }
  static std::string text_of(const SizeRule& rule) {
    const auto limit = static_cast<std::uint64_t>(unbounded);
    return foreign::text_of(
               Range{static_cast<Count>(std::min(rule.from, limit)), static_cast<Count>(std::min(rule.to, limit))}, 0) +
           " bytes";
  }

  void warn_of_unknown(const Json& object, std::initializer_list<std::string_view> known) {
    if (object.object() == nullptr) return;
    for (const auto& [key, value] : *object.object()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      std::string text = "the key '" + key + "' is ignored";
      if (key == "segsize") text += ": it is 'seg_size'";
      warn(value.line, std::move(text));
    }
  }

  void read_root(const Json& root) {
    const Json* const collectives = root.member("collectives");
    if (collectives == nullptr) throw Rejected{root.line, "there is no \"collectives\""};
    if (collectives->object() == nullptr) throw Rejected{collectives->line, "\"collectives\" is no object"};
    warn_of_unknown(root, {"collectives", "rule_file_version", "module"});
    for (const auto& [name, list] : *collectives->object()) read_list(name, list);
  }

  void read_list(const std::string& name, const Json& list) {
    const auto collective = collective_from_string(name);
    if (!collective && !is_elsewhere(name)) {
      std::string why = "'" + name + "' is no collective, and one that is unknown spoils all";
      if (name == "reducescatter" || name == "reducescatterblock") {
        why += "; the reader wants " +
               std::string(name == "reducescatter" ? "reduce_scatter" : "reduce_scatter_block") +
               ", whatever the schema says";
      }
      throw Rejected{list.line, why};
    }
    if (list.array() == nullptr) throw Rejected{list.line, "the rules of " + name + " are no list"};
    std::vector<RankRule> rules;
    for (const Json& entry : *list.array()) rules.push_back(read_ranks(entry, collective));
    if (!collective || algorithms_in(*collective).empty()) {
      warn(list.line, "coll/tuned never looks at rules of " + name);
      return;
    }
    check(*collective, rules);
    lists_.emplace(*collective, std::move(rules));
  }

  /// An integer, or "inf"; nothing if the key is missing. Everything else spoils the file.
  static std::optional<std::int64_t> integer(const Json& object, std::string_view key) {
    const Json* const json = object.member(key);
    if (json == nullptr) return std::nullopt;
    if (const auto* value = std::get_if<std::int64_t>(&json->value)) return *value;
    const std::string* const text = json->string();
    if (text != nullptr && (text->starts_with("inf") || text->starts_with("Inf") || text->starts_with("INF")))
      return -1;
    throw Rejected{json->line, "\"" + std::string(key) + "\" is neither an integer nor \"inf\""};
  }

  RankRule read_ranks(const Json& entry, std::optional<Collective> collective) {
    RankRule ranks{.line = entry.line};
    if (entry.object() == nullptr) throw Rejected{entry.line, "a rule of communicator sizes is no object"};
    warn_of_unknown(entry, {"comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"});
    if (const auto from = integer(entry, "comm_size_min")) ranks.from = static_cast<std::int32_t>(*from);
    if (const auto to = integer(entry, "comm_size_max")) {
      ranks.to = static_cast<std::int32_t>(*to);
      if (entry.member("comm_size_max")->string() != nullptr) {
        warn(entry.member("comm_size_max")->line,
             "\"comm_size_max\": \"inf\" is kept as -1, so that the rule holds for no number of ranks: leave the key "
             "out");
      }
    }
    if (const Json* const where = entry.member("comm_rank_distribution")) {
      const std::string* const text = where->string();
      if (text == nullptr) throw Rejected{where->line, "\"comm_rank_distribution\" is no string"};
      if (*text == "one-per-node") ranks.distribution = Distribution::one_per_node;
      if (*text == "single-node") ranks.distribution = Distribution::single_node;
      if (*text != "any" && ranks.distribution == Distribution::any) {
        warn(where->line, "'" + *text + "' is taken for \"any\": known are any, one-per-node, single-node");
      }
    }
    const Json* const rules = entry.member("rules");
    if (rules == nullptr || rules->array() == nullptr) throw Rejected{entry.line, "there is no list of \"rules\""};
    for (const Json& rule : *rules->array()) ranks.rules.push_back(read_sizes(rule, collective));
    return ranks;
  }

  SizeRule read_sizes(const Json& entry, std::optional<Collective> collective) {
    SizeRule rule{.line = entry.line};
    if (entry.object() == nullptr) throw Rejected{entry.line, "a rule of message sizes is no object"};
    warn_of_unknown(entry, {"msg_size_min", "msg_size_max", "faninout", "seg_size", "reqs", "alg"});
    if (const auto from = integer(entry, "msg_size_min")) rule.from = static_cast<std::uint64_t>(*from);
    if (const auto to = integer(entry, "msg_size_max")) rule.to = static_cast<std::uint64_t>(*to);
    if (const auto fanout = integer(entry, "faninout")) rule.fanout = static_cast<std::int32_t>(*fanout);
    if (const auto segment = integer(entry, "seg_size")) rule.segment_bytes = static_cast<std::int32_t>(*segment);
    (void)integer(entry, "reqs");
    if (collective) read_algorithm(entry, *collective, rule);
    return rule;
  }

  void read_algorithm(const Json& entry, Collective collective, SizeRule& rule) {
    const Json* const json = entry.member("alg");
    if (json == nullptr || (json->string() == nullptr && std::get_if<std::int64_t>(&json->value) == nullptr)) {
      warn(rule.line, "without \"alg\", a number or a name, the rule leaves its calls to the library");
      return;
    }
    const auto known = algorithms_in(collective);
    if (const auto* number = std::get_if<std::int64_t>(&json->value)) {
      rule.algorithm = *number;
      rule.disabled = *number < 0 || *number > static_cast<std::int64_t>(known.size());
    } else {
      const std::string& name = *json->string();
      const auto found = std::ranges::find_if(
          known, [&](const KnownAlgorithm& one) { return (one.newer.empty() ? one.name : one.newer) == name; });
      rule.disabled = found == known.end() && name != "ignore";
      if (found != known.end()) rule.algorithm = found - known.begin() + 1;
    }
    if (!rule.disabled) return;
    const std::string name = json->string() != nullptr ? *json->string() : std::to_string(rule.algorithm);
    std::string text =
        "the rule is disabled in silence: " + std::string(to_string(collective)) + " has no algorithm '" + name + "'";
    for (const KnownAlgorithm& one : known) {
      if (one.name == name && !one.newer.empty()) text += ", which is '" + std::string(one.newer) + "' from 6.0 on";
    }
    warn(json->line, std::move(text));
    rule.algorithm = 0;
  }

  /// Looks for rules that nothing reaches.
  void check(Collective collective, const std::vector<RankRule>& rules) {
    if (rules.size() > longest_searched) return;
    std::set<const RankRule*> reached;
    for (const RankRule& at : rules) {
      for (const std::int64_t p : {std::int64_t{2}, std::int64_t{at.from}, std::int64_t{at.to} + 1}) {
        for (const Rank per_node : {Rank{1}, Rank{p}, Rank{2}}) {
          const Call call{.collective = collective,
                          .ranks = p,
                          .nodes = per_node == p ? 1 : std::max<Rank>(2, p / per_node),
                          .ranks_per_node = per_node};
          const auto first = std::ranges::find_if(rules, [&](const RankRule& one) { return one.holds(call); });
          if (p >= 2 && first != rules.end()) reached.insert(&*first);
        }
      }
    }
    for (const RankRule& rule : rules) {
      if (!reached.contains(&rule)) {
        warn(rule.line, "nothing gets to these rules: those before serve all of " + text_of(rule) +
                            ", or there are no such numbers");
        continue;
      }
      check_sizes(collective, rule);
    }
  }

  void check_sizes(Collective collective, const RankRule& ranks) {
    if (ranks.rules.size() > longest_searched) return;
    std::set<std::uint64_t> telling{0};
    for (const SizeRule& rule : ranks.rules) {
      if (!size_decides(collective)) break;
      telling.insert(rule.from);
      if (rule.to != no_end) telling.insert(rule.to + 1);
    }
    std::set<const SizeRule*> reached;
    for (const std::uint64_t bytes : telling) {
      const auto first = std::ranges::find_if(ranks.rules, [&](const SizeRule& one) { return one.holds(bytes); });
      if (first != ranks.rules.end()) reached.insert(&*first);
    }
    bool differ = false;
    for (const SizeRule& rule : ranks.rules) {
      differ = differ || rule.from > 0 || rule.to != no_end;
      if (rule.disabled) continue;
      if (!reached.contains(&rule)) {
        warn(rule.line, "no size gets to the rule for " + text_of(rule));
        continue;
      }
      for (Warning& warning :
           warnings_of(collective, rule.algorithm, rule.segment_bytes, {ranks.from, ranks.to}, version, rule.line)) {
        warnings_.push_back(std::move(warning));
      }
    }
    if (differ && size_decides(collective) && !sizes_tell(collective, version)) {
      warn(ranks.line,
           "sizes of " + std::string(to_string(collective)) +
               " are not those that the rules are compared with, or differ among ranks: one rule for all is safe");
    }
  }

  std::string source_;
  std::map<Collective, std::vector<RankRule>> lists_{};
};

}  // namespace

std::unique_ptr<const TuningFile> read_openmpi_json(std::string_view text, const std::string& source,
                                                    const Reader& reader) {
  // A file that is no JSON is read as a classic file, as the library does.
  if (!nlohmann::json::accept(text)) return read_openmpi_classic(text, source, reader);
  try {
    return std::make_unique<JsonTuning>(select::read_json(text, source), source);
  } catch (const Error& error) {
    return std::make_unique<JsonTuning>(
        source, std::string("it is not read here, and the library may do anything: ") + error.what());
  }
}

}  // namespace circoll::foreign
