// Collectives among neighbours in the C++ and the C API, against the definition.
#include <mpi.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "circoll/circoll.h"
#include "circoll/mpi.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

constexpr int nobody = -1;

/// A struct, which travels as bytes.
struct Sample {
  double number = 0;
  int source = 0;
  int place = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// A communicator with a topology, and this rank's edges in MPI's order.
struct Graph {
  struct In {
    int source = nobody;
    int place = 0;  ///< of the block among those that the source sends
  };
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> out{};
  std::vector<In> in{};

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { MPI_Comm_free(&comm); }
};

/// A line or a ring of all ranks.
struct Line : Graph {
  explicit Line(bool periodic) {
    const int p = world_size(), r = world_rank(), periods = periodic ? 1 : 0;
    PMPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periods, 0, &comm);
    out = {periodic || r > 0 ? (r + p - 1) % p : nobody, periodic || r + 1 < p ? (r + 1) % p : nobody};
    in = {{out[0], 1}, {out[1], 0}};
  }
};

/// Rank r sends to r + 1, so that the last rank may have no edge out. If `twice`, even ranks send twice to r + 2.
struct Distributed : Graph {
  static std::vector<int> targets(int r, bool twice) {
    std::vector<int> to;
    if (r + 1 < world_size()) to.push_back(r + 1);
    if (twice && r % 2 == 0) to.insert(to.end(), 2, (r + 2) % world_size());
    return to;
  }
  explicit Distributed(bool twice = true) {
    out = targets(world_rank(), twice);
    std::vector<int> sources;
    for (int s = 0; s < world_size(); ++s) {
      const std::vector<int> to = targets(s, twice);
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i] != world_rank()) continue;
        in.push_back({s, static_cast<int>(i)});
        sources.push_back(s);
      }
    }
    PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                    static_cast<int>(out.size()), out.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  }
};

Sample sample(int source, int place, int i) { return {.number = i / 8.0, .source = source, .place = place}; }
Count count_of(int source, int place) { return source == nobody ? 0 : (2 * source + place) % 4; }

using Samples = std::vector<Sample>;
using CountList = std::vector<Count>;

/// `equal`: each block has three elements, and that of a neighbour that is not there has zeros.
Samples block(int source, int place, bool equal) {
  Samples made(static_cast<std::size_t>(equal ? 3 : count_of(source, place)));
  for (int i = 0; i < static_cast<int>(made.size()) && source != nobody; ++i)
    made[static_cast<std::size_t>(i)] = sample(source, place, i);
  return made;
}

void add(Samples& all, const Samples& more) { all.insert(all.end(), more.begin(), more.end()); }

/// The buffers of this rank.
struct Data {
  Samples own, to_all, from_all, gathered;
  CountList sent, from, of_sources;
};
Data data_of(const Graph& g, bool equal) {
  Data d;
  d.own = block(world_rank(), 0, equal);
  for (std::size_t i = 0; i < g.out.size(); ++i) {
    const bool there = g.out[i] != nobody;
    const Samples to = block(there ? world_rank() : nobody, static_cast<int>(i), equal);
    add(d.to_all, to);
    d.sent.push_back(static_cast<Count>(to.size()));
  }
  for (const Graph::In& edge : g.in) {
    add(d.from_all, block(edge.source, edge.place, equal));
    add(d.gathered, block(edge.source, 0, equal));
    d.from.push_back(equal ? 3 : count_of(edge.source, edge.place));
    d.of_sources.push_back(equal ? 3 : count_of(edge.source, 0));
  }
  return d;
}

/// Calls into buffers, whose results `run` brings to their end.
template <typename Comm>
void check_into(const Graph& g, const Comm& comm, const std::string& what, const auto& run) {
  const Data equal = data_of(g, true), any = data_of(g, false);
  const auto is = [&](const Samples& got, const Samples& wanted, const char* name) {
    expect(got == wanted, std::string(name) + " " + what);
  };
  Samples got(equal.gathered.size());
  run([&] { return neighbor_allgather(equal.own, got, comm); });
  is(got, equal.gathered, "neighbor_allgather");
  got.assign(equal.from_all.size(), {});
  run([&] { return neighbor_alltoall(equal.to_all, got, comm); });
  is(got, equal.from_all, "neighbor_alltoall");
  got.assign(any.gathered.size(), {});
  run([&] { return neighbor_allgatherv(any.own, got, any.of_sources, {}, comm); });
  is(got, any.gathered, "neighbor_allgatherv");
  got.assign(any.from_all.size(), {});
  run([&] { return neighbor_alltoallv(any.to_all, any.sent, {}, got, any.from, {}, comm); });
  is(got, any.from_all, "neighbor_alltoallv");
}

