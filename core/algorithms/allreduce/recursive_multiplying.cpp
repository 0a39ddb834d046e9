// allreduce/recursive_multiplying: whole vectors exchanged in groups of `radix` ranks, level by level.
//
// Idea      On a level the places that differ in one digit send their sums to one another. All of a group combine the
//           same operands in the same order, so that they get the same bits. Ranks beyond the places (multiplying.hpp)
//           give their vector to the neighbour before, and get the result after. With a radix of 2 it is
//           allreduce/recursive_doubling.
// Shape     any p; one block.
// Cost      (radix - 1) e + m - 1 rounds, and 2 more if ranks are folded: radix^e <= p < radix^(e+1), m =
//           floor(p / radix^e). As many blocks sent, received and combined; 1 more, not 2, for folded ranks.
// Scratch   2 (radix - 1) blocks at most.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    M. Ruefenacht, M. Bull, S. Booth: Generalisation of recursive doubling for AllReduce, 2017. UCC's knomial
//           has these places and this folding. MPICH's recursive_multiplying also combines a level in the order of
//           members, after all have arrived. Differs from MPICH: it folds onto a power of the radix and needs operators
//           that commute. Here fewer than half of the ranks are folded, onto neighbours, which keeps the order of
//           ranks. MPICH's recexch begins at the own rank's operand, so that ranks may get different bits.
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/multiplying.hpp"

namespace {

using namespace circoll;
using patterns::Multiplying;
using patterns::radix_above_two;

/// Scratch for the vectors that arrive on a level. The sum of the level before stays in the other set.
class LevelScratch {
 public:
  explicit LevelScratch(Builder& builder) : b_(builder) {}
  void next_level() {
    odd_ = 1 - odd_;
    used_ = 0;
  }
  [[nodiscard]] Region next() {
    std::vector<std::int32_t>& buffers = sets_[odd_];
    if (used_ == buffers.size()) buffers.push_back(b_.scratch_like(b_.input()));
    return b_.region(buffers[used_++]);
  }

 private:
  Builder& b_;
  std::vector<std::int32_t> sets_[2];
  std::size_t odd_ = 0;
  std::size_t used_ = 0;
};

/// Writes the exchanges of a group. Returns the operands in the order of its members; `own` is one.
std::vector<Region> exchange(Builder& b, const Multiplying& places, const Multiplying::Level& level, const Region& own,
                             LevelScratch& scratch) {
  const patterns::PairFolding& folding = places.folding();
  const Rank place = folding.place_of(b.rank());
  const Rank member = place / level.unit % level.members;
  std::vector<Region> operands(static_cast<std::size_t>(level.members));
  operands[static_cast<std::size_t>(member)] = own;
  for (Rank d = 1; d < level.members; ++d) {
    const Rank to = (member + d) % level.members;
    const Rank from = (member + level.members - d) % level.members;
    const Region& arrived = operands[static_cast<std::size_t>(from)] = scratch.next();
    b.sendrecv(folding.rank_at(place + (to - member) * level.unit), own,
               folding.rank_at(place + (from - member) * level.unit), arrived);
    b.next_round();
  }
  return operands;
}

void build(Builder& b) {
  const Multiplying places(b.size(), b.param(radix_above_two.name, radix_above_two.fallback));
  const patterns::PairFolding& folding = places.folding();
  const auto after = static_cast<std::uint32_t>(places.folds());
  const Rank r = b.rank();
  if (b.size() == 1) return b.copy(b.output(), b.input());
  if (folding.removed(r)) {
    b.send(folding.partner(r), b.input());
    b.next_round(after + static_cast<std::uint32_t>(places.rounds()));
    b.recv(folding.partner(r), b.output());
    return b.next_round(after);
  }
  LevelScratch scratch(b);
  Region sum = b.input();
  if (folding.paired(r)) {
    const Region arrived = scratch.next();
    b.recv(folding.partner(r), arrived);
    b.reduce(arrived, sum, arrived);
    sum = arrived;
  }
  b.next_round(after);
  for (const Multiplying::Level& level : places.levels()) {
    scratch.next_level();
    const Region own = sum;
    const std::vector<Region> operands = exchange(b, places, level, own, scratch);
    const bool last = &level == &places.levels().back();
    const auto member = static_cast<std::size_t>(folding.place_of(r) / level.unit % level.members);
    sum = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      // Sums are written over operands that arrived, not over the own one, which is still sent.
      const Region next = last && i + 1 == operands.size() ? b.output() : i == member ? sum : operands[i];
      b.reduce(next, sum, operands[i]);
      sum = next;
    }
  }
  if (folding.paired(r)) b.send(folding.partner(r), b.output());
  b.next_round(after);
}

Cost cost(const Shape& shape) {
  const Multiplying places(shape.size, patterns::value_of(shape, radix_above_two));
  const std::int64_t volume = places.rounds() + places.folds();
  return {.rounds = places.rounds() + 2 * places.folds(),
          .sent = volume,
          .received = volume,
          .reduced = volume,
          .copied = patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) {
  const Multiplying places(shape.size, patterns::value_of(shape, radix_above_two));
  const std::int64_t folds = places.folds();
  return {.one_way = 2 * folds,
          .volume = places.rounds(),
          .one_way_volume = 2 * folds,
          .combined = places.rounds() + folds};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, recursive_multiplying) {
  return {
      .summary = "whole vectors in groups of radix ranks, level by level; short vectors, any operator",
      .source = "Ruefenacht, Bull, Booth 2017",
      .family = Family::recursive_doubling,
      .when = "never by cost: not measured yet; short vectors, where a rank can have radix - 1 messages on their way",
      .automatic = false,
      .peers = {ucc("knomial (radix above 2)")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::multiplying_whole_vectors,
      .params = {radix_above_two},
      .cost = cost,
      .path = path,
      .levels = patterns::multiplying_levels,
      .on_ports = patterns::multiplying_on_ports,
      .build = build,
  };
}
