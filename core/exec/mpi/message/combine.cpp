#include "exec/mpi/message/combine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace circoll::mpi {

int combine(const Plan& plan, const PlanStep& step, const Binding& binding) {
  const Elements& elements = binding.elements;
  for (const Run& run : plan.runs_of(step)) {
    char* const dst = binding.address(run.dst.area, run.dst.offset_bytes);
    const char* const left = binding.address(run.left.area, run.left.offset_bytes);
    const int rc =
        step.kind == StepKind::copy
            ? elements.copy(dst, left, run.dst.elements)
            : elements.reduce(dst, left, binding.address(run.right.area, run.right.offset_bytes), run.dst.elements);
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

/// Parts begin and end at multiples of 16 bytes (node::Taker). A user's operator gets the program's memory alone.
bool PartCombiner::suits(const Elements& elements) {
  const Count bytes = elements.extent_bytes;
  return elements.kernel != nullptr && !elements.typed && bytes > 0 && node::Taker::part_unit % bytes == 0;
}

void PartCombiner::begin(const Plan& plan, const PlanStep& step, const Binding& binding) {
  binding_ = &binding;
  runs_ = plan.runs_of(step);
  first_ = 0;
  arrives_left_ = step.arrives_left;
  error_ = MPI_SUCCESS;
}

std::span<std::byte> PartCombiner::place(std::size_t at, std::size_t bytes) {
  if (runs_.empty()) return {};
  const Run& run = runs_.front();
  const Piece& own = arrives_left_ ? run.right : run.left;
  const std::size_t offset = at - first_;
  const auto in_run = static_cast<std::size_t>(run.dst.elements * binding_->elements.extent_bytes) - offset;
  bytes = std::min(bytes, in_run);
  char* const dst = binding_->address(run.dst.area, run.dst.offset_bytes + static_cast<Count>(offset));
  const char* const other = binding_->address(own.area, own.offset_bytes + static_cast<Count>(offset));
  const auto distance = reinterpret_cast<std::intptr_t>(dst) - reinterpret_cast<std::intptr_t>(other);
  if (static_cast<std::size_t>(std::abs(distance)) < bytes) return {};
  return {reinterpret_cast<std::byte*>(dst), bytes};
}

void PartCombiner::take(std::size_t at, std::span<const std::byte> part) {
  const auto extent = static_cast<std::size_t>(binding_->elements.extent_bytes);
  while (!runs_.empty() && part.size() >= extent) {
    const Run& run = runs_.front();
    const std::size_t bytes = static_cast<std::size_t>(run.dst.elements) * extent;
    const auto offset = static_cast<Count>(at - first_);
    const std::size_t here = std::min(bytes - (at - first_), part.size() / extent * extent);
    const Piece& own = arrives_left_ ? run.right : run.left;
    const char* const message = reinterpret_cast<const char*>(part.data());
    const char* const other = binding_->address(own.area, own.offset_bytes + offset);
    const int rc = binding_->elements.reduce(binding_->address(run.dst.area, run.dst.offset_bytes + offset),
                                             arrives_left_ ? message : other, arrives_left_ ? other : message,
                                             static_cast<Count>(here / extent));
    if (rc != MPI_SUCCESS && error_ == MPI_SUCCESS) error_ = rc;
    at += here;
    part = part.subspan(here);
    if (at - first_ < bytes) continue;
    first_ += bytes;
    runs_ = runs_.subspan(1);
  }
}

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
