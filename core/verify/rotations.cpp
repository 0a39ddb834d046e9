// Proofs by one rank, of which all others are rotations.
#include "verify/proof.hpp"

#include <string>

#include "schedule/matching.hpp"
#include "symbolic/relative_execution.hpp"

namespace circoll::verify {
namespace {

using symbolic::Piece;
using symbolic::RelativeExecution;
using symbolic::RelativeValue;

RelativeMatching match(const Schedule& schedule, Rotation rotation) {
  try {
    return {schedule, rotation};
  } catch (const Unmatched& end) {
    throw Refuted{Claim::matching, end.rank, end.step, end.block, end.what};
  }
}

/// The results of rank 0, which are those of all ranks, counted from them.
class RelativeResults {
 public:
  /// The schedule of rank 0 is all that the subject has.
  RelativeResults(const Subject& subject, const RelativeExecution& execution)
      : subject_(subject), schedule_(subject.of(0)), execution_(execution) {
    const CollectiveContract contract = contract_of(schedule_.collective, schedule_.shape, schedule_.segments);
    buffer_ = contract.output_buffer;
    first_ = contract.output_first;
    if (contract.output_count == 0) return;
    const Range results{buffer_, first_, contract.output_count};
    execution.memory().load({&results, 1}, pieces_);
  }

  void check() const {
    Slot slot = first_;
    for (const Piece& piece : pieces_) {
      check(piece.value, schedule_.block_of(buffer_, slot));
      slot += piece.count;
    }
  }

  /// False if it does not follow from one rank that all ranks combine a block alike.
  [[nodiscard]] bool have_same_bits() const {
    const Rank p = schedule_.shape.size;
    // A block of a reduce_scatter is the result of one rank.
    if (p == 1 || schedule_.user_blocks > 1) return true;
    // Results are alike if they are the same ones, counted from the ranks whose blocks they are.
    Slot slot = first_;
    RelativeValue common;
    for (const Piece& piece : pieces_) {
      RelativeValue value = piece.value;
      if (execution_.memory().of_one_rank(buffer_, slot, piece.count)) {
        value = execution_.memory().from_block(value, schedule_.block_of(buffer_, slot));
      }
      if (!value.of_block) return false;
      if (common.form != symbolic::nothing && common != value) return false;
      common = value;
      slot += piece.count;
    }
    return true;
  }

 private:
  void check(const RelativeValue& value, Block block) const {
    const auto fail = [&](Claim claim, const std::string& what) { throw Refuted{claim, 0, -1, block, what}; };
    if (value.form == symbolic::nothing) fail(Claim::result, "the result is never written");
    if (!subject_.by_rank()) {
      if (value != execution_.memory().contribution()) fail(Claim::result, "the result is not the block that was sent");
      return;
    }
    const Rank p = schedule_.shape.size;
    if (const auto missing = execution_.expressions().missing(value.form)) {
      const Rank rank = (execution_.memory().from_rank(value, block).turn + *missing) % p;
      fail(Claim::exactly_once, "the contribution of rank " + std::to_string(rank) + " is missing");
    }
    if (!subject_.at_least_once() && execution_.expressions().leaves(value.form) != p) {
      fail(Claim::exactly_once, "a contribution is counted twice");
    }
  }

  const Subject& subject_;
  const Schedule& schedule_;
  const RelativeExecution& execution_;
  std::int32_t buffer_ = recv_buffer;
  Slot first_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace

bool prove_rotations(const Schedule& schedule, Rotation rotation, const Claims& claims, const Dependencies* given,
                     const ProofWatch& watch, Verdict& verdict) {
  const Subject subject{{&schedule, 1}, claims, &watch};
  // The order of ranks is a matter of where the count begins, which one rank does not see.
  if (is_reducing(schedule.collective) && subject.ordered()) return false;
  check_structure_of(schedule, claims);
  const RelativeMatching matching = match(schedule, rotation);
  const Dependencies dependencies = given == nullptr ? derive_dependencies(schedule) : *given;
  prove_order_of(schedule, dependencies);
  RelativeExecution execution(schedule, rotation, matching, dependencies, subject.at_least_once());
  subject.done(0.5);
  execution.run(subject.between(0.5, 1));
  const RelativeResults results(subject, execution);
  results.check();
  const bool same_bits = claims.guarantees.same_bits && is_reducing(schedule.collective);
  if (same_bits && !results.have_same_bits()) return false;
  count(subject, {&dependencies, 1}, execution.levels(), verdict);
  verdict.messages *= schedule.shape.size;
  verdict.reductions *= schedule.shape.size;
  verdict.by_rotation = true;
  return true;
}

}  // namespace circoll::verify
