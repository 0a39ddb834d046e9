#include "patterns/leaders.hpp"

#include "patterns/nodes.hpp"

namespace circoll::patterns {

namespace {

Shape of_size(Rank size, const Shape& shape) { return {.size = size, .params = shape.params}; }
Shape full_node(const Shape& shape) { return of_size(Nodes(shape).full_size(), shape); }
Shape all_leaders(const Shape& shape) { return of_size(Nodes(shape).count(), shape); }

Cost cost_of(const char* id, const Shape& shape) { return parse_selection(id).algorithm->cost(shape); }

std::uint32_t rounds_of(const char* id, const Shape& shape) {
  return static_cast<std::uint32_t>(cost_of(id, shape).rounds);
}

/// A part inside the node; smaller nodes wait until the others are through.
void inside(Builder& b, const Nodes& nodes, const char* id, const Shape& shape, const Region& send,
            const Region& recv) {
  const std::uint32_t end = b.round() + rounds_of(id, full_node(b.shape()));
  b.embed(build_part(b, id, shape), {.ranks = nodes.members(nodes.node_of(b.rank())), .send = send, .recv = recv});
  b.next_round(end - b.round());
}

}  // namespace

void allreduce_by_leaders(Builder& b, const LeaderParts& parts) {
  const Nodes nodes(b);
  const bool leads = nodes.leader(nodes.node_of(b.rank())) == b.rank();
  Shape shape = inside_node(b, nodes);
  shape.in_place = b.shape().in_place;
  const Region contribution = shape.in_place && leads ? Region{} : b.input();
  inside(b, nodes, parts.to_leader, shape, contribution, leads ? b.output() : Region{});
  if (leads) {
    shape = among_leaders(b, nodes);
    shape.in_place = true;
    b.embed(build_part(b, parts.between, shape), {.ranks = nodes.leaders(), .recv = b.output()});
  } else {
    b.next_round(rounds_of(parts.between, all_leaders(b.shape())));
  }
  inside(b, nodes, parts.from_leader, inside_node(b, nodes), {}, b.output());
}

/// The leader of a full node does the most. (That of the last node does as much among the leaders as any other, or less.) A rank
/// that is alone on its node copies its contribution.
Cost cost_by_leaders(const LeaderParts& parts, const Shape& shape) {
  const Nodes nodes(shape);
  Shape leaders = all_leaders(shape);
  leaders.in_place = true;
  const Cost in = cost_of(parts.to_leader, full_node(shape));
  const Cost between = cost_of(parts.between, leaders);
  const Cost out = cost_of(parts.from_leader, full_node(shape));
  return {.rounds = in.rounds + between.rounds + out.rounds,
          .sent = between.sent + out.sent,
          .received = in.received + between.received,
          .reduced = in.reduced + between.reduced,
          .copied = shape.in_place || nodes.size(nodes.count() - 1) > 1 ? 0 : 1};
}

CriticalPath path_by_leaders(const LeaderParts& parts, const Shape& shape) {
  const auto part = [](const char* id, const Shape& of) {
    const Selection selection = parse_selection(id);
    return critical_path(*selection.algorithm, selection.collective, of);
  };
  const CriticalPath up = then(part(parts.to_leader, full_node(shape)), part(parts.between, all_leaders(shape)));
  return then(up, part(parts.from_leader, full_node(shape)));
}

}  // namespace circoll::patterns
