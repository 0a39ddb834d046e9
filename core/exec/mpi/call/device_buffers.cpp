#include "exec/mpi/call/call.hpp"

#include <algorithm>
#include <limits>

#include "circoll/collectives.hpp"
#include "exec/device/runtimes.hpp"
#include "exec/mpi/call/caller_buffers.hpp"

namespace circoll::mpi {
namespace {

/// A buffer's elements: `count` from its beginning on, or blocks of them at displacements.
struct Contents {
  const void* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Count count = 0;
  CountArray counts{};
  CountArray displs{};
};

bool is_claimed(const Contents& contents, Rank size) {
  const TypeInfo info = describe(contents.type);
  if (!info.valid || info.size_bytes == 0) return false;
  // Offsets of the lowest and the highest element.
  Count lowest = std::numeric_limits<Count>::max();
  Count highest = std::numeric_limits<Count>::min();
  const auto cover = [&](Count first, Count count) {
    if (count <= 0) return;
    const Count begin = first * info.extent_bytes;
    const Count end = (first + count - 1) * info.extent_bytes;  // before `begin` if the extent is negative
    lowest = std::min({lowest, begin, end});
    highest = std::max({highest, begin, end});
  };
  if (contents.counts && contents.displs) {
    for (Rank i = 0; i < size; ++i) cover(contents.displs[i], contents.counts[i]);
  } else {
    cover(0, contents.count);
  }
  if (lowest > highest) return false;
  // Whose absolute addresses are nobody can say. A runtime that is loaded, but that this process cannot use, has none.
  if (contents.buffer == MPI_BOTTOM && !info.dense) return device::runtimes().usable() != 0;
  const auto claims = [&](Count offset) {
    return device::runtimes().claims(as_base(contents.buffer) + info.true_lb_bytes + offset);
  };
  return claims(lowest) || claims(highest + info.true_extent_bytes - 1);
}

Count sum_of(const CountArray& counts, Rank size) {
  Count sum = 0;
  for (Rank i = 0; counts && i < size; ++i) sum += std::max<Count>(counts[i], 0);
  return sum;
}

/// The elements that a reduction takes from each rank.
Count contribution(const Call& call, Rank size) {
  if (call.collective == Collective::reduce_scatter) return sum_of(call.recvcounts, size);
  return call.collective == Collective::reduce_scatter_block ? call.recvcount * size : call.sendcount;
}

Contents sent(const Call& call, Rank size) {
  if (is_reducing(call.collective))
    return {.buffer = call.sendbuf, .type = call.sendtype, .count = contribution(call, size)};
  const bool all = traits_of(call.collective).send.holds == Holds::all;
  return {.buffer = call.sendbuf,
          .type = call.sendtype,
          .count = all ? call.sendcount * size : call.sendcount,
          .counts = call.sendcounts,
          .displs = call.senddispls};
}

Contents received(const Call& call, Rank rank, Rank size) {
  const bool all = traits_of(call.collective).recv.holds == Holds::all;
  if (is_reducing(call.collective)) {
    Count count = contribution(call, size);
    if (!all && call.sendbuf != MPI_IN_PLACE) count = call.recvcounts ? call.recvcounts[rank] : call.recvcount;
    return {.buffer = call.recvbuf, .type = call.sendtype, .count = count};
  }
  return {.buffer = call.recvbuf,
          .type = call.recvtype,
          .count = all && !has_one_vector(call.collective) ? call.recvcount * size : call.recvcount,
          .counts = call.recvcounts,
          .displs = call.recvdispls};
}

/// The same of the blocks of alltoallw.
bool is_claimed(const void* buffer, const MPI_Datatype* types, const CountArray& counts, const CountArray& displs,
                Rank size) {
  if (types == nullptr || !counts || !displs) return false;
  for (Rank i = 0; i < size; ++i) {
    if (counts[i] > 0 &&
        is_claimed({.buffer = as_base(buffer) + displs[i], .type = types[i], .count = counts[i]}, size))
      return true;
  }
  return false;
}

}  // namespace

bool has_device_buffer(const Call& call, Rank rank, Rank size) {
  const CollectiveTraits& traits = traits_of(call.collective);
  if (!traits.moves_data || !device::runtimes().loaded()) return false;
  const bool in_place = call.sendbuf == MPI_IN_PLACE;
  if (call.has_types) {
    return (!in_place && is_claimed(call.sendbuf, call.sendtypes, call.sendcounts, call.senddispls, size)) ||
           is_claimed(call.recvbuf, call.recvtypes, call.recvcounts, call.recvdispls, size);
  }
  if (is_significant(traits.send, rank, call.root) && !in_place && is_claimed(sent(call, size), size)) return true;
  // In place the receive buffer has the contribution, also where nothing is received (exscan).
  const bool receives = is_significant(traits.recv, rank, call.root) || (in_place && !traits.rooted);
  return receives && call.recvbuf != MPI_IN_PLACE && is_claimed(received(call, rank, size), size);
}

}  // namespace circoll::mpi
