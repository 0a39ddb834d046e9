// The facts of a call and the selections that they admit; policies by name, and the choices that they resolve.
#include <algorithm>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "schedule/registry.hpp"
#include "select/policies.hpp"
#include "select/profile.hpp"
#include "select/rules.hpp"
#include "select/text_file.hpp"

namespace circoll {

CallFacts facts_of(Collective collective, Rank p, Count bytes, Op op, Type type) {
  CallFacts facts{.collective = collective, .p = p, .bytes = Amounts::of_vector(collective, p, bytes).deciding_bytes()};
  if (is_reducing(collective)) {
    facts.op = {.commutative = is_commutative(op), .idempotent = is_idempotent(op)};
    facts.exact_op = is_order_free(op, type);
  }
  return facts;
}

Rank ranks_per_node_of(const CallFacts& facts) { return std::clamp<Rank>(facts.cores, 1, std::max<Rank>(facts.p, 1)); }

Rank nodes_of(const CallFacts& facts) {
  const Rank cores = ranks_per_node_of(facts);
  return facts.nodes > 0 ? facts.nodes : (facts.p + cores - 1) / cores;
}

std::string why_not(const Selection& selection, const CallFacts& facts, bool allow_rank_divergence) {
  std::string unmet = unmet_need(selection, facts.p, facts.op);
  if (!unmet.empty()) return unmet;
  // Only an allreduce computes one result on several ranks, so only there can ranks differ.
  if (facts.collective == Collective::allreduce && !facts.exact_op && !selection.algorithm->guarantees.same_bits &&
      !allow_rank_divergence) {
    return "may give ranks different bits, since the operator is not exact";
  }
  return {};
}

Selection completed(const Selection& selection, Rank p, Count bytes, const Machine& machine) {
  if (selection.params.contains("segment")) return with_segment_count(selection, p, bytes);
  return with_best_segments(selection, p, bytes, machine);
}

const Policy& default_policy() {
  static const std::unique_ptr<const Policy> policy = make_policy("auto");
  return *policy;
}

Selection resolve(const Choice& choice, const CallFacts& facts) {
  if (choice.is_default() || choice.policy() != nullptr || choice.text() == "auto") {
    const Policy& policy = choice.policy() != nullptr ? *choice.policy() : default_policy();
    Decision decision = policy.decide(facts);
    if (!decision.selection) throw Error(ErrorCode::unsupported, decision.policy + ": " + decision.reason);
    return *std::move(decision.selection);
  }
  Selection selection;
  if (choice.selection() != nullptr) {
    selection = *choice.selection();
  } else if (choice.text().find('/') != std::string_view::npos && !choice.text().starts_with(file_prefix)) {
    selection = parse_selection(choice.text());
  } else {
    selection = parse_selection(facts.collective, choice.text());
  }
  require(selection.algorithm != nullptr && selection.collective == facts.collective &&
              selection.algorithm->serves(facts.collective),
          "the chosen algorithm is one of another collective");
  const std::string unmet = unmet_need(selection, facts.p, facts.op);
  if (!unmet.empty()) throw Error(ErrorCode::unsupported, selection.id() + ": " + unmet);
  return completed(selection, facts.p, facts.bytes, default_policy().machine());
}

namespace select {

std::optional<Decision> PolicyBase::take(const CallFacts& facts, const Selection& wished, const std::string& reason,
                                         std::vector<RuledOut>& ruled_out) const {
  std::string why = refusal(wished, facts);
  if (why.empty() && wished.params.contains("segment") && has_unknown_size(facts.collective)) {
    why = "segment=BYTES needs a size that all ranks know";
  }
  if (!why.empty()) {
    ruled_out.push_back({wished.id(), std::move(why)});
    return std::nullopt;
  }
  return Decision{.selection = completed(wished, facts.p, facts.bytes, options_.machine),
                  .policy = name_,
                  .reason = reason,
                  .ruled_out = ruled_out};
}

Decision PolicyBase::fall_back(const CallFacts& facts, const std::string& reason,
                               std::vector<RuledOut> ruled_out) const {
  Decision decision = decide_by_model(name_, facts, options_, memory_);
  decision.reason = reason + "; " + decision.reason;
  for (RuledOut& other : decision.ruled_out) {
    bool known = false;
    for (const RuledOut& first : ruled_out) known = known || first.id == other.id;
    if (!known) ruled_out.push_back(std::move(other));
  }
  decision.ruled_out = std::move(ruled_out);
  return decision;
}

Decision PolicyBase::native(std::string reason, std::vector<RuledOut> ruled_out) const {
  return {.selection = std::nullopt, .policy = name_, .reason = std::move(reason), .ruled_out = std::move(ruled_out)};
}

namespace {

class Native final : public PolicyBase {
 public:
  using PolicyBase::PolicyBase;
  [[nodiscard]] Decision decide(const CallFacts& /*facts*/) const override {
    return PolicyBase::native("the policy leaves every call to the MPI library");
  }
};

class Fixed final : public PolicyBase {
 public:
  Fixed(Selection selection, const PolicyOptions& options, const Policy* otherwise)
      : PolicyBase("fixed", options), selection_(std::move(selection)), otherwise_(otherwise) {}
  [[nodiscard]] bool names_algorithm() const override { return true; }

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    if (facts.collective != selection_.collective) return native("the chosen algorithm is one of another collective");
    std::vector<RuledOut> ruled_out;
    if (auto decision = take(facts, selection_, "chosen by name", ruled_out)) {
      decision->named = true;
      return *std::move(decision);
    }
    const RuledOut& own = ruled_out.back();
    std::string reason = own.id + ": " + own.why;
    if (otherwise_ == nullptr) return native(std::move(reason), std::move(ruled_out));
    Decision decision = otherwise_->decide(facts);
    decision.reason = reason + "; " + decision.reason;
    decision.ruled_out.insert(decision.ruled_out.begin(), ruled_out.begin(), ruled_out.end());
    return decision;
  }

