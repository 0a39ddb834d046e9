// Neighbourhood collectives whose messages between nodes are joined. The ranks of a node tell one another their edges
// and the sizes of their blocks for that.
//
// A blocking call cannot know whether the other ranks have the blocks that they had before. So ranks ask one another in
// some calls, which they all count alike. Where a block has another size than agreed, both ends of its edge know that,
// and send it straight. The joined messages have the agreed sizes in any case.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/neighbor_operation.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {

/// A neighbourhood collective node by node, for blocks of sizes that all ranks have agreed on.
struct NodeAwareWay {
  Schedule schedule{};
  std::vector<Count> bytes{};  ///< of the schedule's user blocks
  NeighborSizes sizes{};       ///< of this rank's blocks

  [[nodiscard]] NeighborWay way() const;
};

/// True if somebody has named an algorithm.
[[nodiscard]] inline bool is_named(const InternedChoice& choice) {
  return choice.kind == InternedChoice::Kind::algorithm;
}
/// True if a choice admits joined messages on a communicator. It has several nodes then, of which some has several
/// ranks. The same on all ranks.
[[nodiscard]] bool admits_node_aware(const InternedChoice& choice, const CommState& state);

/// Tells the ranks of the node about edges and sizes, and asks all ranks whether joined messages may pay. Nothing: they
/// are predicted to take longer, or the ends of an edge do not agree about its block. All ranks get a way, or none.
/// Collective; waits for the other ranks. Returns an MPI error code.
[[nodiscard]] int find_node_aware(const Neighborhood& neighborhood, NeighborContract contract,
                                  const NeighborSides& sides, const CommState& state, const InternedChoice& choice,
                                  std::unique_ptr<const NodeAwareWay>* found);

/// The blocking calls of one function on a communicator. Decisions depend on the number of calls and on answers that
/// all ranks have.
class NodeAwareCalls {
 public:
  /// A call comes that is not erroneous: a rank may make one again in the right way. In some calls the ranks ask one
  /// another. Returns an MPI error code.
  [[nodiscard]] int begin(const Neighborhood& neighborhood, NeighborContract contract, const NeighborSides& sides,
                          const CommState& state, const InternedChoice& choice);
  /// The way of this call; nullptr: it goes straight.
  [[nodiscard]] const NodeAwareWay* way() const { return joined_ && !failed_ ? way_.get() : nullptr; }
  /// True if the call's blocks have the sizes of the way.
  [[nodiscard]] bool known() const { return known_; }
  /// The operations of this way.
  [[nodiscard]] NeighborOperations& operations() { return operations_; }
  /// The call took so long.
  void end(double seconds) {
    if (calls_ < seconds_.size()) seconds_[calls_] = seconds;
    ++calls_;
  }

 private:
  /// An answer of this rank, or the least of all answers.
  struct Answer {
    std::int64_t steady = 0;      ///< 1: sizes have not changed since the last question
    std::int64_t known = 0;       ///< 1: they are those of the last agreement
    std::int64_t few_strays = 0;  ///< 1: they were so in most of the calls before
    std::int64_t minus_ns = 0;    ///< the median time of these calls; 0: there are none
  };
  /// Asks the other ranks. Returns an MPI error code.
  [[nodiscard]] int agree(const Neighborhood& neighborhood, NeighborContract contract, const NeighborSides& sides,
                          const CommState& state, const InternedChoice& choice);
  /// All ranks conclude the same from answers.
  void conclude(const Answer& least, bool always);
  [[nodiscard]] bool is_to_join(bool always);
  /// Sorts the times.
  [[nodiscard]] std::int64_t minus_ns();

  bool failed_ = false;  ///< a question: what other ranks know is not certain
  bool joined_ = false;
  std::unique_ptr<const NodeAwareWay> way_{};
  NeighborOperations operations_{};
  bool known_ = false;                     ///< the call has the sizes of agreed_
  std::optional<NeighborSizes> agreed_{};  ///< for which there is a way, or none pays
  std::optional<NeighborSizes> last_{};    ///< of the last call
  bool steady_ = true;                     ///< sizes have not changed since the last question
  std::uint32_t strays_ = 0;               ///< calls since then with other sizes than agreed_
  std::uint32_t wait_ = 1;                 ///< calls between two questions
  std::uint32_t left_ = 2;                 ///< until the next question
  std::uint32_t calls_ = 0;                ///< since the last question
  std::array<double, 64> seconds_{};       ///< of the first of them
  std::array<double, 2> best_s_{};         ///< of a call: straight, joined. The least median between two questions
  int stretches_ = 0;                      ///< between two questions, since the way was found
};

/// Executes a call whose blocks have other sizes here than the way's. Throws as perform().
[[nodiscard]] CallResult execute_changed(const NeighborCall& call, const Neighborhood& neighborhood,
                                         const NeighborSides& sides, CommState& state, const NodeAwareWay& way);

}  // namespace circoll::mpi
