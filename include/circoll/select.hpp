// Which algorithm serves a call when nobody says, and into how many segments it cuts.
#pragma once

#include "circoll/algorithm.hpp"
#include "circoll/buffers.hpp"

namespace circoll {

/// The two parameters of the cost of a message of b bytes: alpha_s + b * beta_s_per_byte.
struct LinkCost {
  double alpha_s = 2e-6;             ///< 2 us: a message between nodes, or between processes that share a node
  double beta_s_per_byte = 0.25e-9;  ///< 4 GB/s
};

/// The number of segments that minimises (n - 1 + q) (alpha + beta bytes / n), rounded and within [1, 1024]:
/// sqrt((q - 1) beta bytes / alpha), q = ceil(log2 p). `bytes` is the vector of a pipelined broadcast or
/// reduction, or the sum of the blocks of a pipelined allgather or reduce-scatter.
[[nodiscard]] std::int64_t optimal_segments(Rank p, Count bytes, const LinkCost& link = {});

/// The algorithm for a call. Reads only what MPI guarantees equal on all ranks:
/// `bytes` is the whole vector: count * extent for allreduce, reduce, bcast; p * count * extent, or the sum
/// over all blocks, for the collectives with one block per rank (alltoall: those that a rank sends); count * extent for
/// scan and exscan; 0 where ranks do not know the same (gatherv, scatterv, alltoallv). `exact_op`: the operator gives the same bits in every evaluation order (is_exact); true where
/// there is none. `commutative`: likewise true where there is none. An allreduce whose operator is not exact
/// gets only algorithms that give all ranks the same bits. Throws Error(unsupported) if no registered
/// algorithm serves the call.
[[nodiscard]] Selection default_selection(Collective collective, Rank p, Count bytes, bool exact_op, bool commutative);

/// The bytes that may decide about a call whose vector has `bytes`: 0 where the ranks do not all know them (gatherv,
/// scatterv, alltoallv) or there are none (barrier).
[[nodiscard]] Count deciding_bytes(Collective collective, Count bytes);

/// Sets "segments" to optimal_segments, within the declared range, if the algorithm declares that parameter
/// and the selection does not give it.
void complete_segments(Selection& selection, Rank p, Count bytes, const LinkCost& link = {});

/// What a call chose, read and completed: the default if `choice` is empty. Throws Error(unknown_name, parse,
/// invalid_argument) as parse_selection does, and Error(unsupported) if the algorithm's needs do not hold.
[[nodiscard]] Selection resolve(const Choice& choice, Collective collective, Rank p, Count bytes, bool exact_op,
                                const OperatorTraits& op);

}  // namespace circoll
