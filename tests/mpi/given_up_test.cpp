// Executions that are given up because MPI refuses a message. Memory that they leave to MPI is not used again. The
// errors come from lab/torture/delay.c, without which nothing is tested here.
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "circoll/mpi.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

using Fail = void(int function, int calls);

Fail* fail_function() { return reinterpret_cast<Fail*>(dlsym(RTLD_DEFAULT, "circoll_delay_fail")); }

/// Lets messages go on for a while.
void let_pass(double seconds) {
  const double end = PMPI_Wtime() + seconds;
  while (PMPI_Wtime() < end) {
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    sched_yield();
  }
}

constexpr std::size_t most = 1 << 18;

/// The latest send that may be refused at every rank is the second one: for it a rank needs only its neighbour's first.
/// A third may need a message that the neighbour was refused, and this rank would wait for it without an error.
constexpr int latest_send = 1;

/// An allreduce whose ranks all send and receive equally often. MPI refuses one message of each rank.
void give_up(Fail* fail, int function, int calls, std::size_t count) {
  const std::string what = "function " + std::to_string(function) + ", call " + std::to_string(calls) + ", " +
                           std::to_string(count) + " ints";
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> in(count, 1), out(count, -1);
  mpi::barrier(comm, "dissemination");
  fail(function, calls);
  bool failed = false;
  try {
    mpi::allreduce(in.data(), out.data(), static_cast<Count>(count), MPI_INT, MPI_SUM, comm, "ring");
  } catch (const MpiError&) {
    failed = true;
  }
  fail(function, -1);
  expect(failed, what + ": no error");
  // The program has its buffer back: nobody else writes to it.
  std::iota(out.begin(), out.end(), world_rank());
  // Operations of the same sizes do not use scratch memory to which a late message may still go.
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<int> a(count), sum(count);
    std::iota(a.begin(), a.end(), turn);
    mpi::allreduce(a.data(), sum.data(), static_cast<Count>(count), MPI_INT, MPI_SUM, MPI_COMM_WORLD, "ring");
    bool right = true;
    for (std::size_t i = 0; i < count; ++i) right = right && sum[i] == world_size() * a[i];
    expect(right, what + ": a later result is wrong");
  }
  let_pass(0.02);
  bool untouched = true;
  for (std::size_t i = 0; i < count; ++i) untouched = untouched && out[i] == world_rank() + static_cast<int>(i);
  expect(untouched, what + ": the receive buffer is written after the error");
  PMPI_Barrier(MPI_COMM_WORLD);
  PMPI_Comm_free(&comm);
}

}  // namespace

TEST_MPI(given_up_executions) {
  Fail* const fail = fail_function();
  if (fail == nullptr || world_size() < 2) return;
  for (const std::size_t count : {std::size_t{12}, std::size_t{3000}, most}) {
    for (int function = 0; function < 3; ++function) {
      const int latest = function == 0 ? latest_send : 2;
      for (int calls = 0; calls <= latest; ++calls)
        give_up(fail, function, std::min(calls, 2 * world_size() - 3), count);
    }
  }
}

// Memory is given back when MPI has finished with it, and not before.
TEST_MPI(abandoned_memory) {
  if (world_size() < 2) return;
  mpi::Abandoned held;
  const int peer = (world_rank() + 1) % world_size();
  std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
  int token = 0;
  PMPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests.data());
  held.add(requests, mpi::arenas().acquire(1 << 20));
  held.collect();
  expect(held.size() == 1, "memory is given back although its message has not come");
  PMPI_Barrier(MPI_COMM_WORLD);
  PMPI_Send(&peer, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
  for (const double end = PMPI_Wtime() + 20; PMPI_Wtime() < end && held.size() > 0; sched_yield()) held.collect();
  expect(held.size() == 0, "memory is not given back");
  PMPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace circoll::test
