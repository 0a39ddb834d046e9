// Collectives composed of others.
#pragma once

#include <string_view>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// The critical path of an algorithm by its id.
[[nodiscard]] CriticalPath path_of_part(std::string_view id, const Shape& shape);

/// Writes an allreduce as a reduce_scatter of p parts, and an allgather(v) of the results in place. Ids name the
/// two algorithms.
void allreduce_by_parts(Builder& builder, std::string_view reduce_scatter_id, std::string_view allgather_id);

/// Its cost: the sum of the two, the second in place.
[[nodiscard]] Cost cost_by_parts(const Shape& shape, std::string_view reduce_scatter_id, std::string_view allgather_id);

/// Its critical path: the one after the other.
[[nodiscard]] CriticalPath path_by_parts(const Shape& shape, std::string_view reduce_scatter_id,
                                         std::string_view allgather_id);

/// Its CriticalPath::levels and Algorithm::on_ports: the sums of the parts', which declare them. The allgather must
/// begin with the result of the reduce_scatter's last round, so that no rounds of the two go at once.
[[nodiscard]] std::int64_t levels_by_parts(const Shape& shape, std::string_view reduce_scatter_id,
                                           std::string_view allgather_id);
[[nodiscard]] RoundsOnPorts on_ports_by_parts(const Shape& shape, std::int64_t ports,
                                              std::string_view reduce_scatter_id, std::string_view allgather_id);

/// Writes an allreduce as a reduce to rank 0 and a bcast from it. The blocks are those that the builder was cut into.
/// The parts see the parameters of the whole that they declare.
void allreduce_by_root(Builder& builder, std::string_view reduce_id, std::string_view bcast_id);

/// Its critical path: the one after the other.
[[nodiscard]] CriticalPath path_by_root(const Shape& shape, std::string_view reduce_id, std::string_view bcast_id);

/// Writes a reduce_scatter as a reduce to rank 0 and a scatterv/linear from there. The callback reduce_to(all) writes a
/// reduce of the whole input, rank 0's own block of which lies in its output. `all` is empty at other ranks.
template <class ReduceTo>
void reduce_scatter_by_root(Builder& builder, ReduceTo reduce_to) {
  const Rank p = builder.size();
  const bool at_root = builder.rank() == 0;
  Region all;
  if (at_root) all = builder.output() + (p > 1 ? builder.region(builder.scratch(p - 1, 1)) : Region{});
  reduce_to(all);
  Shape scatter = part_shape(builder);
  scatter.in_place = at_root;
  builder.embed(build_part(builder, "scatterv/linear", scatter),
                {.send = all, .recv = at_root ? Region{} : builder.output()});
}

/// Writes a barrier as an allreduce of one block of no bytes, with the same parameters.
void barrier_by_allreduce(Builder& builder, std::string_view allreduce_id);
[[nodiscard]] Cost cost_of_barrier_by_allreduce(const Shape& shape, std::string_view allreduce_id);

/// The cost of a reversal that only moves blocks: what was sent is received.
[[nodiscard]] Cost cost_of_reversed(const Shape& shape, std::string_view id);

/// Its critical path is that of the schedule that is reversed.
[[nodiscard]] CriticalPath path_of_reversed(const Shape& shape, std::string_view id);

/// The cost of a reduce that is the reversal of a broadcast. Every block is combined where it was sent. A rank that is
/// alone copies its blocks.
[[nodiscard]] Cost cost_of_reversed_bcast(const Shape& shape, std::string_view bcast_id);

/// Its critical path is that of the broadcast, too; some rank combines a block in every round.
[[nodiscard]] CriticalPath path_of_reversed_bcast(const Shape& shape, std::string_view bcast_id);

/// Writes a reduce as a reduce_scatter of p parts, after which all ranks send their part to the root.
void reduce_by_parts(Builder& builder, std::string_view reduce_scatter_id);

/// Its cost, if the reduce_scatter sends and combines p - 1 parts in as many rounds.
[[nodiscard]] Cost cost_of_reduce_by_parts(const Shape& shape);
[[nodiscard]] CriticalPath path_of_reduce_by_parts(const Shape& shape);

/// Writes an allreduce by a ring of p parts, each cut into `segments`. They go round once to be combined and once more
/// to be spread. Step k of the first half sends part r - k from rank r to r + 1. So part r + 1 ends at rank r.
void allreduce_by_ring(Builder& builder, std::int64_t segments);

}  // namespace circoll::patterns