 private:
  Selection selection_;
  const Policy* otherwise_;  ///< nullptr: native
};

/// The policy "auto" where a profile was found.
class ProfilePolicy final : public PolicyBase {
 public:
  ProfilePolicy(std::string_view text, const std::string& source, const PolicyOptions& options,
                const std::string& program)
      : PolicyBase("auto", options),
        head_(read_profile_head(text, source)),
        rules_(read_rules(text, source, options, RulesFor::machine)),
        own_rules_(read_rules(text, source, options, RulesFor::program, program)),
        source_(source),
        program_(program) {}

  [[nodiscard]] bool is_tuned_for(Collective collective) const override { return own_rules_.contains(collective); }

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    std::string before;
    std::vector<RuledOut> ruled_out;
    if (own_rules_.contains(facts.collective)) {
      if (auto decision = follow(own_rules_, facts, " for " + program_, before, ruled_out)) return *std::move(decision);
    }
    if (const std::string why = outside(facts); !why.empty()) return fall_back(facts, before + why, ruled_out);
    if (auto decision = follow(rules_, facts, "", before, ruled_out)) return *std::move(decision);
    return fall_back(facts, before, ruled_out);
  }

 private:
  /// The decision by the rule for a call. If there is none, `before` gets the reason, and it ends in "; " if these are
  /// a program's rules. `whom`: as reasons have it; empty: the machine's rules.
  std::optional<Decision> follow(const std::map<Collective, RulesOf>& rules, const CallFacts& facts,
                                 const std::string& whom, std::string& before, std::vector<RuledOut>& ruled_out) const {
    const Rule& rule = *find_rule(rules, facts);
    const std::string where = "profile " + source_ + ":" + std::to_string(rule.line) + whom + ": " + rule.use.text;
    std::string why;
    if (rule.use.kind == Use::Kind::native) {
      if (may_be_native(facts)) return native(before + where, ruled_out);
      why = where + " says native, which may give ranks different bits";
    } else if (rule.use.kind == Use::Kind::algorithm) {
      if (auto decision = take(facts, rule.use.selection, before + where, ruled_out)) {
        decision->candidates = decide_by_model(name(), facts, options(), memory()).candidates;
        return decision;
      }
      why = where + " cannot serve the call";  // an "otherwise", which cannot be checked beforehand
    } else if (whom.empty()) {
      why = where;
    }
    before += why + (whom.empty() || why.empty() ? "" : "; ");
    return std::nullopt;
  }

  /// Why the machine's rules say nothing about a call; empty if they may.
  [[nodiscard]] std::string outside(const CallFacts& facts) const {
    const std::string here = "profile " + source_ + " ";
    if (nodes_of(facts) != 1) return here + "is for one node";
    const ProfileRanks* const ranks = head_.find(facts.p);
    if (ranks == nullptr) return here + "has nothing for " + std::to_string(facts.p) + " ranks";
    if (ranks->crowded != facts.crowded) {
      return here + (facts.crowded ? "was measured with a processor for every rank"
                                   : "was measured with more ranks than processors");
    }
    return rules_.contains(facts.collective) ? ""
                                             : here + "has no rules of " + std::string(to_string(facts.collective));
  }

  [[nodiscard]] bool may_be_native(const CallFacts& facts) const {
    return facts.collective != Collective::allreduce || facts.exact_op || options().allow_rank_divergence;
  }

  ProfileHead head_;
  std::map<Collective, RulesOf> rules_, own_rules_;
  std::string source_;
  std::string program_;
};

}  // namespace

std::unique_ptr<const Policy> make_native(const PolicyOptions& options) {
  return std::make_unique<Native>("native", options);
}

std::unique_ptr<const Policy> make_profile_policy(std::string_view text, const std::string& source,
                                                  const PolicyOptions& options, const std::string& program) {
  return std::make_unique<ProfilePolicy>(text, source, options, program);
}

}  // namespace select

std::unique_ptr<const Policy> make_fixed_policy(const Selection& selection, const PolicyOptions& options,
                                                const Policy* otherwise) {
  require(selection.algorithm != nullptr && selection.algorithm->serves(selection.collective),
          "the selection names no algorithm of its collective");
  return std::make_unique<select::Fixed>(selection, options, otherwise);
}

std::unique_ptr<const Policy> make_policy(std::string_view name, const PolicyOptions& options) {
  if (name == "auto" || name == "model") return select::make_model(std::string(name), options);
  if (name == "classic") return select::make_classic(options);
  if (name == "openmpi_fixed") return select::make_openmpi_fixed(options);
  if (name == "native") return select::make_native(options);
  if (name.starts_with(file_prefix)) {
    const std::string path(name.substr(file_prefix.size()));
    return make_rules_policy(select::read_text_file(path), path, options);
  }
  throw Error(ErrorCode::unknown_name, "'" + std::string(name) + "' is no policy" + file_hint(name) +
                                           ": there are auto, model, classic, openmpi_fixed, native and file:PATH, and "
                                           "in CIRCOLL_POLICY also learn");
}

}  // namespace circoll
