#include "wrappers/survive/kept_result.hpp"

namespace circoll::mpi {

KeptResult::KeptResult(const Call& call, Rank size) : recvbuf_(call.recvbuf) {
  if (call.collective == Collective::allreduce) {
    type_ = call.sendtype;
    count_ = call.sendcount;
  } else if (call.collective == Collective::allgather) {
    type_ = call.recvtype;
    count_ = call.recvcount * size;
  }
  if (count_ <= 0 || count_ > most_bytes) return;
  info_ = describe(type_);
  const Count bytes = packed_bytes(info_, count_);
  if (info_.valid && bytes <= most_bytes) bytes_ = bytes;
}

void KeptResult::append_to(std::vector<std::byte>& bytes) const {
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(bytes_));
  // What could not be packed has another length, which put() notices.
  if (pack(recvbuf_, count_, type_, info_, bytes.data() + before) != MPI_SUCCESS) bytes.resize(before);
}

int KeptResult::put(std::span<const std::byte> bytes) const {
  if (static_cast<Count>(bytes.size()) != bytes_) return MPI_ERR_TRUNCATE;
  return unpack(bytes.data(), recvbuf_, count_, type_, info_);
}

}  // namespace circoll::mpi
