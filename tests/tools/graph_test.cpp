// Graphs: files of METIS and Matrix Market, damaged ones, grids, calls on them, and the commands that take them.
#include "graphs/graph.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "circoll/error.hpp"
#include "graphs/halo.hpp"
#include "support/command.hpp"
#include "verify/neighborhood.hpp"

namespace circoll::graphs {
namespace {

/// A path of four vertices, 0 - 1 - 2 - 3, and vertex 4 alone.
const std::string metis = "% a path\n5 3\n2\n1 3\n2 4\n3\n\n";
const std::string matrix =
    "%%MatrixMarket matrix coordinate real symmetric\n% a path\n\n5 5 6\n1 1 2.5\n2 1 -1e3\n3 2 +.5\n4 3 1\n5 5 1\n4 4 "
    "0\n";
const std::vector<Edge> path{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}};

TEST(Graph, IsReadFromBothForms) {
  for (const std::string& text : {metis, matrix}) {
    const Graph graph = parse_graph(text, "file");
    EXPECT_EQ(graph.vertices, 5);
    EXPECT_EQ(graph.edges, path) << text;
  }
  // The last empty lines may be missing; lines may end as on Windows, and the last one not at all.
  EXPECT_EQ(parse_graph("5 3\r\n2\r\n1 3\r\n2 4\r\n3", "file").edges, path);
  // A row needs the value of a column. Entries may be there twice.
  const Graph one_way = parse_graph("%%MatrixMarket MATRIX Coordinate Pattern General\n3 3 3\n1 3\n1 3\n2 2\n", "file");
  EXPECT_EQ(one_way.edges, (std::vector<Edge>{{2, 0}}));
  EXPECT_EQ(parse_graph("%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 -1\n", "file").edges.size(),
            2U);
}

TEST(Graph, SkipsTheWeightsOfMetis) {
  EXPECT_EQ(parse_graph("5 3 001\n2 7\n1 7 3 9\n2 9 4 1\n3 1\n", "file").edges, path);
  EXPECT_EQ(parse_graph("5 3 011 2\n1 1 2 7\n1 1 1 7 3 9\n1 1 2 9 4 1\n1 1 3 1\n1 1\n", "file").edges, path);
  EXPECT_EQ(parse_graph("5 3 110\n4 1 2\n4 1 1 3\n4 1 2 4\n4 1 3\n4 1\n", "file").edges, path);
}

TEST(Graph, DamagedFilesAreErrorsThatNameTheLine) {
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::map<std::string, std::string> wrong{
      {"", "file:1: the line of vertices and edges is missing"},
      {"% only a comment\n", "file:1: the line of vertices and edges is missing"},
      {"x 3\n", "file:1: the number of vertices is a whole number of 1 to 268435456, not 'x'"},
      {"0 0\n", "file:1: the number of vertices is"},
      {"5\n", "file:1: the number of edges is missing"},
      {"5 -1\n", "file:1: the number of edges is"},
      {"99999999999999999999 1\n", "file:1: the number of vertices is"},
      {"2 1 002\n2\n1\n", "file:1: the format (fmt) consists of the digits 0 and 1"},
      {"2 1 001 1\n2 1\n1 1\n", "file:1: there is a number of weights (ncon)"},
      {"2 1 0 1 5\n", "file:1: there is a number of weights"},
      {"2 1 010 1 5\n", "file:1: the line goes on with '5', where it should end"},
      {"2 1\n3\n1\n", "file:2: a neighbour is a whole number of 1 to 2, not '3'"},
      {"2 1\n1\n1\n", "file:2: vertex 1 is a neighbour of itself"},
      {"2 1\n2", "file:2: the file ends after 1 of 2 vertices"},
      {"2 1\n2\n1\n1\n", "file:4: there are more lines than 2 vertices"},
      {"3 2\n2\n1\n\n",
       "file:4: 2 edges stand in the lines of both of their vertices, which makes 4 neighbours, not 2"},
      {"3 1\n2\n3\n\n", "file:4: vertex 1 has 2 as a neighbour, and 2 does not have 1"},
      {"2 1 001\n2\n1\n", "file:2: the weight of an edge is missing"},
      {"2 1 010\n\n1\n", "file:2: the weight of a vertex is missing"},
      {"%%MatrixMarket\n2 2 0\n", "file:1: the file has a matrix, not ''"},
      {"%%MatrixMarket vector coordinate real general\n", "file:1: the file has a matrix, not 'vector'"},
      {"%%MatrixMarket matrix array real general\n", "file:1: a graph is a matrix of format coordinate"},
      {"%%MatrixMarket matrix coordinate double general\n", "file:1: entries are real, integer, complex or pattern"},
      {"%%MatrixMarket matrix coordinate real upper\n", "file:1: a matrix is general, symmetric"},
      {"%%MatrixMarket matrix coordinate real general 3\n", "file:1: the line goes on with '3'"},
      {head, "file:1: the line of rows, columns and entries is missing"},
      {head + "2 3 0\n", "file:2: the matrix of a graph is square, not 2 x 3"},
      {head + "2 2\n", "file:2: the number of entries is missing"},
      {head + "2 2 1\n", "file:2: the file ends after 0 of 1 entries"},
      {head + "2 2 1\n1 2\n2 1\n", "file:4: there are more entries than 1"},
      {head + "2 2 1\n1\n", "file:3: the column of an entry is missing"},
      {head + "2 2 1\n1 3\n", "file:3: the column of an entry is a whole number of 1 to 2, not '3'"},
      {head + "2 2 1\n1 2 5\n", "file:3: the line goes on with '5'"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n", "file:3: the value of an entry is missing"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.x\n", "file:3: the value of an entry is a number"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "file:3: a symmetric matrix has entries"},
  };
  for (const auto& [text, message] : wrong) {
    try {
      (void)parse_graph(text, "file");
      ADD_FAILURE() << text << " was read; expected: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << text;
      EXPECT_TRUE(std::string(error.what()).starts_with(message)) << text << "\n" << error.what();
    }
  }
}

TEST(Graph, EveryCutOfAFileIsReadOrRefused) {
  for (const std::string& text : {metis, matrix}) {
    int refused = 0;
    for (std::size_t length = 0; length < text.size(); ++length) {
      try {
        const Graph graph = parse_graph(text.substr(0, length), "file");
        EXPECT_EQ(graph.vertices, 5);
        EXPECT_EQ(graph.edges, path) << length;  // only what says nothing was missing
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::parse);
        ++refused;
      }
    }
    EXPECT_GT(refused, 20);
  }
}

