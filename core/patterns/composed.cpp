#include "patterns/composed.hpp"

#include <utility>

#include "patterns/costs.hpp"

namespace circoll::patterns {

CriticalPath path_of_part(std::string_view id, const Shape& shape) {
  const Selection part = parse_selection(id);
  return critical_path(*part.algorithm, part.collective, shape);
}

void allreduce_by_parts(Builder& b, std::string_view reduce_scatter_id, std::string_view allgather_id) {
  b.cut(b.size());
  const Region own = b.output(b.rank(), 1);
  b.embed(build_part(b, reduce_scatter_id, part_shape(b)), {.send = b.input(), .recv = own});
  Shape gather = part_shape(b);
  gather.in_place = true;
  b.embed(build_part(b, allgather_id, gather), {.recv = b.output()});
}

Cost cost_by_parts(const Shape& shape, std::string_view reduce_scatter_id, std::string_view allgather_id) {
  Shape part = shape;
  part.in_place = false;
  const Cost first = parse_selection(reduce_scatter_id).algorithm->cost(part);
  part.in_place = true;
  const Cost second = parse_selection(allgather_id).algorithm->cost(part);
  // Alone, the reduce_scatter copies its block from input to output: the same place if the whole is in place.
  const std::int64_t vanished = shape.size == 1 && shape.in_place ? 1 : 0;
  return {.rounds = first.rounds + second.rounds,
          .sent = first.sent + second.sent,
          .received = first.received + second.received,
          .reduced = first.reduced + second.reduced,
          .copied = first.copied + second.copied - vanished};
}

CriticalPath path_by_parts(const Shape& shape, std::string_view reduce_scatter_id, std::string_view allgather_id) {
  return then(path_of_part(reduce_scatter_id, shape), path_of_part(allgather_id, shape));
}

std::int64_t levels_by_parts(const Shape& shape, std::string_view reduce_scatter_id, std::string_view allgather_id) {
  return parse_selection(reduce_scatter_id).algorithm->levels(shape) +
         parse_selection(allgather_id).algorithm->levels(shape);
}

RoundsOnPorts on_ports_by_parts(const Shape& shape, std::int64_t ports, std::string_view reduce_scatter_id,
                                std::string_view allgather_id) {
  const RoundsOnPorts first = parse_selection(reduce_scatter_id).algorithm->on_ports(shape, ports);
  const RoundsOnPorts second = parse_selection(allgather_id).algorithm->on_ports(shape, ports);
  return {.rounds = first.rounds + second.rounds,
          .one_way = first.one_way + second.one_way,
          .volume = first.volume + second.volume,
          .one_way_volume = first.one_way_volume + second.one_way_volume};
}

void allreduce_by_root(Builder& b, std::string_view reduce_id, std::string_view bcast_id) {
  const bool at_root = b.rank() == b.root();
  Shape shape = part_shape(b);
  shape.in_place = b.shape().in_place;
  const Region contribution = shape.in_place && at_root ? Region{} : b.input();
  b.embed(build_part(b, reduce_id, shape), {.send = contribution, .recv = at_root ? b.output() : Region{}});
  b.embed(build_part(b, bcast_id, part_shape(b)), {.recv = b.output()});
}

CriticalPath path_by_root(const Shape& shape, std::string_view reduce_id, std::string_view bcast_id) {
  return then(path_of_part(reduce_id, shape), path_of_part(bcast_id, shape));
}

void barrier_by_allreduce(Builder& b, std::string_view allreduce_id) {
  b.embed(build_schedule(allreduce_id, {.size = b.size(), .rank = b.rank(), .params = b.shape().params}),
          {.send = b.input(), .recv = b.output()});
}

Cost cost_of_barrier_by_allreduce(const Shape& shape, std::string_view allreduce_id) {
  return parse_selection(allreduce_id).algorithm->cost({.size = shape.size, .params = shape.params});
}

Cost cost_of_reversed(const Shape& shape, std::string_view id) {
  Cost cost = parse_selection(id).algorithm->cost(shape);
  std::swap(cost.sent, cost.received);
  return cost;
}

CriticalPath path_of_reversed(const Shape& shape, std::string_view id) {
  return parse_selection(id).algorithm->path(shape);
}

Cost cost_of_reversed_bcast(const Shape& shape, std::string_view bcast_id) {
  if (shape.size == 1) return {.copied = path_of_reversed(shape, bcast_id).blocks * lonely_copy(shape)};
  Cost cost = cost_of_reversed(shape, bcast_id);
  cost.reduced = cost.received;
  return cost;
}

CriticalPath path_of_reversed_bcast(const Shape& shape, std::string_view bcast_id) {
  CriticalPath path = path_of_reversed(shape, bcast_id);
  path.combined = path.volume + path.one_way_volume;
  return path;
}

void reduce_by_parts(Builder& b, std::string_view reduce_scatter_id) {
  b.cut(b.size());
  const Rank r = b.rank();
  const bool at_root = r == b.root();
  const Region own = at_root ? b.output(r, 1) : b.region(b.scratch(1, r));
  b.embed(build_part(b, reduce_scatter_id, part_shape(b)), {.send = b.input(), .recv = own});
  Shape gather = part_shape(b);
  gather.in_place = at_root;
  b.embed(build_part(b, "gather/linear", gather),
          {.send = at_root ? Region{} : own, .recv = at_root ? b.output() : Region{}});
}

Cost cost_of_reduce_by_parts(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = 2 * (p - 1),
          .sent = p > 1 ? p : 0,
          .received = 2 * (p - 1),
          .reduced = p - 1,
          .copied = lonely_copy(shape)};
}

CriticalPath path_of_reduce_by_parts(const Shape& shape) {
  const Rank p = shape.size;
  return {.blocks = p, .one_way = p - 1, .volume = p - 1, .one_way_volume = p - 1, .combined = p - 1};
}

void allreduce_by_ring(Builder& b, std::int64_t segments) {
  const std::int64_t n = segments;
  const std::int64_t blocks = b.size() * n;
  b.cut(blocks);
  // The parts of the composition end block r at rank r; here that is block r + 1.
  Shape shape = part_shape(b);
  shape.params.insert_or_assign("segments", n);
  const Slot first = n % blocks;
  const Region own = b.output((b.rank() + 1) * n % blocks, n);
  b.embed(build_part(b, "reduce_scatter/ring", shape),
          {.first_block = first, .send = b.input(first, blocks), .recv = own});
  shape.in_place = true;
  b.embed(build_part(b, "allgather/ring", shape), {.first_block = first, .recv = b.output(first, blocks)});
}

}  // namespace circoll::patterns
