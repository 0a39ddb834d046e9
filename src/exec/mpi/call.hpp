// One call of an MPI collective: what MPI's own function takes, in one struct for all collectives.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "circoll/types.hpp"

namespace circoll::mpi {

/// A caller's array of counts or displacements: int (MPI's classic bindings) or 64 bits (large counts), not copied.
class CountArray {
 public:
  CountArray() = default;
  CountArray(const int* data) : data_(data), wide_(false) {}  // NOLINT(google-explicit-constructor)
  /// 64-bit integers of any type: MPI_Count, MPI_Aint, circoll::Count.
  static CountArray wide(const void* data) {
    CountArray array;
    array.data_ = data;
    array.wide_ = true;
    return array;
  }

  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }
  [[nodiscard]] bool is_wide() const { return wide_; }
  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] Count operator[](Rank i) const {
    if (!wide_) return static_cast<const int*>(data_)[i];
    std::int64_t value = 0;  // MPI_Count may be long or long long: read it without aliasing one as the other
    std::memcpy(&value, static_cast<const char*>(data_) + i * 8, sizeof value);
    return value;
  }

 private:
  const void* data_ = nullptr;
  bool wide_ = false;
};

/// Arguments that a collective does not have keep their defaults. Reductions use sendtype for their datatype, and
/// sendcount (allreduce, reduce), recvcount (reduce_scatter_block) or recvcounts. bcast uses recvbuf, recvcount and
/// recvtype on every rank.
struct Call {
  Collective collective = Collective::barrier;
  const void* sendbuf = nullptr;
  void* recvbuf = nullptr;
  Count sendcount = 0;
  Count recvcount = 0;
  CountArray sendcounts{};  ///< scatterv
  CountArray recvcounts{};  ///< allgatherv, gatherv, reduce_scatter
  CountArray displs{};      ///< of the irregular side
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Calls the MPI library's own collective through PMPI_. Counts beyond int need an MPI with large-count bindings;
/// without them MPI_ERR_COUNT is returned.
[[nodiscard]] int call_native(const Call& call);

}  // namespace circoll::mpi