TEST(Grid, IsReadFromWords) {
  EXPECT_EQ(parse_grid("8x4x2").dimensions, (std::vector<Rank>{8, 4, 2}));
  EXPECT_FALSE(parse_grid("8x4x2").periodic);
  EXPECT_TRUE(parse_grid("7,periodic").periodic);
  EXPECT_EQ(parse_grid("3x1,periodic").ranks(), 3);
  for (const char* text : {"", "x", "8x", "x8", "0x2", "-1", "8x8,cyclic", "8 x 8", "99999999x99999999", "8X8",
                           ",periodic", "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"}) {
    EXPECT_THROW((void)parse_grid(text), Error) << text;
  }
}

/// Values from rank to rank by the definition.
std::map<std::pair<Rank, Rank>, std::set<Rank>> needed(const Graph& graph, Rank ranks) {
  const auto owner = [&](Rank vertex) {
    Rank rank = 0;
    while ((rank + 1) * graph.vertices / ranks <= vertex) ++rank;
    return rank;
  };
  std::map<std::pair<Rank, Rank>, std::set<Rank>> all;
  for (const Edge& edge : graph.edges) {
    if (owner(edge.from) != owner(edge.to)) all[{owner(edge.from), owner(edge.to)}].insert(edge.from);
  }
  return all;
}

