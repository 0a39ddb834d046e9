#include "exec/mpi/message/message_table.hpp"

#include <algorithm>
#include <limits>

#include "circoll/error.hpp"

namespace circoll::mpi {
namespace {

constexpr Count int_max = std::numeric_limits<int>::max();

void require_mpi(int rc, const char* what) {
  if (rc != MPI_SUCCESS) throw Error(ErrorCode::transport, what);
}

}  // namespace

MessageTable::MessageTable(const Plan& plan, MPI_Datatype type, const TypeInfo& info)
    : type_(type),
      info_(info),
      typed_(type != MPI_BYTE),
      extent_bytes_(plan.extent_bytes),
      unit_bytes_(typed_ ? info.size_bytes : plan.extent_bytes),
      messages_(plan.steps.size()) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    if (!is_message(step.kind)) continue;
    ++message_count_;
    add(plan, step, messages_[i]);
  }
}

MessageTable::~MessageTable() {
  for (Message& message : messages_) {
    if (message.owned) PMPI_Type_free(&message.type);
  }
}

void MessageTable::add(const Plan& plan, const PlanStep& step, Message& message) {
  const std::span<const Piece> pieces = plan.pieces_of(step);
  if (pieces.empty()) {  // a barrier's message
    message.type = MPI_BYTE;
    return;
  }
  if (pieces.size() == 1) return add_single(pieces[0], message);
  const Count bytes = step.elements * unit_bytes_;
  const bool one_area =
      std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.area == pieces[0].area; });
  if (one_area && bytes > pack_limit_bytes) return add_indexed(pieces, message);
  constexpr Count alignment = 64;
  message.staging_bytes = staging_bytes_;
  staging_bytes_ += (bytes + alignment - 1) / alignment * alignment;
  if (bytes <= int_max) {
    message.type = MPI_BYTE;
    message.count = static_cast<int>(bytes);
  } else {
    require_mpi(make_contiguous(bytes, MPI_BYTE, 1, &message.type), "a datatype for a large message could not be made");
    message.count = 1;
    message.owned = true;
  }
}

void MessageTable::add_single(const Piece& piece, Message& message) const {
  message.area = piece.area;
  message.offset_bytes = piece.offset_bytes;
  const Count units = typed_ ? piece.elements : piece.elements * extent_bytes_;
  if (units <= int_max) {
    message.type = typed_ ? MPI_DATATYPE_NULL : MPI_BYTE;
    message.count = static_cast<int>(units);
    return;
  }
  require_mpi(make_contiguous(units, type_, typed_ ? extent_bytes_ : 1, &message.type),
              "a datatype for a large message could not be made");
  message.count = 1;
  message.owned = true;
}

void MessageTable::add_indexed(std::span<const Piece> pieces, Message& message) const {
  message.area = pieces[0].area;
  message.count = 1;
  // A struct rather than an indexed type: its parts may be chunked types of their own, beyond int.
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Datatype> made;
  bool all_plain = true;
  for (const Piece& piece : pieces) {
    const Count units = typed_ ? piece.elements : piece.elements * extent_bytes_;
    displacements.push_back(static_cast<MPI_Aint>(piece.offset_bytes));
    if (units <= int_max) {
      lengths.push_back(static_cast<int>(units));
      types.push_back(type_);
      continue;
    }
    all_plain = false;
    MPI_Datatype chunked = MPI_DATATYPE_NULL;
    require_mpi(make_contiguous(units, type_, typed_ ? extent_bytes_ : 1, &chunked),
                "a datatype for a large message could not be made");
    made.push_back(chunked);
    lengths.push_back(1);
    types.push_back(chunked);
  }
  const int n = static_cast<int>(pieces.size());
  int rc = all_plain ? PMPI_Type_create_hindexed(n, lengths.data(), displacements.data(), type_, &message.type)
                     : PMPI_Type_create_struct(n, lengths.data(), displacements.data(), types.data(), &message.type);
  for (MPI_Datatype& part : made) PMPI_Type_free(&part);
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&message.type);
  require_mpi(rc, "an indexed datatype could not be made");
  message.owned = true;
}

}  // namespace circoll::mpi
