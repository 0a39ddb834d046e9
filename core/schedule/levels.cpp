#include "schedule/levels.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {
namespace {

/// Makes all paths as long as the longest one, which is returned.
std::size_t pad(std::vector<std::vector<std::string>>& paths) {
  std::size_t longest = 0;
  for (const auto& path : paths) {
    if (path.empty() || path.back().empty()) throw Error(ErrorCode::invalid_argument, "a rank has a path with a host");
    longest = std::max(longest, path.size());
  }
  for (auto& path : paths) {
    const std::string above = path.size() > 1 ? path[path.size() - 2] : path.back();
    path.insert(path.end() - 1, longest - path.size(), above);
  }
  return longest;
}

}  // namespace

Levels::Levels(std::vector<std::vector<std::string>> paths, std::vector<std::string> names)
    : size_(static_cast<Rank>(paths.size())) {
  if (paths.empty()) throw Error(ErrorCode::invalid_argument, "an allocation has at least one rank");
  const std::size_t depth = pad(paths);
  if (names.empty()) {
    for (std::size_t level = 1; level < depth; ++level) names.push_back("level " + std::to_string(level));
    names.emplace_back("hosts");
  }
  if (names.size() != depth) throw Error(ErrorCode::invalid_argument, "each level has one name");
  std::vector<Rank> above(paths.size(), 0);
  for (std::size_t level = 0; level < depth; ++level) {
    std::map<std::pair<Rank, std::string_view>, Rank> known;
    std::vector<std::string> part_names;
    std::vector<Rank> part;
    part.reserve(paths.size());
    for (std::size_t r = 0; r < paths.size(); ++r) {
      const std::string& name = paths[r][level];
      const auto [found, is_new] = known.try_emplace({above[r], name}, static_cast<Rank>(known.size()));
      if (is_new) part_names.push_back(name);
      part.push_back(found->second);
    }
    above = part;
    if (part_names.size() == 1 && level + 1 < depth) continue;  // nothing crosses between its parts
    names_.push_back(names[level]);
    part_.push_back(std::move(part));
    part_names_.push_back(std::move(part_names));
  }
}

std::vector<std::string> Levels::path(Rank rank) const {
  std::vector<std::string> names;
  names.reserve(names_.size());
  for (int level = 0; level < depth(); ++level) names.push_back(part_name(level, part(level, rank)));
  return names;
}

int Levels::shared(Rank a, Rank b) const {
  int level = depth();
  while (level > 0 && part(level - 1, a) != part(level - 1, b)) --level;
  return level;
}

std::vector<Rank> sorted_by_path(const Levels& levels, Rank first) {
  std::vector<Rank> order(static_cast<std::size_t>(levels.size()));
  std::iota(order.begin(), order.end(), Rank{0});
  // Parts are numbered in the order of their first ranks, so the numbers on the way down compare paths.
  const auto before = [&](Rank a, Rank b) {
    if (const int of_a = levels.shared(a, first), of_b = levels.shared(b, first); of_a != of_b) return of_a > of_b;
    for (int level = 0; level < levels.depth(); ++level) {
      if (levels.part(level, a) != levels.part(level, b)) return levels.part(level, a) < levels.part(level, b);
    }
    return std::pair(a != first, a) < std::pair(b != first, b);
  };
  std::sort(order.begin(), order.end(), before);
  return order;
}

namespace {

/// Ranks that stand one after another.
struct Run {
  std::vector<Rank> ranks;
  bool has_first = false;
};

/// The left run begins with `first`, or has the smaller rank.
Run joined(Run a, Run b) {
  const auto key = [](const Run& run) { return std::pair(!run.has_first, run.ranks.front()); };
  if (key(b) < key(a)) std::swap(a, b);
  a.ranks.insert(a.ranks.end(), b.ranks.begin(), b.ranks.end());
  return a;
}

/// Among more candidates than these, neighbours in the order of parts are paired.
constexpr std::size_t most_compared = 64;

/// Pairs runs of one part whose children are the parts of `level`.
class Pairing {
 public:
  Pairing(const Levels& levels, int level) : levels_(levels), level_(level) {}

  /// Adds pairs of `runs` to `pairs`, and returns the one that is left over, if any.
  std::optional<Run> operator()(std::vector<Run> runs, std::vector<Run>& pairs) const {
    struct Sorted {
      std::vector<Rank> parts;
      Run run;
    };
    std::vector<Sorted> all;
    for (Run& run : runs) {
      std::vector<Rank> parts = parts_of(run);
      all.push_back({std::move(parts), std::move(run)});
    }
    std::sort(all.begin(), all.end(), [](const Sorted& a, const Sorted& b) {
      return std::tie(a.parts, a.run.ranks.front()) < std::tie(b.parts, b.run.ranks.front());
    });
    std::vector<Sorted> rest;
    for (Sorted& one : all) {
      if (!rest.empty() && rest.back().parts == one.parts) {
        pairs.push_back(joined(std::move(rest.back().run), std::move(one.run)));
        rest.pop_back();
      } else {
        rest.push_back(std::move(one));
      }
    }
    for (const auto& [i, j] : rest.size() > most_compared ? neighbours(rest.size()) : nearest(rest)) {
      pairs.push_back(joined(std::move(rest[i].run), std::move(rest[j].run)));
    }
    for (Sorted& one : rest) {
      if (!one.run.ranks.empty()) return std::move(one.run);
    }
    return std::nullopt;
  }

