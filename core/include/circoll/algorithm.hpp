// Declarations of algorithms, and the registry of all of them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "circoll/builder.hpp"
#include "circoll/schedule.hpp"

namespace circoll {

/// The way in which an algorithm's schedules of all ranks come from that of rank 0.
enum class Rotation : std::uint8_t {
  none,   ///< they do not: each rank's is written
  ranks,  ///< peers are counted from the rank, and so are the blocks that the collective names for each rank
  parts,  ///< so are the p equal parts into which the algorithm cuts the one vector that all ranks have
};

/// Conditions under which an algorithm is correct; enforced on every path that leads to it.
struct Needs {
  bool commutative = false;   ///< the operator must be commutative
  bool idempotent = false;    ///< x op x = x (MIN, MAX, LAND, LOR, BAND, BOR)
  bool power_of_two = false;  ///< p must be a power of two
  bool even_size = false;     ///< p must be even
  Rank min_size = 1;          ///< smallest p
  Rank only_size = 0;         ///< the only p; 0: there are others
};

/// Properties beyond the collective's definition; proven by the verifier.
struct Guarantees {
  bool same_bits = false;   ///< all ranks compute a result block by the same expression, up to commutativity
  bool rank_order = false;  ///< operands are combined in the order of ranks 0, 1, ..., p-1
  /// In an alltoall(v), gather(v) or scatter(v), every block goes straight from its source to its destination. Nobody
  /// needs to know the sizes of blocks between others.
  bool direct = false;
};

/// Closed-form cost: the maximum over ranks, in blocks (multiply by m / blocks for elements of the vector of
/// m).
struct Cost {
  std::int64_t rounds = 0;    ///< communication rounds; a rank sends and receives at most one message in each
  std::int64_t sent = 0;      ///< blocks sent by a rank
  std::int64_t received = 0;  ///< blocks received by a rank
  std::int64_t reduced = 0;   ///< blocks combined by a rank (three-address reductions)
  std::int64_t copied = 0;    ///< blocks copied locally by a rank

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// The cost of the slowest way through a collective whose ranks go from round to round together. In every round the
/// longest message counts, and the rank that combines the most. One-way rounds, in which no rank both sends and
/// receives, are counted separately, because a machine may do them faster. Parts that follow one another add up.
struct CriticalPath {
  std::int64_t blocks = 1;          ///< parts of the vector of a rank (docs/lab/notation.md): the unit of volumes
  std::int64_t one_way = 0;         ///< rounds in which no rank both sends and receives
  std::int64_t volume = 0;          ///< blocks: the longest message of each of the other rounds, summed up
  std::int64_t one_way_volume = 0;  ///< blocks: the longest message of each one-way round, summed up
  std::int64_t combined = 0;        ///< blocks: the most that a rank combines in each round, summed up
  /// The longest chain of messages each of which is sent only after the one before has been received. The messages of
  /// the other rounds are under way meanwhile. 0: the algorithm does not say, so at most as many as rounds.
  std::int64_t levels = 0;

  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};

/// The rounds of a collective whose ranks have several ports. Consecutive rounds go at once, at most one for each port,
/// if no message of them waits for another one of them (groups_on_ports). The longest message of all these counts.
struct RoundsOnPorts {
  std::int64_t rounds = 0;          ///< groups of rounds that go at once
  std::int64_t one_way = 0;         ///< groups in which no rank both sends and receives
  std::int64_t volume = 0;          ///< blocks: the longest message of each of the other groups, summed up
  std::int64_t one_way_volume = 0;  ///< blocks: the longest message of each one-way group, summed up

