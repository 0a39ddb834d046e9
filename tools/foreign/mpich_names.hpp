// Algorithms of MPICH: their names by version, what calls they are right for, and the parameters that they take.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::foreign::mpich {

/// The versions that read alike; patch releases differ in nothing that concerns tuning files.
enum class Version { v4_0, v4_1, v4_2, v4_3, v5_0 };

/// The version of a reader: "mpich-4.0". Nothing for other readers.
[[nodiscard]] std::optional<Version> version_of(std::string_view reader_id);
/// "4.0".
[[nodiscard]] std::string_view to_string(Version version);

/// The names of the collectives after "collective=", which a file must have all: MPI's, in lower case.
[[nodiscard]] std::span<const std::string_view> tree_collectives();
/// True if the version knows an algorithm by this name, as leaves have it: "MPIR_Bcast_intra_binomial".
[[nodiscard]] bool is_known(std::string_view full_name, Version version);
/// Circoll's name of a leaf's algorithm: "binomial", "tsp_tree", "nb". The whole name if it is of no known form.
[[nodiscard]] std::string short_name(std::string_view full_name);
/// The name under "collective=" that an algorithm belongs to: "MPIR_Ireduce_scatter_intra_tsp_recexch" to
/// "ireduce_scatter". Empty if there is none.
[[nodiscard]] std::string collective_of(std::string_view full_name);

/// "MPIR_Bcast", with which names of algorithms for "bcast" begin.
[[nodiscard]] std::string start_of(std::string_view collective);
/// "BCAST", as it stands in names of control variables.
[[nodiscard]] std::string variable_part(Collective collective);

/// A rule's algorithm as leaves of trees: those of nonblocking collectives are reached by the blocking one's "nb".
struct Leaves {
  std::string blocking{};
  std::string nonblocking{};  ///< empty if the blocking collective has the algorithm itself
};
/// The leaves of an algorithm as Rule::algorithm names it. Nothing if the version does not have it.
[[nodiscard]] std::optional<Leaves> leaves_of(Collective collective, std::string_view name, Version version);
/// The names that leaves_of understands.
[[nodiscard]] std::vector<std::string_view> names_of(Collective collective, Version version);

/// The calls that an algorithm is right for. MPICH tests none of this where a leaf of a tree names it.
struct Needs {
  bool commutative = false;
  bool built_in = false;        ///< an operator of MPI's own; all of them commute
  bool power_of_two = false;    ///< ranks
  bool count_for_each = false;  ///< at least one element for each rank of the largest power of two
  bool regular = false;         ///< blocks of one size
  bool not_in_place = false;
  bool in_place = false;
  bool hierarchy = false;    ///< several ranks on some node
  bool consecutive = false;  ///< ranks of a node follow one another

  friend bool operator==(const Needs&, const Needs&) = default;
};
[[nodiscard]] Needs needs_of(std::string_view full_name);

/// A parameter of an algorithm: a key inside the leaf. One that is not given is read from memory that nobody has set.
struct Parameter {
  std::string_view name;
  std::string_view usual;  ///< the value of the control variable's default
};
/// The parameters that the version reads from the leaf.
[[nodiscard]] std::span<const Parameter> parameters_of(std::string_view full_name, Version version);
/// The reason why a leaf cannot give the algorithm its parameters; empty if it can, or has none.
[[nodiscard]] std::string unsettable(std::string_view full_name, Version version);
/// The value of "tree_type=" for k-nomial trees, which is a number at first and a word later.
[[nodiscard]] std::string_view knomial_tree(Version version);
/// True if tree_type is read as a number.
[[nodiscard]] bool numbered_trees(Version version);

}  // namespace circoll::foreign::mpich
