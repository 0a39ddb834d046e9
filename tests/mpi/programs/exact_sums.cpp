// exact_sums exact|ordered|between: all collectives that sum, on floating-point numbers of many kinds, in all forms.
//
// Each result must have the bits of the exact sum that is rounded once, or of the sums in the order of ranks. The
// program knows nothing of the drop-in; exact_sums_test.py says how it runs. `between` sums between two groups only.
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "../../core/exact_reference.hpp"
#include "persistent.h"

namespace {

using circoll::exact_reference::random_numbers;
using circoll::exact_reference::sum_of;

bool ordered = false;
int failures = 0;
enum class Form { blocking, nonblocking, persistent };
constexpr const char* form_names[] = {"blocking", "nonblocking", "persistent"};

/// The result for one number of each rank, of the first so many of them.
template <typename Float>
Float expected(const std::vector<Float>& numbers) {
  if (!ordered) return sum_of(numbers);
  Float sum = numbers[0];
  for (std::size_t i = 1; i < numbers.size(); ++i) sum += numbers[i];
  return sum;
}

template <typename Float>
bool same(Float a, Float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (ordered && a != a && b != b);
}

/// The numbers of all ranks, and their sums over the first 1, 2, ... ranks. Those of every so many numbers are
/// compared, because references take time.
template <typename Float>
struct Data {
  Data(int ranks, int numbers, int every) : count(numbers) {
    std::mt19937_64 random(static_cast<std::uint64_t>(numbers));
    given.assign(static_cast<std::size_t>(ranks), std::vector<Float>(static_cast<std::size_t>(numbers)));
    for (int i = 0; i < numbers; ++i) {
      std::vector<Float> column = random_numbers<Float>(random, static_cast<std::size_t>(ranks));
      for (int r = 0; r < ranks; ++r)
        given[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)] = column[static_cast<std::size_t>(r)];
      if (i % every != 0 && i != numbers - 1) continue;
      std::vector<Float> first;
      for (const Float one : column) {
        first.push_back(one);
        sums[i].push_back(expected(first));
      }
    }
  }
  int count;
  std::vector<std::vector<Float>> given;
  std::map<int, std::vector<Float>> sums;
};

/// A communicator.
struct Group {
  MPI_Comm comm;
  int rank = 0, size = 0;
};

#define CALL(name, iname, ...)                                                            \
  do {                                                                                    \
    if (form == Form::blocking) MPI_##name(__VA_ARGS__);                                  \
    if (form == Form::nonblocking) MPI_I##iname(__VA_ARGS__, &request);                   \
    if (form == Form::persistent) PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, &request); \
  } while (0)

/// Compares numbers [from, from + length) of the vector with the sums over `ranks` ranks.
template <typename Float>
void check(const Data<Float>& data, const Float* got, int from, int length, int ranks, const char* what, Form form,
           bool in_place) {
  for (auto at = data.sums.lower_bound(from); at != data.sums.end() && at->first < from + length; ++at) {
    const Float want = at->second[static_cast<std::size_t>(ranks - 1)];
    const Float have = got[at->first - from];
    // One contribution stays as it is on two ranks, where the reduction itself is served.
    const bool unchanged = ranks == 1 && data.given.size() <= 2 && have != have && want != want;
    if (same(have, want) || unchanged) continue;
    if (++failures < 10)
      std::printf("%s %s%s of %d numbers of %zu bytes, number %d: %a and not %a\n", form_names[static_cast<int>(form)],
                  what, in_place ? " in place" : "", data.count, sizeof(Float), at->first, static_cast<double>(have),
                  static_cast<double>(want));
    return;
  }
}

