// The parts of the writer of MPICH's files.
//
// Exported rules are put into a tree, which is a library's own or a plain one. The tree can express some neutral rules,
// which become subtrees. Sentences tell about the others.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/foreign.hpp"
#include "foreign/mpich_csel.hpp"
#include "foreign/mpich_tree.hpp"

namespace circoll::foreign::mpich {

struct Base {
  Tree selection{};
  std::optional<Tree> composition{};  ///< of ch4, if it was there, too
  bool plain = false;                 ///< true if it is plain_tree()
};

/// The base of a text that has the library's selection tree, and perhaps its tree of compositions. For an empty text it
/// is the plain tree. Throws Error(invalid_argument) if there is no tree, or one that the version refuses or that does
/// not serve all calls.
[[nodiscard]] Base base_of(std::string_view text, Version version);

/// A tree of our own for all collectives, whose algorithms are right for every call.
[[nodiscard]] Tree plain_tree(Version version);

/// The composition that serves a collective by MPIR alone, whatever the nodes. Empty if the tree has none.
[[nodiscard]] std::string flat_composition(const Tree& composition, std::string_view collective);

/// A rule as the tree will have it. Without leaves the library decides. It also decides where the tree cannot express
/// a rule, for all calls that the tree cannot tell from those of the rule.
struct Expressible {
  Rule rule{};
  std::optional<Leaves> leaves{};
  Needs needs{};
  bool by_variable = false;  ///< control variables say it
};

struct ExpressibleRules {
  std::vector<Expressible> rules{};  ///< in order; the first that holds counts
  std::vector<std::string> losses{};
  std::vector<std::string> settings{};  ///< control variables that say what the tree cannot, as lines for the shell
};

[[nodiscard]] ExpressibleRules expressible(std::span<const Rule> rules, Version version);

/// The test of sizes whose value is the bytes of the vector. Nothing if there is none for the collective.
[[nodiscard]] std::optional<Test> size_test(Collective collective);
/// True if the tree tells operators apart for the collective.
[[nodiscard]] bool tells_operators(Collective collective);

/// True if a rule holds a call, where ranks per node are the average, as the tree tests them.
[[nodiscard]] bool holds(const Rule& rule, const Call& call);

/// The members of a leaf: the algorithm with its parameters.
[[nodiscard]] Tree leaf_tree(const std::string& full_name, const Rule& rule, Version version);

/// The members of a collective's tree for intracommunicators, by its blocking or nonblocking name. Calls that no rule
/// holds, or that a rule's algorithm is wrong for, get `otherwise`. Empty if that is all calls.
[[nodiscard]] std::vector<Tree> cells(std::span<const Expressible> rules, Collective collective, bool nonblocking,
                                      const std::vector<Tree>& otherwise, Version version);

}  // namespace circoll::foreign::mpich
