#include "graph/neighbor_call.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/text.hpp"

namespace circoll::cli {
namespace {

constexpr std::string_view prefix = "neighbor_";
using graphs::HaloWay;
constexpr std::array ways{std::pair("direct", HaloWay::direct), std::pair("node_aware", HaloWay::node_aware)};

/// Reads "neighbor_alltoall" or "neighbor_alltoall/direct".
void read_word(const std::string& word, NeighborCall& call) {
  const std::string_view name = std::string_view(word).substr(0, word.find('/'));
  const std::string_view way = std::string_view(word).substr(std::min(name.size() + 1, word.size()));
  const auto function = std::ranges::find(all_neighbor_functions, name, [](auto f) { return to_string(f); });
  if (function == all_neighbor_functions.end()) {
    std::string known;
    for (const NeighborFunction one : all_neighbor_functions)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(one));
    throw Error(ErrorCode::unknown_name, fmt::format("'{}' is no neighbourhood collective: there are {}", name, known));
  }
  call.halo.function = *function;
  call.choose(HaloWay::direct);
  call.named.reset();
  if (name.size() == word.size()) return;
  const auto found = std::ranges::find(ways, way, [](const auto& one) { return std::string_view(one.first); });
  if (found == ways.end()) {
    throw Error(ErrorCode::unknown_name,
                fmt::format("'{}': neighbourhood collectives have two algorithms, {}/direct and {}/node_aware", word,
                            name, name));
  }
  call.choose(found->second);
}

std::string in_words(const graphs::Grid& grid) {
  std::string text;
  for (const Rank dimension : grid.dimensions) text += fmt::format("{}{}", text.empty() ? "" : " x ", dimension);
  return fmt::format("grid of {}{}", text, grid.periodic ? ", periodic" : "");
}

}  // namespace

void add_graph_options(CLI::App& command, GraphOptions& options) {
  CLI::Option* const file =
      command.add_option("--graph", options.file, "A graph, for neighbor_alltoall and so on (METIS, Matrix Market)")
          ->type_name("FILE");
  command.add_option("--cart", options.grid, "A Cartesian grid instead: 8x8x8, or 8x8x8,periodic")
      ->type_name("GRID")
      ->excludes(file);
}

bool is_neighbor_word(std::string_view word) { return word.starts_with(prefix); }

CLI::Validator neighbor_word_or(CLI::Validator other) {
  const std::string description = other.get_description();
  return {
      [other = std::move(other)](std::string& word) { return is_neighbor_word(word) ? std::string() : other(word); },
      description};
}

void NeighborCall::choose(HaloWay way) {
  named = way;
  id = fmt::format("{}/{}", to_string(halo.function), ways.at(static_cast<std::size_t>(way)).first);
}

NeighborCall read_neighbor_call(const std::string& word, const GraphOptions& options, std::optional<Rank> ranks) {
  constexpr Rank most_ranks = Rank{1} << 20;
  NeighborCall call;
  read_word(word, call);
  const NeighborFunction function = call.halo.function;
  if (!options.given()) misuse(fmt::format("{} needs a graph: --graph FILE, or --cart 8x8x8", to_string(function)));
  const auto check = [&](Rank p) {
    if (p > most_ranks) misuse(fmt::format("a graph of {} ranks is too large: at most {}", p, most_ranks));
  };
  if (!options.grid.empty()) {
    const graphs::Grid grid = graphs::parse_grid(options.grid);
    if (ranks && *ranks != grid.ranks())
      misuse(fmt::format("-p {} is not the number of ranks of --cart {}: {}", *ranks, options.grid, grid.ranks()));
    check(grid.ranks());
    call.graph = in_words(grid);
    call.halo = halo_of(grid, function);
    return call;
  }
  const graphs::Graph graph = graphs::read_graph(options.file);
  const Rank p = ranks.value_or(graph.vertices);
  if (p > graph.vertices)
    misuse(fmt::format("-p {} is more than the {} vertices of {}", p, graph.vertices, options.file));
  check(p);
  call.graph =
      fmt::format("{}: {} vertices, {} edges from one to another", options.file, graph.vertices, graph.edges.size());
  call.halo = halo_of(graph, p, function);
  return call;
}

std::vector<Rank> node_by_node(Rank ranks, Rank cores) {
  std::vector<Rank> node_of;
  for (Rank r = 0; r < ranks; ++r) node_of.push_back(r / cores);
  return node_of;
}

namespace {

/// The least and the most neighbours that a rank sends to, itself not counted.
std::pair<std::size_t, std::size_t> neighbours(const graphs::Halo& halo) {
  std::pair<std::size_t, std::size_t> range{halo.ranks.size(), 0};
  for (const Neighborhood& one : halo.ranks) {
    const auto number = static_cast<std::size_t>(
        std::ranges::count_if(one.out, [&](const NeighborEdge& edge) { return edge.peer != one.rank; }));
    range = {std::min(range.first, number), std::max(range.second, number)};
  }
  return range;
}

}  // namespace

std::string traffic_in_words(const NeighborCall& call, const std::vector<Rank>& node_of, Count bytes) {
  const graphs::HaloTraffic traffic = traffic_of(call.halo, node_of);
  const auto [least, most] = neighbours(call.halo);
  std::string text = fmt::format("graph      {}\nneighbours {} to {} of each rank\n", call.graph, least, most);
  const Rank nodes = *std::ranges::max_element(node_of) + 1;
  const auto line = [&](const char* what, const auto& all, const auto& between, const auto& joined) {
    text += fmt::format("{:<10} {}", what, all);
    if (nodes > 1) text += fmt::format(", of which {} between nodes ({} by node_aware)", between, joined);
    text += "\n";
  };
  line("messages", traffic.messages, traffic.messages_between, traffic.joined_messages);
  line("traffic", readable_bytes(traffic.values * bytes), readable_bytes(traffic.values_between * bytes),
       readable_bytes(traffic.joined_values * bytes));
  return text;
}

nlohmann::ordered_json traffic_as_json(const NeighborCall& call, const std::vector<Rank>& node_of, Count bytes) {
  const graphs::HaloTraffic traffic = traffic_of(call.halo, node_of);
  const auto [least, most] = neighbours(call.halo);
  return {{"graph", call.graph},
          {"least_neighbours", least},
          {"most_neighbours", most},
          {"messages", traffic.messages},
          {"bytes", traffic.values * bytes},
          {"messages_between", traffic.messages_between},
          {"bytes_between", traffic.values_between * bytes},
          {"joined_messages", traffic.joined_messages},
          {"joined_bytes", traffic.joined_values * bytes}};
}

void refuse_graph(const std::string& word, const GraphOptions& options) {
  if (options.given())
    misuse(fmt::format("--graph and --cart are for neighbourhood collectives, such as neighbor_alltoall, not for {}",
                       word));
}

}  // namespace circoll::cli