  friend bool operator==(const RoundsOnPorts&, const RoundsOnPorts&) = default;
};

/// The number of each round's group, from 0 on. `waits_for[i]` is the latest round that a message of round i waits for;
/// -1: none. Precondition: ports >= 1.
[[nodiscard]] std::vector<std::int64_t> groups_on_ports(std::span<const std::int64_t> waits_for, std::int64_t ports);

/// Cost and critical path as formulas, for p >= 2. They are expressions in p, q = ceil(log2 p), L = floor(log2 p),
/// P = 2^L, r = p - P, n = segments, and other parameters by name: docs/lab/notation.md. A name of a field stands for
/// its value. A test computes them. "<= E" is a bound. "counted" says that only the functions below know the number.
/// "counted; E for A = B" says that there is a closed form for these values.
struct CostFormula {
  std::string_view rounds;   ///< communication rounds
  std::string_view sent;     ///< blocks sent by a rank, at most
  std::string_view reduced;  ///< blocks combined by a rank, at most
  // Of the critical path. Empty: as Algorithm::path says for nullptr.
  std::string_view blocks{};          ///< CriticalPath::blocks
  std::string_view two_way{};         ///< the other rounds
  std::string_view one_way{};         ///< CriticalPath::one_way
  std::string_view volume{};          ///< CriticalPath::volume
  std::string_view one_way_volume{};  ///< CriticalPath::one_way_volume
  std::string_view combined{};        ///< CriticalPath::combined
};

/// The families of the literature, by how messages travel. An algorithm of several parts belongs to the family of the
/// part between nodes, or of the part with most rounds.
enum class Family {
  undeclared,
  circulant,           ///< on a circulant graph whose distances are roughly halved, or divided by more
  recursive_doubling,  ///< exchanges at doubling or halving distances, partner = rank xor distance
  dissemination,       ///< Bruck's: to rank + 2^k, or from it
  ring,                ///< parts of the vector go once or twice around all ranks
  tree,                ///< binomial, k-nomial and binary trees
  chain,               ///< one or several lines of ranks; pipelines
  linear,              ///< one rank speaks to all others, one after the other
  pairwise,            ///< every block goes straight from its source to its destination
  hierarchical,        ///< leaders of nodes among each other, and each with its node
};
/// "recursive doubling"; "undeclared" for undeclared.
[[nodiscard]] std::string_view to_string(Family family);

/// The libraries whose own names for algorithms are declared.
enum class Library { openmpi, mpich, ucc };

/// The same algorithm in another library.
struct Peer {
  Library library = Library::openmpi;     ///< whose name it is
  std::string_view name{};                ///< the library's own, as its options spell it
  std::vector<Collective> collectives{};  ///< for which the library has it; empty: all that the algorithm serves
};
[[nodiscard]] inline Peer openmpi(std::string_view name, std::vector<Collective> collectives = {}) {
  return {Library::openmpi, name, std::move(collectives)};
}
[[nodiscard]] inline Peer mpich(std::string_view name, std::vector<Collective> collectives = {}) {
  return {Library::mpich, name, std::move(collectives)};
}
[[nodiscard]] inline Peer ucc(std::string_view name, std::vector<Collective> collectives = {}) {
  return {Library::ucc, name, std::move(collectives)};
}

/// An integer parameter may follow an id, as in "bcast/circulant_pipelined:segments=8".
struct ParamDeclaration {
  std::string_view name;      ///< as it stands before the "="
  std::int64_t minimum = 1;   ///< the least value that is accepted
  std::int64_t maximum = 1;   ///< the greatest value that is accepted
  std::int64_t fallback = 1;  ///< used if nobody says otherwise
  std::string_view summary;   ///< one line
};

/// An algorithm has a name, needs, guarantees, costs, and a function that writes its schedule.
struct Algorithm {
  /// The collectives it serves. The directory of its file is the first, and the only one if none is given. A schedule
  /// that does not look at sizes serves the regular and the irregular collective alike.
  std::vector<Collective> collectives{};
  std::string_view name{};             ///< "circulant", the name of its file
  std::string_view summary{};          ///< one line
  std::string_view source{};           ///< paper and section
  Family family = Family::undeclared;  ///< a test refuses undeclared
  /// The sizes and p at which it is the best choice, in a few words. It begins with "never by cost" if the model takes
  /// another one for every call (a test compares).
  std::string_view when{};
  /// Policies take it by themselves where they predict the least time. With false it serves by name only, since nobody
  /// has measured it yet, or on a machine with several ports, if it declares `on_ports`.
  bool automatic = true;
  std::vector<Peer> peers{};  ///< the same algorithm in other libraries
  Needs needs{};              ///< enforced wherever it is chosen
  Guarantees guarantees{};    ///< proven by the verifier
  /// Unless it is none, `build` is asked for rank 0 only, and the other ranks' schedules are that one, rotated.
  Rotation rotation = Rotation::none;
  CostFormula formula{};                   ///< cost and critical path in words, for p >= 2
  std::vector<ParamDeclaration> params{};  ///< its parameters, in the order in which they are shown
  /// The most messages from one rank to another. 0: a small number for each segment.
  std::int64_t pair_messages = 0;
  /// Honours shape.in_place; shape.rank is ignored.
  std::function<Cost(const Shape& shape)> cost{};
  /// The critical path, whatever shape.in_place and shape.rank are. It is {user blocks * segments, 0, cost.sent, 0,
  /// cost.reduced} for nullptr: in every round all ranks send and receive, and only "segments" cuts the vector.
  std::function<CriticalPath(const Shape& shape)> path{};
  /// The levels of the critical path, if they are fewer than rounds. If it is nullptr, CriticalPath::levels stays 0.
  std::int64_t (*levels)(const Shape& shape) = nullptr;
  /// The rounds of ranks that have `ports` >= 1 ports. If it is nullptr, nobody knows more than those of one port.
  RoundsOnPorts (*on_ports)(const Shape& shape, std::int64_t ports) = nullptr;
  /// Writes the part of rank builder.rank(), which is 0 if there is a rotation. O(rounds + blocks touched).
  std::function<void(Builder& builder)> build{};

