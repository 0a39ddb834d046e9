// The bit class of an algorithm, from the symbolic execution of its schedules.
#include "verify/bits.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "facts/hash.hpp"
#include "schedule/matching.hpp"
#include "symbolic/execution.hpp"
#include "verify/proof.hpp"

namespace circoll {
namespace verify {
namespace {

using symbolic::Expressions;
using symbolic::SymbolicExecution;
using symbolic::undefined;
using symbolic::Value;

/// Two independent hashes, so that no two expressions of this world have the same.
using Name = std::array<std::uint64_t, 2>;

class NameHash {
 public:
  NameHash() { hashes_[1].add(std::uint64_t{0x9e3779b97f4a7c15ULL}); }
  NameHash& add(std::uint64_t number) {
    for (Hash& hash : hashes_) hash.add(number);
    return *this;
  }
  NameHash& add(const Name& name) {
    for (std::size_t i = 0; i < name.size(); ++i) hashes_[i].add(name[i]);
    return *this;
  }
  [[nodiscard]] Name value() const { return {hashes_[0].value(), hashes_[1].value()}; }

 private:
  std::array<Hash, 2> hashes_;
};

/// The names of all expressions. Equal ones, of whatever block, have equal names.
class Names {
 public:
  Names(const Expressions& expressions, BitsOf operators) : expressions_(expressions) {
    nodes_.reserve(expressions.nodes());
    expressions.each_node([&](Value left, Value right) {
      Name a = of(left);
      Name b = of(right);
      if (operators == BitsOf::commuting && b < a) std::swap(a, b);
      nodes_.push_back(NameHash().add(a).add(b).value());
    });
  }
  [[nodiscard]] Name of(Value value) const {
    if (!expressions_.is_leaf(value)) return nodes_[expressions_.node_of(value)];
    return NameHash().add(static_cast<std::uint64_t>(expressions_.source_of(value))).value();
  }

 private:
  const Expressions& expressions_;
  std::vector<Name> nodes_;
};

/// The name of one rank's expressions. Parts of a caller's block count once if they are all alike.
class RankName {
 public:
  void add(Block user_block, const Name& part) {
    if (user_block != user_block_) end_block();
    user_block_ = user_block;
    parts_.push_back(part);
  }
  [[nodiscard]] Name value() {
    end_block();
    return hash_.value();
  }

 private:
  void end_block() {
    if (parts_.empty()) return;
    const bool alike = std::all_of(parts_.begin(), parts_.end(), [&](const Name& part) { return part == parts_[0]; });
    if (alike) parts_.erase(parts_.begin() + 1, parts_.end());
    hash_.add(parts_.size());
    for (const Name& part : parts_) hash_.add(part);
    parts_.clear();
  }

  NameHash hash_;
  std::vector<Name> parts_;
  Block user_block_ = -1;
};

BitClass classify(const Subject& subject, SymbolicExecution& execution, BitsOf operators) {
  constexpr std::size_t most_characters = 160;
  const Names names(execution.expressions(), operators);
  NameHash all;
  BitClass result;
  std::optional<Name> first;
  for (Rank r = 0; r < subject.size(); ++r) {
    const Schedule& s = subject.of(r);
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    RankName own;
    if (is_prefix(s.collective)) first.reset();
    for (Slot i = 0; i < contract.output_count; ++i) {
      const Slot slot = contract.output_first + i;
      const Value value = execution.value(r, contract.output_buffer, slot);
      require(value != undefined, "a result that is never written has no bits");
      const Name name = names.of(value);
      own.add(s.block_of(contract.output_buffer, slot) / s.segments, name);
      if (!first) {
        first = name;
        result.expression = execution.expressions().text(value, most_characters);
      }
      result.one_expression = result.one_expression && name == *first;
    }
    all.add(own.value());
  }
  const Name name = all.value();
  result.high = name[0];
  result.low = name[1];
  return result;
}

}  // namespace
}  // namespace verify

BitClass bit_class(const Algorithm& algorithm, Collective collective, const Shape& shape, BitsOf operators,
                   const OnArrival& on_arrival) {
  if (!is_reducing(collective)) {
    throw Error(ErrorCode::invalid_argument, std::string(to_string(collective)) + " combines nothing");
  }
  std::vector<Schedule> ranks = build_all_ranks(algorithm, collective, shape);
  if (on_arrival) {
    for (Schedule& s : ranks) {
      s = combined_on_arrival(s, [&](Rank peer) { return on_arrival(s.shape.rank, peer); });
    }
  }
  const Claims claims{.needs = needs_of(algorithm, collective, shape.params),
                      .guarantees = guarantees_of(algorithm, shape.params)};
  const verify::Subject subject{ranks, claims};
  try {
    const Matching matching(subject.ranks);
    const std::vector<Dependencies> dependencies = verify::prove_order(subject, {});
    symbolic::SymbolicExecution execution(ranks, matching, dependencies, subject.at_least_once());
    execution.run();
    return verify::classify(subject, execution, operators);
  } catch (const Unmatched& unmatched) {
    throw Error(ErrorCode::internal, algorithm.id(collective) + ": " + unmatched.what);
  } catch (const verify::Refuted& refuted) {
    throw Error(ErrorCode::internal, algorithm.id(collective) + ": " + refuted.what);
  }
}

}  // namespace circoll