/// A matrix with pseudo-random entries.
Graph scattered(Rank vertices, int entries) {
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + std::to_string(vertices) + " " +
                     std::to_string(vertices) + " " + std::to_string(entries) + "\n";
  std::uint32_t state = 12345;
  const auto draw = [&] { return (state = state * 1664525 + 1013904223) >> 8U; };
  for (int i = 0; i < entries; ++i) {
    text += std::to_string(draw() % vertices + 1) + " ";
    text += std::to_string(draw() % vertices + 1) + "\n";
  }
  return parse_graph(text, "scattered");
}

TEST(Halo, SendsTheValuesThatTheVerticesOfOthersNeed) {
  const Graph graph = scattered(61, 200);
  for (const Rank ranks : {1, 2, 7, 16, 61}) {
    const auto expected = needed(graph, ranks);
    const Halo halo = halo_of(graph, ranks, NeighborFunction::alltoallv);
    ASSERT_EQ(static_cast<Rank>(halo.ranks.size()), ranks);
    std::size_t edges = 0;
    for (Rank r = 0; r < ranks; ++r) {
      const Neighborhood& one = halo.ranks[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < one.out.size(); ++i, ++edges) {
        const auto found = expected.find({r, one.out[i].peer});
        ASSERT_NE(found, expected.end());
        EXPECT_EQ(halo.values[static_cast<std::size_t>(r)][i], static_cast<Count>(found->second.size()));
      }
    }
    EXPECT_EQ(edges, expected.size());
  }
  EXPECT_THROW((void)halo_of(graph, 62, NeighborFunction::alltoall), Error);
  EXPECT_THROW((void)halo_of(graph, 0, NeighborFunction::alltoall), Error);
}

/// A block for each value is what the proof knows as an edge for each value, to the same peer one after another.
TEST(Halo, SchedulesHaveABlockForEachValue) {
  const Graph graph = scattered(40, 150);
  for (const NeighborFunction function : all_neighbor_functions) {
    for (const Rank ranks : {1, 3, 8}) {
      const Halo halo = halo_of(graph, ranks, function);
      const std::vector<Schedule> schedules = schedules_of(halo);
      Count values = 0, sent = 0, received = 0;
      for (std::size_t r = 0; r < schedules.size(); ++r) {
        EXPECT_NO_THROW(check_structure(schedules[r]));
        for (const Count one : halo.values[r]) values += one;
        for (const Step& step : schedules[r].steps) {
          if (step.kind == StepKind::send) sent += schedules[r].count(step.left);
          if (step.kind == StepKind::recv) received += schedules[r].count(step.dst);
        }
      }
      EXPECT_EQ(sent, values) << to_string(function);
      EXPECT_EQ(received, values) << to_string(function);
    }
  }
}

TEST(Halo, OfEqualBlocksIsProven) {
  const Graph graph = scattered(12, 40);
  for (const NeighborFunction function : {NeighborFunction::allgather, NeighborFunction::alltoall}) {
    std::vector<Halo> halos{halo_of(graph, 5, function), halo_of(graph, 12, function)};
    for (const char* grid : {"6", "3x4", "2x2x3,periodic", "1x5,periodic", "2,periodic", "4x1"})
      halos.push_back(halo_of(parse_grid(grid), function));
    for (const Halo& halo : halos) {
      const auto refuted = verify::refute_neighborhood(halo.ranks, contract_of(function), schedules_of(halo));
      EXPECT_FALSE(refuted.has_value()) << refuted->to_string();
    }
  }
}

