// alltoall(v)/node_aware: inside a node to the right rank, between nodes in joined messages, and inside again.
//
// Idea      The first `leaders` ranks of every node are its carriers, by default all of them. Carrier j handles the
//           blocks for the ranks j, j + leaders, j + 2 leaders, ... of other nodes. First every rank gives each carrier
//           of its node those blocks, next to its own block for that rank. Then carrier j of a node sends those of the
//           whole node to carrier j of another node, in one message. Nodes exchange these parcels directly, or over the
//           digits of their distance in base `radix`. At last a carrier gives the other ranks of its node their blocks.
//           With all ranks as carriers this step is empty.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p. `cores` consecutive ranks are on
//           a node. If the last node has less than half as many, they count as ranks of the node before. Else no node
//           has more carriers than the last one has ranks.
// Cost      with S nodes, of which the largest has G ranks, and W carriers on each: G - 1 rounds inside, the rounds of
//           the digits of S - 1 in base radix between nodes (S - 1 if they exchange directly), and ceil(G / W) - 1
//           inside. If nodes are full and all ranks are carriers, a rank sends 2 (p - cores) + cores - 1 - (S - 1)
//           blocks with direct exchange. One block copied.
// Scratch   at most p blocks with all ranks as carriers and direct exchange. A smaller radix adds the blocks that pass
//           through nodes, fewer carriers multiply it by G / W.
// Order     no operator.
// Source    Bienz, Gropp, Olson: Reducing communication in algebraic multigrid with multi-step node aware
//           communication, IJHPCA 2020; several leaders: Kinkead et al., arXiv 2601.17606; the digits: Bruck et al.
//           1997. Differs: any p, and one schedule for any number of carriers.
#include <limits>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/forwarding.hpp"
#include "patterns/nodes.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;
using patterns::mod;

constexpr ParamDeclaration leaders{.name = "leaders",
                                   .minimum = 1,
                                   .maximum = 1 << 20,
                                   .fallback = 1 << 20,
                                   .summary = "ranks of a node that speak to other nodes"};
constexpr ParamDeclaration radix{.name = "radix",
                                 .minimum = 2,
                                 .maximum = 1 << 20,
                                 .fallback = 1 << 20,
                                 .summary = "base of the digits of a node; at least the nodes: they exchange directly"};

/// A rank by its node and its place there.
struct Seat {
  Rank node = 0;
  Rank place = 0;
};

/// Nodes of `full` ranks each, and a last one of about as many. The first `carriers` ranks of a node speak to others.
class Groups {
 public:
  explicit Groups(const Shape& shape)
      : p_(shape.size), full_(std::min(patterns::value_of(shape, patterns::cores), p_)) {
    const Rank rest = p_ % full_;
    const bool joins = 2 * rest < full_;
    count_ = p_ / full_ + (joins ? 0 : 1);
    last_ = joins ? full_ + rest : rest;
    carriers_ = std::min(patterns::value_of(shape, leaders), std::min(full_, last_));
  }

  [[nodiscard]] Rank count() const { return count_; }
  [[nodiscard]] Rank carriers() const { return carriers_; }
  [[nodiscard]] Rank begin(Rank node) const { return node * full_; }
  [[nodiscard]] Rank size(Rank node) const { return node == count_ - 1 ? last_ : full_; }
  [[nodiscard]] Rank largest() const { return count_ == 1 ? last_ : std::max(full_, last_); }
  [[nodiscard]] Seat seat(Rank rank) const {
    const Rank node = std::min(rank / full_, count_ - 1);
    return {node, rank - begin(node)};
  }
  /// Ranks of a node of `size` ranks whose blocks a carrier handles.
  [[nodiscard]] Rank share(Rank carrier, Rank size) const { return (size - carrier + carriers_ - 1) / carriers_; }
  /// Ranks of all nodes but one whose blocks a carrier handles.
  [[nodiscard]] Rank share_of_others(Rank carrier, Rank node) const {
    const Rank all = (count_ - 1) * share(carrier, full_) + share(carrier, last_);
    return all - share(carrier, size(node));
  }
  /// Calls f(rank) for the ranks of a node whose blocks a carrier handles, the carrier of that node first.
  template <class F>
  void each(Rank carrier, Rank node, F f) const {
    for (Rank place = carrier; place < size(node); place += carriers_) f(begin(node) + place);
  }
  /// Calls f(rank) for those of all nodes but one, the next node first.
  template <class F>
  void each_of_others(Rank carrier, Rank node, F f) const {
    for (Rank d = 1; d < count_; ++d) each(carrier, (node + d) % count_, f);
  }
  /// Rounds in which carriers pass on what has come for others.
  [[nodiscard]] Rank passing_rounds() const { return count_ == 1 ? 0 : share(0, largest()) - 1; }

