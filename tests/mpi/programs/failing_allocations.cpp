// A program that runs out of memory inside its collectives: the n-th allocation of C++ code fails, for n = 1, 2, ...
// until none does.
//
// failing_allocations alike|one|fatal says where memory runs out:
//   alike  on every rank
//   one    on the last rank, in nonblocking calls; in others the ranks that have not failed can but wait forever
//   fatal  on the last rank, in a blocking call, and under MPI's own error handler
//
// Each call must return either the right result, or an error of which the communicator's error handler has heard once.
// The next call must be right, on this communicator and on later ones, which get the tags of those before.
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "persistent.h"

namespace {

constexpr long never = -1;
std::atomic<long> left{never};  ///< allocations until one fails
std::atomic<bool> failed{false};

void* allocate(std::size_t alignment, std::size_t bytes) {
  if (left > 0 && --left == 0) {
    failed = true;
    left = never;
    throw std::bad_alloc();
  }
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(alignof(std::max_align_t), bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(static_cast<std::size_t>(alignment), bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

enum class Mode { blocking, nonblocking, persistent };
constexpr const char* mode_names[] = {"blocking", "nonblocking", "persistent"};

int p = 1, rank = 0;
int errors_heard = 0;
long problems = 0, refusals = 0, served_after_all = 0;

void hear(MPI_Comm*, int*, ...) { ++errors_heard; }

void problem(const std::string& what) {
  ++problems;
  std::printf("rank %d: %s\n", rank, what.c_str());
}

/// Buffers of a call of `count` elements per block. All ranks have the same buffers.
struct Data {
  explicit Data(int elements) : count(elements), in(blocks() * elements), out(blocks() * elements, -1) {
    std::iota(in.begin(), in.end(), rank);
    counts.assign(blocks(), elements);
    for (int i = 0; i < p; ++i) displacements.push_back(i * elements);
  }
  [[nodiscard]] static std::size_t blocks() { return static_cast<std::size_t>(p); }
  int count;
  std::vector<int> in, out, counts, displacements;
};

/// A collective in three modes, and its result on this rank.
struct Collective {
  const char* name;
  std::function<int(Data&, MPI_Comm)> blocking;
  std::function<int(Data&, MPI_Comm, MPI_Request*)> nonblocking;
  std::function<int(Data&, MPI_Comm, MPI_Request*)> persistent;
  std::function<int(const Data&, int)> expected;  ///< element i of the result, in `size` elements
  std::function<int(const Data&)> size;
  bool rooted = false;  ///< ranks have different parts in it
};

#define CALL(name, ...)                                           \
  [](Data& d, MPI_Comm c) { return MPI_##name(__VA_ARGS__, c); }, \
      [](Data& d, MPI_Comm c, MPI_Request* r) { return MPI_I##name(__VA_ARGS__, c, r); }
#define WITH_INIT(name, ...) \
  [](Data& d, MPI_Comm c, MPI_Request* r) { return PERSISTENT(name)(__VA_ARGS__, c, MPI_INFO_NULL, r); }

int MPI_IAllreduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q) {
  return MPI_Iallreduce(s, r, n, t, o, c, q);
}
int MPI_IAllgatherv(const void* s, int n, MPI_Datatype t, void* r, const int* m, const int* d, MPI_Datatype u,
                    MPI_Comm c, MPI_Request* q) {
  return MPI_Iallgatherv(s, n, t, r, m, d, u, c, q);
}
int MPI_IAlltoallv(const void* s, const int* n, const int* e, MPI_Datatype t, void* r, const int* m, const int* d,
                   MPI_Datatype u, MPI_Comm c, MPI_Request* q) {
  return MPI_Ialltoallv(s, n, e, t, r, m, d, u, c, q);
}
int MPI_IReduce_scatter_block(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q) {
  return MPI_Ireduce_scatter_block(s, r, n, t, o, c, q);
}
int MPI_INeighbor_alltoallv(const void* s, const int* n, const int* e, MPI_Datatype t, void* r, const int* m,
                            const int* d, MPI_Datatype u, MPI_Comm c, MPI_Request* q) {
  return MPI_Ineighbor_alltoallv(s, n, e, t, r, m, d, u, c, q);
}

int MPI_IGatherv(const void* s, int n, MPI_Datatype t, void* r, const int* m, const int* d, MPI_Datatype u, int root,
                 MPI_Comm c, MPI_Request* q) {
  return MPI_Igatherv(s, n, t, r, m, d, u, root, c, q);
}
int MPI_IBcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q) {
  return MPI_Ibcast(b, n, t, root, c, q);
}

/// Element i of a sum over ranks, to which rank r contributes r + i.
int summed(int i) { return p * i + p * (p - 1) / 2; }

const Collective collectives[] = {
    {"allreduce", CALL(Allreduce, d.in.data(), d.out.data(), d.count, MPI_INT, MPI_SUM),
     WITH_INIT(Allreduce, d.in.data(), d.out.data(), d.count, MPI_INT, MPI_SUM),
     [](const Data&, int i) { return summed(i); }, [](const Data& d) { return d.count; }},
    {"allgatherv",
     CALL(Allgatherv, d.in.data(), d.count, MPI_INT, d.out.data(), d.counts.data(), d.displacements.data(), MPI_INT),
     WITH_INIT(Allgatherv, d.in.data(), d.count, MPI_INT, d.out.data(), d.counts.data(), d.displacements.data(),
               MPI_INT),
     [](const Data& d, int i) { return i / d.count + i % d.count; }, [](const Data& d) { return p * d.count; }},
    {"alltoallv",
     CALL(Alltoallv, d.in.data(), d.counts.data(), d.displacements.data(), MPI_INT, d.out.data(), d.counts.data(),
          d.displacements.data(), MPI_INT),
     WITH_INIT(Alltoallv, d.in.data(), d.counts.data(), d.displacements.data(), MPI_INT, d.out.data(), d.counts.data(),
               d.displacements.data(), MPI_INT),
     [](const Data& d, int i) { return i / d.count + rank * d.count + i % d.count; },
     [](const Data& d) { return p * d.count; }},
    {"neighbor_alltoallv",
     CALL(Neighbor_alltoallv, d.in.data(), d.counts.data(), d.displacements.data(), MPI_INT, d.out.data(),
          d.counts.data(), d.displacements.data(), MPI_INT),
     WITH_INIT(Neighbor_alltoallv, d.in.data(), d.counts.data(), d.displacements.data(), MPI_INT, d.out.data(),
               d.counts.data(), d.displacements.data(), MPI_INT),
     [](const Data& d, int i) {  // from below what went upwards, and from above the other block
       const bool below = i < d.count;
       return (rank + (below ? p - 1 : 1)) % p + (below ? d.count : 0) + i % d.count;
     },
     [](const Data& d) { return 2 * d.count; }},
    {"reduce_scatter_block", CALL(Reduce_scatter_block, d.in.data(), d.out.data(), d.count, MPI_INT, MPI_SUM),
     WITH_INIT(Reduce_scatter_block, d.in.data(), d.out.data(), d.count, MPI_INT, MPI_SUM),
     [](const Data& d, int i) { return summed(rank * d.count + i); }, [](const Data& d) { return d.count; }},
    {"gatherv",
     CALL(Gatherv, d.in.data(), d.count, MPI_INT, d.out.data(), d.counts.data(), d.displacements.data(), MPI_INT, 0),
     WITH_INIT(Gatherv, d.in.data(), d.count, MPI_INT, d.out.data(), d.counts.data(), d.displacements.data(), MPI_INT,
               0),
     [](const Data& d, int i) { return i / d.count + i % d.count; },
     [](const Data& d) { return rank == 0 ? p * d.count : 0; }, true},
    {"bcast", CALL(Bcast, rank == 0 ? d.in.data() : d.out.data(), d.count, MPI_INT, 0),
     WITH_INIT(Bcast, rank == 0 ? d.in.data() : d.out.data(), d.count, MPI_INT, 0),
     [](const Data&, int i) { return i; }, [](const Data& d) { return rank == 0 ? 0 : d.count; }, true},
};

bool is_right(const Collective& collective, const Data& data) {
  for (int i = 0; i < collective.size(data); ++i) {
    if (data.out[static_cast<std::size_t>(i)] != collective.expected(data, i)) return false;
  }
  return true;
}

bool ended(MPI_Request* request, double patience_s, int* error) {
  const double begin_s = PMPI_Wtime();
  int flag = 0;
  while (flag == 0 && PMPI_Wtime() - begin_s < patience_s) *error = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

/// The outcome of a call.
struct Outcome {
  int error = MPI_SUCCESS;
  bool over = true;
};

/// Makes a call while the n-th allocation fails; `patience_s` is for its request.
Outcome make(const Collective& collective, Mode mode, Data& data, MPI_Comm comm, long n, double patience_s) {
  Outcome outcome;
  MPI_Request request = MPI_REQUEST_NULL;
  failed = false;
  left = n;
  if (mode == Mode::blocking) outcome.error = collective.blocking(data, comm);
  if (mode == Mode::nonblocking) outcome.error = collective.nonblocking(data, comm, &request);
  if (mode == Mode::persistent) {
    outcome.error = collective.persistent(data, comm, &request);
    if (outcome.error == MPI_SUCCESS) outcome.error = MPI_Start(&request);
  }
  if (outcome.error == MPI_SUCCESS && mode != Mode::blocking) {
    outcome.over = ended(&request, patience_s, &outcome.error);
  }
  left = never;
  if (outcome.over && mode == Mode::persistent && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  return outcome;
}

/// True if `mine` is true on any rank.
bool any(bool mine) {
  int here = mine ? 1 : 0, anywhere = 0;
  PMPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return anywhere != 0;
}

/// A ring of all ranks.
MPI_Comm new_communicator() {
  MPI_Comm comm = MPI_COMM_NULL;
  const int periodic = 1;
  PMPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &comm);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  return comm;
}

void check(const std::string& what, const Collective& collective, const Data& data, const Outcome& outcome) {
  if (outcome.over && outcome.error == MPI_SUCCESS && errors_heard == 0) {
    if (failed) ++served_after_all;
    if (!is_right(collective, data)) problem(what + ": no error, and a wrong result");
    return;
  }
  if (outcome.error != MPI_SUCCESS) ++refusals;
  const int wanted = outcome.error != MPI_SUCCESS ? 1 : 0;
  if (outcome.over && errors_heard != wanted) {
    problem(what + ": the error handler was called " + std::to_string(errors_heard) + " times");
  }
}

void check_next_call(const std::string& what, const Collective& collective, Mode mode, int count, MPI_Comm comm) {
  errors_heard = 0;
  Data data(count);
  const Outcome next = make(collective, mode, data, comm, never, 20);
  if (!next.over || next.error != MPI_SUCCESS || !is_right(collective, data)) problem(what);
}

/// Fails the n-th allocation on all ranks. Each call is the first of its communicator, and of its count. Returns false
/// if no allocation fails.
bool fail_alike(const Collective& collective, Mode mode, long n) {
  const std::string what = std::string(collective.name) + ", " + mode_names[static_cast<int>(mode)] + ", allocation " +
                           std::to_string(n) + " fails";
  MPI_Comm comm = new_communicator();
  errors_heard = 0;
  const int count = 1000 * (1 + static_cast<int>(mode)) + static_cast<int>(n);
  Data data(count);
  const Outcome outcome = make(collective, mode, data, comm, n, 20);
  const bool goes_on = any(failed);
  if (!outcome.over) problem(what + ": it does not end");
  check(what, collective, data, outcome);
  check_next_call(what + ": the next call is wrong", collective, mode, count, comm);
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  return goes_on;
}

/// Fails the n-th allocation on the last rank, in the second call of a communicator. The others may wait forever.
bool fail_on_one(const Collective& collective, Mode mode, long n) {
  const std::string what = std::string(collective.name) + ", " + mode_names[static_cast<int>(mode)] + ", allocation " +
                           std::to_string(n) + " fails on the last rank";
  MPI_Comm comm = new_communicator();
  check_next_call(what + ": the call before is wrong", collective, Mode::blocking, 7, comm);
  errors_heard = 0;
  auto* const data = new Data(100 + static_cast<int>(n));  // a call that is not over keeps it
  const Outcome outcome = make(collective, mode, *data, comm, rank == p - 1 ? n : never, 0.01);
  const bool goes_on = any(failed);
  if (rank == p - 1 && failed && !outcome.over) problem(what + ": it does not end where it fails");
  check(what, collective, *data, outcome);
  const bool all_over = !any(!outcome.over);
  if (outcome.over) delete data;
  if (all_over || mode == Mode::nonblocking) MPI_Comm_free(&comm);
  // Later communicators have the tags of earlier ones, but not those of messages that are left.
  MPI_Comm later = new_communicator();
  check_next_call(what + ": a call on another communicator is wrong", collective, Mode::blocking, 9, later);
  MPI_Comm_free(&later);
  return goes_on;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &p);
  const std::string kind = argc > 1 ? argv[1] : "alike";
  const std::string only = argc > 2 ? argv[2] : "";
  if (kind == "fatal") {
    Data data(1000);
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    (void)make(collectives[0], Mode::blocking, data, comm, rank == p - 1 ? 1 : never, 0);
    std::printf("rank %d: the call has returned\n", rank);
    return 0;
  }
  for (const Collective& collective : collectives) {
    if (!only.empty() && only != collective.name) continue;
    // A ring of one rank has two edges to itself, and the data has one block. The library serves it anyway.
    if (p == 1 && std::string(collective.name).starts_with("neighbor")) continue;
    for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent}) {
      // Ranks that allocate differently fail at different places.
      if (kind == "alike" && collective.rooted && p > 1) continue;
      if (kind == "one" && mode != Mode::nonblocking) continue;
      long n = 1;
      while (kind == "one" ? fail_on_one(collective, mode, n) : fail_alike(collective, mode, n)) ++n;
      if (rank == 0)
        std::printf("%s, %s: %ld allocations\n", collective.name, mode_names[static_cast<int>(mode)], n - 1);
      std::fflush(stdout);
      if (rank == p - 1 && n == 1) problem(std::string(collective.name) + ": nothing is allocated: the test is blind");
    }
  }
  std::printf("rank %d: %ld errors, %ld right results in spite of a failure, %ld problems\n", rank, refusals,
              served_after_all, problems);
  const bool wrong = any(problems > 0);
  if (rank == 0 && !wrong) std::printf("all right\n");
  std::fflush(stdout);
  PMPI_Barrier(MPI_COMM_WORLD);
  if (kind == "one") std::_Exit(wrong ? 1 : 0);  // MPI_Finalize would wait for what is left
  MPI_Finalize();
  return wrong ? 1 : 0;
}
