#include "repair/repair.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "symbolic/execution.hpp"
#include "symbolic/expressions.hpp"
#include "verify/proof.hpp"

namespace circoll::repair {
namespace {

using symbolic::undefined;
using symbolic::Value;

/// The survivors that get the result of a goal.
std::uint64_t users_of(const LinkedSchedules& program, const Goal& goal, std::uint64_t failed) {
  const Schedule& any = program.of(0);
  return (is_movable(any.collective) ? bit(any.shape.root) : goal.users) & ~failed;
}

/// The results that are put together from all contributions, or from the survivors' only.
///
/// Nothing if some result cannot be.
std::optional<std::vector<Assembly>> find_assemblies(const LinkedSchedules& program,
                                                     const std::vector<std::vector<Placed>>& placed,
                                                     std::uint64_t failed, std::span<const Goal> goals, bool full,
                                                     const FailureBounds& bounds) {
  std::vector<Assembly> assemblies;
  for (const Goal& goal : goals) {
    Assembly assembly{
        .block = goal.block, .target = full ? goal.all : goal.all & ~failed, .users = users_of(program, goal, failed)};
    if (assembly.users == 0 || assembly.target == 0) continue;
    std::map<Set, std::vector<SlotOfRank>> places;
    for (const Placed& p : placed[static_cast<std::size_t>(goal.block)]) places[p.set].push_back(p.place);
    std::vector<Set> held;
    held.reserve(places.size());
    for (const auto& [set, where] : places) held.push_back(set);
    std::vector<Set> pieces =
        find_pieces(held, assembly.target, program.idempotent, bounds.to_decide, bounds.to_minimize);
    if (pieces.empty()) return std::nullopt;
    std::sort(pieces.begin(), pieces.end(), [](Set a, Set b) { return std::countr_zero(a) < std::countr_zero(b); });
    for (const Set piece : pieces) assembly.pieces.push_back(places.at(piece));
    assemblies.push_back(std::move(assembly));
  }
  return assemblies;
}

/// One place at each rank, an output slot if there is one.
void keep_one_place_a_rank(const LinkedSchedules& program, std::vector<Assembly>& assemblies) {
  for (Assembly& a : assemblies) {
    for (std::vector<SlotOfRank>& places : a.pieces) {
      const auto key = [&](const SlotOfRank& p) {
        const Schedule& s = program.of(p.rank);
        const std::int32_t output = contract_of(s.collective, s.shape, s.segments).output_buffer;
        return std::tuple(p.rank, p.buffer != output, p.buffer, p.slot);
      };
      std::sort(places.begin(), places.end(),
                [&](const SlotOfRank& x, const SlotOfRank& y) { return key(x) < key(y); });
      places.erase(std::unique(places.begin(), places.end(),
                               [](const SlotOfRank& x, const SlotOfRank& y) { return x.rank == y.rank; }),
                   places.end());
    }
  }
}

/// The proof that schedules end with the results, in the memory that a stage has left.
class Proof {
 public:
  Proof(const LinkedSchedules& program, const Stage& stage, const std::vector<Schedule>& ranks)
      : program_(program),
        matching_(ranks),
        claims_{.needs = {.idempotent = program.idempotent}},
        dependencies_(verify::prove_order({.ranks = ranks, .claims = claims_}, {})),
        execution_(ranks, matching_, dependencies_, stage.execution()) {
    execution_.run();
  }

  /// Throws Refuted if a result is not what it shall be. Returns what holds for all results.
  Guarantees check(const std::vector<Assembly>& assemblies) {
    Guarantees guarantees{.same_bits = true, .rank_order = true};
    for (const Assembly& a : assemblies) {
      Value first = undefined;
      for (std::uint64_t rest = a.users; rest != 0; rest &= rest - 1) {
        const Rank r = std::countr_zero(rest);
        const Value value = result(r, a.block);
        check_result(r, a, value, guarantees);
        if (first == undefined) first = value;
        symbolic::Expressions& e = execution_.expressions();
        guarantees.same_bits = guarantees.same_bits && (value == first || e.identical(value, first) ||
                                                        e.canonical(value) == e.canonical(first));
      }
    }
    return guarantees;
  }

 private:
  [[nodiscard]] Value result(Rank r, Block block) const {
    const SlotOfRank output = output_of(program_.of(r), block);
    return output.buffer < 0 ? undefined : execution_.value(r, output.buffer, output.slot);
  }

  void check_result(Rank r, const Assembly& a, Value value, Guarantees& guarantees) {
    const auto fail = [&](const std::string& what) { throw symbolic::Refuted{Claim::result, r, -1, a.block, what}; };
    if (value == undefined) fail("a result is never written");
    if (!symbolic::contributes_to_all(program_.of(0).collective)) {
      if (value != execution_.expressions().leaf(0, a.block)) fail("a result is another block");
      return;
    }
    Set found = 0;
    std::int64_t before = -1;
    bool twice = false;
    execution_.expressions().each_leaf(value, [&](std::int64_t source) {
      guarantees.rank_order = guarantees.rank_order && source > before;
      before = source;
      twice = twice || (found & bit(source)) != 0;
      found |= bit(source);
      return true;
    });
    if (twice && !program_.idempotent) fail("a contribution counts twice");
    if (found != a.target) fail("a result is made of other contributions");
  }

