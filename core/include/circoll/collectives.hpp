// This table holds the facts about MPI's collectives, a row for each, and Amounts converts between sizes of calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "circoll/types.hpp"

namespace circoll {

/// The division of a call's data into blocks. Blocks have sizes of their own in the irregular collectives.
enum class Blocks : std::uint8_t {
  one,       ///< one vector
  per_rank,  ///< block r belongs to rank r
  per_pair,  ///< block s * p + d goes from rank s to rank d; a rank sends p blocks and gets p
};

/// The ranks at which a buffer is significant.
enum class Significant : std::uint8_t { none, root, all, all_but_first };

/// The part of the data that a buffer has where it is significant.
enum class Holds : std::uint8_t {
  own_block,  ///< the rank's own block
  all,        ///< the vector, or all blocks; of per_pair those that the rank sends or gets
};

/// A buffer of a call as MPI defines it.
struct BufferTraits {
  Significant at = Significant::none;  ///< the ranks at which MPI reads or writes it
  Holds holds = Holds::all;            ///< the blocks that it holds there
};

/// The ranks that know the sizes of the blocks from their arguments.
enum class SizesKnown : std::uint8_t {
  to_all,    ///< every rank knows all sizes
  to_root,   ///< the root knows all, the others their own
  to_pairs,  ///< the sender and the receiver of a block know its size
};

/// The argument that MPI_IN_PLACE may replace.
enum class InPlaceOf : std::uint8_t { none, sendbuf, sendbuf_at_root, recvbuf_at_root };

/// A row of the table. MPI_Bcast's buffer counts as its receive buffer, and a barrier as an allreduce of no elements.
/// A row leaves out what does not hold.
struct CollectiveTraits {
  Collective collective;                     ///< the enumerator, whose place in the table is its value
  std::string_view name;                     ///< used in ids, in the environment and on the command line
  std::optional<Collective> regular_twin{};  ///< of an irregular collective: the one that is the same with equal blocks
  Blocks blocks = Blocks::one;               ///< the user blocks that its vector has
  BufferTraits send{};                       ///< the send buffer
  BufferTraits recv{};                       ///< the receive buffer
  SizesKnown sizes = SizesKnown::to_all;     ///< the ranks that know the sizes of all blocks
  InPlaceOf in_place = InPlaceOf::none;      ///< the ranks that may give MPI_IN_PLACE, and where
  bool in_place_schedule = false;  ///< schedules find the input in place; without this executors copy it first
  bool rooted = false;             ///< it has a root argument
  bool reducing = false;           ///< it combines contributions with an operator
  bool prefix = false;             ///< ranks combine different contributions: those up to their own
  bool moves_data = true;          ///< false for barrier
};

// To add a collective, add an enumerator to Collective, and here a row.
inline constexpr std::array<CollectiveTraits, collective_count> collective_table{{
    {.collective = Collective::allreduce,
     .name = "allreduce",
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::all},
     .in_place = InPlaceOf::sendbuf,
     .in_place_schedule = true,
     .reducing = true},
    {.collective = Collective::reduce,
     .name = "reduce",
     .send = {Significant::all, Holds::all},
     .recv = {Significant::root, Holds::all},
     .in_place = InPlaceOf::sendbuf_at_root,
     .in_place_schedule = true,
     .rooted = true,
     .reducing = true},
    {.collective = Collective::reduce_scatter_block,
     .name = "reduce_scatter_block",
     .blocks = Blocks::per_rank,
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::own_block},
     .in_place = InPlaceOf::sendbuf,
     .reducing = true},
    {.collective = Collective::reduce_scatter,
     .name = "reduce_scatter",
     .regular_twin = Collective::reduce_scatter_block,
     .blocks = Blocks::per_rank,
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::own_block},
     .in_place = InPlaceOf::sendbuf,
     .reducing = true},
    {.collective = Collective::allgather,
     .name = "allgather",
     .blocks = Blocks::per_rank,
     .send = {Significant::all, Holds::own_block},
     .recv = {Significant::all, Holds::all},
     .in_place = InPlaceOf::sendbuf,
     .in_place_schedule = true},
    {.collective = Collective::allgatherv,
     .name = "allgatherv",
     .regular_twin = Collective::allgather,
     .blocks = Blocks::per_rank,
     .send = {Significant::all, Holds::own_block},
     .recv = {Significant::all, Holds::all},
     .in_place = InPlaceOf::sendbuf,
     .in_place_schedule = true},
    {.collective = Collective::gather,
     .name = "gather",
     .blocks = Blocks::per_rank,
     .send = {Significant::all, Holds::own_block},
     .recv = {Significant::root, Holds::all},
     .in_place = InPlaceOf::sendbuf_at_root,
     .in_place_schedule = true,
     .rooted = true},
    {.collective = Collective::gatherv,
     .name = "gatherv",
     .regular_twin = Collective::gather,
     .blocks = Blocks::per_rank,
     .send = {Significant::all, Holds::own_block},
     .recv = {Significant::root, Holds::all},
     .sizes = SizesKnown::to_root,
     .in_place = InPlaceOf::sendbuf_at_root,
     .in_place_schedule = true,
     .rooted = true},
    {.collective = Collective::scatter,
     .name = "scatter",
     .blocks = Blocks::per_rank,
     .send = {Significant::root, Holds::all},
     .recv = {Significant::all, Holds::own_block},
     .in_place = InPlaceOf::recvbuf_at_root,
     .in_place_schedule = true,
     .rooted = true},
    {.collective = Collective::scatterv,
     .name = "scatterv",
     .regular_twin = Collective::scatter,
     .blocks = Blocks::per_rank,
     .send = {Significant::root, Holds::all},
     .recv = {Significant::all, Holds::own_block},
     .sizes = SizesKnown::to_root,
     .in_place = InPlaceOf::recvbuf_at_root,
     .in_place_schedule = true,
     .rooted = true},
    {.collective = Collective::bcast, .name = "bcast", .recv = {Significant::all, Holds::all}, .rooted = true},
    {.collective = Collective::barrier,
     .name = "barrier",
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::all},
     .moves_data = false},
    {.collective = Collective::alltoall,
     .name = "alltoall",
     .blocks = Blocks::per_pair,
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::all},
     .in_place = InPlaceOf::sendbuf},
    {.collective = Collective::alltoallv,
     .name = "alltoallv",
     .regular_twin = Collective::alltoall,
     .blocks = Blocks::per_pair,
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::all},
     .sizes = SizesKnown::to_pairs,
     .in_place = InPlaceOf::sendbuf},
    {.collective = Collective::scan,
     .name = "scan",
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all, Holds::all},
     .in_place = InPlaceOf::sendbuf,
     .in_place_schedule = true,
     .reducing = true,
     .prefix = true},
    {.collective = Collective::exscan,
     .name = "exscan",
     .send = {Significant::all, Holds::all},
     .recv = {Significant::all_but_first, Holds::all},
     .in_place = InPlaceOf::sendbuf,
     .in_place_schedule = true,
     .reducing = true,
     .prefix = true},
}};