 private:
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  [[nodiscard]] std::vector<Rank> parts_of(const Run& run) const {
    std::vector<Rank> parts;
    if (level_ == levels_.depth()) return parts;  // all on one host
    for (const Rank rank : run.ranks) parts.push_back(levels_.part(level_, rank));
    return parts;
  }
  static Pairs neighbours(std::size_t n) {
    Pairs pairs;
    for (std::size_t i = 0; i + 1 < n; i += 2) pairs.emplace_back(i, i + 1);
    return pairs;
  }
  /// Those that agree in most places first.
  template <typename Sorted>
  static Pairs nearest(const std::vector<Sorted>& rest) {
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> all;  // places that differ, and the two
    for (std::size_t i = 0; i < rest.size(); ++i) {
      for (std::size_t j = i + 1; j < rest.size(); ++j) {
        std::size_t differ = 0;
        for (std::size_t k = 0; k < rest[i].parts.size(); ++k) differ += rest[i].parts[k] != rest[j].parts[k] ? 1U : 0U;
        all.emplace_back(differ, i, j);
      }
    }
    std::sort(all.begin(), all.end());
    std::vector<bool> taken(rest.size(), false);
    Pairs pairs;
    for (const auto& [differ, i, j] : all) {
      if (taken[i] || taken[j]) continue;
      taken[i] = taken[j] = true;
      pairs.emplace_back(i, j);
    }
    return pairs;
  }

  const Levels& levels_;
  int level_;
};

/// The levels that all ranks of a run share.
int home_of(const Levels& levels, const Run& run) {
  int home = levels.depth();
  for (const Rank rank : run.ranks) home = std::min(home, levels.shared(run.ranks.front(), rank));
  return home;
}

/// Pairs runs of equal length, those of one part before others. Returns the pairs, and the one that is left over.
std::pair<std::vector<Run>, std::optional<Run>> paired(const Levels& levels, std::vector<Run> runs) {
  // By the levels that the ranks of a run share, and the part there.
  std::vector<std::map<Rank, std::vector<Run>>> at(static_cast<std::size_t>(levels.depth()) + 1);
  const auto file = [&](Run run, int home) {
    const Rank part = home == 0 ? 0 : levels.part(home - 1, run.ranks.front());
    at[static_cast<std::size_t>(home)][part].push_back(std::move(run));
  };
  for (Run& run : runs) {
    const int home = home_of(levels, run);
    file(std::move(run), home);
  }
  std::vector<Run> pairs;
  std::optional<Run> left_over;
  for (int home = levels.depth(); home >= 0; --home) {
    for (auto& [part, here] : at[static_cast<std::size_t>(home)]) {
      std::optional<Run> rest = Pairing(levels, home)(std::move(here), pairs);
      if (!rest) continue;
      if (home == 0) {
        left_over = std::move(rest);
      } else {
        file(std::move(*rest), home - 1);
      }
    }
  }
  return {std::move(pairs), std::move(left_over)};
}

}  // namespace

std::vector<Rank> packed(const Levels& levels, Rank first) {
  require(first >= 0 && first < levels.size(), "the first one is a rank");
  std::vector<Run> runs;
  for (Rank r = 0; r < levels.size(); ++r) runs.push_back({{r}, r == first});
  std::optional<Run> last;  // shorter than the others
  while (!runs.empty()) {
    auto [pairs, left_over] = paired(levels, std::move(runs));
    if (left_over && left_over->has_first && !pairs.empty()) {
      // It must not end up last: it takes the place of half of another pair.
      Run other = std::move(pairs.back());
      pairs.pop_back();
      const auto middle = other.ranks.begin() + static_cast<std::ptrdiff_t>(other.ranks.size() / 2);
      Run second{{middle, other.ranks.end()}, false};
      other.ranks.erase(middle, other.ranks.end());
      pairs.push_back(joined(std::move(*left_over), std::move(other)));
      left_over = std::move(second);
    }
    if (left_over && last) {
      left_over->ranks.insert(left_over->ranks.end(), last->ranks.begin(), last->ranks.end());
    }
    if (left_over) last = std::move(left_over);
    runs = std::move(pairs);
  }
  return std::move(last->ranks);
}

}  // namespace circoll
