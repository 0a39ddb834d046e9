#include "exec/mpi/message/staging.hpp"

#include <cstring>

namespace circoll::mpi {

int pack_pieces(const Plan& plan, const PlanStep& step, const Binding& binding, std::byte* to) {
  const Elements& elements = binding.elements;
  for (const Piece& piece : plan.pieces_of(step)) {
    const char* const from = binding.address(piece.area, piece.offset_bytes);
    if (elements.typed) {
      if (const int rc = pack(from, piece.elements, elements.type, elements.info, to); rc != MPI_SUCCESS) return rc;
      to += packed_bytes(elements.info, piece.elements);
    } else {
      const Count bytes = piece.elements * plan.extent_bytes;
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      to += bytes;
    }
  }
  return MPI_SUCCESS;
}

int unpack_pieces(const Plan& plan, const PlanStep& step, const Binding& binding, const std::byte* from) {
  const Elements& elements = binding.elements;
  for (const Piece& piece : plan.pieces_of(step)) {
    char* const to = binding.address(piece.area, piece.offset_bytes);
    if (elements.typed) {
      if (const int rc = unpack(from, to, piece.elements, elements.type, elements.info); rc != MPI_SUCCESS) return rc;
      from += packed_bytes(elements.info, piece.elements);
    } else {
      const Count bytes = piece.elements * plan.extent_bytes;
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      from += bytes;
    }
  }
  return MPI_SUCCESS;
}

}  // namespace circoll::mpi
