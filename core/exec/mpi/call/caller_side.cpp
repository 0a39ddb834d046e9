#include "exec/mpi/call/caller_side.hpp"

namespace circoll::mpi {

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