/// The row of a collective.
[[nodiscard]] constexpr const CollectiveTraits& traits_of(Collective collective) {
  return collective_table[static_cast<std::size_t>(collective)];
}

/// The collective with equal blocks that is the same otherwise: gather for gather and gatherv.
[[nodiscard]] constexpr Collective regular_of(Collective collective) {
  return traits_of(collective).regular_twin.value_or(collective);
}

/// True if both have one contract but for the sizes of blocks: gather and gatherv.
[[nodiscard]] constexpr bool are_twins(Collective a, Collective b) { return regular_of(a) == regular_of(b); }

// Families of twins.
/// True for gather and gatherv.
[[nodiscard]] constexpr bool is_gather(Collective collective) { return regular_of(collective) == Collective::gather; }
/// True for scatter and scatterv.
[[nodiscard]] constexpr bool is_scatter(Collective collective) { return regular_of(collective) == Collective::scatter; }
/// True for allgather and allgatherv.
[[nodiscard]] constexpr bool is_allgather(Collective collective) {
  return regular_of(collective) == Collective::allgather;
}
/// True for reduce_scatter_block and reduce_scatter.
[[nodiscard]] constexpr bool is_reduce_scatter(Collective collective) {
  return regular_of(collective) == Collective::reduce_scatter_block;
}

/// True if an array of counts and one of displacements are about the send buffer: scatterv, alltoallv.
[[nodiscard]] constexpr bool has_sendcounts(Collective collective) {
  const CollectiveTraits& traits = traits_of(collective);
  return traits.regular_twin && traits.send.holds == Holds::all && !traits.reducing;
}
/// True if an array of displacements is about the receive buffer: allgatherv, gatherv, alltoallv.
[[nodiscard]] constexpr bool has_recvdispls(Collective collective) {
  const CollectiveTraits& traits = traits_of(collective);
  return traits.regular_twin && traits.recv.holds == Holds::all;
}
/// True if an array of counts is about what ranks receive: reduce_scatter, and those with displacements.
[[nodiscard]] constexpr bool has_recvcounts(Collective collective) {
  return has_recvdispls(collective) || (traits_of(collective).regular_twin && traits_of(collective).reducing);
}

/// True for the collectives in which not every rank knows the sizes of all blocks: gatherv, scatterv, alltoallv. They
/// need a prologue that exchanges counts, unless the blocks go straight to their destination.
[[nodiscard]] constexpr bool has_unknown_size(Collective collective) {
  return traits_of(collective).sizes != SizesKnown::to_all;
}

/// True if the size of a call may decide about its algorithm: all ranks know it, and there is one.
[[nodiscard]] constexpr bool size_decides(Collective collective) {
  return traits_of(collective).moves_data && !has_unknown_size(collective);
}

