#include "exec/mpi/typed_arguments.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "circoll/error.hpp"
#include "exec/mpi/call/calls.hpp"

namespace circoll::mpi {
namespace {

bool fits_int(Count number) {
  return number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max();
}

}  // namespace

void TypedArguments::set_arrays(const CollectiveCall& typed, Count unit, Arrays arrays) {
  const std::array<std::span<const Count>, 4> given{typed.counts, typed.displs, typed.send_counts, typed.send_displs};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool displs = i % 2 == 1;
    const std::span<const Count> counts = given[displs ? i - 1 : i];
    if (counts.empty() || (displs && typed.collective == Collective::reduce_scatter)) continue;  // not significant
    const bool packed = displs && given[i].empty();
    arrays_[i] = CountArray(given[i]);
    if (arrays == Arrays::callers && unit == 1 && !packed) continue;
    wide_[i].assign(counts.begin(), counts.end());
    if (packed) {
      std::exclusive_scan(counts.begin(), counts.end(), wide_[i].begin(), Count{0});
    } else {
      std::ranges::copy(given[i], wide_[i].begin());
    }
    for (Count& number : wide_[i]) number *= unit;
    arrays_[i] = CountArray(wide_[i].data());
  }
  // The arrays of a call are of one width.
  const bool narrow = std::ranges::all_of(wide_, [](const auto& wide) { return std::ranges::all_of(wide, fits_int); });
  if (arrays == Arrays::callers || !narrow) return;
  for (std::size_t i = 0; i < wide_.size(); ++i) {
    if (wide_[i].empty()) continue;
    for (const Count number : wide_[i]) narrow_[i].push_back(static_cast<int>(number));
    arrays_[i] = CountArray(narrow_[i].data());
  }
}

TypedArguments::TypedArguments(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm, Arrays arrays) {
  const bool records = typed.record_bytes > 0;
  require(fits_int(typed.root), "the root must be in 0 .. p-1");
  MPI_Datatype type = records ? MPI_BYTE : datatype_of(typed.type);
  const Count unit = records ? typed.record_bytes : 1;
  const Count count = typed.count * unit;
  const bool scatters = typed.collective == Collective::scatter || typed.collective == Collective::scatterv;
  const void* const send = typed.in_place && !scatters ? MPI_IN_PLACE : typed.sendbuf;
  void* const recv = typed.in_place && scatters ? MPI_IN_PLACE : typed.recvbuf;
  const auto root = static_cast<int>(typed.root);
  if (is_irregular(typed.collective)) set_arrays(typed, unit, arrays);
  const auto& [counts, displs, send_counts, send_displs] = arrays_;
  switch (typed.collective) {
    case Collective::allreduce:
      call_ = calls::allreduce(send, recv, count, type, op, comm);
      break;
    case Collective::reduce:
      call_ = calls::reduce(send, recv, count, type, op, root, comm);
      break;
    case Collective::reduce_scatter_block:
      call_ = calls::reduce_scatter_block(send, recv, count, type, op, comm);
      break;
    case Collective::reduce_scatter:
      call_ = calls::reduce_scatter(send, recv, counts, type, op, comm);
      break;
    case Collective::allgather:
      call_ = calls::allgather(send, count, type, recv, count, type, comm);
      break;
    case Collective::allgatherv:
      call_ = calls::allgatherv(send, count, type, recv, counts, displs, type, comm);
      break;
    case Collective::gather:
      call_ = calls::gather(send, count, type, recv, count, type, root, comm);
      break;
    case Collective::gatherv:
      call_ = calls::gatherv(send, count, type, recv, counts, displs, type, root, comm);
      break;
    case Collective::scatter:
      call_ = calls::scatter(send, count, type, recv, count, type, root, comm);
      break;
    case Collective::scatterv:
      call_ = calls::scatterv(send, counts, displs, type, recv, count, type, root, comm);
      break;
    case Collective::bcast:
      call_ = calls::bcast(recv, count, type, root, comm);
      break;
    case Collective::barrier:
      call_ = calls::barrier(comm);
      break;
    case Collective::alltoall:
      call_ = calls::alltoall(send, count, type, recv, count, type, comm);
      break;
    case Collective::alltoallv:
      call_ = calls::alltoallv(send, send_counts, send_displs, type, recv, counts, displs, type, comm);
      break;
    case Collective::scan:
    case Collective::exscan:
      call_ = calls::prefix(typed.collective, send, recv, count, type, op, comm);
      break;
  }
}

}  // namespace circoll::mpi
