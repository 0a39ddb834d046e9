// JSON of nested objects as json-c reads it, for MPICH's trees: members in order, with lines, some of them repeated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace circoll::foreign::mpich {

/// Bytes of a page: MPICH maps files, and reads them up to a zero behind their end.
inline constexpr std::size_t page_bytes = 4096;

/// An object, and the key that it stands under. Values that are no objects have the mark `scalar`.
struct Tree {
  std::string key{};
  std::size_t line = 1;
  bool scalar = false;
  std::vector<Tree> members{};

  friend bool operator==(const Tree& a, const Tree& b) { return a.key == b.key && a.members == b.members; }

  /// The first member of this key, or nullptr.
  [[nodiscard]] const Tree* find(std::string_view name) const;
};

/// A tree that has been read, and where it ends.
struct Parsed {
  Tree tree{};
  std::size_t end = 0;  ///< the position behind it
};

/// Reads the object that begins at `from`, or after blanks there. Text behind it is not looked at, as json-c does not.
/// Throws Error(parse) with `source` and the line: no JSON, more than 32 levels, or something else than an object.
[[nodiscard]] Parsed parse_tree(std::string_view text, const std::string& source, std::size_t from = 0);

/// The tree as JSON, a member on a line.
[[nodiscard]] std::string to_json(const Tree& tree);

/// An object without members, of this key.
[[nodiscard]] inline Tree leaf(std::string key) { return {.key = std::move(key)}; }
/// An object of members.
[[nodiscard]] inline Tree branch(std::string key, std::vector<Tree> members) {
  return {.key = std::move(key), .members = std::move(members)};
}

}  // namespace circoll::foreign::mpich
