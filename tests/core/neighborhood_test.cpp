// Neighbourhood collectives: the schedules of random graphs and of grids are proven, and executed in process.
#include "schedule/neighborhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/plan.hpp"
#include "model/neighbor_price.hpp"
#include "plan/engine.hpp"
#include "schedule/node_aware_neighborhood.hpp"
#include "verify/neighborhood.hpp"

namespace circoll {
namespace {

using Graph = std::vector<Neighborhood>;
constexpr std::array contracts{NeighborContract::allgather, NeighborContract::alltoall};

/// A graph with self-loops, double edges and isolated ranks. The order of the edges at each rank is random.
Graph random_graph(std::mt19937& random, Rank p, Rank most_edges) {
  Graph graph(static_cast<std::size_t>(p));
  for (Rank r = 0; r < p; ++r) graph[static_cast<std::size_t>(r)] = {.size = p, .rank = r};
  const auto rank = [&] { return static_cast<Rank>(random() % static_cast<unsigned>(p)); };
  const bool has_isolated = p > 2 && random() % 2 == 0;
  for (std::size_t edges = random() % static_cast<std::size_t>(most_edges + 1); edges > 0; --edges) {
    const Rank from = rank(), to = rank();
    if (has_isolated && (from == 1 || to == 1)) continue;
    graph[static_cast<std::size_t>(from)].out.push_back({.peer = to});
    graph[static_cast<std::size_t>(to)].in.push_back({.peer = from});
  }
  for (Neighborhood& one : graph) {
    std::shuffle(one.out.begin(), one.out.end(), random);
    std::shuffle(one.in.begin(), one.in.end(), random);
    for (std::size_t i = 0; i < one.out.size(); ++i) one.out[i].place = i;
    for (std::size_t i = 0; i < one.in.size(); ++i) one.in[i].place = i;
  }
  return graph;
}

/// A grid, whose last dimension varies fastest.
Graph grid(const std::vector<Rank>& sizes, const std::vector<bool>& periodic) {
  Rank p = 1;
  for (const Rank size : sizes) p *= size;
  Graph graph;
  for (Rank r = 0; r < p; ++r) {
    std::vector<GridNeighbors> dimensions(sizes.size());
    Rank stride = 1;
    for (std::size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) {
      const Rank at = r / stride % sizes[d];
      const auto neighbor = [&](Rank there) {
        if (!periodic[d] && (there < 0 || there >= sizes[d])) return Rank{-1};
        return r + ((there + sizes[d]) % sizes[d] - at) * stride;
      };
      dimensions[d] = {.below = neighbor(at - 1), .above = neighbor(at + 1)};
    }
    graph.push_back(neighborhood_of_grid(p, r, dimensions));
  }
  return graph;
}

std::vector<Schedule> schedules_of(const Graph& graph, NeighborContract contract, std::size_t window) {
  const std::vector<NeighborBlocks> blocks = verify::shared_blocks(graph, contract);
  std::vector<Schedule> schedules;
  for (std::size_t r = 0; r < graph.size(); ++r)
    schedules.push_back(build_neighbor_direct(graph[r], contract, blocks[r], window));
  return schedules;
}

/// The schedules by which nodes join their messages; node_of[r] is the node of rank r.
std::vector<Schedule> joined_of(const Graph& graph, NeighborContract contract, const std::vector<Rank>& node_of,
                                std::size_t window) {
  const std::vector<NeighborBlocks> blocks = verify::shared_blocks(graph, contract);
  std::vector<Schedule> schedules;
  for (std::size_t r = 0; r < graph.size(); ++r) {
    std::vector<Neighborhood> members;
    std::vector<NeighborBlocks> names;
    std::size_t own = 0;
    for (std::size_t q = 0; q < graph.size(); ++q) {
      if (node_of[q] != node_of[r]) continue;
      if (q == r) own = members.size();
      members.push_back(graph[q]);
      names.push_back(blocks[q]);
    }
    schedules.push_back(build_neighbor_node_aware({.members = members, .names = names, .own = own, .node_of = node_of},
                                                  contract, window));
  }
  return schedules;
}

/// Up to four nodes with any ranks, numbered in the order of their first ranks.
std::vector<Rank> random_nodes(std::mt19937& random, Rank p) {
  std::map<Rank, Rank> number;
  std::vector<Rank> node_of;
  for (Rank r = 0; r < p; ++r)
    node_of.push_back(number.emplace(static_cast<Rank>(random() % 4), static_cast<Rank>(number.size())).first->second);
  return node_of;
}

/// Proves the schedules of 400 graphs. `make(random, graph)` returns the function that makes those of a graph, of a
/// contract and a window.
template <typename Make>
void prove_random_graphs(unsigned seed, const Make& make) {
  std::mt19937 random(seed);
  for (int i = 0; i < 400; ++i) {
    const Rank p = 1 + static_cast<Rank>(random() % 17);
    const Graph graph = random_graph(random, p, i % 8 == 0 ? 40 * p : 4 * p);
    const auto schedules = make(random, graph);
    for (const NeighborContract contract : contracts) {
      for (const std::size_t window : {1U, 2U, 64U}) {
        const auto refutation = verify::refute_neighborhood(graph, contract, schedules(contract, window));
        ASSERT_FALSE(refutation.has_value())
            << "graph " << i << ", window " << window << ": " << refutation->to_string();
      }
    }
  }
}

TEST(Neighborhood, RandomGraphsAreProven) {
  prove_random_graphs(7, [](std::mt19937& /*random*/, const Graph& graph) {
    return [&](NeighborContract contract, std::size_t window) { return schedules_of(graph, contract, window); };
  });
}

TEST(Neighborhood, JoinedMessagesAreProven) {
  prove_random_graphs(13, [](std::mt19937& random, const Graph& graph) {
    return [&graph, node_of = random_nodes(random, static_cast<Rank>(graph.size()))](
               NeighborContract contract, std::size_t window) { return joined_of(graph, contract, node_of, window); };
  });
}

TEST(Neighborhood, OneMessageJoinsTwoNodes) {
  std::mt19937 random(17);
  for (int i = 0; i < 100; ++i) {
    const Rank p = 2 + static_cast<Rank>(random() % 30);
    const Graph graph = random_graph(random, p, 8 * p);
    const std::vector<Rank> node_of = random_nodes(random, p);
    const auto node = [&](Rank rank) { return node_of[static_cast<std::size_t>(rank)]; };
    std::map<std::pair<Rank, Rank>, std::set<std::pair<Rank, Rank>>> needed;  // source and target node
    std::size_t edges = 0;
    for (const Neighborhood& one : graph) {
      for (const NeighborEdge& edge : one.out) {
        if (node(edge.peer) == node(one.rank)) continue;
        needed[{node(one.rank), node(edge.peer)}].emplace(one.rank, node(edge.peer));
        ++edges;
      }
    }
    for (const NeighborContract contract : contracts) {
      std::map<std::pair<Rank, Rank>, Count> blocks;  // that cross, and once only
      Count crossing = 0;
      for (const Schedule& schedule : joined_of(graph, contract, node_of, 64)) {
        for (const Step& step : schedule.steps) {
          const std::pair nodes{node(schedule.shape.rank), node(step.peer < 0 ? schedule.shape.rank : step.peer)};
          if (step.kind != StepKind::send || nodes.first == nodes.second) continue;
          EXPECT_TRUE(blocks.emplace(nodes, schedule.count(step.left)).second) << "two messages between two nodes";
          crossing += schedule.count(step.left);
        }
      }
      EXPECT_EQ(blocks.size(), needed.size());
      std::size_t expected = edges;
      if (contract == NeighborContract::allgather) {
        expected = 0;
        for (const auto& [nodes, sources] : needed) expected += sources.size();
      }
      EXPECT_EQ(static_cast<std::size_t>(crossing), expected);
    }
  }
}

TEST(Neighborhood, JoinedMessagesAreCheaperWhereTheyAreFewer) {
  // Each rank of 4 nodes of 4 sends to all others.
  Graph graph;
  for (Rank r = 0; r < 16; ++r) {
    Neighborhood& one = graph.emplace_back(Neighborhood{.size = 16, .rank = r});
    for (Rank peer = 0; peer < 16; ++peer) {
      if (peer == r) continue;
      one.out.push_back({.peer = peer, .place = one.out.size()});
      one.in.push_back({.peer = peer, .place = one.in.size()});
    }
  }
  std::vector<Rank> node_of;
  for (Rank r = 0; r < 16; ++r) node_of.push_back(r / 4);
  const Machine machine{.alpha_s = 1e-4, .beta_s_per_byte = 1e-8, .node_alpha_s = 1e-6, .node_beta_s_per_byte = 1e-10};
  const auto time_s = [&](const std::vector<Schedule>& schedules, int hops, Count bytes) {
    const std::vector<Count> sizes(static_cast<std::size_t>(schedules.front().user_blocks), bytes);
    std::vector<NeighborWork> nodes(4);
    for (const Schedule& schedule : schedules)
      nodes[static_cast<std::size_t>(schedule.shape.rank / 4)].add(work_of(schedule, sizes, node_of, machine));
    return seconds(nodes.front(), hops, machine, false);
  };
  const std::vector<Schedule> direct = schedules_of(graph, NeighborContract::alltoall, 64);
  const std::vector<Schedule> joined = joined_of(graph, NeighborContract::alltoall, node_of, 64);
  EXPECT_GT(time_s(direct, 0, 8), 2 * time_s(joined, 2, 8));
  EXPECT_LT(time_s(direct, 0, 1 << 20), 1.1 * time_s(joined, 2, 1 << 20));
}

TEST(Neighborhood, GridsAreProven) {
  for (const std::vector<Rank>& sizes : {std::vector<Rank>{1}, {2}, {3}, {1, 2}, {2, 2}, {3, 2, 1}, {4, 3}}) {
    for (unsigned bits = 0; bits < 1U << sizes.size(); ++bits) {
      std::vector<bool> periodic;
      for (std::size_t d = 0; d < sizes.size(); ++d) periodic.push_back((bits >> d & 1U) != 0);
      const Graph graph = grid(sizes, periodic);
      for (const NeighborContract contract : contracts) {
        const auto refutation = verify::refute_neighborhood(graph, contract, schedules_of(graph, contract, 64));
        ASSERT_FALSE(refutation.has_value()) << refutation->to_string();
      }
    }
  }
}

TEST(Neighborhood, BlockSentUpwardsArrivesFromBelow) {
  // Two ranks in a ring are both neighbours of each other, and one rank is its own.
  for (const Rank p : {1, 2}) {
    const Graph graph = grid({p}, {true});
    const auto blocks = verify::shared_blocks(graph, NeighborContract::alltoall);
    for (std::size_t r = 0; r < graph.size(); ++r) {
      const std::size_t other = graph.size() - 1 - r;
      std::map<std::size_t, Block> sent, received;
      for (std::size_t i = 0; i < 2; ++i) {
        sent[graph[other].out[i].place] = blocks[other].sent[i];
        received[graph[r].in[i].place] = blocks[r].received[i];
      }
      EXPECT_EQ(received[0], sent[1]);  // place 0 is below, place 1 is above
      EXPECT_EQ(received[1], sent[0]);
    }
  }
}

TEST(Neighborhood, WrongSchedulesAreRefuted) {
  const Graph graph = grid({3}, {true});
  const auto claim_of = [&](const auto& change) {
    std::vector<Schedule> schedules = schedules_of(graph, NeighborContract::alltoall, 64);
    change(schedules[1]);
    const auto refutation = verify::refute_neighborhood(graph, NeighborContract::alltoall, schedules);
    return refutation ? std::string(to_string(refutation->claim)) : std::string("proven");
  };
  EXPECT_EQ(claim_of([](Schedule&) {}), "proven");
  EXPECT_EQ(claim_of([](Schedule& s) { s.steps.pop_back(); }), "matching");
  EXPECT_EQ(claim_of([](Schedule& s) { s.ranges[0].first = 1 - s.ranges[0].first; }), "matching");
  EXPECT_EQ(claim_of([](Schedule& s) { s.ranges[1].buffer = send_buffer; }), "send_untouched");
  EXPECT_EQ(claim_of([](Schedule& s) { ++s.buffers[recv_buffer].list[0]; }), "structure");
  // Ranks that receive before they send wait in a circle.
  std::vector<Schedule> waiting = schedules_of(graph, NeighborContract::alltoall, 64);
  for (Schedule& s : waiting) {
    std::swap(s.steps[0], s.steps[1]);
    s.edges = {{0, 1}};
  }
  const auto refutation = verify::refute_neighborhood(graph, NeighborContract::alltoall, waiting);
  ASSERT_TRUE(refutation.has_value());
  EXPECT_EQ(refutation->claim, Claim::no_deadlock);
}

TEST(Neighborhood, EdgesWithOneEndAreRefused) {
  Graph graph = grid({3}, {true});
  graph[0].in.pop_back();
  EXPECT_THROW((void)verify::shared_blocks(graph, NeighborContract::alltoall), Error);
  EXPECT_THROW((void)build_neighbor_direct({.out = {{.peer = 0}}}, NeighborContract::alltoall, {.sent = {0}}), Error);
}

// ---- execution in process

/// Counts of an edge's block that both ends know, and the bytes of it.
Count bytes_of(Block edge) { return edge * 5 % 4; }
std::byte byte_of(Block edge, Count i) { return static_cast<std::byte>(edge * 31 + i * 7 + 1); }

/// One rank's plan and memory. Messages of two ranks and a tag are a queue, as in the executor over MPI.
struct Worker {
  using Queues = std::map<std::tuple<Rank, Rank, std::uint32_t>, std::deque<std::vector<std::byte>>>;