 private:
  Rank p_, full_, last_ = 0, count_ = 1, carriers_ = 1;
};

/// Blocks of the ranks of this node for other nodes, at a carrier. They lie target by target, in the order of their
/// sources. The carrier's own blocks stay where they are.
class Collected {
 public:
  Collected(Builder& b, const Groups& groups, const Seat& here) : size_(groups.size(here.node)), place_(here.place) {
    std::vector<Block> blocks;
    groups.each_of_others(here.place, here.node, [&](Rank target) {
      for (Rank source = 0; source < size_; ++source) {
        if (source != place_) blocks.push_back((groups.begin(here.node) + source) * b.size() + target);
      }
    });
    if (!blocks.empty()) scratch_ = b.scratch(std::move(blocks));
  }

  /// The slot of the t-th target's block from the source.
  [[nodiscard]] Range from(Rank source, Rank t) const {
    return {scratch_, t * (size_ - 1) + source - (source > place_ ? 1 : 0), 1};
  }
  /// All blocks for the t-th target, of which `own` is this rank's.
  [[nodiscard]] Region for_target(Rank t, const Region& own) const {
    Region all(Range{scratch_, t * (size_ - 1), place_});
    all.append(own);
    all.append(Range{scratch_, t * (size_ - 1) + place_, size_ - 1 - place_});
    return all;
  }

 private:
  Rank size_;
  Rank place_;
  std::int32_t scratch_ = -1;
};

/// Every rank gives each rank of its node the block for it, and to carriers those for other nodes.
void inside(Builder& b, const Groups& groups, const Seat& here, const Collected* collected) {
  const Rank begin = groups.begin(here.node);
  const Rank size = groups.size(here.node);
  b.copy(b.output(b.rank(), 1), b.input(b.rank(), 1));
  for (Rank i = 1; i < groups.largest(); ++i) {
    if (i < size) {
      const Rank to = (here.place + i) % size;
      Region out = b.input(begin + to, 1);
      if (to < groups.carriers()) {
        groups.each_of_others(to, here.node, [&](Rank target) { out.append(b.input(target, 1)); });
      }
      const Rank from = mod(here.place - i, size);
      Region in = b.output(begin + from, 1);
      if (collected != nullptr) {
        const Rank targets = groups.share_of_others(here.place, here.node);
        for (Rank t = 0; t < targets; ++t) in.append(collected->from(from, t));
      }
      b.sendrecv(begin + to, out, begin + from, in);
    }
    b.next_round();
  }
}

void build(Builder& b) {
  const Groups groups(b.shape());
  const Rank p = b.size();
  const Seat here = groups.seat(b.rank());
  const Rank begin = groups.begin(here.node);
  const Rank end = begin + groups.size(here.node);
  const Rank others = p - groups.size(here.node);  // ranks of other nodes, from `end` on
  const auto rounds = patterns::rounds_by_digits_of(groups.count(), b.param(radix.name, radix.fallback));

  if (here.place >= groups.carriers()) {
    inside(b, groups, here, nullptr);
    b.next_round(static_cast<std::uint32_t>(rounds.size()));
    for (Rank k = 1; k <= groups.passing_rounds(); ++k) {
      if (k == here.place / groups.carriers()) b.recv(begin + here.place % groups.carriers(), b.output(end, others));
      b.next_round();
    }
    return;
  }

  const Collected collected(b, groups, here);
  inside(b, groups, here, &collected);
  // Blocks for this rank go into the result, and those for others into a buffer for each of them.
  std::vector<Region> arrived;
  groups.each(here.place, here.node, [&](Rank rank) {
    arrived.push_back(rank == b.rank() ? b.output(end, others) : b.region(b.scratch(others, (end % p) * p + rank, p)));
  });
  std::vector<Region> outgoing;  // by distance
  Rank t = 0;
  for (Rank d = 1; d < groups.count(); ++d) {
    Region& parcel = outgoing.emplace_back();
    groups.each(here.place, (here.node + d) % groups.count(),
                [&](Rank target) { parcel.append(collected.for_target(t++, b.input(target, 1))); });
  }
  const auto incoming = [&](Rank node) {
    Region slots;
    for (const Region& all : arrived) slots.append(b.part(all, mod(groups.begin(node) - end, p), groups.size(node)));
    return slots;
  };
  const auto blocks = [&](Rank from, Rank to, std::vector<Block>& all) {
    groups.each(here.place, to, [&](Rank target) {
      for (Rank source = 0; source < groups.size(from); ++source) {
        all.push_back((groups.begin(from) + source) * p + target);
      }
    });
  };
  patterns::forward(
      b, rounds,
      {.places = groups.count(),
       .here = here.node,
       .rank_at = [&](Rank node) { return groups.begin(node) + here.place; },
       .outgoing =
           [&](Rank node) { return outgoing[static_cast<std::size_t>(mod(node - here.node, groups.count()) - 1)]; },
       .incoming = incoming,
       .blocks = blocks});
  for (Rank k = 1; k <= groups.passing_rounds(); ++k) {
    if (k < static_cast<Rank>(arrived.size())) {
      b.send(b.rank() + k * groups.carriers(), arrived[static_cast<std::size_t>(k)]);
    }
    b.next_round();
  }
}

