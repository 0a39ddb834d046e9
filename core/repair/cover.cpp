#include "repair/cover.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace circoll::repair {
namespace {

bool is_before(Set a, Set b) {
  const int size_a = std::popcount(a);
  const int size_b = std::popcount(b);
  return size_a != size_b ? size_a > size_b : a < b;
}

/// The sets within the goal, each once, larger ones first.
std::vector<Set> candidates_of(std::span<const Set> held, Set goal) {
  std::vector<Set> sets;
  for (const Set s : held) {
    if (s != 0 && (s & ~goal) == 0) sets.push_back(s);
  }
  if (!std::is_sorted(sets.begin(), sets.end(), is_before)) std::sort(sets.begin(), sets.end(), is_before);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

/// The sets taken one after the other, larger ones first, where they are disjoint from those before.
struct Greedy {
  Set covered = 0;
  std::vector<Set> taken{};
  /// True if every set lies within one that was taken. Then no cover has fewer pieces. If this is no cover, there is
  /// none.
  bool nested = true;
};

/// Stops once all of `goal` is covered if `to_cover`; then nobody asks whether sets are nested.
Greedy take_largest(std::span<const Set> sets, Set goal, bool to_cover) {
  Greedy greedy;
  for (const Set s : sets) {
    if ((s & greedy.covered) == 0) {
      greedy.taken.push_back(s);
      greedy.covered |= s;
      if (to_cover && greedy.covered == goal) break;
    } else if (greedy.nested) {
      greedy.nested = std::any_of(greedy.taken.begin(), greedy.taken.end(), [&](Set t) { return (s & ~t) == 0; });
    }
  }
  return greedy;
}

/// The search for a cover with the fewest pieces, depth first. It solves each rest only once.
class Search {
 public:
  Search(std::span<const Set> sets, bool may_overlap, std::int64_t most_steps)
      : by_element_(64), may_overlap_(may_overlap), steps_left_(most_steps) {
    for (const Set s : sets) {
      for (Set rest = s; rest != 0; rest &= rest - 1)
        by_element_[static_cast<std::size_t>(std::countr_zero(rest))].push_back(s);
    }
  }

  /// The least number of pieces; `none` if there is no cover. Meaningless once `exhausted`.
  int least(Set rest) {
    if (rest == 0) return 0;
    if (const auto known = known_.find(rest); known != known_.end()) return known->second;
    int best = none;
    for (const Set s : by_element_[static_cast<std::size_t>(std::countr_zero(rest))]) {
      if (!may_overlap_ && (s & ~rest) != 0) continue;
      if (--steps_left_ < 0) return none;
      best = std::min(best, least(rest & ~s) + 1);
      if (best == 1) break;
    }
    best = std::min(best, none);
    known_.emplace(rest, best);
    return best;
  }
  [[nodiscard]] bool exhausted() const { return steps_left_ < 0; }
  /// The sets of the cover that least() has found.
  std::vector<Set> sets_of(Set rest) {
    std::vector<Set> chosen;
    while (rest != 0) {
      const int pieces = least(rest);
      for (const Set s : by_element_[static_cast<std::size_t>(std::countr_zero(rest))]) {
        if ((!may_overlap_ && (s & ~rest) != 0) || least(rest & ~s) != pieces - 1) continue;
        chosen.push_back(s);
        rest &= ~s;
        break;
      }
    }
    return chosen;
  }

  static constexpr int none = 1000;

 private:
  std::vector<std::vector<Set>> by_element_;  // the sets with an element
  bool may_overlap_;
  std::int64_t steps_left_;
  std::unordered_map<Set, int> known_;
};

}  // namespace

Cover find_cover(std::span<const Set> held, Set goal, bool may_overlap, std::int64_t to_decide,
                 std::int64_t to_minimize) {
  if (goal == 0) return {Known::yes, 0};
  Set all = 0;
  for (const Set s : held) {
    if (s == goal) return {Known::yes, 1};
    if ((s & ~goal) == 0) all |= s;
  }
  if (all != goal) return {Known::no, -1};
  const std::vector<Set> sets = candidates_of(held, goal);
  const Greedy greedy = take_largest(sets, goal, to_minimize == 0);
  const bool found = greedy.covered == goal || may_overlap;
  if (found && to_minimize == 0) return {Known::yes, -1};
  if (greedy.nested) return found ? Cover{Known::yes, static_cast<int>(greedy.taken.size())} : Cover{Known::no, -1};
  Search search(sets, may_overlap, found ? to_minimize : to_decide);
  const int least = search.least(goal);
  if (search.exhausted()) return {found ? Known::yes : Known::unknown, -1};
  return least < Search::none ? Cover{Known::yes, least} : Cover{Known::no, -1};
}

namespace {

/// A cover by sets that may overlap, each the one that has most of the rest. Empty if there is none.
std::vector<Set> take_most_of_rest(std::span<const Set> sets, Set goal) {
  std::vector<Set> taken;
  for (Set rest = goal; rest != 0; rest &= ~taken.back()) {
    const auto most = std::max_element(sets.begin(), sets.end(),
                                       [&](Set a, Set b) { return std::popcount(a & rest) < std::popcount(b & rest); });
    if (most == sets.end() || (*most & rest) == 0) return {};
    taken.push_back(*most);
  }
  return taken;
}

}  // namespace

std::vector<Set> find_pieces(std::span<const Set> held, Set goal, bool may_overlap, std::int64_t to_decide,
                             std::int64_t to_minimize) {
  const std::vector<Set> sets = candidates_of(held, goal);
  if (!sets.empty() && sets.front() == goal) return {goal};
  Greedy greedy = take_largest(sets, goal, false);
  const bool found = greedy.covered == goal;
  if (greedy.nested) return found ? std::move(greedy.taken) : std::vector<Set>{};
  // sets_of() follows a cover of the fewest pieces. The numbers that least() has stored are exact unless exhausted().
  Search search(sets, may_overlap, found ? to_minimize : to_decide);
  const int least = search.least(goal);
  if (search.exhausted()) {
    if (may_overlap) return take_most_of_rest(sets, goal);
    return found ? std::move(greedy.taken) : std::vector<Set>{};
  }
  return least < Search::none ? search.sets_of(goal) : std::vector<Set>{};
}

}  // namespace circoll::repair
