// Profiles: their heads, their names, and the policy "auto" where one was found.
#include "select/profile.hpp"

#include <algorithm>
#include <cctype>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/hash.hpp"
#include "select/policies.hpp"
#include "select/text_file.hpp"

namespace circoll::select {
namespace {

constexpr Rank most_ranks = Rank{1} << 31;

ProfileRanks read_ranks(const Json& entry, const std::string& source) {
  const Members members(entry, source,
                        {"ranks", "crowded", "processors", "launches", "circoll", "date", "host", "about"});
  ProfileRanks one{.ranks = members.integer("ranks")};
  if (one.ranks < 1 || one.ranks >= most_ranks) members.fail(entry, "'ranks' must be a number of ranks");
  if (members.find("crowded") != nullptr) one.crowded = members.boolean("crowded");
  one.processors = members.integer("processors");
  one.launches = members.integer("launches");
  if (one.processors < 0 || one.launches < 0) members.fail(entry, "numbers must not be negative");
  one.circoll = members.text("circoll");
  one.date = members.text("date");
  one.host = members.text("host");
  return one;
}

/// Calls on several nodes must not get what was measured on one.
void require_one_node(const Json& root, const std::string& source) {
  for (const Collective collective : all_collectives) {
    const Json* const list = root.member(to_string(collective));
    if (list == nullptr || list->array() == nullptr) continue;
    for (const Json& rule : *list->array()) {
      if (rule.member("otherwise") != nullptr) continue;
      const Json* const nodes = rule.member("nodes");
      const auto bound = [&](std::size_t i) {
        const Json::Array* const range = nodes == nullptr ? nullptr : nodes->array();
        const auto* value =
            range == nullptr || range->size() <= i ? nullptr : std::get_if<std::int64_t>(&(*range)[i].value);
        return value == nullptr ? 0 : *value;
      };
      if (bound(0) != 1 || bound(1) != 2) {
        fail_at(source, rule.line, "a rule of a profile is for one node: \"nodes\": [1, 2]");
      }
    }
  }
}

}  // namespace

const ProfileRanks* ProfileHead::find(Rank ranks) const {
  const auto found =
      std::find_if(measured.begin(), measured.end(), [&](const ProfileRanks& one) { return one.ranks == ranks; });
  return found == measured.end() ? nullptr : &*found;
}

ProfileHead read_profile_head(std::string_view text, const std::string& source) {
  const Json root = read_json(text, source);
  const Json* const json = root.member("profile");
  if (json == nullptr) fail_at(source, root.line, "this is no profile: there is no \"profile\"");
  const Members members(*json, source, {"version", "library", "processor", "measured"});
  members.require_version("version");
  ProfileHead head{.key = {.library = members.text("library"), .processor = members.text("processor")}};
  const Json& list = members.at("measured");
  if (list.array() == nullptr) members.fail(list, "'measured' must be a list [...]");
  for (const Json& entry : *list.array()) {
    head.measured.push_back(read_ranks(entry, source));
    const std::size_t n = head.measured.size();
    if (n > 1 && head.measured[n - 2].ranks >= head.measured[n - 1].ranks) {
      members.fail(entry, "numbers of ranks come in ascending order, each once");
    }
  }
  require_one_node(root, source);
  return head;
}

std::string library_name(std::string_view text) {
  const auto word = [](std::string_view rest) { return std::string(rest.substr(0, rest.find_first_of(", \t\n\r"))); };
  constexpr std::string_view openmpi = "Open MPI v", mpich = "MPICH Version:";
  if (text.starts_with(openmpi)) return "Open MPI " + word(text.substr(openmpi.size()));
  if (text.starts_with(mpich)) {
    const std::size_t at = text.find_first_not_of(" \t", mpich.size());
    return "MPICH " + (at == std::string_view::npos ? "" : word(text.substr(at)));
  }
  return std::string(text.substr(0, text.find_first_of("\n,")));
}

std::string profile_file_name(const ProfileKey& key) {
  std::string name;
  for (const char c : key.library + "-" + key.processor) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 128 && (std::isalnum(byte) != 0 || c == '.');
    if (plain) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() >= 100) break;
  }
  const std::uint64_t hash = Hash().add(key.library).add(key.processor).value();
  constexpr std::string_view digits = "0123456789abcdef";
  name += name.empty() || name.back() != '-' ? "-" : "";
  for (unsigned shift = 0; shift < 24; shift += 4) name += digits[hash >> shift & 0xfU];
  return name + ".json";
}

namespace {

class ProfilePolicy final : public PolicyBase {
 public:
  ProfilePolicy(std::string_view text, const std::string& source, const PolicyOptions& options)
      : PolicyBase("auto", options),
        head_(read_profile_head(text, source)),
        rules_(make_rules_policy(text, source, options)),
        source_(source) {}

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    if (const std::string why = outside(facts); !why.empty()) return fall_back(facts, why, {});
    Decision decision = rules_->decide(facts);
    constexpr std::string_view rule = "rule ";
    const bool by_rule = decision.reason.starts_with(rule);
    decision.reason = "profile " + decision.reason.substr(by_rule ? rule.size() : 0);
    decision.policy = name();
    if (!decision.selection) return may_be_native(facts) ? decision : fall_back(facts, same_bits(decision), {});
    if (decision.candidates.empty()) {
      decision.candidates = decide_by_model(name(), facts, options(), traffic()).candidates;
    }
    return decision;
  }

 private:
  /// Why the profile says nothing about a call; empty if it may.
  [[nodiscard]] std::string outside(const CallFacts& facts) const {
    const std::string here = "profile " + source_ + " ";
    if (nodes_of(facts) != 1) return here + "is for one node";
    const ProfileRanks* const ranks = head_.find(facts.p);
    if (ranks == nullptr) return here + "has nothing for " + std::to_string(facts.p) + " ranks";
    if (ranks->crowded == facts.crowded) return "";
    return here + (facts.crowded ? "was measured with a processor for every rank"
                                 : "was measured with more ranks than processors");
  }

  [[nodiscard]] bool may_be_native(const CallFacts& facts) const {
    return facts.collective != Collective::allreduce || facts.exact_op || options().allow_rank_divergence;
  }

  static std::string same_bits(const Decision& decision) {
    return decision.reason + " says native, which may give ranks different bits";
  }

  ProfileHead head_;
  std::unique_ptr<const Policy> rules_;
  std::string source_;
};

}  // namespace

std::unique_ptr<const Policy> make_profile_policy(std::string_view text, const std::string& source,
                                                  const PolicyOptions& options) {
  return std::make_unique<ProfilePolicy>(text, source, options);
}

}  // namespace circoll::select
