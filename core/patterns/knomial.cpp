#include "patterns/knomial.hpp"

#include "patterns/arrivals.hpp"

namespace circoll::patterns {

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