/// True where each significant buffer has the whole data: allreduce, reduce, bcast, scan, exscan, barrier.
[[nodiscard]] constexpr bool has_one_vector(Collective collective) {
  return traits_of(collective).blocks == Blocks::one;
}

/// True if a buffer is significant at `rank`, in calls that are not in place.
[[nodiscard]] constexpr bool is_significant(const BufferTraits& buffer, Rank rank, Rank root) {
  switch (buffer.at) {
    case Significant::none:
      return false;
    case Significant::root:
      return rank == root;
    case Significant::all:
      return true;
    case Significant::all_but_first:
      return rank > 0;
  }
  return false;
}

/// True if MPI_IN_PLACE may replace the receive buffer: scatter, scatterv.
[[nodiscard]] constexpr bool replaces_recvbuf(Collective collective) {
  return traits_of(collective).in_place == InPlaceOf::recvbuf_at_root;
}

/// True if `rank` may say MPI_IN_PLACE.
[[nodiscard]] constexpr bool can_be_in_place(Collective collective, Rank rank, Rank root) {
  const InPlaceOf in_place = traits_of(collective).in_place;
  return in_place == InPlaceOf::sendbuf || (in_place != InPlaceOf::none && rank == root);
}

/// Blocks of all data of a call on p ranks: 1, p or p * p.
[[nodiscard]] constexpr Rank user_blocks(Collective collective, Rank p) {
  switch (traits_of(collective).blocks) {
    case Blocks::one:
      return 1;
    case Blocks::per_rank:
      return p;
    case Blocks::per_pair:
      return p * p;
  }
  return 1;
}

/// The amount of data of a call, in bytes without gaps. Sizes of calls are said in four ways, and this is the one place
/// that converts between them: bytes of the vector, of a block, as circoll-bench counts, and as the report counts.
class Amounts {
 public:
  /// The amount of a call with `count` elements in the vector, or in each of the blocks.
  [[nodiscard]] static constexpr Amounts of_count(Collective collective, Rank p, Count count, Count element_bytes) {
    return of_block(collective, p, count * element_bytes);
  }
  /// The amount of a call whose blocks have these elements. One number is about all blocks; else there is one for each
  /// block of the vector.
  [[nodiscard]] static Amounts of_counts(Collective collective, Rank p, std::span<const Count> counts,
                                         Count element_bytes);
  /// The amount of a call whose blocks have `bytes` each. Where there is one vector, it is the block.
  [[nodiscard]] static constexpr Amounts of_block(Collective collective, Rank p, Count bytes) {
    return {collective, p, bytes * blocks_in_vector(collective, p)};
  }
  /// The amount of a call whose vector has `bytes`.
  [[nodiscard]] static constexpr Amounts of_vector(Collective collective, Rank p, Count bytes) {
    return {collective, p, bytes};
  }
  /// The amount of a call that circoll-bench measured with `bytes` (measured_bytes). Throws Error(invalid_argument) if
  /// the vector has more than can be counted in 64 bits.
  [[nodiscard]] static Amounts of_measured(Collective collective, Rank p, Count bytes);
  /// The amount of a call that the report counts with `bytes`. They are those of a rank's contribution, or of the block
  /// that it gets. For reduce_scatter(_block) they are those of the vector.
  [[nodiscard]] static constexpr Amounts of_reported(Collective collective, Rank p, Count bytes) {
    const CollectiveTraits& traits = traits_of(collective);
    const bool is_block = traits.blocks == Blocks::per_rank && !traits.reducing;
    return is_block ? of_block(collective, p, bytes) : of_vector(collective, p, bytes);
  }

  /// The whole vector: one vector, all p blocks, or the blocks that a rank sends.
  [[nodiscard]] constexpr Count vector_bytes() const { return vector_bytes_; }
  /// A block of the vector, if its blocks are equal, rounded down; the vector where it is not divided.
  [[nodiscard]] constexpr Count block_bytes() const { return vector_bytes_ / blocks_in_vector(collective_, p_); }
  /// The bytes that circoll-bench reports: of a rank's block, of the vector, or of all that a rank sends.
  [[nodiscard]] constexpr Count measured_bytes() const {
    return traits_of(collective_).blocks == Blocks::per_rank ? block_bytes() : vector_bytes();
  }
  /// The bytes that may decide about the algorithm, equal on all ranks: the vector's. They are 0 where the ranks do not
  /// all know them (gatherv, scatterv, alltoallv), and where there are none (barrier).
  [[nodiscard]] constexpr Count deciding_bytes() const { return size_decides(collective_) ? vector_bytes_ : 0; }

 private:
  constexpr Amounts(Collective collective, Rank p, Count vector_bytes)
      : collective_(collective), p_(p), vector_bytes_(vector_bytes) {}
  static constexpr Rank blocks_in_vector(Collective collective, Rank p) { return has_one_vector(collective) ? 1 : p; }

  Collective collective_;
  Rank p_;
  Count vector_bytes_;
};

}  // namespace circoll