  [[nodiscard]] bool serves(Collective collective) const;  ///< true if the collective is one of `collectives`
  /// The declaration of a parameter, or nullptr.
  [[nodiscard]] const ParamDeclaration* param(std::string_view name) const;
  /// The names that a library has for it, serving this collective; empty if the library does not have it.
  [[nodiscard]] std::vector<std::string_view> names_in(Library library, Collective collective) const;
  /// "allreduce/circulant" for a collective that it serves.
  [[nodiscard]] std::string id(Collective collective) const;
};

/// The algorithm described, with the name of its file and the collective of its directory if it gives none.
[[nodiscard]] Algorithm of_file(Collective directory, std::string_view name, Algorithm described);

/// The critical path of an algorithm that serves a collective. O(log p) where the algorithm's closed form is.
[[nodiscard]] CriticalPath critical_path(const Algorithm& algorithm, Collective collective, const Shape& shape);

/// An algorithm serving one of its collectives, with parameters, as an id names it.
struct Selection {
  const Algorithm* algorithm = nullptr;         ///< nullptr: nothing was selected
  Collective collective = Collective::barrier;  ///< one that the algorithm serves
  Params params{};                              ///< those that were given; others have their fallback

  [[nodiscard]] std::string id() const;    ///< without parameters
  [[nodiscard]] std::string text() const;  ///< "name:param=value,param=value", as parse_selection reads it
};

/// All algorithms, in the order of their paths.
[[nodiscard]] const std::vector<const Algorithm*>& all_algorithms();
/// The algorithms that serve a collective, in the order of their paths.
[[nodiscard]] std::vector<const Algorithm*> algorithms_of(Collective collective);
/// The algorithm of this name in the registry for a collective, or nullptr.
[[nodiscard]] const Algorithm* find_algorithm(Collective collective, std::string_view name);
/// Reads "collective/name" or "collective/name:param=value,param=value". Numbers may end in Ki, Mi, Gi. Every algorithm
/// but those of scan and exscan takes "relabel", the number of ranks on a node: its ranks are relabelled across nodes
/// (relabelling.hpp). An algorithm that declares "segments" also takes "segment", the size of a segment in bytes,
/// instead; see with_segment_count. "file:PATH", also after "collective/", is the algorithm whose schedules are in a
/// file (docs/lab/formats.md). It is read once, proven, and kept for good. Throws Error: parse, unknown_name (with the
/// nearest names), invalid_argument (parameter out of range, unreadable file), refuted (file).
[[nodiscard]] Selection parse_selection(std::string_view id);
/// The same without the collective, from "name[:params]".
[[nodiscard]] Selection parse_selection(Collective collective, std::string_view name_and_params);

/// Replaces a selection's "segment" (bytes) by "segments", a number rounded up and clamped to the declared range. The
/// number counts segments of the part that the algorithm cuts. That part is the vector of `bytes` divided by the blocks
/// of the schedule with one segment:
///   - for allreduce/segmented_ring a p-th of the vector,
///   - for allgather/ring a rank's block,
///   - for bcast/pipeline the whole vector,
///   - for bcast/split_binary half of the vector.
/// Returns any other selection as it is. O(building a schedule).
[[nodiscard]] Selection with_segment_count(const Selection& selection, Rank p, Count bytes);

/// Properties of an operator that algorithms may need.
struct OperatorTraits {
  bool commutative = true;  ///< x op y = y op x
  bool idempotent = false;  ///< x op x = x