void check_values(const Graph& g, const std::string& what) {
  const Data equal = data_of(g, true), any = data_of(g, false);
  expect(neighbor_allgather(equal.own, g.comm) == equal.gathered, "neighbor_allgather by value " + what);
  expect(neighbor_alltoall(equal.to_all, g.comm) == equal.from_all, "neighbor_alltoall by value " + what);
  const auto [gathered, counts] = neighbor_allgatherv(any.own, g.comm, with_counts);
  expect(gathered == any.gathered && counts == any.of_sources, "neighbor_allgatherv by value " + what);
  expect(neighbor_allgatherv(any.own, g.comm) == any.gathered, "neighbor_allgatherv without counts " + what);
  const auto [received, each] = neighbor_alltoallv(any.to_all, any.sent, g.comm, with_counts);
  expect(received == any.from_all && each == any.from, "neighbor_alltoallv by value " + what);
  expect(neighbor_alltoallv(any.to_all, any.sent, g.comm) == any.from_all, "neighbor_alltoallv without counts " + what);
  const std::vector<int> ranks = neighbor_allgather(world_rank() + 1, g.comm);
  for (std::size_t i = 0; i < ranks.size(); ++i) expect(ranks[i] == g.in[i].source + 1, "of one value " + what);
}

void check(const Graph& g, const std::string& what) {
  const auto at_once = [](const auto& call) { call(); };
  const auto waiting = [](const auto& call) {
    Request request = call();
    request.wait();
  };
  const auto repeated = [](const auto& call) {
    Request request = call();
    for (int i = 0; i < 2; ++i) {
      request.start();
      request.wait();
    }
  };
  for (int i = 0; i < 2; ++i) {
    check_into(g, g.comm, what, at_once);
    check_into(g, nonblocking(g.comm), what + ", nonblocking", waiting);
    check_into(g, persistent(g.comm), what + ", persistent", repeated);
    check_values(g, what);
  }
}

/// The code of the error that a call throws.
ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode{};
}

}  // namespace

/// False on one rank, which the library serves. Libraries disagree about two edges between the same ranks.
bool may_have_double_edges() { return world_size() > 1; }

TEST_MPI(neighbors_on_grids) {
  check(Line(false), "on a line");
  if (may_have_double_edges()) check(Line(true), "on a ring");
}

TEST_MPI(neighbors_on_a_distributed_graph) { check(Distributed(may_have_double_edges()), "on a distributed graph"); }

TEST_MPI(neighbors_that_the_library_serves_first) {
  const Distributed graph(false);
  check_into(graph, nonblocking(graph.comm), "by the first calls, nonblocking",
             [](const auto& call) { call().wait(); });
}

TEST_MPI(neighbors_with_the_arguments_of_mpi) {
  const Line line(false);
  const int mine = world_rank() + 1;
  std::array<int, 4> got{};
  for (const char* const choice : {"auto", "native", "direct"}) {
    if (world_size() == 1 && choice == std::string("direct")) continue;
    got.fill(0);
    mpi::neighbor_allgather(&mine, 1, MPI_INT, got.data(), 1, MPI_INT, line.comm, choice);
    expect(got == std::array{line.in[0].source + 1, line.in[1].source + 1, 0, 0},
           std::string("allgather by ") + choice);
    const std::array sent{10 * mine, 10 * mine + 1};
    const CountList one{1, 1}, packed{0, 1}, backwards{3, 1};
    got.fill(0);
    const auto array = [](const CountList& numbers) { return Counts(std::span(numbers)); };
    mpi::neighbor_alltoallv(sent.data(), array(one), array(packed), MPI_INT, got.data(), array(one), array(backwards),
                            MPI_INT, line.comm, choice);
    const auto from = [&](std::size_t i) {
      const int source = line.in[i].source;
      return source == nobody ? 0 : 10 * (source + 1) + line.in[i].place;
    };
    expect(got == std::array{0, from(1), 0, from(0)}, std::string("alltoallv by ") + choice);
    const std::array types{MPI_INT, MPI_INT};
    const CountList sent_at{0, sizeof(int)}, received_at{3 * sizeof(int), sizeof(int)};
    got.fill(0);
    mpi::neighbor_alltoallw(sent.data(), array(one), array(sent_at), types.data(), got.data(), array(one),
                            array(received_at), types.data(), line.comm, choice);
    expect(got == std::array{0, from(1), 0, from(0)}, std::string("alltoallw by ") + choice);
  }
}

