#include "exec/mpi/guard/kept_result.hpp"

#include <cstring>

namespace circoll::mpi {
namespace {

/// True for MPI's own datatypes, whose elements lie side by side as they are packed.
bool is_plain(MPI_Datatype type, Count type_bytes) {
  int integers = 0, addresses = 0, datatypes = 0, combiner = MPI_COMBINER_DUP;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner) != MPI_SUCCESS) return false;
  MPI_Aint lower = 0, extent = 0;
  return combiner == MPI_COMBINER_NAMED && PMPI_Type_get_extent(type, &lower, &extent) == MPI_SUCCESS && lower == 0 &&
         extent == type_bytes;
}

}  // namespace

KeptResult::KeptResult(const Call& call, Rank size) : recvbuf_(call.recvbuf) {
  Count count = 0;
  if (call.collective == Collective::allreduce) {
    type_ = call.sendtype;
    count = call.sendcount;
  } else if (call.collective == Collective::allgather) {
    type_ = call.recvtype;
    count = call.recvcount * size;
  }
  int type_bytes = 0;
  if (count <= 0 || count > most_bytes || PMPI_Type_size(type_, &type_bytes) != MPI_SUCCESS || type_bytes <= 0) return;
  if (count * type_bytes > most_bytes) return;
  count_ = static_cast<int>(count);
  bytes_ = count * type_bytes;
}

void KeptResult::append_to(std::vector<std::byte>& bytes) const {
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(bytes_));
  if (is_plain(type_, bytes_ / count_)) {
    std::memcpy(bytes.data() + before, recvbuf_, static_cast<std::size_t>(bytes_));
    return;
  }
  int position = 0;
  PMPI_Pack(recvbuf_, count_, type_, bytes.data() + before, static_cast<int>(bytes_), &position, MPI_COMM_SELF);
}

int KeptResult::put(std::span<const std::byte> bytes) const {
  if (static_cast<Count>(bytes.size()) != bytes_) return MPI_ERR_TRUNCATE;
  if (is_plain(type_, bytes_ / count_)) {
    std::memcpy(recvbuf_, bytes.data(), bytes.size());
    return MPI_SUCCESS;
  }
  int position = 0;
  return PMPI_Unpack(bytes.data(), static_cast<int>(bytes_), &position, recvbuf_, count_, type_, MPI_COMM_SELF);
}

}  // namespace circoll::mpi
