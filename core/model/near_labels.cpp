#include "model/near_labels.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {
namespace {

/// The flow between two labels in both directions; a < b.
struct Edge {
  std::size_t a = 0;
  std::size_t b = 0;
  std::int64_t weight = 0;
};

/// Adds up edges between the same two.
std::vector<Edge> merged(std::vector<Edge> edges) {
  for (Edge& edge : edges) {
    if (edge.b < edge.a) std::swap(edge.a, edge.b);
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& x, const Edge& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  std::size_t kept = 0;
  for (const Edge& edge : edges) {
    if (kept > 0 && edges[kept - 1].a == edge.a && edges[kept - 1].b == edge.b) {
      edges[kept - 1].weight += edge.weight;
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
  return edges;
}

/// All edges, each once.
std::vector<Edge> edges_of(const Messages& messages) {
  std::vector<Edge> edges;
  messages.for_each([&](Rank from, Rank to, const Flow& flow) {
    if (from != to)
      edges.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to), messages.weight(flow)});
  });
  return merged(std::move(edges));
}

/// Runs of labels, which are paired until there is one. Run 0 has label 0.
class Runs {
 public:
  explicit Runs(const Messages& messages) {
    for (Rank label = 0; label < messages.size(); ++label) runs_.push_back({label});
    edges_ = edges_of(messages);
    between_ = edges_;
  }

  std::vector<Rank> order() && {
    while (runs_.size() > 1 || !last_.empty()) {
      if (runs_.empty()) break;
      pair_up();
    }
    return runs_.empty() ? std::move(last_) : std::move(runs_.front());
  }

 private:
  using Pair = std::pair<std::size_t, std::size_t>;

  /// Pairs those that exchange most, then what is left over in order. The one that remains comes last.
  void pair_up() {
    const std::vector<Pair> pairs = heaviest();
    mirror(pairs);
    std::vector<std::size_t> run_after(runs_.size());
    std::vector<std::vector<Rank>> next;
    std::vector<bool> taken(runs_.size(), false);
    for (const auto& [a, b] : pairs) {
      taken[a] = taken[b] = true;
      run_after[a] = run_after[b] = next.size();
      next.push_back(std::move(runs_[a]));
      next.back().insert(next.back().end(), runs_[b].begin(), runs_[b].end());
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (taken[i]) continue;
      run_after[i] = gone;
      runs_[i].insert(runs_[i].end(), last_.begin(), last_.end());
      last_ = std::move(runs_[i]);
    }
    std::vector<Edge> edges;
    for (Edge edge : between_) {
      edge.a = run_after[edge.a];
      edge.b = run_after[edge.b];
      if (edge.a != gone && edge.b != gone && edge.a != edge.b) edges.push_back(edge);
    }
    between_ = merged(std::move(edges));
    runs_ = std::move(next);
  }