/// One call of each collective. An element has `parts` numbers.
template <typename Float>
void call_all(const Group& group, const Data<Float>& data, MPI_Datatype type, int parts, Form form, bool in_place) {
  const int rank = group.rank, size = group.size, numbers = data.count, elements = numbers / parts;
  const std::vector<Float>& mine = data.given[static_cast<std::size_t>(rank)];
  const int root = size - 1;
  // Blocks of reduce_scatter: uneven, and rank 0 has none.
  std::vector<int> counts(static_cast<std::size_t>(size), 0);
  std::vector<int> begins(static_cast<std::size_t>(size), 0);
  int total = 0;
  for (int r = 0; r < size; ++r) {
    begins[static_cast<std::size_t>(r)] = total;
    const int count = r == size - 1 ? elements - total : r == 0 ? 0 : elements / (2 * size) * (1 + r % 2);
    counts[static_cast<std::size_t>(r)] = count;
    total += count;
  }
  const int block = elements / size;
  const int own = counts[static_cast<std::size_t>(rank)], begin = begins[static_cast<std::size_t>(rank)];

  struct Case {
    const char* name;
    std::function<void(const void*, void*, MPI_Request&)> call;
    int from, length, ranks;  // what is checked
  };
  const auto op = MPI_SUM;
  MPI_Comm comm = group.comm;
  const std::vector<Case> cases{
      {"allreduce",
       [&](const void* in, void* out, MPI_Request& request) {
         CALL(Allreduce, allreduce, in, out, elements, type, op, comm);
       },
       0, numbers, size},
      {"reduce",
       [&](const void* in, void* out, MPI_Request& request) {
         if (in == MPI_IN_PLACE && rank != root) in = out;
         CALL(Reduce, reduce, in, rank == root ? out : nullptr, elements, type, op, root, comm);
       },
       0, rank == root ? numbers : 0, size},
      {"reduce_scatter_block",
       [&](const void* in, void* out, MPI_Request& request) {
         CALL(Reduce_scatter_block, reduce_scatter_block, in, out, block, type, op, comm);
       },
       rank * block * parts, block * parts, size},
      {"reduce_scatter",
       [&](const void* in, void* out, MPI_Request& request) {
         CALL(Reduce_scatter, reduce_scatter, in, out, counts.data(), type, op, comm);
       },
       begin * parts, own * parts, size},
      {"scan",
       [&](const void* in, void* out, MPI_Request& request) { CALL(Scan, scan, in, out, elements, type, op, comm); }, 0,
       numbers, rank + 1},
      {"exscan",
       [&](const void* in, void* out, MPI_Request& request) {
         CALL(Exscan, exscan, in, out, elements, type, op, comm);
       },
       0, rank == 0 ? 0 : numbers, rank},
  };
  for (const Case& one : cases) {
    const std::vector<Float> before = in_place ? mine : std::vector<Float>(mine.size(), Float{-77});
    std::vector<Float> out = before;
    MPI_Request request = MPI_REQUEST_NULL;
    one.call(in_place ? MPI_IN_PLACE : static_cast<const void*>(mine.data()), out.data(), request);
    for (int start = 0; start < (form == Form::persistent ? 3 : 1); ++start) {
      if (start > 0) std::copy(before.begin(), before.end(), out.begin());
      if (form == Form::persistent) MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(data, out.data(), one.from, one.length, one.ranks, one.name, form, in_place);
      if (one.ranks == 0 && std::memcmp(out.data(), before.data(), out.size() * sizeof(Float)) != 0 && ++failures < 10)
        std::printf("%s %s has written on rank 0\n", form_names[static_cast<int>(form)], one.name);
    }
    if (form == Form::persistent) MPI_Request_free(&request);
  }
}

