// What the executor does to its surroundings: communicators, tags, memory, threads, datatypes.
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "against_native.hpp"
#include "allocations.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/globals.hpp"
#include "exec/mpi/perform.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

Case plain_case(Collective collective, const Algorithm& algorithm, Count count) {
  Case c{.collective = collective, .algorithm = &algorithm, .count = count, .type = reduce_specs()[2].type};
  c.op = reduce_specs()[2].op;  // bytes, bor: every algorithm can serve it
  return c;
}

template <typename Function>
void for_each_algorithm(Function&& function) {
  for (const Collective collective : all_collectives) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      if (unmet_need(*algorithm, world_size(), {.commutative = true, .idempotent = true}).empty()) {
        function(collective, *algorithm);
      }
    }
  }
}

}  // namespace

TEST_MPI(wildcard_receives_see_nothing) {
  int received = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  for_each_algorithm([](Collective collective, const Algorithm& algorithm) {
    for (const Count count : {Count{4}, Count{40000}}) check_against_native(plain_case(collective, algorithm, count));
  });
  int completed = 0;
  PMPI_Test(&request, &completed, MPI_STATUS_IGNORE);
  expect(completed == 0, "a message of ours met a receive of the user");
  const int token = 7;
  PMPI_Send(&token, 1, MPI_INT, world_rank(), 3, MPI_COMM_WORLD);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(received == token, "the user's own message is received");
}

// MPICH has 2048 context ids: a leaked duplicate would end them.
TEST_MPI(communicators_are_freed) {
  const std::size_t before = mpi::globals().states.size();
  for (int i = 0; i < 2500; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i % 10 == 0) {
      int one = 1, sum = 0;
      mpi::allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      expect(sum == world_size(), "sum");
    }
    PMPI_Comm_free(&comm);
    if (world_size() > 4 && i > 1200) break;  // oversubscribed creation of communicators is slow
  }
  expect(mpi::globals().states.size() == before, "states are left behind");
}

TEST_MPI(steady_state_allocates_nothing) {
  for_each_algorithm([](Collective collective, const Algorithm& algorithm) {
    const int p = world_size();
    const auto n = static_cast<std::size_t>(p);
    std::vector<char> a(n * 1000, 1), b(n * 1000, 2);
    std::vector<int> counts(n, 900), displs(n);
    for (std::size_t i = 0; i < n; ++i) displs[i] = static_cast<int>(i) * 1000;
    mpi::Call call{.collective = collective,
                   .sendbuf = a.data(),
                   .recvbuf = b.data(),
                   .sendcount = 900,
                   .recvcount = 900,
                   .sendtype = MPI_BYTE,
                   .recvtype = MPI_BYTE,
                   .op = MPI_BOR,
                   .root = 0,
                   .comm = MPI_COMM_WORLD};
    if (is_irregular(collective)) {
      if (collective == Collective::scatterv || collective == Collective::alltoallv) {
        call.sendcounts = counts.data();
        call.senddispls = displs.data();
      }
      if (collective != Collective::scatterv) call.recvcounts = counts.data();
      if (collective != Collective::scatterv && collective != Collective::reduce_scatter) {
        call.recvdispls = displs.data();
      }
    }
    const std::string name(algorithm.name);
    for (const bool in_place : {false, true}) {
      if (in_place && (!has_in_place(collective) || is_rooted(collective))) continue;
      if (in_place) call.sendbuf = MPI_IN_PLACE;
      for (int i = 0; i < 3; ++i) {
        (void)mpi::perform(call, *mpi::intern(collective, name), mpi::Otherwise::refuse);
      }
      const long before = allocations;
      for (int i = 0; i < 5; ++i) {
        (void)mpi::perform(call, *mpi::intern(collective, name), mpi::Otherwise::refuse);
      }
      const long made = allocations - before;
      expect(made == 0, algorithm.id(collective) + (in_place ? " in place" : "") + " made " + std::to_string(made) +
                            " allocations");
    }
  });
}

