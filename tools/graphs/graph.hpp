// Graphs of users: files of METIS and of Matrix Market, and grids in words. The commands that take --graph and --cart
// read them, and halo.hpp makes calls of neighbourhood collectives of them.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::graphs {

/// The value of a vertex that another one needs.
struct Edge {
  Rank from = 0;  ///< whose value it is
  Rank to = 0;    ///< which needs it

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// Vertices 0 .. vertices-1. Edges are sorted, each is there once, and none leads from a vertex to itself.
struct Graph {
  Rank vertices = 0;
  std::vector<Edge> edges{};
};

/// No graph has more vertices.
inline constexpr Rank most_vertices = Rank{1} << 28;

/// Reads a file of Matrix Market (coordinate, square) or of METIS. Row i of a matrix needs the value of column j for an
/// entry (i, j). An edge of METIS goes both ways; weights are read and not used. Throws Error(parse) with "source:line:
/// what".
[[nodiscard]] Graph parse_graph(std::string_view text, const std::string& source);
/// The same of a file. Throws Error(invalid_argument) if it cannot be read, or is larger than 1 GiB.
[[nodiscard]] Graph read_graph(const std::string& path);

/// A Cartesian grid.
struct Grid {
  std::vector<Rank> dimensions{};
  bool periodic = false;  ///< in all dimensions

  [[nodiscard]] Rank ranks() const;  ///< the product
};
/// Reads "8x8x8" or "8x8x8,periodic": 1 to 16 dimensions. Throws Error(parse).
[[nodiscard]] Grid parse_grid(std::string_view text);

}  // namespace circoll::graphs
