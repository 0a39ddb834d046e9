// Any bytes are a graph, or an error that names a line. A graph has sorted edges between its vertices.
// The bytes may be a grid in words, too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "circoll/error.hpp"
#include "graphs/graph.hpp"

namespace {

using namespace circoll;

void look_at(const graphs::Graph& graph) {
  if (graph.vertices < 1 || graph.vertices > graphs::most_vertices) std::abort();
  if (std::adjacent_find(graph.edges.begin(), graph.edges.end(), std::greater_equal<>{}) != graph.edges.end())
    std::abort();
  for (const graphs::Edge& edge : graph.edges) {
    if (edge.from < 0 || edge.from >= graph.vertices || edge.to < 0 || edge.to >= graph.vertices ||
        edge.from == edge.to)
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try {
    look_at(graphs::parse_graph(input, "file"));
  } catch (const Error& error) {
    const bool names_line = std::string_view(error.what()).substr(0, 5) == "file:";
    if (error.code() != ErrorCode::parse || !names_line) std::abort();
  }
  try {
    const graphs::Grid grid = graphs::parse_grid(input);
    if (grid.ranks() < 1 || grid.ranks() > graphs::most_vertices) std::abort();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) std::abort();
  }
  return 0;
}