TEST_MPI(threads_on_different_communicators) {
  if (thread_level() < MPI_THREAD_MULTIPLE) return;
  constexpr int threads = 3;
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::atomic<int> wrong{0};
  std::vector<std::thread> pool;
  for (const MPI_Comm comm : comms) {
    pool.emplace_back([comm, &wrong] {
      for (int i = 0; i < 20; ++i) {
        std::vector<int> a(100, i), b(100);
        mpi::allreduce(a.data(), b.data(), 100, MPI_INT, MPI_SUM, comm);
        if (b != std::vector<int>(100, i * world_size())) ++wrong;
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  for (MPI_Comm& comm : comms) PMPI_Comm_free(&comm);
  expect(wrong == 0, "wrong sums");
}

// Absolute addresses: the buffer is MPI_BOTTOM.
TEST_MPI(mpi_bottom) {
  std::vector<int> data(20, world_rank() == 0 ? 5 : 0);
  MPI_Aint address = 0;
  PMPI_Get_address(data.data(), &address);
  const int length = 20;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
  PMPI_Type_commit(&type);
  for (const Algorithm* algorithm : algorithms_of(Collective::bcast)) {
    if (world_rank() != 0) std::fill(data.begin(), data.end(), 0);
    mpi::bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, std::string(algorithm->name));
    expect(data == std::vector<int>(20, 5), "bcast from MPI_BOTTOM");
  }
  PMPI_Type_free(&type);
}

// A datatype handle that MPI uses again for another type must not meet the plans of the first.
TEST_MPI(reused_datatype_handles) {
  const int p = world_size();
  for (int gap = 2; gap < 40; ++gap) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    PMPI_Type_vector(2, 1, gap, MPI_INT, &type);
    PMPI_Type_commit(&type);
    std::vector<int> a(static_cast<std::size_t>(gap) + 1, -1), b(static_cast<std::size_t>(p * (gap + 1)), -1);
    a.front() = world_rank();
    a.back() = gap;
    mpi::allgather(a.data(), 1, type, b.data(), 1, type, MPI_COMM_WORLD);
    for (int i = 0; i < p; ++i) {
      const auto at = static_cast<std::size_t>(i * (gap + 1));
      expect(b[at] == i && b[at + static_cast<std::size_t>(gap)] == gap && b[at + 1] == (gap == 1 ? gap : -1),
             "allgather");
    }
    PMPI_Type_free(&type);
  }
}

// Sums of floating-point numbers: within the error bound of p - 1 additions, and the same bits on all ranks
// where an algorithm promises that.
TEST_MPI(floating_point_sums) {
  const int p = world_size();
  constexpr std::size_t n = 501;
  std::vector<double> mine(n), magnitude(n), native(n), bound(n);
  for (std::size_t i = 0; i < n; ++i) {
    mine[i] = std::sin(static_cast<double>(i) * 1.7 + world_rank() * 31.3) * std::pow(10.0, static_cast<double>(i % 7));
    magnitude[i] = std::fabs(mine[i]);
  }
  PMPI_Allreduce(mine.data(), native.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  PMPI_Allreduce(magnitude.data(), bound.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (const Algorithm* algorithm : algorithms_of(Collective::allreduce)) {
    if (!unmet_need(*algorithm, p, {}).empty()) continue;
    std::vector<double> ours(n), roots(n);
    allreduce(mine, ours, Op::sum, MPI_COMM_WORLD, std::string(algorithm->name));
    for (std::size_t i = 0; i < n; ++i) {
      expect(std::fabs(ours[i] - native[i]) <= 2 * p * 1.2e-16 * bound[i], algorithm->id(Collective::allreduce));
    }
    roots = ours;
    PMPI_Bcast(roots.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (algorithm->guarantees.same_bits) expect(roots == ours, algorithm->id(Collective::allreduce) + ": bits differ");
  }
}

// NaN and signed zeros make floating-point MIN and MAX depend on the order of operands: by default all ranks must still
// get the same bits, or programs that branch on the result part ways.
TEST_MPI(extremes_of_special_values_agree) {
  const int r = world_rank();
  const std::vector<double> mine{r == 0 ? std::nan("") : 1.0, r % 2 == 0 ? -0.0 : 0.0, r == 1 ? std::nan("") : -1.0};
  for (const Op op : {Op::min, Op::max}) {
    std::vector<double> ours(mine.size());
    allreduce(mine, ours, op, MPI_COMM_WORLD);
    std::vector<double> roots = ours;
    PMPI_Bcast(roots.data(), static_cast<int>(roots.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect(std::memcmp(roots.data(), ours.data(), sizeof(double) * ours.size()) == 0, "bits differ from rank 0's");
  }
}

// The receive buffer of a reduction matters at the root only.
TEST_MPI(insignificant_receive_buffers) {
  const int root = world_size() - 1;
  const bool at_root = world_rank() == root;
  int sum = 1;
  const int one = 1;
  mpi::reduce(at_root ? MPI_IN_PLACE : static_cast<const void*>(&one), at_root ? &sum : MPI_IN_PLACE, 1, MPI_INT,
              MPI_SUM, root, MPI_COMM_WORLD);
  expect(!at_root || sum == world_size(), "sum");
}

// Many signatures on one communicator: older plans go, results stay right.
TEST_MPI(plan_cache_is_bounded) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < 2; ++round) {
    for (int count = 1; count < 300; ++count) {
      std::vector<int> a(static_cast<std::size_t>(count), 1), b(a.size());
      mpi::allreduce(a.data(), b.data(), count, MPI_INT, MPI_SUM, comm);
      expect(b == std::vector<int>(a.size(), world_size()), "sum");
    }
  }
  PMPI_Comm_free(&comm);
}

TEST_MPI(intercommunicators_are_native) {
  const int p = world_size();
  if (p < 2) return;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  const int side = world_rank() < p / 2 ? 0 : 1;
  PMPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  PMPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? p / 2 : 0, 9, &inter);
  const int one = 1;
  int sum = 0;
  mpi::allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  expect(sum == (side == 0 ? p - p / 2 : p / 2), "the sum of the other group");
  PMPI_Comm_free(&inter);
  PMPI_Comm_free(&half);
}

}  // namespace circoll::test
