// A neighbourhood collective on the command line: its name, and the graph or grid that its neighbours come from.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphs/halo.hpp"
#include "options/cli11.hpp"

namespace circoll::cli {

/// Options of commands that take a neighbourhood collective.
struct GraphOptions {
  std::string file;
  std::string grid;

  [[nodiscard]] bool given() const { return !file.empty() || !grid.empty(); }
};
/// Adds --graph and --cart.
void add_graph_options(CLI::App& command, GraphOptions& options);

/// True for "neighbor_alltoall" and all words that begin so.
[[nodiscard]] bool is_neighbor_word(std::string_view word);

/// A transformation that leaves words of neighbourhood collectives as they are, and does `other` with the rest.
[[nodiscard]] CLI::Validator neighbor_word_or(CLI::Validator other);

/// A call on a graph.
struct NeighborCall {
  std::string id{};                        ///< "neighbor_alltoallv/direct"
  std::optional<graphs::HaloWay> named{};  ///< the algorithm, if the word names one
  std::string graph{};                     ///< in words
  graphs::Halo halo{};

  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(halo.ranks.size()); }
  [[nodiscard]] graphs::HaloWay way() const { return named.value_or(graphs::HaloWay::direct); }
  /// Names the algorithm.
  void choose(graphs::HaloWay way);
};

/// Makes the call that "neighbor_alltoallv" or "neighbor_alltoallv/node_aware" names. The first word means `direct`
/// until somebody chooses. Without `ranks`, each vertex is a rank. Throws Error(unknown_name), Error(invalid_argument),
/// and as the readers of graphs do.
[[nodiscard]] NeighborCall read_neighbor_call(const std::string& word, const GraphOptions& options,
                                              std::optional<Rank> ranks);

/// The nodes of ranks that lie node by node.
[[nodiscard]] std::vector<Rank> node_by_node(Rank ranks, Rank cores);

/// Messages and bytes of a call, and those between nodes, in lines; `bytes` of each value.
[[nodiscard]] std::string traffic_in_words(const NeighborCall& call, const std::vector<Rank>& node_of, Count bytes);
/// The same numbers.
[[nodiscard]] nlohmann::ordered_json traffic_as_json(const NeighborCall& call, const std::vector<Rank>& node_of,
                                                     Count bytes);

/// Throws Error(invalid_argument) if a graph is given for a word that is no neighbourhood collective.
void refuse_graph(const std::string& word, const GraphOptions& options);

}  // namespace circoll::cli
