#include "patterns/trees.hpp"

#include <span>
#include <utility>
#include <vector>

#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"

namespace circoll::patterns {

void linear_bcast(Builder& b, const Region& data, Rank root) {
  for (Rank i = 0; i < b.size(); ++i) {
    if (i == root) continue;
    if (b.rank() == root) b.send(i, data);
    if (b.rank() == i) b.recv(root, data);
    b.next_round();
  }
}

void linear_reduce(Builder& b, const Region& to, const Region& from, Rank root) {
  const Rank last = b.size() - 1;
  if (b.rank() != root) {
    const auto before = static_cast<std::uint32_t>(b.rank() - (b.rank() > root ? 1 : 0));
    b.next_round(before);
    b.send(root, from);
    b.next_round(static_cast<std::uint32_t>(last) - before);
    return;
  }
  if (last == 0) return b.copy(to, from);
  Arrivals arrivals(b, from);
  Region sum;
  for (Rank i = 0; i <= last; ++i) {
    const Region operand = i == root ? from : arrivals.next();
    if (i != root) b.recv(i, operand);
    if (i == 0) {
      sum = operand;
    } else {
      // The sum is written over the message, or over the sum before if the operand is the own contribution.
      const Region next = i == last ? to : i == root ? sum : operand;
      b.reduce(next, sum, operand);
      sum = next;
    }
    if (i != root) b.next_round();
  }
}

namespace {

/// Calls f(from, to, mask) of each round for the edges at this rank, and ends the round. Ranks are relative to
/// the root.
template <typename F>
void each_edge(Builder& b, Rank root, F&& f) {
  const Rank v = mod(b.rank() - root, b.size());
  for (int k = ceil_log2(b.size()) - 1; k >= 0; --k) {
    const Rank mask = Rank{1} << k;
    if (v % (2 * mask) == 0 && v + mask < b.size()) f(v, v + mask, mask);
    if (v % (2 * mask) == mask) f(v - mask, v, mask);
    b.next_round();
  }
}

}  // namespace

void binomial_bcast(Builder& b, const Region& data, Rank root) {
  const Rank p = b.size();
  each_edge(b, root, [&](Rank from, Rank to, Rank) {
    const Rank target = (to + root) % p;
    target == b.rank() ? b.recv((from + root) % p, data) : b.send(target, data);
  });
}

void binomial_scatter(Builder& b, const Region& all, Rank root) {
  const Rank p = b.size();
  each_edge(b, root, [&](Rank from, Rank to, Rank mask) {
    const Rank target = (to + root) % p;
    const Rank blocks = std::min(mask, p - to);
    const Rank before_end = std::min(blocks, p - target);
    const Region data = b.part(all, target, before_end) + b.part(all, 0, blocks - before_end);
    target == b.rank() ? b.recv((from + root) % p, data) : b.send(target, data);
  });
}

namespace {

/// Rounds of one block in which no rank both sends and receives.
RoundsOnPorts one_way_at_once(std::span<const std::int64_t> latest, std::int64_t ports) {
  const std::vector<std::int64_t> groups = groups_on_ports(latest, ports);
  const std::int64_t rounds = groups.empty() ? 0 : groups.back() + 1;
  return {.rounds = rounds, .one_way = rounds, .one_way_volume = rounds};
}

}  // namespace

RoundsOnPorts knomial_bcast_on_ports(const Shape& shape, std::int64_t ports) {
  const std::int64_t k = value_of(shape, radix);
  std::vector<std::int64_t> latest;
  Rank level = 0;
  std::int64_t first = 0, first_above = 0;  // rounds of this level and of the one above
  const KnomialTree tree(shape.size, k);
  tree.each_round_down([&](Rank weight, Rank step) {
    if (weight != level) first_above = std::exchange(first, static_cast<std::int64_t>(latest.size()));
    level = weight;
    // Only the last subtree of the root may have too few ranks for this round. At the top no child of the root sends.
    const std::int64_t senders = std::min(k - 1, (shape.size - 1 - step) / tree.next_weight(weight));
    latest.push_back(senders > 0 ? first_above + senders - 1 : -1);
  });
  return one_way_at_once(latest, ports);
}

RoundsOnPorts knomial_reduce_on_ports(const Shape& shape, std::int64_t ports) {
  const Rank p = shape.size;
  const std::int64_t k = value_of(shape, radix);
  std::vector<std::int64_t> latest, last{-1};  // `last`: the last rounds of the levels so far, after that of none
  for (Rank weight = 1; weight < p; weight *= k) {
    for (Rank step = std::min(k - 1, (p - 1) / weight) * weight; step > 0; step -= weight) {
      // The first sender of the round is rank `step`. It waits for its last child, the root for memory.
      std::size_t level = last.size() - 1;
      for (Rank child = weight / k; level > 0 && step + child >= p; child /= k) --level;
      latest.push_back(std::max(last[level], static_cast<std::int64_t>(latest.size()) - knomial_memory(k)));
    }
    last.push_back(static_cast<std::int64_t>(latest.size()) - 1);
  }
  return one_way_at_once(latest, ports);
}

std::int64_t binomial_most(Rank p) {
  if (p < 2) return 0;
  const Rank top = Rank{1} << std::max(ceil_log2(p) - 1, 0);
  return std::max(p - top, top / 2);
}

Cost tree_gather_cost(const Shape& shape, std::int64_t most) {
  const Rank p = shape.size;
  const bool inner_copies = p >= 4;  // a rank other than the root has a child
  return {.rounds = ceil_log2(p), .sent = most, .received = p - 1, .copied = shape.in_place && !inner_copies ? 0 : 1};
}

CriticalPath tree_gather_path(const Shape& shape) {
  return one_way_path(shape.size, ceil_log2(shape.size), shape.size - 1);
}

void reduce_in_order(Builder& b, const Region& to, const KnomialTree& tree, Rank v, Rank size) {
  if (size == 1) b.copy(to, b.input());
  Arrivals arrivals(b, b.input());
  Region sum = b.input();
  tree.each_round_up([&](Rank weight, Rank step) {
    if (tree.is_parent(v, weight, step) && v + step < size) {
      const Region arrived = arrivals.next();
      // The last child of v = 0: its weight is the largest one, and no child follows.
      const bool last = v == 0 && step + weight >= size && tree.next_weight(weight) >= size;
      const Region next = last ? to : arrived;
      b.recv(b.rank() + step, arrived);
      b.reduce(next, sum, arrived);
      sum = next;
    } else if (tree.is_child(v, weight, step)) {
      b.send(b.rank() - step, sum);
    }
    b.next_round();
  });
}

}  // namespace circoll::patterns
