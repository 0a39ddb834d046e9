// barrier/nway_dissemination: dissemination to several ranks at a time.
//
// Idea      Distances grow by a factor k instead of 2: on level j rank r tells the ranks r + d k^j, 0 < d < k, that
//           it has heard of the k^j ranks before it. The messages of a level do not wait for one another, so that a
//           level takes little more than one message where a message costs little to send, as in shared memory.
// Shape     any p; one block of no bytes, which is sent all the same.
// Cost      the sum over levels of min(k, ceil(p / k^j)) - 1 rounds, one message sent and received in each;
//           ceil(log_k p) levels.
// Scratch   a block of no bytes per message.
// Order     none.
// Source    Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988, for k = 2; Hoefler, Mehlan,
//           Mietke, Rehm: Fast Barrier Synchronization for InfiniBand, 2006, for more.
#include <algorithm>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::radix;

void build(Builder& b) {
  const std::int64_t k = b.param(radix.name, radix.fallback);
  const Rank p = b.size();
  const Rank r = b.rank();
  if (p == 1) return b.copy(b.output(), b.input());
  Region heard = b.input();
  for (Rank unit = 1; unit < p; unit *= k) {
    std::vector<Region> arrived;
    for (Rank distance = unit; distance < unit * k && distance < p; distance += unit) {
      arrived.push_back(b.region(b.scratch_like(b.input())));
      b.sendrecv((r + distance) % p, heard, patterns::mod(r - distance, p), arrived.back());
      b.next_round();
    }
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const bool last = unit >= (p + k - 1) / k && i + 1 == arrived.size();
      const Region next = last ? b.output() : arrived[i];
      b.reduce(next, arrived[i], heard);
      heard = next;
    }
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  if (p == 1) return {.copied = 1};
  const std::int64_t n = patterns::KnomialTree(p, patterns::value_of(shape, radix)).rounds();
  return {.rounds = n, .sent = n, .received = n, .reduced = n};
}

/// A level for every digit that a rank has in base k.
std::int64_t levels(const Shape& shape) {
  const std::int64_t k = patterns::value_of(shape, radix);
  std::int64_t levels = 0;
  for (Rank unit = 1; unit < shape.size; unit *= k) ++levels;
  return levels;
}

RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  const std::int64_t k = patterns::value_of(shape, radix);
  std::int64_t groups = 0;
  for (Rank unit = 1; unit < shape.size; unit *= k)
    groups += patterns::groups_of(std::min(k - 1, (shape.size - 1) / unit), ports);
  return {.rounds = groups, .volume = groups};
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, nway_dissemination) {
  return {
      .summary = "dissemination with distances that grow by a factor; few levels, several messages on each",
      .source = "Hensgen, Finkel, Manber 1988; Hoefler et al. 2006",
      .family = Family::dissemination,
      .when = "p = 3, where no message waits; more ranks that share memory, where those of a level overlap",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)", .sent = "rounds", .reduced = "rounds"},
      .params = {radix},
      .cost = cost,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
