// The signature of a call: everything that its plan depends on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "circoll/select.hpp"
#include "prepare/choices.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::prepare {

/// Messages that an executor combines as they arrive (combined_on_arrival), where the operator lets it.
enum class CombineOnArrival : std::uint8_t {
  kept,     ///< none
  of_node,  ///< those of ranks on this rank's node
  all,
};

/// The part of a signature that has a fixed size.
struct SignatureHead {
  const InternedChoice* choice = nullptr;
  std::uint64_t type_id = 0;            ///< of the datatype that messages carry; 0 for bytes
  Count count = 0;                      ///< plan elements per user block, if uniform
  Count extent_bytes = 1;               ///< of a plan element
  Count message_bytes = 1;              ///< of a plan element in a message: without its gaps
  const Relabelling* labels = nullptr;  ///< of the placement; plans keep it alive
  const LevelLabels* levels = nullptr;  ///< likewise
  Rank size = 1;                        ///< p
  Rank rank = 0;
  Rank cores = 1;  ///< of the placement
  Rank nodes = 0;  ///< of the placement, which its labels do not tell
  Collective collective = Collective::barrier;
  int root = 0;
  bool in_place = false;  ///< as the schedule sees it
  bool prologue = false;  ///< the exchange of counts that precedes gatherv, scatterv and some of alltoallv
  CombineOnArrival on_arrival = CombineOnArrival::kept;
  bool commutative = true;
  bool idempotent = false;
  bool exact = true;
  bool predefined = true;

  friend bool operator==(const SignatureHead&, const SignatureHead&) = default;
};

/// Numbers that come with a call, in units of `unit` plan elements; none if `size` is 0.
struct Numbers {
  Counts values{};
  Count unit = 1;
  Rank size = 0;

  [[nodiscard]] Count operator[](Rank i) const { return values[i] * unit; }
};

/// The numbers of a span of counts in plan elements. The span must outlive them.
[[nodiscard]] inline Numbers numbers_of(std::span<const Count> counts) {
  return {.values = Counts::wide(counts.data()), .size = static_cast<Rank>(counts.size())};
}

/// A signature as it comes with a call: arrays are the caller's.
struct Signature {
  SignatureHead head{};
  Numbers counts{};       ///< of the user blocks that differ; alltoallv: of those received, or of `blocks`
  Numbers send_counts{};  ///< alltoallv without prologue: of the blocks sent
  Numbers send_displs{};
  Numbers recv_displs{};
  /// alltoallv after a prologue: the user blocks that `counts` is about. Follows from the head and the rank.
  std::span<const Block> blocks{};

  [[nodiscard]] std::array<const Numbers*, 4> arrays() const {
    return {&counts, &send_counts, &send_displs, &recv_displs};
  }
  [[nodiscard]] std::uint64_t hash() const;
  /// The bytes that decide about algorithm and segments, equal on all ranks (Amounts::deciding_bytes).
  [[nodiscard]] Count deciding_bytes() const;
};

/// A copy of a signature's head and arrays, to be compared with those of later calls.
class StoredSignature {
 public:
  explicit StoredSignature(const Signature& signature);

  [[nodiscard]] bool equals(const Signature& signature) const;
  [[nodiscard]] const SignatureHead& head() const { return head_; }
  [[nodiscard]] const std::vector<Count>& counts() const { return arrays_[0]; }
  [[nodiscard]] const std::vector<Count>& send_counts() const { return arrays_[1]; }
  [[nodiscard]] const std::vector<Count>& send_displs() const { return arrays_[2]; }
  [[nodiscard]] const std::vector<Count>& recv_displs() const { return arrays_[3]; }
  /// Bytes of the copies.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  SignatureHead head_;
  std::array<std::vector<Count>, 4> arrays_;  ///< as Signature::arrays()
};

}  // namespace circoll::prepare
