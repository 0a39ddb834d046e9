#include "patterns/nodes.hpp"

#include <string>

#include "patterns/composed.hpp"
#include "patterns/trees.hpp"

namespace circoll::patterns {
namespace {

/// Its ranks 0, 1, ... are those of a node from its leader on. The leader is the first one, since an allreduce has
/// no root.
constexpr const char* from_leader = "bcast/knomial";

Shape full_node(const Shape& shape) {
  return {.size = Nodes(shape).full_size(), .params = {{std::string(inner_radix.name), value_of(shape, inner_radix)}}};
}
Shape all_leaders(const Shape& shape) { return {.size = Nodes(shape).count(), .in_place = true}; }

Cost cost_of(const char* id, const Shape& shape) { return parse_selection(id).algorithm->cost(shape); }

}  // namespace

void allreduce_by_leaders(Builder& b, const char* between) {
  const Nodes nodes(b);
  const Rank node = nodes.node_of(b.rank());
  reduce_in_order(b, b.output(), KnomialTree(nodes.full_size(), b.param(inner_radix.name, inner_radix.fallback)),
                  b.rank() - nodes.leader(node), nodes.size(node));
  if (nodes.leader(node) == b.rank()) {
    Shape shape = all_leaders(b.shape());
    shape.rank = node;
    b.embed(build_part(b, between, shape), {.ranks = nodes.leaders(), .recv = b.output()});
  } else {
    b.next_round(static_cast<std::uint32_t>(cost_of(between, all_leaders(b.shape())).rounds));
  }
  Shape shape = full_node(b.shape());
  const std::uint32_t end = b.round() + static_cast<std::uint32_t>(cost_of(from_leader, shape).rounds);
  shape.size = nodes.size(node);
  shape.rank = b.rank() - nodes.begin(node);
  b.embed(build_part(b, from_leader, shape), {.ranks = nodes.members(node), .recv = b.output()});
  b.next_round(end - b.round());  // a smaller node waits until the others are through
}

/// The leader of a full node does the most. (That of the last node does as much among the leaders as any other, or
/// less.) A rank that is alone on its node copies its contribution.
Cost cost_by_leaders(const char* between, const Shape& shape) {
  const Nodes nodes(shape);
  const std::int64_t inside = cost_of(from_leader, full_node(shape)).rounds;
  const Cost among = cost_of(between, all_leaders(shape));
  return {.rounds = 2 * inside + among.rounds,
          .sent = inside + among.sent,
          .received = inside + among.received,
          .reduced = inside + among.reduced,
          .copied = shape.in_place || nodes.size(nodes.count() - 1) > 1 ? 0 : 1};
}

CriticalPath path_by_leaders(const char* between, const Shape& shape) {
  const std::int64_t inside = cost_of(from_leader, full_node(shape)).rounds;
  const CriticalPath in = one_way_path(1, inside, inside, inside);
  return then(then(in, path_of_part(between, all_leaders(shape))), path_of_part(from_leader, full_node(shape)));
}

}  // namespace circoll::patterns
