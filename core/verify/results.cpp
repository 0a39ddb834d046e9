// Proofs about the results of a symbolic execution.
#include "verify/proof.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "schedule/walker.hpp"

namespace circoll::verify {
namespace {

using symbolic::undefined;
using symbolic::Value;

/// The step that last wrote a slot, for reports.
std::int64_t writer_of(const Schedule& s, std::int32_t buffer, Slot slot) {
  for (StepIndex i = static_cast<StepIndex>(s.steps.size()); i-- > 0;) {
    for (Walker w(s, s.steps[i].dst); !w.done(); w.advance()) {
      if (w.buffer() == buffer && w.slot() == slot) return i;
    }
  }
  return -1;
}

/// The results that the ranks have after an execution.
class Results {
 public:
  Results(const Subject& subject, SymbolicExecution& execution) : subject_(subject), execution_(execution) {}

  void check();

 private:
  using Fail = std::function<void(Claim claim, const std::string& what)>;
  /// `value` must combine the contributions of ranks 0 .. sources - 1.
  void check_reduction(Value value, Rank sources, const Fail& fail);
  [[nodiscard]] symbolic::Expressions& expressions() { return execution_.expressions(); }

  const Subject& subject_;
  SymbolicExecution& execution_;
  std::vector<bool> found_;
};

void Results::check() {
  std::vector<Value> agreed(static_cast<std::size_t>(subject_.of(0).blocks()), undefined);
  for (Rank r = 0; r < subject_.size(); ++r) {
    const Schedule& s = subject_.of(r);
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    for (Slot i = 0; i < contract.output_count; ++i) {
      const Slot slot = contract.output_first + i;
      const Block block = s.block_of(contract.output_buffer, slot);
      const Value value = execution_.value(r, contract.output_buffer, slot);
      const auto fail = [&](Claim claim, const std::string& what) {
        throw Refuted{claim, r, writer_of(s, contract.output_buffer, slot), block, what};
      };
      if (value == undefined) fail(Claim::result, "the result is never written");
      if (is_prefix(s.collective)) {
        check_reduction(value, s.collective == Collective::scan ? r + 1 : r, fail);
        continue;
      }
      Value& other = agreed[static_cast<std::size_t>(block)];
      if (value == other) continue;  // checked before
      if (!subject_.by_rank()) {
        if (value != expressions().leaf(0, block)) fail(Claim::result, "the result is not the block that was sent");
      } else {
        check_reduction(value, subject_.size(), fail);
        if (other != undefined && subject_.claims.guarantees.same_bits && !expressions().identical(value, other) &&
            expressions().canonical(value) != expressions().canonical(other)) {
          fail(Claim::same_bits, "it is combined in another way than at a rank before");
        }
      }
      other = value;
    }
    subject_.done(0.9 + 0.1 * static_cast<double>(r) / static_cast<double>(subject_.size()));
  }
}

void Results::check_reduction(Value value, Rank sources, const Fail& fail) {
  const auto p = static_cast<std::size_t>(subject_.size());
  found_.assign(p, false);
  std::fill(found_.begin() + sources, found_.end(), true);
  std::size_t number = 0;
  const bool ordered = subject_.ordered();
  if (subject_.at_least_once()) {
    expressions().mark_sources(value, found_);
    if (ordered && subject_.collective() != Collective::barrier) {
      fail(Claim::rank_order, "no order is proven where a contribution may count twice");
    }
  } else {
    bool ascending = false;
    const auto wanted = static_cast<std::size_t>(sources);
    if (wanted == p && expressions().is_complete(value, ascending) && (ascending || !ordered)) return;
    if (expressions().leaves_of(value) > p) fail(Claim::exactly_once, "a contribution is counted twice");
    std::int64_t twice = -1;
    std::int64_t beyond = -1;
    std::int64_t before = -1;
    bool in_order = true;
    expressions().each_leaf(value, [&](std::int64_t source) {
      if (source >= sources) {
        beyond = source;
        return false;
      }
      if (found_[static_cast<std::size_t>(source)]) {
        twice = source;
        return false;
      }
      found_[static_cast<std::size_t>(source)] = true;
      in_order = in_order && source == before + 1;
      before = source;
      ++number;
      return true;
    });
    if (beyond >= 0)
      fail(Claim::result, "the contribution of rank " + std::to_string(beyond) + " does not belong to it");
    if (twice >= 0)
      fail(Claim::exactly_once, "the contribution of rank " + std::to_string(twice) + " is counted twice");
    if (number == wanted && ordered && !in_order)
      fail(Claim::rank_order, "the contributions are not combined in the order of ranks");
  }
  const auto missing = std::find(found_.begin(), found_.end(), false);
  if (missing != found_.end()) {
    fail(Claim::exactly_once, "the contribution of rank " + std::to_string(missing - found_.begin()) + " is missing");
  }
}

}  // namespace

void check_results(const Subject& subject, SymbolicExecution& execution) { Results(subject, execution).check(); }

}  // namespace circoll::verify