TEST_MPI(neighbors_refuse_wrong_calls) {
  const Line ring(true);
  Samples data(6), small(5);
  const CountList one{1}, two{1, 1}, negative{-1, 1};
  MPI_Comm world = MPI_COMM_WORLD;
  const auto invalid = [](const char* what, const std::function<void()>& call) {
    expect(code_of(call) == ErrorCode::invalid_argument, what);
  };
  invalid("no topology", [&] { neighbor_alltoall(data, data, world); });
  invalid("no topology, MPI's arguments",
          [&] { mpi::neighbor_alltoall(data.data(), 0, MPI_BYTE, data.data(), 0, MPI_BYTE, world); });
  invalid("no communicator",
          [&] { mpi::neighbor_alltoall(data.data(), 0, MPI_BYTE, data.data(), 0, MPI_BYTE, MPI_COMM_NULL); });
  invalid("too small", [&] { neighbor_allgather(Samples(3), small, ring.comm); });
  invalid("no equal blocks", [&] { neighbor_alltoall(data, small, ring.comm); });
  invalid("one count", [&] { neighbor_allgatherv(data, small, one, {}, ring.comm); });
  for (const char* const choice : {"auto", "native"}) {
    invalid("a negative count", [&] { neighbor_alltoallv(data, negative, {}, small, two, {}, ring.comm, choice); });
    invalid("no datatypes", [&] {
      const Counts counts = std::span(two);
      mpi::neighbor_alltoallw(data.data(), counts, counts, nullptr, small.data(), counts, counts, nullptr, ring.comm,
                              choice);
    });
    invalid("in place",
            [&] { mpi::neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, small.data(), 1, MPI_INT, ring.comm, choice); });
  }
  expect(code_of([&] { neighbor_alltoall(data, data, ring.comm, "ring"); }) == ErrorCode::unknown_name, "no choice");
  if (may_have_double_edges()) check(ring, "after wrong calls");
}

TEST_MPI(neighbors_in_c) {
  if (!may_have_double_edges()) return;
  const Line ring(true);
  const int mine = world_rank() + 1, p = world_size();
  const int below = (world_rank() + p - 1) % p + 1, above = (world_rank() + 1) % p + 1;
  const std::array sent{10 * mine, 10 * mine + 1};
  const std::array<int64_t, 2> counts{1, 1}, displs{0, 1}, bytes{0, sizeof(int)};
  const std::array types{MPI_INT, MPI_INT};
  std::array<int, 2> got{};
  const auto check_gathered = [&](const char* what) {
    expect(got == std::array{below, above}, what);
    got = {};
  };
  const auto check_exchanged = [&](const char* what) {
    expect(got == std::array{10 * below + 1, 10 * above}, what);
    got = {};
  };
  const auto finish = [&](int rc, circoll_mpi_request request, bool persistent) {
    for (int i = 0; rc == CIRCOLL_OK && i < (persistent ? 2 : 1); ++i) {
      if (persistent) rc = circoll_mpi_start(request);
      if (rc == CIRCOLL_OK) rc = circoll_mpi_wait(&request);
    }
    if (persistent) circoll_mpi_request_free(&request);
    expect(rc == CIRCOLL_OK, circoll_last_error());
  };
#define CIRCOLL_CHECK_FORMS(name, check, ...)                                            \
  do {                                                                                   \
    circoll_mpi_request request = nullptr;                                               \
    finish(circoll_mpi_neighbor_##name(__VA_ARGS__, ring.comm, choice), request, false); \
    check(#name);                                                                        \
    int rc = circoll_mpi_ineighbor_##name(__VA_ARGS__, ring.comm, choice, &request);     \
    finish(rc, request, false);                                                          \
    check("i" #name);                                                                    \
    rc = circoll_mpi_neighbor_##name##_init(__VA_ARGS__, ring.comm, choice, &request);   \
    finish(rc, request, true);                                                           \
    check(#name "_init");                                                                \
  } while (0)
  for (const char* const choice : {static_cast<const char*>(nullptr), "native"}) {
    if (choice != nullptr && p == 2) continue;  // the libraries confuse the two edges
    CIRCOLL_CHECK_FORMS(allgather, check_gathered, &mine, 1, MPI_INT, got.data(), 1, MPI_INT);
    CIRCOLL_CHECK_FORMS(allgatherv, check_gathered, &mine, 1, MPI_INT, got.data(), counts.data(), displs.data(),
                        MPI_INT);
    CIRCOLL_CHECK_FORMS(alltoall, check_exchanged, sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT);
    CIRCOLL_CHECK_FORMS(alltoallv, check_exchanged, sent.data(), counts.data(), displs.data(), MPI_INT, got.data(),
                        counts.data(), displs.data(), MPI_INT);
    CIRCOLL_CHECK_FORMS(alltoallw, check_exchanged, sent.data(), counts.data(), bytes.data(), types.data(), got.data(),
                        counts.data(), bytes.data(), types.data());
  }
#undef CIRCOLL_CHECK_FORMS
  const int refused = circoll_mpi_neighbor_allgather(&mine, -1, MPI_INT, got.data(), 1, MPI_INT, ring.comm, nullptr);
  expect(refused == CIRCOLL_INVALID_ARGUMENT, "a negative count");
}

}  // namespace circoll::test