  Rank rank;
  Plan plan;
  std::array<std::vector<std::byte>, 2> memory{};
  Queues* queues;
  Engine engine{plan};
  std::deque<StepIndex> receives{};

  std::span<std::byte> at(const Piece& piece) {
    return std::span(memory.at(static_cast<std::size_t>(piece.area)))
        .subspan(static_cast<std::size_t>(piece.offset_bytes), static_cast<std::size_t>(piece.elements));
  }
  bool begin(StepIndex step) {
    const PlanStep& s = plan.steps[step];
    if (s.kind == StepKind::recv) {
      receives.push_back(step);
      return false;
    }
    if (s.kind == StepKind::send) {
      const auto data = at(plan.pieces_of(s)[0]);
      (*queues)[{rank, s.peer, s.tag % neighbor_tags}].emplace_back(data.begin(), data.end());
      return true;
    }
    for (const Run& run : plan.runs_of(s)) std::ranges::copy(at(run.left), at(run.dst).begin());
    return true;
  }
  /// Ends the receives whose messages are there.
  bool poll() {
    bool news = false;
    for (std::size_t i = receives.size(); i > 0; --i) {
      const StepIndex step = receives.front();
      receives.pop_front();
      const PlanStep& s = plan.steps[step];
      auto& queue = (*queues)[{s.peer, rank, s.tag % neighbor_tags}];
      if (queue.empty()) {
        receives.push_back(step);
        continue;
      }
      std::ranges::copy(queue.front(), at(plan.pieces_of(s)[0]).begin());
      queue.pop_front();
      engine.completed(*this, step);
      news = true;
    }
    return news;
  }
};

TEST(Neighborhood, RandomGraphsMoveTheirBlocks) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    // Few ranks and many edges: more between two ranks than there are tags.
    const Rank p = 1 + static_cast<Rank>(random() % 9);
    const Graph graph = random_graph(random, p, i % 4 == 0 ? 40 * p : 4 * p);
    const auto shared = verify::shared_blocks(graph, NeighborContract::alltoall);
    Worker::Queues queues;
    std::vector<Worker> workers;
    workers.reserve(graph.size());
    for (std::size_t r = 0; r < graph.size(); ++r) {
      const NeighborBlocks own = own_blocks(graph[r], NeighborContract::alltoall);
      std::vector<Count> counts(static_cast<std::size_t>(own.blocks), 0);
      std::vector<std::byte> send, recv;
      for (std::size_t e = 0; e < shared[r].sent.size(); ++e) {
        counts[e] = bytes_of(shared[r].sent[e]);
        for (Count b = 0; b < counts[e]; ++b) send.push_back(byte_of(shared[r].sent[e], b));
      }
      for (std::size_t e = 0; e < shared[r].received.size(); ++e) {
        counts[shared[r].sent.size() + e] = bytes_of(shared[r].received[e]);
        recv.resize(recv.size() + static_cast<std::size_t>(bytes_of(shared[r].received[e])));
      }
      const Schedule schedule = build_neighbor_direct(graph[r], NeighborContract::alltoall, own, 2);
      workers.push_back({.rank = static_cast<Rank>(r),
                         .plan = bind(schedule, Layout::irregular(counts, 1), 1),
                         .memory = {send, recv},
                         .queues = &queues});
    }
    for (Worker& worker : workers) {
      worker.engine = Engine(worker.plan);
      worker.engine.start(worker);
    }
    for (bool news = true; news;) {
      news = false;
      for (Worker& worker : workers) news = worker.poll() || news;
    }
    for (std::size_t r = 0; r < graph.size(); ++r) {
      ASSERT_TRUE(workers[r].engine.done());
      std::vector<std::byte> expected;
      for (const Block edge : shared[r].received) {
        for (Count b = 0; b < bytes_of(edge); ++b) expected.push_back(byte_of(edge, b));
      }
      EXPECT_EQ(workers[r].memory[1], expected) << "graph " << i << ", rank " << r;
    }
  }
}

}  // namespace
}  // namespace circoll
