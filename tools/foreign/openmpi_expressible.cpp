// Narrows neutral rules to what a file of Open MPI can say, and guards them.
#include <algorithm>
#include <bit>
#include <limits>

#include "foreign/cells.hpp"
#include "foreign/openmpi.hpp"

namespace circoll::foreign::openmpi {
namespace {

constexpr Range all_ranks{1};
constexpr Range one{1, 1};
/// The widest element that guards count on: a complex number of two doubles.
constexpr Count widest_element = 16;

/// The elements below which an algorithm gives way to a linear one, for p ranks up to `most`; 0: never.
Count least_elements(const Rule& rule, Version version, Rank most) {
  const auto floor = static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(most)));
  if (rule.algorithm == "rabenseifner" && (version != Version::v60 || rule.collective == Collective::reduce)) {
    return floor;
  }
  if (rule.collective == Collective::bcast && rule.algorithm == "scatter_allgather") return most;
  return 0;
}

class Narrowing {
 public:
  Narrowing(Version version, const ExportOptions& options, bool distributions, std::vector<std::string>& losses)
      : version_(version), options_(options), distributions_(distributions), losses_(losses) {}

  void add(Rule rule) {
    const bool reducing = is_reducing(rule.collective);
    if (reducing && rule.operators == Operators::noncommutative) {
      if (!rule.algorithm.empty())
        lose(rule, "left out: the format knows no operators, and it is for those that do not commute");
      return;
    }
    const bool widened = reducing && rule.operators == Operators::commutative;
    rule.operators = Operators::any;
    if (rule.algorithm.empty()) return leave(rule);
    const KnownAlgorithm* const known = known_of(rule);
    if (known == nullptr) return refuse(rule, "the library has no algorithm " + rule.algorithm);
    if (known->commutative_only && reducing && options_.operators == Operators::any) {
      return refuse(rule, known_name(rule) + " is wrong for operators that do not commute, and the format knows none");
    }
    if (!placement_can_be_said(rule)) return refuse(rule, "the format does not know where ranks are");
    if (!sizes_tell(rule.collective, version_) && rule.bytes != Range{}) {
      return refuse(rule, "the library cannot tell sizes of " + std::string(to_string(rule.collective)) + " apart");
    }
    if (widened && options_.operators == Operators::any) {
      lose(rule, "holds for operators that do not commute, too: the format knows none");
    }
    if (known->two_ranks_only) rule.ranks = {std::max<Rank>(rule.ranks.from, 2), std::min<Rank>(rule.ranks.to, 2)};
    if (!parameters_can_be_said(rule, *known)) return;
    guard(rule);
  }

  std::vector<Rule> take() { return std::move(said_); }

 private:
  const KnownAlgorithm* known_of(const Rule& rule) const {
    return algorithm_of(rule.collective, number_of(rule.collective, rule.algorithm, version_), version_);
  }
  static std::string known_name(const Rule& rule) { return rule.algorithm; }

  void lose(const Rule& rule, const std::string& why) { add_loss(losses_, rule.from + ": " + why); }

  /// The library decides about all calls of a rule.
  void leave(Rule rule) {
    rule.algorithm.clear();
    if (!sizes_tell(rule.collective, version_)) rule.bytes = {};
    if (!placement_can_be_said(rule)) rule.nodes = rule.ranks_per_node = all_ranks;
    said_.push_back(std::move(rule));
  }
  void refuse(const Rule& rule, const std::string& why) {
    lose(rule, "left out: " + why);
    leave(rule);
  }

  bool placement_can_be_said(const Rule& rule) const {
    if (rule.nodes.is_any() && rule.ranks_per_node.is_any()) return true;
    if (!distributions_) return false;
    return (rule.nodes == one && rule.ranks_per_node.is_any()) || (rule.nodes.is_any() && rule.ranks_per_node == one);
  }

  bool parameters_can_be_said(Rule& rule, const KnownAlgorithm& known) {
    if (rule.segment_bytes > 0 && !known.segments) {
      lose(rule, rule.algorithm + " is not cut into segments there");
      rule.segment_bytes = 0;
    }
    if (rule.radix == 0 || known.fanout) return true;
    if (rule.algorithm != "knomial") {
      lose(rule, rule.algorithm + " takes no fan-out there");
      rule.radix = 0;
      return true;
    }
    std::int64_t& radix = rule.collective == Collective::bcast ? bcast_radix_ : reduce_radix_;
    if (radix == 0) radix = rule.radix;
    if (radix == rule.radix) return true;
    refuse(rule, "its radix is another than that of a rule before, and the library has one for all");
    return false;
  }

  /// Below its least number of elements an algorithm gives way to a linear one: there the library decides.
  void guard(const Rule& rule) {
    Rule left = rule;
    while (left.ranks.from <= left.ranks.to) {
      // All numbers of ranks up to the next power of two have one bound.
      const auto low = static_cast<std::uint64_t>(left.ranks.from);
      const Rank end = low >= std::uint64_t{1} << 30U ? left.ranks.to : static_cast<Rank>(std::bit_floor(low) * 2 - 1);
      Rule part = left;
      part.ranks.to = std::min(end, left.ranks.to);
      const Rank most = std::min<Rank>(part.ranks.to, Rank{1} << 31U);
      const Count least = least_elements(rule, version_, most) * widest_element;
      const Count least_after =
          least_elements(rule, version_, std::min<Rank>(left.ranks.to, Rank{1} << 31U)) * widest_element;
      if (left.bytes.from >= least_after) return said_.push_back(left);
      if (part.bytes.from < least) {
        lose(rule, "narrowed to elements enough for " + rule.algorithm + ", which is replaced by a linear one else: " +
                       std::to_string(widest_element) + " bytes for each rank up to a power of two");
        Rule below = part;
        below.bytes.to = std::min(part.bytes.to, least - 1);
        leave(below);
        part.bytes.from = least;
      }
      if (part.bytes.from <= part.bytes.to) said_.push_back(part);
      if (part.ranks.to == std::numeric_limits<Rank>::max()) return;
      left.ranks.from = part.ranks.to + 1;
    }
  }

  Version version_;
  const ExportOptions& options_;
  bool distributions_;
  std::vector<std::string>& losses_;
  std::vector<Rule> said_{};
  std::int64_t bcast_radix_ = 0;
  std::int64_t reduce_radix_ = 0;
};

}  // namespace

std::vector<Rule> expressible(std::span<const Rule> rules, Version version, const ExportOptions& options,
                              bool distributions, std::vector<std::string>& losses) {
  Narrowing narrowing(version, options, distributions, losses);
  for (const Rule& rule : rules) narrowing.add(rule);
  return narrowing.take();
}

std::string more_options(std::span<const Rule> said, Version version) {
  std::string options;
  bool han = false;
  const Rule* bcast = nullptr;
  const Rule* reduce = nullptr;
  for (const Rule& rule : said) {
    if (rule.algorithm.empty()) continue;
    han = han || han_takes(rule.collective, version);
    if (rule.radix == 0 || rule.algorithm != "knomial") continue;
    (rule.collective == Collective::bcast ? bcast : reduce) = &rule;
  }
  if (han) options += " --mca coll_han_priority 0";
  if (bcast != nullptr) options += " --mca coll_tuned_bcast_knomial_radix " + std::to_string(bcast->radix);
  if (reduce != nullptr) options += " --mca coll_tuned_reduce_knomial_radix " + std::to_string(reduce->radix);
  return options;
}

}  // namespace circoll::foreign::openmpi
