// Rules of a collective as a subtree: chains of tests at their bounds, with an algorithm for every call.
#include "foreign/mpich_writer.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "circoll/collectives.hpp"

namespace circoll::foreign::mpich {
namespace {

/// Calls that the tests so far leave over: intervals between bounds of the rules.
struct Region {
  Range ranks{1};
  bool one_node = false;
  Range per_node{1};
  bool commutative = true;
  bool in_place = false;
  Range bytes{};
};

using Below = std::function<std::vector<Tree>(Region)>;

/// A copy that means the same below any test: comm_size<N becomes <= as it is read where it stands.
std::vector<Tree> movable(const std::vector<Tree>& members, Version version, bool message_tested = false) {
  std::vector<Tree> result;
  bool tested = message_tested;
  for (const Tree& member : members) {
    const Condition condition = condition_of(member.key, version);
    const bool message =
        !is_of_communicator(condition.test) && condition.test != Test::leaf &&
        !(condition.test == Test::any && (version > Version::v4_0 || condition.word == "comm_size=any"));
    Tree copy{.key = member.key};
    if (condition.test == Test::size_lt) copy.key = "comm_size<=" + std::to_string(condition.value - (tested ? 0 : 1));
    tested = tested || message;
    copy.members = condition.test == Test::leaf ? member.members : movable(member.members, version, tested);
    result.push_back(std::move(copy));
  }
  return result;
}

class Cells {
 public:
  Cells(std::vector<const Expressible*> rules, Collective collective, bool nonblocking,
        const std::vector<Tree>& otherwise, Version version)
      : rules_(std::move(rules)),
        collective_(collective),
        nonblocking_(nonblocking),
        otherwise_(movable(otherwise, version)),
        version_(version) {}

  std::vector<Tree> make() {
    std::vector<Tree> all = by_ranks();
    if (all == otherwise_) all.clear();
    return all;
  }

 private:
  /// The starts of intervals between which no rule begins or ends.
  [[nodiscard]] std::vector<Count> starts(Range Rule::*range, Count least) const {
    std::set<Count> bounds{least};
    for (const Expressible* expressible : rules_) {
      const Range& r = expressible->rule.*range;
      if (r.from > least) bounds.insert(r.from);
      if (r.to < std::numeric_limits<std::int32_t>::max() && r.to >= least) bounds.insert(r.to + 1);
    }
    return {bounds.begin(), bounds.end()};
  }

  /// A chain of "test<=N", where neighbours that come to the same are one.
  std::vector<Tree> chain(const std::string& test, Range Rule::*bound, Count least, Region region, Range Region::*part,
                          const Below& below) const {
    const std::vector<Count> from = starts(bound, least);
    std::vector<Tree> members;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const bool last = i + 1 == from.size();
      region.*part = {from[i], last ? unbounded : from[i + 1] - 1};
      Tree member = branch(last ? test + "=any" : test + "<=" + std::to_string(from[i + 1] - 1), below(region));
      if (!members.empty() && members.back().members == member.members) members.pop_back();
      members.push_back(std::move(member));
    }
    if (members.size() == 1) return std::move(members.front().members);
    return members;
  }

  /// Two branches, or what stands in both if it is the same.
  static std::vector<Tree> either(std::string first_key, std::vector<Tree> first, std::string second_key,
                                  std::vector<Tree> second) {
    if (first == second) return first;
    return {branch(std::move(first_key), std::move(first)), branch(std::move(second_key), std::move(second))};
  }

  [[nodiscard]] std::vector<Tree> by_ranks() const {
    return chain("comm_size", &Rule::ranks, 1, Region{}, &Region::ranks,
                 [this](const Region& r) { return by_nodes(r); });
  }

  [[nodiscard]] std::vector<Tree> by_nodes(Region region) const {
    const bool told = std::ranges::any_of(
        rules_, [](const Expressible* s) { return s->rule.nodes.from > 1 || s->rule.nodes.to == 1; });
    region.one_node = false;
    std::vector<Tree> several = by_per_node(region);
    if (!told) return several;
    region.one_node = true;
    return either("comm_size=node_comm_size", by_per_node(region), "comm_size=any", std::move(several));
  }

  [[nodiscard]] std::vector<Tree> by_per_node(const Region& region) const {
    // No test says any number of ranks per node; comm_size=any serves, since it ends every chain of communicators.
    std::vector<Tree> members = chain("comm_avg_ppn", &Rule::ranks_per_node, 1, region, &Region::per_node,
                                      [this](const Region& r) { return by_operators(r); });
    for (Tree& member : members) {
      if (member.key == "comm_avg_ppn=any") member.key = "comm_size=any";
    }
    return members;
  }