  /// Pairs in the order of their first runs, which is that of their smaller number.
  [[nodiscard]] std::vector<Pair> heaviest() const {
    std::vector<Edge> sorted = between_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Edge& x, const Edge& y) { return x.weight > y.weight; });
    std::vector<bool> taken(runs_.size(), false);
    std::vector<Pair> pairs;
    for (const Edge& edge : sorted) {
      if (taken[edge.a] || taken[edge.b]) continue;
      taken[edge.a] = taken[edge.b] = true;
      pairs.emplace_back(edge.a, edge.b);
    }
    std::size_t waiting = gone;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (taken[i]) continue;
      if (waiting != gone) {
        pairs.emplace_back(waiting, i);
        waiting = gone;
      } else {
        waiting = i;
      }
    }
    // Label 0 must stay first: it takes another's partner.
    if (waiting == 0 && !pairs.empty()) pairs.front() = {0, pairs.front().first};
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  /// Turns the second run of a pair around where labels exchange more with those at the mirrored places.
  void mirror(const std::vector<Pair>& pairs) {
    struct Place {
      std::size_t pair = gone;
      std::size_t at = 0;
      bool second = false;
    };
    std::vector<Place> places;
    const auto put = [&](std::size_t pair, const std::vector<Rank>& run, bool second) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        const auto label = static_cast<std::size_t>(run[i]);
        if (label >= places.size()) places.resize(label + 1);
        places[label] = {pair, i, second};
      }
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      put(i, runs_[pairs[i].first], false);
      put(i, runs_[pairs[i].second], true);
    }
    struct Weights {
      std::int64_t straight = 0;
      std::int64_t mirrored = 0;
    };
    std::vector<Weights> weights(pairs.size());
    for (const Edge& edge : edges_) {
      if (edge.b >= places.size()) continue;
      const Place& a = places[edge.a];
      const Place& b = places[edge.b];
      if (a.pair == gone || a.pair != b.pair || a.second == b.second) continue;
      const std::size_t length = runs_[pairs[a.pair].first].size();
      if (a.at == b.at) weights[a.pair].straight += edge.weight;
      if (a.at + b.at + 1 == length) weights[a.pair].mirrored += edge.weight;
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      std::vector<Rank>& second = runs_[pairs[i].second];
      if (weights[i].mirrored > weights[i].straight) std::reverse(second.begin(), second.end());
    }
  }

  static constexpr std::size_t gone = static_cast<std::size_t>(-1);

  std::vector<std::vector<Rank>> runs_;  ///< of equal lengths
  std::vector<Rank> last_;               ///< shorter than the others
  std::vector<Edge> edges_;              ///< between labels
  std::vector<Edge> between_;            ///< between runs
};

/// Swaps the ranks of two labels as long as less passes between the parts of the coarsest level. Label 0 stays.
class Swaps {
 public:
  Swaps(const Messages& messages, const Levels& levels) : levels_(levels), parts_(at(levels.parts(0))) {
    const std::size_t p = at(messages.size());
    const std::vector<Edge> edges = edges_of(messages);
    first_.assign(p + 1, 0);
    for (const Edge& edge : edges) {
      ++first_[edge.a + 1];
      ++first_[edge.b + 1];
    }
    for (std::size_t i = 0; i < p; ++i) first_[i + 1] += first_[i];
    std::vector<std::size_t> end(first_.begin(), first_.end() - 1);
    neighbours_.resize(2 * edges.size());
    for (const Edge& edge : edges) {
      neighbours_[end[edge.a]++] = {edge.b, edge.weight};
      neighbours_[end[edge.b]++] = {edge.a, edge.weight};
    }
  }

  /// ranks[label] is the rank of each label.
  void improve(std::vector<Rank>& ranks) {
    to_part_.assign(ranks.size() * parts_, 0);
    for (std::size_t label = 0; label < ranks.size(); ++label) {
      for (std::size_t i = first_[label]; i < first_[label + 1]; ++i)
        to_part_[label * parts_ + part(ranks, neighbours_[i].label)] += neighbours_[i].weight;
    }
    for (int sweep = 0; sweep < most_sweeps && sweep_once(ranks); ++sweep) {
    }
  }

 private:
  struct Neighbour {
    std::size_t label = 0;
    std::int64_t weight = 0;
  };
  static constexpr int most_sweeps = 1000;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  static std::size_t at(Rank number) { return static_cast<std::size_t>(number); }
  [[nodiscard]] std::size_t part(const std::vector<Rank>& ranks, std::size_t label) const {
    return at(levels_.part(0, ranks[label]));
  }
  /// The weight that passes less if a label of part `from` goes to part `to`, and nothing comes back.
  [[nodiscard]] std::int64_t gain(std::size_t label, std::size_t from, std::size_t to) const {
    return to_part_[label * parts_ + to] - to_part_[label * parts_ + from];
  }
  [[nodiscard]] std::int64_t weight(std::size_t a, std::size_t b) const {
    for (std::size_t i = first_[a]; i < first_[a + 1]; ++i) {
      if (neighbours_[i].label == b) return neighbours_[i].weight;
    }
    return 0;
  }
  void move(std::size_t label, std::size_t from, std::size_t to) {
    for (std::size_t i = first_[label]; i < first_[label + 1]; ++i) {
      std::int64_t* const row = to_part_.data() + neighbours_[i].label * parts_;
      row[from] -= neighbours_[i].weight;
      row[to] += neighbours_[i].weight;
    }
  }

