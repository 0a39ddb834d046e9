// The caller's memory: where a schedule reads and writes, and what goes through staging memory.
#include "circoll/collectives.hpp"
#include "exec/mpi/call/caller_buffers.hpp"

namespace circoll::mpi {

void CallerBuffers::discard(std::span<const Block> blocks, std::span<const Count> counts) {
  discarded_bytes_ = 0;
  recv_.copied = true;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Rank to = is_exchange(call_.collective)  ? static_cast<Rank>(blocks[i] % size_)
                    : is_scatter(call_.collective) ? static_cast<Rank>(i)
                                                   : rank_;
    if (to == rank_) discarded_bytes_ += counts[i];
  }
}

Count CallerBuffers::send_staging_bytes() const {
  if (in_rounds()) return round_bytes();
  return send_.staged() ? send_.total_bytes() : 0;
}

Count CallerBuffers::recv_staging_bytes() const {
  if (is_reduce_scatter(call_.collective) && in_place_) {
    const Count own = call_.collective == Collective::reduce_scatter ? call_.recvcounts[rank_] : call_.recvcount;
    return own * elements_.extent_bytes;
  }
  if (discards()) return discarded_bytes_;
  if (in_rounds()) return round_bytes();
  return recv_.staged() ? recv_.total_bytes() : 0;
}

char* CallerBuffers::send_base(std::byte* staging) const {
  if (is_reducing(call_.collective)) {
    if (!in_place_) return as_base(call_.sendbuf);
    return is_reduce_scatter(call_.collective) ? as_base(call_.recvbuf) : nullptr;
  }
  return send_.staged() ? reinterpret_cast<char*>(staging) : send_.buffer;
}

char* CallerBuffers::recv_base(std::byte* staging) const {
  if (is_reducing(call_.collective)) {
    if (is_reduce_scatter(call_.collective) && in_place_) {
      return reinterpret_cast<char*>(staging) - elements_.info.true_lb_bytes;
    }
    return as_base(call_.recvbuf);
  }
  return recv_.staged() ? reinterpret_cast<char*>(staging) : recv_.buffer;
}

/// In place: this rank's contribution lies in the caller's receive buffer, and must lie in its staged form.
int CallerBuffers::pack_own_block(std::byte* recv_staging) const {
  if (!recv_.counts) {
    return pack(recv_.buffer + rank_ * recv_.count * recv_.info.extent_bytes, recv_.count, recv_.type, recv_.info,
                recv_staging + rank_ * packed_bytes(recv_.info, recv_.count));
  }
  for (Rank i = 0; i < rank_; ++i) recv_staging += packed_bytes(recv_.info, recv_.counts[i]);
  return pack(recv_.block_begin(rank_), recv_.counts[rank_], recv_.type, recv_.info, recv_staging);
}

int CallerBuffers::before(std::byte* send_staging, std::byte* recv_staging) const {
  if (is_reducing(call_.collective)) return MPI_SUCCESS;
  if (in_rounds()) return move_round(send_staging, false);
  if (send_.staged()) return send_.pack_to(send_staging);
  if (!recv_.staged() || discards()) return MPI_SUCCESS;
  if (call_.collective == Collective::bcast) return at_root() ? recv_.pack_to(recv_staging) : MPI_SUCCESS;
  return in_place_ ? pack_own_block(recv_staging) : MPI_SUCCESS;
}

int CallerBuffers::after(std::byte* recv_staging, const Elements& elements) const {
  const Collective c = call_.collective;
  if (is_reduce_scatter(c) && in_place_) {
    const Count own = c == Collective::reduce_scatter ? call_.recvcounts[rank_] : call_.recvcount;
    return elements.copy(as_base(call_.recvbuf),
                         reinterpret_cast<const char*>(recv_staging) - elements_.info.true_lb_bytes, own);
  }
  if (in_rounds()) return move_round(recv_staging, true);
  if (!recv_.staged() || discards() || (c == Collective::bcast && at_root())) return MPI_SUCCESS;
  return recv_.unpack_from(recv_staging);
}

bool CallerSide::missing() const { return significant && is_missing(buffer, total_bytes(), info); }

Count CallerSide::total_bytes() const {
  if (!counts) return blocks * count * info.size_bytes;
  Count elements = 0;
  for (Rank i = 0; i < blocks; ++i) elements += counts[i];
  return elements * info.size_bytes;
}

int CallerSide::pack_to(std::byte* to) const {
  if (!counts) return pack(buffer, blocks * count, type, info, to);
  for (Rank i = 0; i < blocks; ++i) {
    const int rc = pack(block_begin(i), counts[i], type, info, to);
    if (rc != MPI_SUCCESS) return rc;
    to += packed_bytes(info, counts[i]);
  }
  return MPI_SUCCESS;
}

int CallerSide::unpack_from(const std::byte* from) const {
  if (!counts) return unpack(from, buffer, blocks * count, type, info);
  for (Rank i = 0; i < blocks; ++i) {
    const int rc = unpack(from, block_begin(i), counts[i], type, info);
    if (rc != MPI_SUCCESS) return rc;
    from += packed_bytes(info, counts[i]);
  }
  return MPI_SUCCESS;
}

}  // namespace circoll::mpi
