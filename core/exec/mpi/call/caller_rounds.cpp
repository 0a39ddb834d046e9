// An alltoall(v) in place of long blocks: part by part through staging memory that does not grow with the blocks.
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

void CallerBuffers::use_rounds() {
  if (!is_exchange(call_.collective) || !in_place_ || erroneous_) return;
  // Both ranks of a pair cut their block at the same bytes, whatever datatypes they describe it by.
  part_bytes_ = std::max(most_staged_bytes / size_, least_part_bytes);
  Count largest = 0;
  for (Rank i = 0; i < size_; ++i) largest = std::max(largest, recv_.bytes_of(i));
  if (largest <= part_bytes_) return;
  rounds_ = (largest + part_bytes_ - 1) / part_bytes_;
  // All blocks of an alltoall are equal. Then all rounds are, but for what the last one leaves of its room.
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
  const Count element = recv_.info.size_bytes;
  const Count first = from / element;
  const Count elements = (from + bytes + element - 1) / element - first;
  char* const at = begin + first * recv_.info.extent_bytes;
  std::vector<std::byte> whole(static_cast<std::size_t>(elements * element));
  if (const int rc = pack(at, elements, recv_.type, recv_.info, whole.data()); rc != MPI_SUCCESS) return rc;
  std::byte* const part = whole.data() + (from - first * element);
  std::memcpy(out ? part : staged, out ? staged : part, size);
  return out ? unpack(whole.data(), at, elements, recv_.type, recv_.info) : MPI_SUCCESS;
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