  /// For each two parts, swaps the labels that gain most. False if no two gain.
  bool sweep_once(std::vector<Rank>& ranks) {
    std::vector<std::size_t> best(parts_ * parts_, none);
    for (std::size_t label = 1; label < ranks.size(); ++label) {
      const std::size_t from = part(ranks, label);
      for (std::size_t to = 0; to < parts_; ++to) {
        std::size_t& known = best[from * parts_ + to];
        if (to != from && (known == none || gain(label, from, to) > gain(known, from, to))) known = label;
      }
    }
    bool swapped = false;
    for (std::size_t a_part = 0; a_part < parts_; ++a_part) {
      for (std::size_t b_part = a_part + 1; b_part < parts_; ++b_part) {
        const std::size_t a = best[a_part * parts_ + b_part], b = best[b_part * parts_ + a_part];
        // Another swap of this sweep may have moved one of them.
        if (a == none || b == none || part(ranks, a) != a_part || part(ranks, b) != b_part) continue;
        if (gain(a, a_part, b_part) + gain(b, b_part, a_part) - 2 * weight(a, b) <= 0) continue;
        move(a, a_part, b_part);
        move(b, b_part, a_part);
        std::swap(ranks[a], ranks[b]);
        swapped = true;
      }
    }
    return swapped;
  }

  const Levels& levels_;
  std::size_t parts_;
  std::vector<std::size_t> first_;  ///< of each label's neighbours
  std::vector<Neighbour> neighbours_;
  std::vector<std::int64_t> to_part_;  ///< weight from each label to each part
};

/// Labels times parts for which swaps are tried. Each such pair has a number of 8 bytes.
constexpr Rank most_weights = Rank{1} << 22U;

}  // namespace

std::vector<Rank> near_order(const Messages& messages) { return Runs(messages).order(); }

NearLabels near_labels(const Messages& messages, std::span<const Rank> near, const Levels& levels, Rank root) {
  const Rank p = messages.size();
  require(p == levels.size() && static_cast<Rank>(near.size()) == p && root >= 0 && root < p,
          "messages, labels and places are of equally many ranks");
  std::vector<Rank> own(static_cast<std::size_t>(p));
  std::iota(own.begin(), own.end(), Rank{0});
  std::vector<Rank> from_root = own;  // the root first, for which label 0 stands
  std::rotate(from_root.begin(), from_root.begin() + root, from_root.end());
  const std::vector<Rank> sorted = sorted_by_path(levels, root), in_runs = packed(levels, root);
  struct Candidate {
    std::span<const Rank> ranks;
    std::span<const Rank> labels;
    std::string_view how;
  };
  std::optional<NearLabels> best;
  std::vector<std::int64_t> best_weights;
  for (const Candidate& one :
       {Candidate{from_root, own, "as they are"}, Candidate{sorted, own, "sorted"}, Candidate{sorted, near, "sorted"},
        Candidate{in_runs, own, "packed"}, Candidate{in_runs, near, "packed"}}) {
    std::vector<Rank> labels(one.ranks.size());
    for (std::size_t i = 0; i < labels.size(); ++i) labels[static_cast<std::size_t>(one.ranks[i])] = one.labels[i];
    NearLabels candidate{Relabelling(std::move(labels)), one.how};
    std::vector<std::int64_t> weights;
    for (const Flow& flow : flows_between(messages, levels, &candidate.labels))
      weights.push_back(messages.weight(flow));
    if (best && !(weights < best_weights)) continue;
    best = std::move(candidate);
    best_weights = std::move(weights);
  }
  if (levels.parts(0) > most_weights / p) return std::move(*best);
  std::vector<Rank> ranks;
  for (Rank label = 0; label < p; ++label) ranks.push_back(best->labels.rank(label));
  const std::vector<Rank> before = ranks;
  Swaps(messages, levels).improve(ranks);
  if (ranks == before) return std::move(*best);
  std::vector<Rank> labels(ranks.size());
  for (std::size_t label = 0; label < ranks.size(); ++label)
    labels[static_cast<std::size_t>(ranks[label])] = static_cast<Rank>(label);
  return {Relabelling(std::move(labels)), best->how};
}

}  // namespace circoll
