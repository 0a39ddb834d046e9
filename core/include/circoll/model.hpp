// The cost of a collective in terms of alpha, beta and gamma, and its predicted time on a machine.
#pragma once

#include <string>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll {

/// A way of messages between ranks that share a node. They lie in shared memory, or are read out of the sender's.
struct NodeWay {
  std::string name;      ///< of the way, for people
  Count from_bytes = 0;  ///< messages of so many bytes go so, unless there is a way for longer ones that they reach
  double alpha_s = 0;    ///< seconds per round of messages
  double beta_s_per_byte = 0;   ///< seconds per byte of a message
  double gamma_s_per_byte = 0;  ///< of combining what has come so
  double overhead_s = 0;        ///< as Machine::overhead_s
  bool read = false;            ///< as Machine::read

  bool operator==(const NodeWay&) const = default;
};

/// A host that a calibration has found slow.
struct SlowHost {
  std::string name;  ///< as MPI_Get_processor_name has it
  double times = 1;  ///< its long messages take so many times as long as those of most hosts
};

/// The machine of the cost model (docs/lab/notation.md). A message of b bytes that is exchanged for another one costs
/// alpha + b beta. One that travels alone costs f_alpha alpha + b f_beta beta. Combining b bytes costs b gamma. The
/// defaults were measured between two ranks that share a node (docs/admin/calibration.md).
struct Machine {
  std::string name = "default";        ///< of a machine file, or of the calibration that gave it
  double alpha_s = 0.5e-6;             ///< seconds per round of messages in both directions
  double beta_s_per_byte = 0.1e-9;     ///< seconds per byte and direction of such a round
  double gamma_s_per_byte = 0.015e-9;  ///< seconds per byte of a result of a reduction
  double f_alpha = 0.8;                ///< alpha_uni / alpha, usually between 0.5 and 1
  double f_beta = 0.8;                 ///< beta_uni / beta, usually between 0.5 and 1
  /// Seconds per round that waits for no other one (Terms::levels), the o of LogP. 0: alpha_s, as if all waited.
  double overhead_s = 0;
  /// The same of rounds in which ranks send and receive, on a machine with an overhead_s. 0: overhead_s.
  double overhead_both_s = 0;
  /// True if only the receiver works on a message's bytes. So one rank may send to many at the same time.
  bool read = false;
  /// Coefficients between ranks of one node, where those above are between nodes (traffic.hpp). 0: the same.
  double node_alpha_s = 0;
  double node_beta_s_per_byte = 0;  ///< seconds per byte
  /// The ways of messages where all ranks of a call share one node. Empty: one, by the coefficients above.
  std::vector<NodeWay> node_ways{};
  /// Seconds until a rank that waits has a processor again, on a node that is crowded (CallFacts).
  double crowded_s = 0;
  /// Messages that a rank sends, and receives, at a time, each at the full rate. A price counts them where an algorithm
  /// says what it does with them (Algorithm::on_ports).
  std::int64_t ports = 1;
  /// Hosts that have less to pass on as switches of their own (docs/admin/calibration.md). No price counts them.
  std::vector<SlowHost> slow_hosts{};

  [[nodiscard]] double within_alpha_s() const { return node_alpha_s > 0 ? node_alpha_s : alpha_s; }
  [[nodiscard]] double within_beta_s_per_byte() const {
    return node_beta_s_per_byte > 0 ? node_beta_s_per_byte : beta_s_per_byte;
  }
};

/// Coefficients of the predicted time
/// T = alpha * alpha_s + alpha_uni * f_alpha * alpha_s + bytes * beta_s_per_byte + bytes_uni * f_beta * beta_s_per_byte
///   + combined * gamma_s_per_byte.
/// Where a machine has overheads, these take the place of alpha_s in the share of rounds that are not levels. Where
/// messages are `read`, no more bytes count than one rank receives, times the levels.
struct Terms {
  double alpha = 0;      ///< rounds in which some rank sends and receives
  double alpha_uni = 0;  ///< rounds in which every rank only sends or only receives
  double bytes = 0;      ///< sum over the first kind of rounds of the longest message
  double bytes_uni = 0;  ///< the same over the second kind
  double combined = 0;   ///< sum over rounds of the most bytes that a rank combines
  double received = 0;   ///< the most bytes that a rank receives
  double levels = 0;     ///< rounds that wait for one another (CriticalPath::levels); 0: all of them
};