  const LinkedSchedules& program_;
  Matching matching_;
  Claims claims_;
  std::vector<Dependencies> dependencies_;
  symbolic::SymbolicExecution execution_;
};

Repair nothing(std::string why) { return {.why = std::move(why)}; }

}  // namespace

Repair plan_repair(const LinkedSchedules& program, const Stage& stage, std::uint64_t failed,
                   std::span<const Goal> goals, const FailureBounds& bounds) {
  const Schedule& any = program.of(0);
  if (!traits_of(any.collective).moves_data) return nothing("a barrier leaves nothing to be put together");
  if (std::none_of(goals.begin(), goals.end(), [&](const Goal& g) { return users_of(program, g, failed) != 0; }))
    return nothing("nobody is left who gets a result");
  const auto placed = stage.placed(below(program.size()) & ~failed);
  Repair repair{.goal = FailureClass::full};
  auto assemblies = find_assemblies(program, placed, failed, goals, true, bounds);
  if (!assemblies) {
    repair.goal = FailureClass::surv;
    assemblies = find_assemblies(program, placed, failed, goals, false, bounds);
  }
  if (!assemblies) return nothing("what the survivors hold cannot be put together");
  if (assemblies->empty()) return nothing("only the failed ranks had what the survivors need");
  keep_one_place_a_rank(program, *assemblies);
  for (const Goal& goal : goals)
    repair.missing += repair.goal == FailureClass::surv && (goal.all & ~failed) == 0 && goal.all != 0 ? 1 : 0;
  for (const Assembly& a : *assemblies) repair.pieces = std::max(repair.pieces, static_cast<int>(a.pieces.size()));
  repair.ranks = write_assemblies(program, *assemblies);
  try {
    repair.guarantees = Proof(program, stage, repair.ranks).check(*assemblies);
  } catch (const Unmatched& end) {
    throw Error(ErrorCode::internal, "a repair does not fit together: " + end.what);
  } catch (const symbolic::Refuted& refuted) {
    throw Error(ErrorCode::internal, "a repair is wrong: " + refuted.what);
  }
  repair.cost = verify::count_cost(repair.ranks);
  repair.path = verify::count_path(repair.ranks);
  return repair;
}

void check_size(Rank p) {
  if (p > most_repaired_ranks) {
    throw Error(ErrorCode::unsupported, "failures are analysed for up to " + std::to_string(most_repaired_ranks) +
                                            " ranks, not " + std::to_string(p));
  }
}

std::uint64_t set_of(std::span<const Rank> failed, Rank p) {
  std::uint64_t set = 0;
  for (const Rank f : failed) {
    if (f < 0 || f >= p) {
      throw Error(ErrorCode::invalid_argument,
                  "rank " + std::to_string(f) + " cannot fail: ranks are 0 .. " + std::to_string(p - 1));
    }
    if ((set & bit(f)) != 0) {
      throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(f) + " is named twice, and fails once");
    }
    set |= bit(f);
  }
  if (set == 0) throw Error(ErrorCode::invalid_argument, "no rank is named that fails");
  if (set == below(p)) throw Error(ErrorCode::invalid_argument, "all ranks fail, and nobody is left to hold anything");
  return set;
}

void check_progress(const LinkedSchedules& program, const Progress& progress, std::uint64_t failed) {
  require(progress.size() == program.ranks.size(), "the progress of every rank is needed");
  for (Rank r = 0; r < program.size(); ++r) {
    require((failed & bit(r)) != 0 || progress[static_cast<std::size_t>(r)].size() == program.of(r).steps.size(),
            "the progress of a rank has one entry for each step of its schedule");
  }
}

}  // namespace circoll::repair

namespace circoll {

Repair plan_repair(std::vector<Schedule> ranks, bool idempotent, const Progress& ended, const Progress& torn,
                   std::span<const Rank> failed, const FailureBounds& bounds) {
  if (ranks.empty()) throw Error(ErrorCode::invalid_argument, "a collective without ranks has no failures");
  repair::check_size(static_cast<Rank>(ranks.size()));
  const std::uint64_t set = repair::set_of(failed, static_cast<Rank>(ranks.size()));
  try {
    const repair::LinkedSchedules program(std::move(ranks), idempotent);
    repair::check_progress(program, ended, set);
    repair::check_progress(program, torn, set);
    repair::Stage stage(program, Keep::log);
    stage.repeat(ended, set);
    stage.tear(torn, set);
    return repair::plan_repair(program, stage, set, repair::goals_of(program), bounds);
  } catch (const Unmatched& end) {
    throw Error(ErrorCode::invalid_argument, "the schedules do not fit together: " + end.what);
  } catch (const symbolic::Refuted& refuted) {
    throw Error(ErrorCode::invalid_argument, "the schedules are wrong: " + refuted.what);
  }
}

std::string_view to_string(Keep keep) {
  static constexpr std::array<std::string_view, 4> names{"live", "buf", "keep", "log"};
  return names[static_cast<std::size_t>(keep)];
}

std::string_view to_string(FailureClass what) {
  static constexpr std::array<std::string_view, 6> names{"NONE", "MIX", "SURV", "FULL", "BOTH", "unknown"};
  return names[static_cast<std::size_t>(what)];
}

Terms terms_of(const Repair& repair, Count bytes) {
  // A repair moves data, whatever the collective is.
  return terms_of(Collective::allreduce, repair.path, repair.cost, bytes);
}

}  // namespace circoll
