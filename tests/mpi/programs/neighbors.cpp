// Neighbourhood collectives on random graphs and grids, and MPI_Alltoallw:
// neighbors SEED ROUNDS [overwrite|library|again].
//
// With `again`, there are 40 blocking calls of each function, whose blocks have the same sizes in most of them.
//
// With `library`, calls are left out that the library itself does wrong. With `overwrite`, arrays of calls that do not
// block are overwritten at once, and their datatypes freed, as a program may do under the drop-in. Some calls of
// MPI_Alltoallw are in place then. Their blocks without elements have no datatype, which not all libraries allow.
//
// Every call is made twice: by its MPI_ name, which the drop-in serves, and by its PMPI_ name. The program compares
// both results with the definition. Where there are several edges from one rank to another, the functions of the
// libraries disagree on the edge that a block takes. So the library is not called there.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(prefix, name) prefix##MPIX_##name##_init
#else
#define INIT(prefix, name) prefix##MPI_##name##_init
#endif
#ifdef MPICH_VERSION
#define HAS_LARGE 1
#else
#define HAS_LARGE 0
#endif

namespace {

int rank, size;
bool overwrites = false, by_library = false;
long wrong = 0, calls = 0;

/// The edges of one rank in MPI's order, and the block that comes along each edge in: its rank, and its place there.
struct Edges {
  std::vector<int> out, in, place;
};
struct Topology {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Edges> of;  ///< of each rank; MPI_PROC_NULL where a grid ends
  bool several = false;   ///< edges from one rank to another, which the libraries may take in another order
  bool all = false;       ///< no topology: each rank sends to each, by MPI_Alltoallw
};

/// The n-th edge from s to r is the n-th edge of r that comes from s.
void pair_edges(Topology& t) {
  for (int r = 0; r < size; ++r) {
    std::vector<int> met(static_cast<std::size_t>(size), 0);
    for (const int s : t.of[static_cast<std::size_t>(r)].in) {
      int place = -1, nth = met[static_cast<std::size_t>(s)]++;
      const std::vector<int>& out = t.of[static_cast<std::size_t>(s)].out;
      for (int i = 0; i < static_cast<int>(out.size()) && place < 0; ++i) {
        if (out[static_cast<std::size_t>(i)] == r && nth-- == 0) place = i;
      }
      t.of[static_cast<std::size_t>(r)].place.push_back(place);
      t.several = t.several || met[static_cast<std::size_t>(s)] > 1;
    }
  }
}

Topology random_graph(std::mt19937& random, bool symmetric) {
  Topology t{.name = symmetric ? "graph" : "distributed graph",
             .of = std::vector<Edges>(static_cast<std::size_t>(size))};
  const auto any = [&] { return static_cast<std::size_t>(random() % static_cast<unsigned>(size)); };
  const bool isolated = size > 2 && random() % 2 == 0, simple = random() % 2 == 0;
  for (std::size_t edges = random() % static_cast<std::size_t>(4 * size + 1); edges > 0; --edges) {
    const std::size_t from = any(), to = any();
    if (isolated && (from == 1 || to == 1)) continue;
    const std::vector<int>& before = t.of[from].out;
    if (simple && std::find(before.begin(), before.end(), static_cast<int>(to)) != before.end()) continue;
    t.of[from].out.push_back(static_cast<int>(to));
    t.of[to].in.push_back(static_cast<int>(from));
    if (!symmetric || from == to) continue;
    t.of[to].out.push_back(static_cast<int>(from));
    t.of[from].in.push_back(static_cast<int>(to));
  }
  for (Edges& one : t.of) {
    std::shuffle(one.out.begin(), one.out.end(), random);
    std::shuffle(one.in.begin(), one.in.end(), random);
    if (symmetric) one.in = one.out;
  }
  pair_edges(t);
  const Edges& mine = t.of[static_cast<std::size_t>(rank)];
  if (symmetric) {
    std::vector<int> index, all;
    for (const Edges& one : t.of) {
      all.insert(all.end(), one.out.begin(), one.out.end());
      index.push_back(static_cast<int>(all.size()));
    }
    all.push_back(0);
    MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), all.data(), 0, &t.comm);
  } else {
    const std::vector<int> weights(mine.in.size() + mine.out.size() + 1, 3);
    const bool weighted = size % 2 == 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(mine.in.size()), mine.in.data(),
                                   weighted ? weights.data() : MPI_UNWEIGHTED, static_cast<int>(mine.out.size()),
                                   mine.out.data(), weighted ? weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &t.comm);
  }
  return t;
}