/// The terms of a selection for p ranks and a vector of `bytes`. The vector is m of docs/lab/notation.md, all of it
/// (CallFacts::bytes says which vector that is). A barrier has no bytes. From the algorithm's critical path, without
/// schedules: O(log p) where that has a closed form. On several ports the rounds are those that go at once.
[[nodiscard]] Terms terms_of(const Selection& selection, Rank p, Count bytes, Rank root = 0, std::int64_t ports = 1);

/// The terms of schedules that were counted (Verdict): of their path and cost, for a vector of `bytes`.
[[nodiscard]] Terms terms_of(Collective collective, const CriticalPath& path, const Cost& cost, Count bytes);

/// The time of these terms on a machine [s].
[[nodiscard]] double seconds(const Terms& terms, const Machine& machine);

/// The machine as messages of at least `from_bytes` find it.
struct MachineForLength {
  Count from_bytes = 0;  ///< of a message
  Machine machine{};     ///< with the coefficients of such messages
};
/// The machine as ranks find it that all share one node. There is one for each way of their messages, at least one;
/// those for longer ones come last. `crowded`: the ranks have fewer processors than they are.
[[nodiscard]] std::vector<MachineForLength> machines_inside(const Machine& machine, bool crowded = false);
/// The time of these terms [s], by the machine for the mean length of the messages. `machines` are as above.
[[nodiscard]] double seconds(const Terms& terms, const std::vector<MachineForLength>& machines);

/// No more segments are chosen than these.
inline constexpr std::int64_t most_segments = 1024;

/// A selection with the "segments" of least predicted time, up to most_segments. This sets "segments" if the algorithm
/// declares that parameter and the selection does not give it. Any other selection stays as it is. Where one-way rounds
/// have a price of their own, their number may vary with n mod q, and the least time is found up to that.
[[nodiscard]] Selection with_best_segments(const Selection& selection, Rank p, Count bytes, const Machine& machine,
                                           Rank root = 0);

/// A selection with the parameters of least predicted time. They are "segments" as above, and any other one that the
/// selection does not give (a radix, a number of chains), among its default and 2, 3, 4, 8. "cores" stays: the machine
/// says what it is.
[[nodiscard]] Selection with_best_parameters(const Selection& selection, Rank p, Count bytes, const Machine& machine,
                                             Rank root = 0);

/// An algorithm in a ranking.
struct Ranked {
  Selection selection{};     ///< with the best parameters
  Terms terms{};             ///< how often it pays each coefficient
  double time_s = 0;         ///< the prediction
  std::string unmet_need{};  ///< why the algorithm cannot serve the call; terms and time are 0 then
};

/// Puts the least time first, then the algorithms that cannot serve the call, in their order. Times tie if their
/// logarithms are equal after rounding to six digits after the point. In a tie, an algorithm that policies take by
/// themselves comes first. Then fewer rounds that wait for one another decide, and fewer copies of what is sent. One of
/// the circulant family comes next. The rest keeps its order. `p` is the number of ranks.
void sort_by_time(std::vector<Ranked>& ranking, Rank p);

/// True if an algorithm is made for nodes with several ranks each, that is, has the parameter "cores".
[[nodiscard]] bool is_for_nodes(const Algorithm& algorithm);

/// True if the ranks exchange counts before the data. So they do in a gatherv, scatterv or alltoallv whose blocks pass
/// through ranks that do not know their sizes.
[[nodiscard]] bool counts_go_first(const Selection& selection);

/// The reason why no ranking prices an algorithm for a collective that it could serve; empty if rankings do. With
/// `on_nodes`, the ranks are numbered node by node, several on each.
[[nodiscard]] std::string unranked_because(const Algorithm& algorithm, Collective collective, bool on_nodes);

/// All algorithms of a collective with their best parameters, in the order of sort_by_time. The machine's ranks share
/// no nodes. Algorithms that cannot serve the call, or that no ranking prices, come last.
[[nodiscard]] std::vector<Ranked> rank_algorithms(Collective collective, Rank p, Count bytes, const OperatorTraits& op,
                                                  const Machine& machine, Rank root = 0);

/// "T = ..." in alpha, beta, gamma, and alpha_uni, beta_uni where messages go one way. It is in p, the vector m, and
/// the letters of CostFormula. Longer parts follow in lines of their own.
[[nodiscard]] std::string time_formula(const Algorithm& algorithm, Collective collective);

}  // namespace circoll
