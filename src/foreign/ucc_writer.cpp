// Writes configuration files of UCC.
#include <algorithm>
#include <map>

#include "circoll/collectives.hpp"
#include "foreign/blocks.hpp"
#include "foreign/cells.hpp"
#include "foreign/ucc.hpp"

namespace circoll::foreign {
namespace {

using namespace ucc;

bool is_one_value(const Range& range) { return range.from == range.to; }
bool overlap(const Range& a, const Range& b) { return a.from <= b.to && b.from <= a.to; }

/// A section of the file: one placement of ranks on nodes.
struct Placement {
  Range nodes{1};
  Range ranks_per_node{1};
  friend bool operator==(const Placement&, const Placement&) = default;
  [[nodiscard]] bool is_anywhere() const { return nodes.is_any() && ranks_per_node.is_any(); }
};

/// Rules that the file can say, and its sections of them.
class Sections {
 public:
  explicit Sections(std::vector<std::string>& losses) : losses_(losses) {}

  void add(Rule rule) {
    const bool reducing = is_reducing(rule.collective);
    if (reducing && rule.operators == Operators::noncommutative) {
      // Only a user's operator does not commute, and UCC never sees it.
      if (!rule.algorithm.empty())
        add_loss(losses_, rule.from + ": left out: operators that do not commute never get to UCC");
      return;
    }
    rule.operators = Operators::any;
    if (rule.algorithm.empty()) return leave(rule, "");
    if (named(rule.collective, rule.algorithm).empty()) return leave(rule, "TL/UCP has no algorithm " + rule.algorithm);
    if (!section_can_be_made(rule))
      return leave(rule, "a section is for one number of nodes, or of ranks on each, that no other section is for");
    if (!sizes_tell(rule.collective) && rule.bytes != Range{}) {
      return leave(rule, "ranks need not look up the same size of " + std::string(to_string(rule.collective)) +
                             ", or there is none");
    }
    if (counts_blocks(rule.collective) && !sayable_in_blocks(rule.ranks, rule.bytes)) {
      return leave(rule, "the format counts the bytes of a block, and the rule those of the vector, for more than " +
                             std::to_string(most_single_ranks) + " numbers of ranks");
    }
    if (rule.segment_bytes > 0) {
      add_loss(losses_, rule.from + ": the size of segments is UCC's");
      rule.segment_bytes = 0;
    }
    if (rule.radix > 0 && !take_radix(rule))
      return leave(rule, "its radix is another than that of a rule before, and there is one for all");
    said.push_back(std::move(rule));
  }

  std::vector<Rule> said{};
  std::vector<Placement> placements{};
  std::map<std::string, std::int64_t> radixes{};

 private:
  void leave(Rule rule, const std::string& why) {
    if (!why.empty()) add_loss(losses_, rule.from + ": left out: " + why);
    rule.algorithm.clear();
    if (!sizes_tell(rule.collective) || (counts_blocks(rule.collective) && !sayable_in_blocks(rule.ranks, rule.bytes)))
      rule.bytes = {};
    if (!section_can_be_made(rule)) rule.nodes = rule.ranks_per_node = Range{1};
    said.push_back(std::move(rule));
  }

  bool section_can_be_made(const Rule& rule) {
    const Placement placement{rule.nodes, rule.ranks_per_node};
    if (placement.is_anywhere()) return true;
    const auto one = [](const Range& range) { return range.is_any() || is_one_value(range); };
    if (!one(rule.nodes) || !one(rule.ranks_per_node)) return false;
    for (const Placement& other : placements) {
      if (other == placement) return true;
      if (overlap(other.nodes, placement.nodes) && overlap(other.ranks_per_node, placement.ranks_per_node))
        return false;
    }
    placements.push_back(placement);
    return true;
  }

  bool take_radix(Rule& rule) {
    const std::string variable(radix_variable(rule.collective, rule.algorithm));
    if (variable.empty()) {
      add_loss(losses_, rule.from + ": " + rule.algorithm + " takes no radix there");
      rule.radix = 0;
      return true;
    }
    return radixes.try_emplace(variable, rule.radix).first->second == rule.radix;
  }

  std::vector<std::string>& losses_;
};

std::string size_text(Count bytes) { return bytes == unbounded ? "inf" : std::to_string(bytes); }

std::string tokens_of(std::span<const Rule> said, const Placement& placement) {
  std::string text;
  for (const Collective collective : all_collectives) {
    std::vector<const Rule*> there;
    for (const Rule* rule : rules_of(said, collective)) {
      const Placement of_rule{rule->nodes, rule->ranks_per_node};
      if (of_rule.is_anywhere() || of_rule == placement) there.push_back(rule);
    }
    for (const RankCell& ranks : cells_of(there)) {
      for (const SizeCell& cell : ranks.sizes) {
        if (cell.rule == nullptr) continue;
        for (const Condition& condition : conditions_of(ranks.ranks, cell.bytes, counts_blocks(collective))) {
          text += text.empty() ? "" : "#";
          text += std::string(name_of(collective)) + ":" + size_text(condition.bytes.from) + "-" +
                  size_text(condition.bytes.to) + ":host";
          if (!condition.ranks.is_any())
            text += ":[" + size_text(condition.ranks.from) + "-" + size_text(condition.ranks.to) + "]";
          text += ":@" + cell.rule->algorithm + ":inf";
        }
      }
    }
  }
  return text;
}

}  // namespace

Written write_ucc(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  Written written;
  std::vector<std::string>& losses = written.exported.losses;
  losses = options.losses;
  Sections sections(losses);
  for (const Rule& rule : rules) sections.add(rule);
  written.said = sections.said;
  std::string body;
  for (const auto& [variable, radix] : sections.radixes) {
    const bool plain =
        variable == "BARRIER_KN_RADIX" || variable == "GATHER_KN_RADIX" || variable == "SCATTER_KN_RADIX";
    body += "UCC_TL_UCP_" + variable + "=" + (plain ? "" : "0-inf:host:") + std::to_string(radix) + "\n";
  }
  if (const std::string tokens = tokens_of(written.said, {}); !tokens.empty())
    body += "UCC_TL_UCP_TUNE=" + tokens + "\n";
  for (const Placement& placement : sections.placements) {
    std::string section;
    if (!placement.ranks_per_node.is_any()) section += "ppn=" + std::to_string(placement.ranks_per_node.from);
    if (!placement.nodes.is_any())
      section += (section.empty() ? "" : " ") + std::string("nnodes=") + std::to_string(placement.nodes.from);
    body += "\n[" + section + "]\nUCC_TL_UCP_TUNE=" + tokens_of(written.said, placement) + "\n";
  }
  std::string head = "# " + std::string(reader.title) + "; written by circoll export\n";
  if (!options.about.empty()) head += "# " + options.about.substr(0, options.about.find('\n')) + "\n";
  for (std::string loss : losses) {
    std::replace(loss.begin(), loss.end(), '\n', ' ');
    head += "# - " + loss + "\n";
  }
  written.exported.files.push_back({.text = head + body});
  written.exported.use.emplace_back(
      "UCC_CONFIG_FILE={} mpirun -x UCC_CONFIG_FILE --mca coll_ucc_enable 1 --mca coll_ucc_priority 100 ./program");
  return written;
}

}  // namespace circoll::foreign