/// Two requests under way at a time.
template <typename Float>
void persistent(const Group& group, const Data<Float>& data, MPI_Datatype type, int parts) {
  const std::vector<Float>& mine = data.given[static_cast<std::size_t>(group.rank)];
  std::vector<Float> sum(mine.size()), prefix(mine.size());
  MPI_Request requests[2];
  PERSISTENT(Allreduce)
  (mine.data(), sum.data(), data.count / parts, type, MPI_SUM, group.comm, MPI_INFO_NULL, &requests[0]);
  PERSISTENT(Scan)
  (mine.data(), prefix.data(), data.count / parts, type, MPI_SUM, group.comm, MPI_INFO_NULL, &requests[1]);
  for (int start = 0; start < 3; ++start) {
    std::fill(sum.begin(), sum.end(), Float{-77});
    std::fill(prefix.begin(), prefix.end(), Float{-77});
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(data, sum.data(), 0, data.count, group.size, "allreduce", Form::persistent, false);
    check(data, prefix.data(), 0, data.count, group.rank + 1, "scan", Form::persistent, false);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

template <typename Float>
void all_forms(const Group& group, int numbers, int every, MPI_Datatype type, int parts) {
  const Data<Float> data(group.size, numbers, every);
  for (const bool in_place : {false, true}) {
    for (int repeat = 0; repeat < 3; ++repeat) call_all(group, data, type, parts, Form::blocking, in_place);
    call_all(group, data, type, parts, Form::nonblocking, in_place);
    call_all(group, data, type, parts, Form::persistent, in_place);
  }
  persistent(group, data, type, parts);
}

/// Several nonblocking calls at a time.
void overlapping(const Group& group) {
  const Data<double> data(group.size, 6000, 7);
  const std::vector<double>& mine = data.given[static_cast<std::size_t>(group.rank)];
  constexpr int calls = 8;
  std::vector<std::vector<double>> sums(calls, std::vector<double>(mine.size()));
  MPI_Request requests[calls];
  for (int i = 0; i < calls; ++i) {
    MPI_Iallreduce(mine.data(), sums[static_cast<std::size_t>(i)].data(), i % 2 == 0 ? data.count : 5, MPI_DOUBLE,
                   MPI_SUM, group.comm, &requests[i]);
  }
  MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < calls; ++i) {
    check(data, sums[static_cast<std::size_t>(i)].data(), 0, i % 2 == 0 ? data.count : 5, group.size,
          "one of several allreduces", Form::nonblocking, false);
  }
}

/// A sum on all ranks, and one that no preloaded library can serve, after another call there.
void sum_between_groups(const Group& world) {
  const double mine = 1;
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world.comm);
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(world.comm, world.rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, world.comm, 1 - world.rank % 2, 0, &between);
  MPI_Barrier(between);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

Group group_of(MPI_Comm comm) {
  Group group{.comm = comm};
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.size);
  return group;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ordered = argc > 1 && std::string(argv[1]) == "ordered";
  const Group world = group_of(MPI_COMM_WORLD);
  if (argc > 1 && std::string(argv[1]) == "between") {
    sum_between_groups(world);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, world.size - world.rank, &other);
  // Vectors that the number of ranks divides, and others; few and many numbers, which travel in different ways.
  for (const int numbers : {1, 30, 400, 12000, 12010}) {
    const int every = numbers > 1000 ? 37 : 1;
    all_forms<double>(world, numbers, every, MPI_DOUBLE, 1);
    all_forms<float>(numbers > 1000 ? world : group_of(other), numbers, every, MPI_FLOAT, 1);
    if (numbers % 2 != 0) continue;
    all_forms<double>(numbers > 1000 ? group_of(other) : world, numbers, every, MPI_C_DOUBLE_COMPLEX, 2);
    all_forms<float>(world, numbers, every, MPI_C_FLOAT_COMPLEX, 2);
  }
  overlapping(world);
  // In several parts, of which the last is shorter.
  const Data<double> large(world.size, 2400001, 4001);
  for (const bool in_place : {false, true}) {
    call_all(world, large, MPI_DOUBLE, 1, in_place ? Form::persistent : Form::blocking, in_place);
  }
  MPI_Comm_free(&other);
  std::vector<int> counts(static_cast<std::size_t>(world.size));
  MPI_Gather(&failures, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int all = std::accumulate(counts.begin(), counts.end(), 0);
  if (world.rank == 0) std::printf(all == 0 ? "all sums are right\n" : "%d sums are wrong\n", all);
  MPI_Finalize();  // the test reads what was printed: an mpirun may hang where ranks end with an error
}