  [[nodiscard]] std::vector<Tree> by_operators(Region region) const {
    if (!tells_operators(collective_)) return by_place(region);
    region.commutative = true;
    std::vector<Tree> commutative = by_place(region);
    region.commutative = false;
    return either("is_commutative=yes", std::move(commutative), "is_commutative=no", by_place(region));
  }

  [[nodiscard]] std::vector<Tree> by_place(Region region) const {
    if (!is_defined(Test::in_place, circoll::to_string(collective_))) return by_bytes(region);
    region.in_place = true;
    // In place no size may be tested: the send type need not be given.
    const Expressible* const rule = of(region);
    std::vector<Tree> in_place =
        rule != nullptr && rule->rule.bytes.from <= 0 && rule->rule.bytes.to == unbounded ? serve(region) : otherwise_;
    region.in_place = false;
    return either("is_sendbuf_inplace=yes", std::move(in_place), "is_sendbuf_inplace=no", by_bytes(region));
  }

  [[nodiscard]] std::vector<Tree> by_bytes(const Region& region) const {
    const std::optional<Test> test = size_test(collective_);
    if (!test) return serve(region);
    return chain(std::string(name_of(*test)), &Rule::bytes, 0, region, &Region::bytes,
                 [this](const Region& r) { return serve(r); });
  }

  /// The first rule for a region, which no rule holds in part.
  [[nodiscard]] const Expressible* of(const Region& region) const {
    const auto holds_region = [&](const Expressible* s) {
      const Rule& rule = s->rule;
      return rule.ranks.holds(region.ranks.from) && rule.ranks_per_node.holds(region.per_node.from) &&
             (region.one_node ? rule.nodes.from <= 1 : rule.nodes.to > 1) && rule.bytes.holds(region.bytes.from) &&
             (rule.operators == Operators::any || (rule.operators == Operators::commutative) == region.commutative);
    };
    const auto found = std::ranges::find_if(rules_, holds_region);
    return found == rules_.end() ? nullptr : *found;
  }

  [[nodiscard]] std::vector<Tree> serve(const Region& region) const {
    const Expressible* const rule = of(region);
    if (rule == nullptr || !rule->leaves) return otherwise_;
    // Of the nonblocking collective's tree, rules of the blocking one's own algorithms say nothing.
    const bool through = !rule->leaves->nonblocking.empty();
    if (nonblocking_ && !through) return otherwise_;
    const Needs& needs = rule->needs;
    if ((needs.commutative && tells_operators(collective_) && !region.commutative) ||
        (needs.in_place && !region.in_place) || (needs.not_in_place && region.in_place))
      return otherwise_;
    const std::string& name = nonblocking_ ? rule->leaves->nonblocking : rule->leaves->blocking;
    std::vector<Tree> members{leaf_tree(name, rule->rule, version_)};
    const auto guard = [&](bool needed, const char* right, const char* rest) {
      if (needed) members = {branch(right, std::move(members)), branch(rest, otherwise_)};
    };
    if (needs.count_for_each) members = {branch("count<pow2", otherwise_), branch("count=any", std::move(members))};
    guard(needs.built_in, "is_op_built_in=yes", "is_op_built_in=no");
    guard(needs.regular, "is_block_regular=yes", "is_block_regular=no");
    guard(needs.power_of_two, "comm_size=pow2", "comm_size=any");
    guard(needs.hierarchy, "comm_hierarchy=parent", "comm_hierarchy=any");
    guard(needs.consecutive, "is_node_consecutive=yes", "is_node_consecutive=no");
    return members;
  }

  std::vector<const Expressible*> rules_;
  Collective collective_;
  bool nonblocking_;
  std::vector<Tree> otherwise_;
  Version version_;
};

}  // namespace

std::vector<Tree> cells(std::span<const Expressible> rules, Collective collective, bool nonblocking,
                        const std::vector<Tree>& otherwise, Version version) {
  std::vector<const Expressible*> own;
  for (const Expressible& expressible : rules) {
    if (expressible.rule.collective == collective) own.push_back(&expressible);
  }
  if (own.empty()) return {};
  return Cells(std::move(own), collective, nonblocking, otherwise, version).make();
}

}  // namespace circoll::foreign::mpich