TEST(Halo, CountsWhatCrossesBetweenNodes) {
  const Graph graph = scattered(60, 240);
  const std::vector<Rank> node_of{0, 0, 0, 1, 1, 2, 2, 2, 2, 0};
  const auto expected = needed(graph, 10);
  for (const NeighborFunction function : all_neighbor_functions) {
    const Halo halo = halo_of(graph, 10, function);
    HaloTraffic naive;
    std::set<std::pair<Rank, Rank>> pairs;
    std::map<std::pair<Rank, Rank>, Count> once;  // of a rank, at a node
    std::map<Rank, std::set<Rank>> contributed;
    for (const auto& [edge, vertices] : expected) contributed[edge.first].insert(vertices.begin(), vertices.end());
    for (const auto& [edge, vertices] : expected) {
      Count values = 1;
      if (function == NeighborFunction::allgatherv) values = static_cast<Count>(contributed[edge.first].size());
      if (function == NeighborFunction::alltoallv || function == NeighborFunction::alltoallw)
        values = static_cast<Count>(vertices.size());
      ++naive.messages;
      naive.values += values;
      const Rank from = node_of[static_cast<std::size_t>(edge.first)],
                 to = node_of[static_cast<std::size_t>(edge.second)];
      if (from == to) continue;
      ++naive.messages_between;
      naive.values_between += values;
      pairs.emplace(from, to);
      once[{edge.first, to}] = values;
      naive.joined_values += values;
    }
    if (contract_of(function) == NeighborContract::allgather) {
      naive.joined_values = 0;
      for (const auto& [key, values] : once) naive.joined_values += values;
    }
    const HaloTraffic traffic = traffic_of(halo, node_of);
    EXPECT_EQ(traffic.messages, naive.messages);
    EXPECT_EQ(traffic.values, naive.values);
    EXPECT_EQ(traffic.messages_between, naive.messages_between);
    EXPECT_EQ(traffic.values_between, naive.values_between);
    EXPECT_EQ(traffic.joined_messages, static_cast<Count>(pairs.size()));
    EXPECT_EQ(traffic.joined_values, naive.joined_values) << to_string(function);
    Count joined_messages = 0, joined_values = 0;
    for (const Schedule& schedule : schedules_of(halo, HaloWay::node_aware, node_of)) {
      for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send ||
            node_of[static_cast<std::size_t>(step.peer)] == node_of[static_cast<std::size_t>(schedule.shape.rank)])
          continue;
        ++joined_messages;
        joined_values += schedule.count(step.left);
      }
    }
    EXPECT_EQ(traffic.joined_messages, joined_messages);
    EXPECT_EQ(traffic.joined_values, joined_values) << to_string(function);
  }
  EXPECT_THROW((void)traffic_of(halo_of(graph, 3, NeighborFunction::alltoall), node_of), Error);
}

