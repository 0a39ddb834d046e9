// Packing of datatypes (datatype.hpp), also beyond the limits of int and of MPI_Pack.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// MPI_Pack takes int; larger buffers are packed in pieces of at most this many bytes.
constexpr Count pack_chunk_bytes = Count{1} << 30;

/// Of messages to ourselves. Part of the executor's global state (HACKING.md).
std::atomic<unsigned> next_packing_tag{0};

/// Elements that MPI_Pack may handle at once; 0 if not even one fits.
Count chunk_elements(const TypeInfo& info) {
  if (info.size_bytes > pack_chunk_bytes) return 0;
  return std::max<Count>(1, pack_chunk_bytes / std::max<Count>(1, info.size_bytes));
}

/// True for MPI_BOTTOM and for MPI's other constants, which lie a few bytes from it. A library may take such an address
/// for the constant. Open MPI's standard ABI exchanges them for its own in all calls.
bool is_constant(const void* address) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (address == MPI_BUFFER_AUTOMATIC) return true;
#endif
  return address == MPI_BOTTOM || address == MPI_IN_PLACE;
}

/// Makes a type to be used at `*address`. If that is a constant, it becomes MPI_BOTTOM, and the type has it in itself.
int make_contiguous_at(const void** address, Count count, MPI_Datatype type, Count extent_bytes, MPI_Datatype* made) {
  int rc = make_contiguous(count, type, extent_bytes, made);
  if (rc != MPI_SUCCESS || *address == MPI_BOTTOM || !is_constant(*address)) return rc;
  const int one = 1;
  const MPI_Aint place = static_cast<const char*>(*address) - static_cast<const char*>(MPI_BOTTOM);
  MPI_Datatype moved = MPI_DATATYPE_NULL;
  rc = PMPI_Type_create_hindexed(1, &one, &place, *made, &moved);
  PMPI_Type_free(made);
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&moved);
  *made = moved;
  *address = MPI_BOTTOM;
  return rc;
}

/// Packs by a message to ourselves. It serves elements beyond 1 GiB, which MPI_Pack cannot address, absolute addresses,
/// which MPICH's MPI_Pack takes for a null pointer, and types that it packs wrong.
int exchange_with_self(const void* from, Count from_count, MPI_Datatype from_type, Count from_extent, const void* to,
                       Count to_count, MPI_Datatype to_type, Count to_extent) {
  MPI_Datatype out = MPI_DATATYPE_NULL, in = MPI_DATATYPE_NULL;
  if (const int rc = make_contiguous_at(&from, from_count, from_type, from_extent, &out); rc != MPI_SUCCESS) return rc;
  if (const int rc = make_contiguous_at(&to, to_count, to_type, to_extent, &in); rc != MPI_SUCCESS) {
    PMPI_Type_free(&out);
    return rc;
  }
  // Threads share the communicator, and this may run inside a wait of another message. So each message has a tag of its
  // own.
  const int tag = static_cast<int>(next_packing_tag++ % packing_tags);
  const int rc =
      PMPI_Sendrecv(from, 1, out, 0, tag, const_cast<void*>(to), 1, in, 0, tag, self_communicator(), MPI_STATUS_IGNORE);
  PMPI_Type_free(&out);
  PMPI_Type_free(&in);
  return rc;
}

}  // namespace

int pack(const void* from, Count count, MPI_Datatype type, const TypeInfo& info, void* to) {
  if (count == 0 || info.size_bytes == 0) return MPI_SUCCESS;
  if (info.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(info.size_bytes * count));
    return MPI_SUCCESS;
  }
  const Count step = chunk_elements(info);
  if (step == 0 || is_constant(from) || library::packs_wrong(type, info.size_bytes, info.true_extent_bytes)) {
    return exchange_with_self(from, count, type, info.extent_bytes, to, info.size_bytes * count, MPI_BYTE, 1);
  }
  for (Count done = 0; done < count; done += step) {
    const Count elements = std::min(step, count - done);
    int position = 0;
    const int rc = PMPI_Pack(static_cast<const char*>(from) + done * info.extent_bytes, static_cast<int>(elements),
                             type, static_cast<char*>(to) + done * info.size_bytes,
                             static_cast<int>(elements * info.size_bytes), &position, self_communicator());
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int unpack(const void* from, void* to, Count count, MPI_Datatype type, const TypeInfo& info) {
  if (count == 0 || info.size_bytes == 0) return MPI_SUCCESS;
  if (info.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(info.size_bytes * count));
    return MPI_SUCCESS;
  }
  const Count step = chunk_elements(info);
  if (step == 0 || is_constant(to)) {
    return exchange_with_self(from, info.size_bytes * count, MPI_BYTE, 1, to, count, type, info.extent_bytes);
  }
  for (Count done = 0; done < count; done += step) {
    const Count elements = std::min(step, count - done);
    int position = 0;
    const int rc = PMPI_Unpack(static_cast<const char*>(from) + done * info.size_bytes,
                               static_cast<int>(elements * info.size_bytes), &position,
                               static_cast<char*>(to) + done * info.extent_bytes, static_cast<int>(elements), type,
                               self_communicator());
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int make_contiguous(Count count, MPI_Datatype type, Count extent_bytes, MPI_Datatype* made) {
  // Chunks of 2^30 elements and a remainder; an array of chunks has the elements' own spacing.
  constexpr Count chunk = Count{1} << 30;
  const auto chunks = static_cast<int>(count / chunk);
  const auto rest = static_cast<int>(count % chunk);
  int rc = MPI_SUCCESS;
  if (chunks == 0) {
    rc = PMPI_Type_contiguous(rest, type, made);
  } else {
    MPI_Datatype one = MPI_DATATYPE_NULL, many = MPI_DATATYPE_NULL, tail = MPI_DATATYPE_NULL;
    rc = PMPI_Type_contiguous(static_cast<int>(chunk), type, &one);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_contiguous(chunks, one, &many);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_contiguous(rest, type, &tail);
    if (rc == MPI_SUCCESS) {
      const std::array<int, 2> lengths{1, 1};
      const std::array<MPI_Aint, 2> displs{0, static_cast<MPI_Aint>(chunks * chunk * extent_bytes)};
      const std::array<MPI_Datatype, 2> types{many, tail};
      rc = PMPI_Type_create_struct(rest == 0 ? 1 : 2, lengths.data(), displs.data(), types.data(), made);
    }
    for (MPI_Datatype* t : {&one, &many, &tail}) {
      if (*t != MPI_DATATYPE_NULL) PMPI_Type_free(t);
    }
  }
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(made);
  return rc;
}

}  // namespace circoll::mpi
