// The caller's memory: the places where a schedule reads and writes, and the blocks that go through staging memory.
//
// An alltoall(v) in place of long blocks goes part by part through staging memory, which does not grow with the blocks.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/caller_buffers.hpp"

namespace circoll::mpi {
namespace {

/// Staged bytes of each side, unless there are very many ranks. Parts must be long enough for messages to be fast. A
/// round copies what it receives once more, so that shorter vectors are faster with a copy of the whole.
constexpr Count most_staged_bytes = 64 << 20;
constexpr Count least_part_bytes = 64 << 10;

}  // namespace

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
  if (summed_) return summed_->send_staging_bytes();
  if (in_rounds()) return round_bytes();
  return send_.staged() ? send_.total_bytes() : 0;
}

Count CallerBuffers::recv_staging_bytes() const {
  if (summed_) return summed_->recv_staging_bytes();
  if (is_reduce_scatter(call_.collective) && in_place_) {
    const Count own = call_.collective == Collective::reduce_scatter ? call_.recvcounts[rank_] : call_.recvcount;
    return own * elements_.extent_bytes;
  }
  if (discards()) return discarded_bytes_;
  if (in_rounds()) return round_bytes();
  return recv_.staged() ? recv_.total_bytes() : 0;
}

char* CallerBuffers::send_base(std::byte* staging) const {
  if (summed_) return summed_->send_base(staging);
  if (is_reducing(call_.collective)) {
    if (!in_place_) return as_base(call_.sendbuf);
    return is_reduce_scatter(call_.collective) ? as_base(call_.recvbuf) : nullptr;
  }
  return send_.staged() ? reinterpret_cast<char*>(staging) : send_.buffer;
}

char* CallerBuffers::recv_base(std::byte* staging) const {
  if (summed_) return summed_->recv_base(staging);
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
  const CallerSide::TypedBlock own = recv_.typed_block(rank_);
  return pack(recv_.block_begin(rank_), own.count, own.type, own.info, recv_staging);
}

int CallerBuffers::before(std::byte* send_staging, std::byte* recv_staging) const {
  if (summed_) summed_->before(send_staging);
  if (is_reducing(call_.collective)) return MPI_SUCCESS;
  if (in_rounds()) return move_round(send_staging, false);
  if (send_.staged()) return send_.pack_to(send_staging);
  if (!recv_.staged() || discards()) return MPI_SUCCESS;
  if (call_.collective == Collective::bcast) return at_root() ? recv_.pack_to(recv_staging) : MPI_SUCCESS;
  return in_place_ ? pack_own_block(recv_staging) : MPI_SUCCESS;
}

int CallerBuffers::after(std::byte* recv_staging, const Elements& elements) const {
  const Collective c = call_.collective;
  if (summed_) {
    summed_->after(recv_staging);
    return MPI_SUCCESS;
  }
  if (is_reduce_scatter(c) && in_place_) {
    const Count own = c == Collective::reduce_scatter ? call_.recvcounts[rank_] : call_.recvcount;
    return elements.copy(as_base(call_.recvbuf),
                         reinterpret_cast<const char*>(recv_staging) - elements_.info.true_lb_bytes, own);
  }
  if (in_rounds()) return move_round(recv_staging, true);
  if (!recv_.staged() || discards() || (c == Collective::bcast && at_root())) return MPI_SUCCESS;
  return recv_.unpack_from(recv_staging);
}

bool CallerSide::missing() const {
  // Blocks with datatypes of their own were asked one by one.
  return significant && typed.empty() && is_missing(buffer, total_bytes(), info);
}

Count CallerSide::total_bytes() const {
  if (!counts) return blocks * count * info.size_bytes;
  Count elements = 0;
  for (Rank i = 0; i < blocks; ++i) elements += counts[i];
  return elements * info.size_bytes;
}

int CallerSide::pack_to(std::byte* to) const {
  if (!counts) return pack(buffer, blocks * count, type, info, to);
  for (Rank i = 0; i < blocks; ++i) {
    const TypedBlock block = typed_block(i);
    const int rc = pack(block_begin(i), block.count, block.type, block.info, to);
    if (rc != MPI_SUCCESS) return rc;
    to += packed_bytes(info, counts[i]);
  }
  return MPI_SUCCESS;
}