/// The parcels that the carriers of one number send between nodes. They are counted by the distance to their ends.
///
/// All parcels have the same blocks, but for those from the last node and those for it.
class Ways {
 public:
  explicit Ways(const Shape& shape)
      : groups_(shape), base_(patterns::value_of(shape, radix)), sent_(counts()), received_(counts()) {
    for (Rank d = 1; d < groups_.count(); ++d) {
      for (Rank unit = 1, after = 0; unit <= d; unit *= base_) {
        const Rank before = after;  // how far it has come
        after = d % (unit * base_);
        if (after == before) continue;
        ++parcels_;
        ++at(sent_.from, before);
        ++at(sent_.to, d - before);
        ++at(received_.from, after);
        ++at(received_.to, d - after);
      }
    }
  }

  [[nodiscard]] std::int64_t sent(Rank node, Rank carrier) const { return blocks(sent_, node, carrier); }
  [[nodiscard]] std::int64_t received(Rank node, Rank carrier) const { return blocks(received_, node, carrier); }

  /// The longest messages of all rounds, summed up. They are the first carriers'.
  [[nodiscard]] std::int64_t volume() const {
    const std::int64_t from_last = more_from_last(0);
    const std::int64_t to_last = more_to_last(0);
    std::int64_t volume = 0;
    for (const patterns::ForwardingRound& round : patterns::rounds_by_digits_of(groups_.count(), base_)) {
      std::vector<std::pair<Rank, std::int64_t>> more;  // node, relative to the last, and blocks
      if (from_last != 0 || to_last != 0) {
        for (const Rank d : round.distances) {
          for (Rank before = 0; before < unit_of(round); ++before) {
            if (before + d >= groups_.count()) break;
            more.emplace_back(before, from_last);
            more.emplace_back(mod(-d, groups_.count()), to_last);
          }
        }
      }
      volume += parcels_of(round) * usual(0) + most_of(more);
    }
    return volume;
  }

 private:
  struct Counts {
    std::vector<std::int64_t> from, to;  ///< parcels whose source is so far behind, whose target is so far ahead
  };

  [[nodiscard]] Counts counts() const {
    const std::vector<std::int64_t> none(static_cast<std::size_t>(groups_.count()));
    return {none, none};
  }
  static std::int64_t& at(std::vector<std::int64_t>& all, Rank distance) {
    return all[static_cast<std::size_t>(distance)];
  }
  [[nodiscard]] Rank full() const { return groups_.size(0); }  // with one node it does not matter
  [[nodiscard]] Rank last() const { return groups_.size(groups_.count() - 1); }
  /// Blocks of a parcel.
  [[nodiscard]] std::int64_t usual(Rank carrier) const { return full() * groups_.share(carrier, full()); }
  [[nodiscard]] std::int64_t more_from_last(Rank carrier) const {
    return (last() - full()) * groups_.share(carrier, full());
  }
  [[nodiscard]] std::int64_t more_to_last(Rank carrier) const {
    return full() * (groups_.share(carrier, last()) - groups_.share(carrier, full()));
  }
  [[nodiscard]] std::int64_t blocks(const Counts& counts, Rank node, Rank carrier) const {
    const Rank last_node = groups_.count() - 1;
    return parcels_ * usual(carrier) +
           counts.from[static_cast<std::size_t>(mod(node - last_node, groups_.count()))] * more_from_last(carrier) +
           counts.to[static_cast<std::size_t>(mod(last_node - node, groups_.count()))] * more_to_last(carrier);
  }
  /// The weight of the digit that a round is about.
  [[nodiscard]] Rank unit_of(const patterns::ForwardingRound& round) const {
    Rank unit = 1;
    while (unit * base_ <= round.skip) unit *= base_;
    return unit;
  }
  [[nodiscard]] std::int64_t parcels_of(const patterns::ForwardingRound& round) const {
    std::int64_t parcels = 0;
    for (const Rank d : round.distances) parcels += std::min(unit_of(round), groups_.count() - d);
    return parcels;
  }
  /// The most that any node has more than usual.
  [[nodiscard]] std::int64_t most_of(std::vector<std::pair<Rank, std::int64_t>>& more) const {
    std::sort(more.begin(), more.end());
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    Rank nodes = 0;
    for (std::size_t i = 0; i < more.size();) {
      std::int64_t sum = 0;
      const Rank node = more[i].first;
      for (; i < more.size() && more[i].first == node; ++i) sum += more[i].second;
      most = std::max(most, sum);
      ++nodes;
    }
    return nodes < groups_.count() ? std::max(most, std::int64_t{0}) : most;
  }

