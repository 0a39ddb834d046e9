#include "patterns/linear.hpp"

#include "patterns/arrivals.hpp"

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

}  // namespace circoll::patterns