int CallerSide::unpack_from(const std::byte* from) const {
  if (!counts) return unpack(from, buffer, blocks * count, type, info);
  for (Rank i = 0; i < blocks; ++i) {
    const TypedBlock block = typed_block(i);
    const int rc = unpack(from, block_begin(i), block.count, block.type, block.info);
    if (rc != MPI_SUCCESS) return rc;
    from += packed_bytes(info, counts[i]);
  }
  return MPI_SUCCESS;
}

void CallerBuffers::use_rounds() {
  if (!is_exchange(call_.collective) || !in_place_ || erroneous_) return;
  // Both ranks of a pair cut their block at the same bytes, whatever datatypes they describe it by.
  part_bytes_ = std::max(most_staged_bytes / size_, least_part_bytes);
  Count largest = 0;
  for (Rank i = 0; i < size_; ++i) largest = std::max(largest, recv_.bytes_of(i));
  if (largest <= part_bytes_) return;
  rounds_ = (largest + part_bytes_ - 1) / part_bytes_;
  // All blocks of an alltoall are equal. So all rounds are equal, too, except that the last one may leave room unused.
  if (!recv_.counts) part_bytes_ = (largest + rounds_ - 1) / rounds_;
  recv_.copied = true;
  parts_.resize(static_cast<std::size_t>(size_));
  set_round(0);
}

void CallerBuffers::set_round(Count round) {
  round_ = round;
  for (Rank i = 0; i < size_; ++i) {
    parts_[static_cast<std::size_t>(i)] = std::clamp<Count>(recv_.bytes_of(i) - round_ * part_bytes_, 0, part_bytes_);
  }
}

bool CallerBuffers::next_round() {
  if (summed_) {
    if (summed_->stage() + 1 >= summed_->stages()) return false;
    summed_->set_stage(summed_->stage() + 1);
    return true;
  }
  if (round_ + 1 >= rounds_) return false;
  set_round(round_ + 1);
  return true;
}

Count CallerBuffers::round_bytes() const {
  if (!recv_.counts) return size_ * part_bytes_;
  return std::accumulate(parts_.begin(), parts_.end(), Count{0});
}

/// Copies a part of a block between the caller's memory and its packed form.
int CallerBuffers::move_part(Rank block, Count bytes, std::byte* staged, bool out) const {
  char* const begin =
      recv_.counts ? recv_.block_begin(block) : recv_.buffer + block * recv_.count * recv_.info.extent_bytes;
  const Count from = round_ * part_bytes_;
  const auto size = static_cast<std::size_t>(bytes);
  if (recv_.info.dense) {
    std::memcpy(out ? static_cast<void*>(begin + from) : staged, out ? static_cast<void*>(staged) : begin + from, size);
    return MPI_SUCCESS;
  }
  // The elements that the part touches, of which the first and the last may be cut.
  const CallerSide::TypedBlock typed = recv_.typed_block(block);
  const Count element = typed.info.size_bytes;
  const Count first = from / element;
  const Count elements = (from + bytes + element - 1) / element - first;
  char* const at = begin + first * typed.info.extent_bytes;
  std::vector<std::byte> whole(static_cast<std::size_t>(elements * element));
  if (const int rc = pack(at, elements, typed.type, typed.info, whole.data()); rc != MPI_SUCCESS) return rc;
  std::byte* const part = whole.data() + (from - first * element);
  std::memcpy(out ? part : staged, out ? staged : part, size);
  return out ? unpack(whole.data(), at, elements, typed.type, typed.info) : MPI_SUCCESS;
}

int CallerBuffers::move_round(std::byte* staging, bool out) const {
  for (Rank i = 0; i < size_; ++i) {
    const Count bytes = parts_[static_cast<std::size_t>(i)];
    const int rc = bytes == 0 ? MPI_SUCCESS : move_part(i, bytes, staging, out);
    if (rc != MPI_SUCCESS) return rc;
    staging += recv_.counts ? bytes : part_bytes_;
  }
  return MPI_SUCCESS;
}

}  // namespace circoll::mpi
