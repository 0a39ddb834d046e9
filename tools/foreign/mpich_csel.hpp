// MPICH's selection tree ("csel"): made of JSON as MPICH makes it, searched, and looked through for warnings.
//
// Each object is a chain of tests in order. A test that holds goes down, and one that does not goes to the next of its
// chain. A chain that ends without success ends the search: nothing is tried again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foreign/foreign.hpp"
#include "foreign/mpich_names.hpp"
#include "foreign/mpich_tree.hpp"

namespace circoll::foreign::mpich {

enum class Test : std::uint8_t {
  leaf,  ///< an algorithm, which ends the search
  unknown,
  collective,
  intra,
  inter,
  size_le,
  size_lt,
  size_node,  ///< all ranks are on one node
  size_pow2,
  ppn_le,
  ppn_lt,
  hierarchy,
  consecutive,
  threaded,
  average_le,
  average_lt,
  total_le,
  total_lt,
  count_le,
  count_pow2,
  commutative,
  built_in,
  in_place,
  regular,
  any,
};

/// A test as its key says it.
struct Condition {
  Test test = Test::unknown;
  std::int32_t value = 0;  ///< a bound, 1 or 0 of yes and no
  std::string word{};      ///< of collectives, hierarchies, algorithms
  bool exact = true;       ///< false if the number in the key is not the value
  bool any_hierarchy = false;
};

/// The condition of a key, as a version reads it. Blanks in it count for nothing.
[[nodiscard]] Condition condition_of(std::string_view text, Version version);
/// True for tests that MPICH makes when a communicator is created, and need no message.
[[nodiscard]] bool is_of_communicator(Test test);

struct Node {
  Condition condition{};
  std::string key{};
  std::size_t line = 1;
  int success = -1;
  int failure = -1;
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< of leaves
};

/// A tree as MPICH has read it.
struct SelectionTree {
  Version version = Version::v4_0;
  std::vector<Node> nodes{};
  int root = -1;
  std::string refusal{};  ///< the reason why MPI_Init ends the program; empty if it does not
  std::vector<Warning> warnings{};

  [[nodiscard]] const Node& at(int node) const { return nodes[static_cast<std::size_t>(node)]; }
};

[[nodiscard]] SelectionTree make_selection(const Tree& tree, Version version);

/// The visits of nodes by MPICH's check of the tree in MPI_Init, which goes down twice at each.
[[nodiscard]] double validation_visits(const SelectionTree& selection);

/// A call of a collective by its name in the tree ("ibcast"), with what a search sees.
struct Question {
  std::string collective{};
  Call call{};
};

/// The leaf that a search ends at.
struct Found {
  int node = -1;
  std::string end{};                 ///< the reason why the program ends instead
  std::vector<int> path{};           ///< tests that held
  std::vector<std::string> notes{};  ///< what was assumed
};

/// Searches as MPICH does: first the tests of the communicator, when it is created, then the others.
[[nodiscard]] Found search(const SelectionTree& selection, const Question& question);

/// True if MPICH has a definition of the test for the collective; where it has none it ends the program.
[[nodiscard]] bool is_defined(Test test, std::string_view collective);
/// "avg_msg_size", with which keys of the test begin. Empty for collectives and leaves.
[[nodiscard]] std::string_view name_of(Test test);
/// "ibcast" to "bcast", and the others to themselves.
[[nodiscard]] std::string_view blocking_name(std::string_view collective);

/// Warnings about a tree that MPICH accepts, in the order of lines. They are about tests that end the program or are
/// never reached, chains that run out, algorithms that wrong calls come to, and parameters that are missing.
[[nodiscard]] std::vector<Warning> lint(const SelectionTree& selection);

/// True if calls can come to the end of a chain, or to a test that is undefined for them.
[[nodiscard]] bool ends_calls(const SelectionTree& selection);

/// The reasons why an algorithm is wrong for a call; empty if it is right.
[[nodiscard]] std::vector<std::string> wrong_calls(const Needs& needs, const Call& call);

}  // namespace circoll::foreign::mpich