  friend bool operator==(const OperatorTraits&, const OperatorTraits&) = default;
};
[[nodiscard]] std::string unmet_need(const Algorithm& algorithm, Rank size, const OperatorTraits& op);
/// The same for a selection, whose parameters may have needs of their own.
[[nodiscard]] std::string unmet_need(const Selection& selection, Rank size, const OperatorTraits& op);
/// The algorithm's needs with these parameters. A relabelled reduction must commute, and is not in the order of ranks.
[[nodiscard]] Needs needs_of(const Algorithm& algorithm, Collective collective, const Params& params);
[[nodiscard]] Guarantees guarantees_of(const Algorithm& algorithm, const Params& params);  ///< with these parameters

/// The shape of the schedule that is relabelled to get the one of `shape`. It has the label of the rank, that of the
/// root, and no parameter "relabel". Without that parameter it is the same. The declared cost of an algorithm holds for
/// it. Throws Error(invalid_argument) for a shape outside its ranges. O(p) if relabelled.
[[nodiscard]] Shape labelled(Collective collective, const Shape& shape);

/// Builds one rank's schedule; with the parameter "relabel" that of its label, relabelled. Throws Error(unsupported) if
/// a need that depends on p does not hold, and Error(invalid_argument) for a shape outside its ranges.
[[nodiscard]] Schedule build_schedule(const Algorithm& algorithm, Collective collective, const Shape& shape);
[[nodiscard]] Schedule build_schedule(std::string_view id, const Shape& shape);

/// Adds a finished part of another algorithm to a builder: the way algorithms are composed.
[[nodiscard]] Schedule build_part(const Builder& outer, std::string_view id, const Shape& shape);

}  // namespace circoll

/// Defines the algorithm of the file core/algorithms/<collective>/<name>.cpp; see HACKING.md. A function follows that
/// returns its description. The name and the first collective are those of the path.
#define CIRCOLL_ALGORITHM(collective_name, algorithm_name)                                  \
  namespace circoll::algorithms::collective_name {                                          \
  const Algorithm& algorithm_name();                                                        \
  static Algorithm describe_##algorithm_name();                                             \
  }                                                                                         \
  const circoll::Algorithm& circoll::algorithms::collective_name::algorithm_name() {        \
    static const Algorithm algorithm =                                                      \
        of_file(Collective::collective_name, #algorithm_name, describe_##algorithm_name()); \
    return algorithm;                                                                       \
  }                                                                                         \
  circoll::Algorithm circoll::algorithms::collective_name::describe_##algorithm_name()