/// A file that is removed in the end.
class GraphFile {
 public:
  explicit GraphFile(const std::string& text)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("circoll_graph_" + std::to_string(std::hash<std::string>{}(text)))) {
    std::ofstream(path_) << text;
  }
  ~GraphFile() { std::filesystem::remove(path_); }
  GraphFile(const GraphFile&) = delete;
  GraphFile& operator=(const GraphFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(CliGraph, ExplainCountsMessagesAndBytes) {
  // A ring of 8 ranks on 2 nodes: 16 messages, of which 4 cross.
  const CommandResult text = run("explain neighbor_alltoall --cart 8,periodic --cores 4 --bytes 1Ki");
  EXPECT_EQ(text.exit_code, 0);
  for (const char* part :
       {"call       neighbor_alltoall, p = 8, values of 1 KiB, on 2 nodes of 4\n", "graph      grid of 8, periodic\n",
        "neighbours 2 to 2 of each rank\n", "messages   16, of which 4 between nodes (2 by node_aware)\n",
        "traffic    16 KiB, of which 4 KiB between nodes (4 KiB by node_aware)\n",
        "choice     neighbor_alltoall/direct\n"}) {
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  }
  const GraphFile file(matrix);
  const auto json =
      nlohmann::json::parse(run("explain neighbor_alltoallv --graph " + file.path() + " -p 3 --json").out);
  EXPECT_EQ(json.at("p"), 3);
  EXPECT_EQ(json.at("messages"), 4);
  EXPECT_EQ(json.at("bytes"), 4 * 8);
  EXPECT_EQ(json.at("messages_between"), 4);
}

TEST(CliGraph, ExplainComparesBothAlgorithms) {
  // Each rank of a node has three neighbours on each other node, for which a node's four ranks need one message.
  const std::string call = "explain neighbor_alltoall --cart 2x2x2x2,periodic --cores 4 --json";
  const auto far = nlohmann::json::parse(run(call + " --machine leonardo").out);
  EXPECT_EQ(far.at("direct_us").get<double>() > far.at("node_aware_us").get<double>(),
            far.at("choice") == "neighbor_alltoall/node_aware");
  const auto named =
      nlohmann::json::parse(run("explain neighbor_alltoall/node_aware --cart 2x2x2x2,periodic --cores 4 --json").out);
  EXPECT_EQ(named.at("choice"), "neighbor_alltoall/node_aware");
  const auto one_node = nlohmann::json::parse(run("explain neighbor_alltoall --cart 4 --cores 4 --json").out);
  EXPECT_EQ(one_node.at("choice"), "neighbor_alltoall/direct");
}

TEST(CliGraph, ShowDrawsAndPrints) {
  const CommandResult drawn = run("show neighbor_alltoall --cart 3x3 --format svg");
  EXPECT_EQ(drawn.exit_code, 0);
  EXPECT_TRUE(contains(drawn.out, "neighbor_alltoall/direct")) << drawn.out.substr(0, 400);
  const CommandResult rank = run("show neighbor_allgather/direct --cart 4 --rank 1");
  EXPECT_TRUE(contains(rank.out, "neighbor_allgather/direct")) << rank.out;
  const CommandResult joined = run("show neighbor_alltoall/node_aware --cart 2x4 --cores 4 --rank 0");
  EXPECT_TRUE(contains(joined.out, "neighbor_alltoall/node_aware")) << joined.out;
}

TEST(CliGraph, RefusesWhatMakesNoSense) {
  const GraphFile file(metis);
  const GraphFile damaged("3 2\n2\n");
  const auto expect_misuse = [](const std::string& arguments, const std::string& what) {
    const CommandResult outcome = run(arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.out;
    EXPECT_TRUE(contains(outcome.out, what)) << arguments << "\n" << outcome.out;
  };
  for (const std::string command : {"explain ", "show "}) {
    expect_misuse(command + "neighbor_alltoall", "needs a graph: --graph FILE, or --cart 8x8x8");
    expect_misuse(command + "neighbor_alltoal --cart 4",
                  "is no neighbourhood collective: there are neighbor_allgather,");
    expect_misuse(command + "neighbor_alltoall/bruck --cart 4", "have two algorithms");
    expect_misuse(command + "neighbor_alltoall --cart 4y4", "'4y4' is no grid");
    expect_misuse(command + "neighbor_alltoall --cart 4x4 -p 8", "is not the number of ranks of --cart 4x4: 16");
    expect_misuse(command + "neighbor_alltoall --graph " + file.path() + " -p 6", "more than the 5 vertices");
    expect_misuse(command + "neighbor_alltoall --graph " + file.path() + " --cart 5", "--graph excludes --cart");
    expect_misuse(command + "neighbor_alltoall --graph " + damaged.path(), ":2: the file ends after 1 of 3 vertices");
    expect_misuse(command + "neighbor_alltoall --graph /no/such/file", "/no/such/file: ");
    expect_misuse(command + "neighbor_alltoall --cart 4096x4096", "too large");
  }
  expect_misuse("explain bcast -p 4 --cart 4", "are for neighbourhood collectives");
  expect_misuse("show bcast/binomial -p 4 --cart 4", "are for neighbourhood collectives");
  expect_misuse("explain bcast", "--ranks is required");
}

}  // namespace
}  // namespace circoll::graphs