Topology grid(std::mt19937& random) {
  Topology t{.name = "grid", .of = std::vector<Edges>(static_cast<std::size_t>(size))};
  const int dimensions = 1 + static_cast<int>(random() % 3);
  std::vector<int> dims(static_cast<std::size_t>(dimensions), 0), periods;
  MPI_Dims_create(size, dimensions, dims.data());
  for (const int extent : dims) {
    periods.push_back(static_cast<int>(random() % 2));
    t.several = t.several || (periods.back() != 0 && extent <= 2);
  }
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims.data(), periods.data(), 0, &t.comm);
  for (int r = 0; r < size; ++r) {
    std::vector<int> at(dims.size());
    MPI_Cart_coords(t.comm, r, dimensions, at.data());
    Edges& one = t.of[static_cast<std::size_t>(r)];
    for (std::size_t d = 0; d < dims.size(); ++d) {
      for (const int step : {-1, 1}) {
        std::vector<int> there = at;
        there[d] += step;
        int peer = MPI_PROC_NULL;
        if (periods[d] != 0 || (there[d] >= 0 && there[d] < dims[d])) MPI_Cart_rank(t.comm, there.data(), &peer);
        one.out.push_back(peer);
        one.in.push_back(peer);
        one.place.push_back(static_cast<int>(2 * d) + (step < 0 ? 1 : 0));  // what the peer sends the other way
      }
    }
  }
  return t;
}

Topology all_ranks() {
  Topology t{.name = "communicator", .of = std::vector<Edges>(static_cast<std::size_t>(size)), .all = true};
  for (Edges& one : t.of) {
    one.out.resize(static_cast<std::size_t>(size));
    std::iota(one.out.begin(), one.out.end(), 0);
    one.in = one.out;
  }
  pair_edges(t);
  MPI_Comm_dup(MPI_COMM_WORLD, &t.comm);
  return t;
}

// ---- blocks. A block has pairs of int; a gapped type has a hole in each pair.

MPI_Datatype gapped = MPI_DATATYPE_NULL;  ///< int, hole, int; 16 bytes from one to the next
MPI_Datatype given = MPI_DATATYPE_NULL;   ///< the same, of one call alone
constexpr int gapped_ints = 4;

unsigned hash(unsigned a, unsigned b, unsigned c) { return (a * 2654435761U ^ b * 40503U ^ c * 97U) >> 7U; }
int value(int source, int place, int i) {
  return static_cast<int>(
      hash(static_cast<unsigned>(source), static_cast<unsigned>(place + 1), static_cast<unsigned>(i)) & 0xffffffU);
}

enum Function { allgather, allgatherv, alltoall, alltoallv, alltoallw, functions };
enum Form { blocking, nonblocking, persistent, forms };
constexpr const char* names[] = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};

/// The arguments of one side, with room for all of its blocks.
struct Side {
  std::vector<int> memory, counts, displs, narrow_bytes;
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
  bool gaps = false;  ///< of the type of all blocks
  [[nodiscard]] MPI_Datatype type() const { return gaps ? given : MPI_INT; }
  /// From now on the types are for arguments. `some`: those of blocks with elements alone.
  void give_types(bool some) {
    std::replace(types.begin(), types.end(), gapped, given);
    for (std::size_t i = 0; some && i < types.size(); ++i) {
      if (counts[i] == 0) types[i] = MPI_DATATYPE_NULL;
    }
  }
};

struct Call {
  const Topology& topology;
  Function function;
  int pairs;  ///< of equal blocks
  unsigned seed;
  int changed = -1;  ///< a source whose blocks have other sizes than the seed says
  Side send{}, recv{};
  bool bottom = false;
  bool in_place = false;
  std::vector<int> input{};  ///< of the receive buffer