  Groups groups_;
  std::int64_t base_;
  std::int64_t parcels_ = 0;  ///< that a carrier sends
  Counts sent_, received_;
};

/// The largest amounts of the carriers of a node, and of its other ranks.
Cost most_of_node(const Groups& groups, const Ways& ways, Rank p, Rank node) {
  const Rank size = groups.size(node);
  const Rank others = p - size;
  Cost most;
  if (size > groups.carriers()) most = {.sent = p - 1, .received = size - 1 + others};
  // Carriers of equal shares are alike.
  for (const Rank first :
       {Rank{0}, groups.size(0) % groups.carriers(), groups.size(groups.count() - 1) % groups.carriers()}) {
    const std::int64_t handled = groups.share_of_others(first, node);
    most = patterns::most(most,
                          {.sent = p - 1 - handled + ways.sent(node, first) + (groups.share(first, size) - 1) * others,
                           .received = (size - 1) * (1 + handled) + ways.received(node, first)});
  }
  return most;
}

Cost cost(const Shape& shape) {
  const Groups groups(shape);
  const Ways ways(shape);
  Cost most;
  for (Rank node = 0; node < groups.count(); ++node) {
    most = patterns::most(most, most_of_node(groups, ways, shape.size, node));
  }
  const patterns::KnomialTree between(groups.count(), patterns::value_of(shape, radix));
  most.rounds = groups.largest() - 1 + between.rounds() + groups.passing_rounds();
  most.copied = 1;
  return most;
}

CriticalPath path(const Shape& shape) {
  const Groups groups(shape);
  const Rank last_node = groups.count() - 1;
  CriticalPath path{.blocks = shape.size, .one_way = groups.passing_rounds(), .volume = Ways(shape).volume()};
  for (Rank i = 1; i < groups.largest(); ++i) {
    std::int64_t longest = 0;
    for (const Rank node : {Rank{0}, last_node}) {
      if (i < groups.size(node)) longest = std::max(longest, 1 + groups.share_of_others(0, node));
    }
    path.volume += longest;
  }
  for (Rank k = 1; k <= path.one_way; ++k) {
    Rank longest = 0;
    for (const Rank node : {Rank{0}, last_node}) {
      if (k < groups.share(0, groups.size(node))) longest = std::max(longest, shape.size - groups.size(node));
    }
    path.one_way_volume += longest;
  }
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, node_aware) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary =
          "inside nodes to the rank that speaks to the others, and between nodes in joined messages; short blocks",
      .source = "Bienz, Gropp, Olson 2020; Kinkead et al., arXiv 2601.17606",
      .family = Family::hierarchical,
      .when = "many nodes of several ranks: vectors of 9 KiB to 4 MiB for p = 1152 on 36 nodes",
      .formula =
          {.rounds = "G - 1 + sum(i, 0, q-1, max(1, min(radix, ceil(S/radix^i))) - 1) + [S>1](ceil(G/W) - 1), "
                     "W = min(leaders, c, R), G = max(R, c[S>1]), S = floor(p/c) + [2(p mod c)>=c], R = p mod c "
                     "+ c[2(p mod c)<c], c = min(cores, p)",
           .sent = "counted; p-1 for min(cores, p) = p",
           .reduced = "0",
           .two_way = "rounds - one_way",
           .one_way =
               "[S>1](ceil(G/W) - 1), W = min(leaders, c, R), G = max(R, c[S>1]), S = floor(p/c) + [2(p mod c)>=c], "
               "R = p mod c + c[2(p mod c)<c], c = min(cores, p)",
           .volume = "counted",
           .one_way_volume = "counted"},
      .params = {patterns::cores, leaders, radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
