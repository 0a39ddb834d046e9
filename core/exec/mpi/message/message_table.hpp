// The messages of a plan as MPI sees them.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::mpi {

/// The message of one step as MPI gets it.
struct Message {
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< MPI_DATATYPE_NULL: the element type of the call
  int count = 0;
  bool owned = false;  ///< `type` was made for this plan
  Area area = Area::send;
  Count offset_bytes = 0;    ///< in `area`
  Count staging_bytes = -1;  ///< if not negative: the pieces are gathered at this offset of the staging memory
};

/// The messages of a plan, step by step. One MPI message per step:
///   one piece                      straight from memory
///   several pieces, small          packed into staging memory; also if they lie in several areas
///   several pieces, large          an indexed datatype
///   beyond 2^31 - 1 elements       a datatype of chunks
class MessageTable {
 public:
  /// Several pieces of at most this many bytes together are packed by us: cheaper than MPI's datatype engine.
  static constexpr Count pack_limit_bytes = 16 << 10;

  /// Pieces are bytes if `type` is MPI_BYTE, else elements of `type`. Throws Error(transport) if MPI refuses.
  MessageTable(const Plan& plan, MPI_Datatype type, const TypeInfo& info);
  ~MessageTable();
  MessageTable(const MessageTable&) = delete;
  MessageTable& operator=(const MessageTable&) = delete;

  [[nodiscard]] const Message& operator[](StepIndex step) const { return messages_[step]; }
  /// Messages that may be under way at the same time.
  [[nodiscard]] std::size_t messages() const { return message_count_; }
  [[nodiscard]] Count staging_bytes() const { return staging_bytes_; }

 private:
  void add(const Plan& plan, const PlanStep& step, Message& message);
  void add_single(const Piece& piece, Message& message) const;
  void add_indexed(std::span<const Piece> pieces, Message& message) const;

  MPI_Datatype type_;
  TypeInfo info_;
  bool typed_;
  Count extent_bytes_;
  Count unit_bytes_;  // packed bytes of a plan element
  Count staging_bytes_ = 0;
  std::size_t message_count_ = 0;
  std::vector<Message> messages_;
};

}  // namespace circoll::mpi
