#include "patterns/composed.hpp"

namespace circoll::patterns {

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

}  // namespace circoll::patterns