  [[nodiscard]] bool gathers() const { return function <= allgatherv; }
  [[nodiscard]] int pairs_of(int source, int place) const {
    if (function == allgather || function == alltoall) return pairs;
    // In place two ranks send each other blocks of one size.
    if (in_place && source > place) std::swap(source, place);
    return static_cast<int>(hash(seed + (source == changed ? 1U : 0U), static_cast<unsigned>(source),
                                 static_cast<unsigned>(gathers() ? 0 : place)) %
                            6);
  }
  /// Lays blocks out, in the reverse order where there are displacements.
  void lay_out(Side& side, const std::vector<int>& sizes, std::mt19937& random) const {
    const bool fixed = function == allgather || function == alltoall;
    side.gaps = random() % 2 == 0;
    const std::size_t blocks = sizes.size();
    side.counts.resize(blocks + 1);
    side.displs.resize(blocks + 1);
    side.bytes.resize(blocks + 1);
    side.types.assign(blocks + 1, MPI_INT);
    int at = 0;
    for (std::size_t n = 0; n < blocks; ++n) {
      const std::size_t i = fixed ? n : blocks - 1 - n;
      const bool gaps = function == alltoallw ? random() % 2 == 0 : side.gaps;
      side.types[i] = gaps ? gapped : MPI_INT;
      side.counts[i] = gaps ? sizes[i] : 2 * sizes[i];
      side.displs[i] = gaps ? at / gapped_ints : at;
      side.bytes[i] = at * static_cast<MPI_Aint>(sizeof(int));
      at += (fixed ? (gaps ? gapped_ints : 2) : gapped_ints) * sizes[i];
    }
    for (const MPI_Aint bytes : side.bytes) side.narrow_bytes.push_back(static_cast<int>(bytes));
    side.large_counts.assign(side.counts.begin(), side.counts.end());
    side.memory.assign(static_cast<std::size_t>(at + 1), -1);
    if (!bottom) return;
    MPI_Aint base = 0;
    MPI_Get_address(side.memory.data(), &base);
    for (std::size_t i = 0; i < blocks; ++i) side.bytes[i] += base;
  }
  /// The place of an int of a block.
  [[nodiscard]] int& at(Side& side, std::size_t block, int i) const {
    MPI_Aint base = 0;
    if (bottom) MPI_Get_address(side.memory.data(), &base);
    const bool gaps = side.types[block] == gapped;
    const auto begin = static_cast<std::size_t>(side.bytes[block] - base) / sizeof(int);
    return side.memory[begin + static_cast<std::size_t>(gaps ? i / 2 * gapped_ints + i % 2 * 2 : i)];
  }

