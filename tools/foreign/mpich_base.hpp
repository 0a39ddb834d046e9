// The tree that exported rules are put into: a library's own, or a plain one where none is at hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "foreign/mpich_names.hpp"
#include "foreign/mpich_tree.hpp"

namespace circoll::foreign::mpich {

/// The trees in a file, or in a shared library, which has them as strings.
[[nodiscard]] std::vector<Tree> trees_in(std::string_view bytes);

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

}  // namespace circoll::foreign::mpich
