// An alltoallv whose blocks are all equal is an alltoall, which has algorithms of few messages.
//
// No rank knows the counts of the others. So the ranks ask one another once, in a call that would be served anyway, and
// have an alltoall from then on. Its blocks carry a word that says whether the sender's counts are still those. If a
// word says no, every rank has got it, and all ranks make the exchange again as the call describes it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

struct CallResult;

/// True for an alltoallv or alltoallw for which a policy chooses. The same on all ranks.
[[nodiscard]] bool may_be_regular(const Call& call, const InternedChoice& choice);

/// The packed bytes of each block that this rank sends and receives. It is 0 if they differ or are empty, if MPI packs
/// their datatype wrongly, and for calls in place. O(p).
[[nodiscard]] Count equal_block_bytes(const Call& call, Rank size);

/// The alltoall that a persistent call is, if all ranks have blocks of one size, side by side. Arrays of such a call
/// cannot change, so that the ranks ask one another once. Nothing: blocks differ, or no gain is predicted. All ranks
/// get a call, or none. The call can be served on all of them. Returns an MPI error code.
[[nodiscard]] int find_regular(const Call& call, const InternedChoice& choice, const CommState& state,
                               std::optional<Call>* found);

/// The memory of a communicator's blocking alltoallv calls. It changes only by answers that all ranks have, and by the
/// number of calls, so that all ranks have the same.
class EqualBlocks final : public Attachment {
 public:
  static constexpr Slot slot = Slot::equal_blocks;

  /// Serves a call as an alltoall, if all ranks have blocks of the size that they agreed on. Nothing: it must be served
  /// as it is. That is so on one node, where messages cost little, and where the policy predicts no gain. All ranks
  /// must ask about the same calls, none of which may be erroneous. Throws as perform().
  [[nodiscard]] std::optional<CallResult> serve(const Call& call, const InternedChoice& choice, CommState& state,
                                                bool timed);
  void clear() noexcept override { operation_.reset(); }

 private:
  /// Asks the other ranks for the size of their blocks. Returns an MPI error code.
  [[nodiscard]] int agree(Count own, const Call& call, const InternedChoice& choice, CommState& state);
  /// Prepares the alltoall of blocks of so many bytes. False: no gain is predicted.
  [[nodiscard]] bool prepare(Count bytes, const Call& call, const InternedChoice& choice, CommState& state);
  [[nodiscard]] std::optional<CallResult> exchange(Count own, const Call& call, CommState& state, bool timed);
  /// The ranks ask after twice as many calls as before.
  void back_off();

  static constexpr std::uint32_t longest_wait = 1U << 16U;

  bool failed_ = false;                     ///< a question or exchange: what other ranks know is not certain
  Count agreed_ = 0;                        ///< bytes of a block; 0: none
  const InternedChoice* choice_ = nullptr;  ///< of the calls that agreed
  std::uint32_t wait_ = 1;                  ///< calls between two questions
  std::uint32_t left_ = 2;                  ///< until the next question
  std::uint32_t served_ = 0;                ///< calls with the size that was agreed last
  std::vector<std::byte> send_{};
  std::vector<std::byte> recv_{};
  std::vector<Count> counts_{};             ///< that an operation wants, though an alltoall learns none
  std::unique_ptr<Operation> operation_{};  ///< the alltoall
  std::string reason_{};
};

}  // namespace circoll::mpi