  void prepare(std::mt19937& random) {
    const Edges& mine = topology.of[static_cast<std::size_t>(rank)];
    std::vector<int> sent, received;
    for (std::size_t o = 0; o < (gathers() ? 1 : mine.out.size()); ++o)
      sent.push_back(pairs_of(rank, static_cast<int>(o)));
    for (std::size_t i = 0; i < mine.in.size(); ++i) received.push_back(pairs_of(mine.in[i], mine.place[i]));
    lay_out(send, sent, random);
    lay_out(recv, received, random);
    for (std::size_t o = 0; o < sent.size(); ++o) {
      for (int i = 0; i < 2 * sent[o]; ++i)
        at(in_place ? recv : send, o, i) = value(rank, gathers() ? 0 : static_cast<int>(o), i);
    }
    input = recv.memory;
  }
  /// The receive buffer as MPI defines it.
  [[nodiscard]] std::vector<int> expected() {
    const Edges& mine = topology.of[static_cast<std::size_t>(rank)];
    for (std::size_t b = 0; b < mine.in.size(); ++b) {
      if (mine.in[b] == MPI_PROC_NULL) continue;
      for (int i = 0; i < 2 * pairs_of(mine.in[b], mine.place[b]); ++i)
        at(recv, b, i) = value(mine.in[b], gathers() ? 0 : mine.place[b], i);
    }
    std::vector<int> defined = recv.memory;
    std::copy(input.begin(), input.end(), recv.memory.begin());  // in its place: addresses may be absolute
    return defined;
  }

#define ARGUMENTS_ALLGATHER \
  send.memory.data(), send.counts[0], send.type(), recv.memory.data(), count, recv.type(), comm
#define ARGUMENTS_ALLGATHERV                                                                                   \
  send.memory.data(), send.counts[0], send.type(), recv.memory.data(), recv.counts.data(), recv.displs.data(), \
      recv.type(), comm
#define ARGUMENTS_ALLTOALL send.memory.data(), send.counts[0], send.type(), recv.memory.data(), count, recv.type(), comm
#define ARGUMENTS_ALLTOALLV                                                                                        \
  send.memory.data(), send.counts.data(), send.displs.data(), send.type(), recv.memory.data(), recv.counts.data(), \
      recv.displs.data(), recv.type(), comm
#define ARGUMENTS_ALLTOALLW                                                                           \
  bottom ? MPI_BOTTOM : send.memory.data(), send.counts.data(), send.bytes.data(), send.types.data(), \
      bottom ? MPI_BOTTOM : recv.memory.data(), recv.counts.data(), recv.bytes.data(), recv.types.data(), comm
#define ARGUMENTS_OF_ALL                                                                                          \
  in_place ? MPI_IN_PLACE : static_cast<void*>(send.memory.data()), send.counts.data(), send.narrow_bytes.data(), \
      send.types.data(), recv.memory.data(), recv.counts.data(), recv.narrow_bytes.data(), recv.types.data(), comm
#define CALL_ALL(prefix)                                                                        \
  do {                                                                                          \
    if (form == blocking) prefix##MPI_Alltoallw(ARGUMENTS_OF_ALL);                              \
    if (form == nonblocking) prefix##MPI_Ialltoallw(ARGUMENTS_OF_ALL, &request);                \
    if (form == persistent) INIT(prefix, Alltoallw)(ARGUMENTS_OF_ALL, MPI_INFO_NULL, &request); \
  } while (0)
#define CALL(prefix, name, ...)                                                                  \
  do {                                                                                           \
    if (form == blocking) prefix##MPI_Neighbor_##name(__VA_ARGS__);                              \
    if (form == nonblocking) prefix##MPI_Ineighbor_##name(__VA_ARGS__, &request);                \
    if (form == persistent) INIT(prefix, Neighbor_##name)(__VA_ARGS__, MPI_INFO_NULL, &request); \
  } while (0)
#define CALLS(prefix)                                                                         \
  do {                                                                                        \
    if (function == allgather) CALL(prefix, allgather, ARGUMENTS_ALLGATHER);                  \
    if (function == allgatherv) CALL(prefix, allgatherv, ARGUMENTS_ALLGATHERV);               \
    if (function == alltoall) CALL(prefix, alltoall, ARGUMENTS_ALLTOALL);                     \
    if (function == alltoallv) CALL(prefix, alltoallv, ARGUMENTS_ALLTOALLV);                  \
    if (topology.all) CALL_ALL(prefix);                                                       \
    if (function == alltoallw && !topology.all) CALL(prefix, alltoallw, ARGUMENTS_ALLTOALLW); \
  } while (0)

  void make(Form form, bool library, bool large) {
    const MPI_Comm comm = topology.comm;
    const int count = (recv.gaps ? 1 : 2) * pairs;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Type_dup(gapped, &given);
    send.give_types(topology.all && overwrites && !library);
    recv.give_types(topology.all && overwrites && !library);
    if (send.counts[0] == 0 && function != alltoallv && function != alltoallw && !gathers())
      send.counts[0] = (send.gaps ? 1 : 2) * pairs;
#if HAS_LARGE
    if (large && form == blocking && function == alltoallw && !topology.all) {
      MPI_Neighbor_alltoallw_c(bottom ? MPI_BOTTOM : send.memory.data(), send.large_counts.data(), send.bytes.data(),
                               send.types.data(), bottom ? MPI_BOTTOM : recv.memory.data(), recv.large_counts.data(),
                               recv.bytes.data(), recv.types.data(), comm);
      MPI_Type_free(&given);
      return;
    }
    if (large && form == nonblocking && gathers()) {
      if (function == allgather) {
        MPI_Ineighbor_allgather_c(ARGUMENTS_ALLGATHER, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&given);
        return;
      }
    }
#else
    (void)large;
#endif
    if (library) {
      CALLS(P);
    } else {
      CALLS();
    }
    // A served call has copied what the program may overwrite now, and keeps datatypes that the program may free.
    if (form != blocking && !library && overwrites) {
      MPI_Type_free(&given);
      std::fill(recv.counts.begin(), recv.counts.end(), -7);
      std::fill(send.counts.begin(), send.counts.end(), -7);
      std::vector<MPI_Datatype>(send.types.size(), MPI_DATATYPE_NULL).swap(send.types);
    }
    for (int start = 0; form == persistent && start < 2; ++start) {
      std::copy(input.begin(), input.end(), recv.memory.begin());
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (form == nonblocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == persistent) MPI_Request_free(&request);
    if (given != MPI_DATATYPE_NULL) MPI_Type_free(&given);
  }
};

void try_call(const Topology& topology, Function function, Form form, std::mt19937& random) {
  Call call{.topology = topology,
            .function = function,
            .pairs = static_cast<int>(random() % 300),
            .seed = static_cast<unsigned>(random())};
  call.bottom = function == alltoallw && random() % 3 == 0 && !topology.all;
  if (random() % 2 == 0) call.pairs %= 4;
  call.in_place = topology.all && overwrites && random() % 2 == 0;
  // Each rank describes its buffers by types and displacements of its own.
  std::mt19937 own(call.seed + static_cast<unsigned>(rank));
  call.prepare(own);
  const std::vector<int> expected = call.expected();
  const bool large = random() % 2 == 0;
  Call again = call;
  if (call.bottom) {  // addresses are absolute
    std::mt19937 same(call.seed + static_cast<unsigned>(rank));
    again.prepare(same);
  }
#ifdef MPICH_VERSION
  // MPICH 4.0 breaks persistent calls with arrays, and alltoallw leaves blocks with gaps as they were.
  const bool library_works = form != persistent && function != alltoallw;
#else
  const bool library_works = true;
#endif
  if (by_library && (!library_works || topology.several)) return;
  call.make(form, false, large);
  ++calls;
  if (call.recv.memory != expected) {
    if (wrong++ == 0)
      std::printf("rank %d: %s, form %d, on a %s is wrong\n", rank, names[function], form, topology.name.c_str());
  }
  if (!library_works || topology.several || call.in_place) return;
  again.make(form, true, false);
  if (again.recv.memory == expected) return;
  ++wrong;
  std::printf("rank %d: the library's %s, form %d, on a %s differs\n", rank, names[function], form,
              topology.name.c_str());
}

/// Calls whose blocks keep their sizes, so that nodes may agree to join messages. In some calls they do not.
void call_again(const Topology& topology, Function function, std::mt19937& random) {
  const int pairs = static_cast<int>(random() % 40);
  const auto seed = static_cast<unsigned>(random());
  for (int i = 0; i < 40; ++i) {
    const bool changes = i == 9 || (i >= 24 && i < 26);
    Call call{.topology = topology, .function = function, .pairs = changes ? pairs + 1 : pairs, .seed = seed};
    if (changes) call.changed = static_cast<int>(random() % static_cast<unsigned>(size));
    std::mt19937 own(seed + static_cast<unsigned>(rank + 100 * (i / 8)));
    call.prepare(own);
    const std::vector<int> expected = call.expected();
    call.make(blocking, false, false);
    ++calls;
    if (call.recv.memory == expected || wrong++ > 0) continue;
    std::printf("rank %d: %s, call %d on a %s is wrong\n", rank, names[function], i, topology.name.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::mt19937 random(static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1));
  const std::string word = argc > 3 ? argv[3] : "";
  overwrites = word == "overwrite";
  by_library = word == "library";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, gapped_ints * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  MPI_Type_free(&pair);
  for (int round = 0; round < rounds; ++round) {
    Topology topology = round % 3 == 0 ? grid(random) : random_graph(random, round % 3 == 1);
    for (int function = 0; function < functions; ++function) {
      if (word == "again") call_again(topology, static_cast<Function>(function), random);
      for (int form = 0; form < forms; ++form)
        try_call(topology, static_cast<Function>(function), static_cast<Form>(form), random);
    }
    MPI_Comm_free(&topology.comm);
    Topology all = all_ranks();
    for (int form = 0; form < forms; ++form) try_call(all, alltoallw, static_cast<Form>(form), random);
    MPI_Comm_free(&all.comm);
  }
  long all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all_wrong == 0) std::printf("all %ld calls are right\n", calls);
  MPI_Type_free(&gapped);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
