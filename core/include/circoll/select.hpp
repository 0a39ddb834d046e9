// Policies choose the algorithm that serves a call, behind one interface that returns the choice and its reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/buffers.hpp"
#include "circoll/collectives.hpp"
#include "circoll/model.hpp"

namespace circoll {

/// Facts of a call that a policy may use, all of which MPI guarantees to be equal on all ranks.
struct CallFacts {
  Collective collective = Collective::barrier;  ///< the one that is called
  Rank p = 1;                                   ///< ranks of the communicator
  /// The whole vector, in bytes. It is count * extent for allreduce, reduce, bcast, scan and exscan, and p * count *
  /// extent, or the sum over all blocks, for the collectives with one block per rank (alltoall: those that a rank
  /// sends). It is 0 where the ranks do not all know it (Amounts::deciding_bytes).
  Count bytes = 0;
  OperatorTraits op{};        ///< as declared where there is an operator; the default where there is none
  bool exact_op = true;       ///< the operator gives the same bits in every evaluation order; true where there is none
  bool predefined_op = true;  ///< MPI's operator, not a function of the caller's; true where there is none
  Rank cores = 1;             ///< ranks on a node (the most of any); 1 where nothing is known
  bool node_by_node = true;   ///< nodes are filled in the order of ranks, all but the last with `cores`
  /// Otherwise labels number groups of so many ranks so, where ranks may be relabelled. 0: there are no labels.
  Rank group = 0;
  Rank group_split = 0;  ///< messages inside a group that may pass a node's port in one round
  Rank nodes = 0;        ///< with ranks on them; 0: as many as p ranks fill, `cores` on each
  bool crowded = false;  ///< a node has more ranks than processors, so that they take turns

  friend bool operator==(const CallFacts&, const CallFacts&) = default;
};

/// Nodes on which a call has ranks, and the most ranks that one of them has. They are "nodes" and "ranks_per_node" of
/// rules. Where nothing is known of nodes, every rank has one of its own.
[[nodiscard]] Rank nodes_of(const CallFacts& facts);
[[nodiscard]] Rank ranks_per_node_of(const CallFacts& facts);

/// The facts of a call whose vector has `bytes`, with a predefined operator, which a collective without one ignores.
[[nodiscard]] CallFacts facts_of(Collective collective, Rank p, Count bytes, Op op, Type type);

/// An algorithm that was considered and cannot serve the call.
struct RuledOut {
  std::string id;   ///< without parameters
  std::string why;  ///< without a full stop
};

/// An algorithm that can serve the call, with its parameters, and its predicted time.
struct Candidate {
  Selection selection;  ///< with the best parameters
  double seconds = 0;   ///< by the model
};

/// A choice and its reason.
struct Decision {
  std::optional<Selection> selection{};  ///< complete with parameters; nothing: the MPI library's own collective
  std::string policy;                    ///< the name of the policy
  std::string reason;                    ///< one sentence without a full stop
  bool named = false;                    ///< the caller has named the algorithm, which is executed as it is written
  std::vector<RuledOut> ruled_out{};     ///< in the order in which they were considered
  std::vector<Candidate> candidates{};   ///< of the model, the least time first; empty if no times were compared
};

/// Chooses. Equal facts give equal decisions, so that all ranks of a call decide alike. Thread-safe.
///
/// Every policy enforces the table of needs (unmet_need), and gives an allreduce whose operator is not exact only
/// algorithms that give all ranks the same bits, unless PolicyOptions::allow_rank_divergence.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// The choice for a call. A call that no algorithm can serve is left to the native collective, and the
  /// reason says so.
  [[nodiscard]] virtual Decision decide(const CallFacts& facts) const = 0;
  /// The machine whose times set the parameters that a choice leaves open.
  [[nodiscard]] virtual const Machine& machine() const = 0;
  /// True for a policy about one algorithm that somebody has named. The call must not be taken for
  /// another collective's.
  [[nodiscard]] virtual bool names_algorithm() const { return false; }
  /// True if somebody has tuned this program's calls of a collective, on any number of nodes.
  [[nodiscard]] virtual bool is_tuned_for(Collective /*collective*/) const { return false; }
};

/// The machine of the model where nobody gives one. It was measured between two ranks of Open MPI 4.1.4 on one node,
/// and rounded (docs/admin/calibration.md). A network wants a machine file of its own.
[[nodiscard]] Machine default_machine();

struct PolicyOptions {
  Machine machine = default_machine();  ///< whose coefficients decide, where no rule does
  bool allow_rank_divergence = false;   ///< inexact allreduces may give ranks different bits
};

/// Makes a policy from its name. Names are "auto" (which is "model"), "model", "classic", "openmpi_fixed", "native",
/// and "file:PATH" with rules as docs/admin/rules.md describes them. Throws Error(unknown_name) for another name,
/// Error(invalid_argument) for a file that cannot be read, and Error(parse) naming the line for rules that are wrong.
[[nodiscard]] std::unique_ptr<const Policy> make_policy(std::string_view name, const PolicyOptions& options = {});
/// The policy "file" of rules in memory; `source` names them in messages.
[[nodiscard]] std::unique_ptr<const Policy> make_rules_policy(std::string_view json, const std::string& source,
                                                              const PolicyOptions& options = {});
/// One algorithm for every call of its collective that it can serve. All others are native, or `otherwise` decides,
/// which must outlive the policy.
[[nodiscard]] std::unique_ptr<const Policy> make_fixed_policy(const Selection& selection,
                                                              const PolicyOptions& options = {},
                                                              const Policy* otherwise = nullptr);
/// The policy of calls that choose nothing. It is "auto" on the default machine.
[[nodiscard]] const Policy& default_policy();

/// The reason why a policy may not give a selection to a call, empty if it may. Asked are unmet_need, and the same bits
/// on all ranks.
[[nodiscard]] std::string why_not(const Selection& selection, const CallFacts& facts, bool allow_rank_divergence);

/// A selection with its parameters set. "segment" (bytes) becomes "segments" (a number; with_segment_count), and an
/// open "segments" the one of least predicted time.
[[nodiscard]] Selection completed(const Selection& selection, Rank p, Count bytes, const Machine& machine);

/// The choice of a call, read and completed. It is an algorithm by name, or the decision of the call's policy, or of
/// default_policy. An algorithm that the call names itself is bound by its needs only. Throws Error(unknown_name,
/// parse, invalid_argument) as parse_selection does, and Error(unsupported) if the algorithm's needs do not hold or the
/// policy chose native.
[[nodiscard]] Selection resolve(const Choice& choice, const CallFacts& facts);

}  // namespace circoll
