// Effects of the executor on its surroundings: communicators, tags, memory, threads, datatypes.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "against_native.hpp"
#include "allocations.hpp"
#include "circoll/collectives.hpp"
#include "circoll/mpi.hpp"
#include "circoll/select.hpp"
#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/serve/neighbor_perform.hpp"
#include "exec/mpi/serve/perform.hpp"
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

/// The most allocations of a rank in five calls by `perform`, once such calls have been made before.
template <typename Perform>
long allocations_in(const Perform& perform) {
  for (int i = 0; i < 3; ++i) perform();
  // Lists of messages that wait grow once, when many messages happen to come early.
  long made = 1;
  for (int turn = 0; turn < 3 && made != 0; ++turn) {
    const long before = allocations;
    for (int i = 0; i < 5; ++i) perform();
    made = allocations - before;
    PMPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  }
  return made;
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

// MPICH has 2048 context ids, which leaked duplicates would use up.
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
    if (has_sendcounts(collective)) {
      call.sendcounts = counts.data();
      call.senddispls = displs.data();
    }
    if (has_recvcounts(collective)) call.recvcounts = counts.data();
    if (has_recvdispls(collective)) call.recvdispls = displs.data();
    const std::string name(algorithm.name);
    for (const bool in_place : {false, true}) {
      if (in_place && (!has_in_place(collective) || is_rooted(collective))) continue;
      if (in_place) call.sendbuf = MPI_IN_PLACE;
      const long made =
          allocations_in([&] { (void)mpi::perform(call, *mpi::intern(collective, name), mpi::Unserved::refuse); });
      expect(made == 0, algorithm.id(collective) + (in_place ? " in place" : "") + " made " + std::to_string(made) +
                            " allocations");
    }
  });
}

TEST_MPI(steady_state_among_neighbors_allocates_nothing) {
  const int p = world_size(), periodic = 1;
  if (p == 1) return;  // the library serves one rank
  MPI_Comm ring = MPI_COMM_NULL;
  PMPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &ring);
  MPI_Datatype gapped = MPI_DATATYPE_NULL;
  PMPI_Type_vector(2, 1, 2, MPI_INT, &gapped);
  PMPI_Type_commit(&gapped);
  const std::vector<int> a(100, world_rank()), counts{3, 3}, displs{20, 0};
  const std::vector<MPI_Aint> bytes{80, 0};
  std::vector<int> b(100);
  const auto no_native = [](std::string_view) { return MPI_ERR_OTHER; };
  for (const MPI_Datatype type : {MPI_INT, gapped}) {
    const std::vector<MPI_Datatype> types{type, type};
    const mpi::NeighborArguments one{.buffer = a.data(), .count = 3, .type = type};
    const mpi::NeighborArguments several{
        .buffer = a.data(), .type = type, .counts = counts.data(), .displs = displs.data()};
    const mpi::NeighborArguments typed{
        .buffer = a.data(), .counts = counts.data(), .displs = Counts::wide(bytes.data()), .types = types.data()};
    using enum NeighborFunction;
    for (mpi::NeighborCall call : {mpi::NeighborCall{.function = allgather, .send = one, .recv = one},
                                   mpi::NeighborCall{.function = allgatherv, .send = one, .recv = several},
                                   mpi::NeighborCall{.function = alltoall, .send = one, .recv = one},
                                   mpi::NeighborCall{.function = alltoallv, .send = several, .recv = several},
                                   mpi::NeighborCall{.function = alltoallw, .send = typed, .recv = typed}}) {
      call.comm = ring;
      call.recv.buffer = b.data();
      const mpi::InternedChoice& choice = *mpi::intern(Collective::alltoall, "auto");
      const auto perform = [&] {
        const mpi::CallResult result = mpi::perform(call, choice, mpi::NeighborNative(no_native), false);
        expect(result.error == MPI_SUCCESS && result.served() != nullptr, "not served");
      };
      const long made = allocations_in(perform);
      expect(made == 0, std::string(to_string(call.function)) + " made " + std::to_string(made) + " allocations");
    }
  }
  PMPI_Type_free(&gapped);
  PMPI_Comm_free(&ring);
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

// Addresses are absolute, because the buffer is MPI_BOTTOM.
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

// MPI may use the handle of a datatype again for another type, which must not meet the plans of the first.
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

// Sums of floating-point numbers stay within the error bound of p - 1 additions. Where an algorithm promises that, all
// ranks have the same bits.
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

// NaN and signed zeros make floating-point MIN and MAX depend on the order of operands. By default all ranks must still
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

// exscan: the receive buffer of rank 0 matters in place only, and is not written.
TEST_MPI(insignificant_receive_buffer_of_exscan) {
  const int r = world_rank(), one = 1;
  for (const Algorithm* algorithm : algorithms_of(Collective::exscan)) {
    for (void* const nothing : {static_cast<void*>(nullptr), MPI_IN_PLACE}) {
      int sum = -1;
      mpi::exscan(&one, r == 0 ? nothing : &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, std::string(algorithm->name));
      expect(sum == (r == 0 ? -1 : r), algorithm->id(Collective::exscan));
    }
    int sum = 1;
    mpi::exscan(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, std::string(algorithm->name));
    expect(sum == (r == 0 ? 1 : r), algorithm->id(Collective::exscan) + " in place");
  }
}

// Some ranks call in place, so that schedules of both kinds must fit together.
TEST_MPI(prefixes_in_place_at_some_ranks) {
  const int r = world_rank();
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const int first = collective == Collective::scan ? r + 1 : r;  // ranks that are combined here
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      for (int odd = 0; odd < 2; ++odd) {
        const std::vector<int> mine(1000, r + 1);
        std::vector<int> out(1000, -1);
        const bool in_place_here = r % 2 == odd;
        if (in_place_here) out = mine;
        mpi::Call call{.collective = collective, .recvbuf = out.data(), .sendcount = 1000, .sendtype = MPI_INT};
        call.sendbuf = in_place_here ? MPI_IN_PLACE : static_cast<const void*>(mine.data());
        call.op = MPI_SUM;
        call.comm = MPI_COMM_WORLD;
        const mpi::CallResult outcome =
            mpi::perform(call, *mpi::intern(collective, std::string(algorithm->name)), mpi::Unserved::refuse);
        expect(outcome.error == MPI_SUCCESS && outcome.served() != nullptr, algorithm->id(collective) + ": not served");
        const int untouched = in_place_here ? r + 1 : -1;
        expect(out == std::vector<int>(1000, first == 0 ? untouched : first * (first + 1) / 2),
               algorithm->id(collective) + ": wrong sums");
      }
    }
  }
}

enum class Gaps : std::uint8_t { none, in_all, in_every_other };

// alltoallv: some blocks go to several ranks, some blocks are empty at displacements that point nowhere, and some
// displacements lie before the buffer's address. Gaps in every other block are an alltoallw.
TEST_MPI(blocks_anywhere) {
  const int p = world_size(), r = world_rank();
  const auto n = static_cast<std::size_t>(p);
  const auto count = [](int source, int to) { return (source + 2 * to) % 3; };
  MPI_Datatype spread = MPI_DATATYPE_NULL;  // an int of every three
  PMPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spread);
  PMPI_Type_commit(&spread);
  const std::vector<int> from{100 * r, -1, -1, 100 * r + 1, -1, -1};
  std::vector<int> sendcounts(n), sdispls(n), recvcounts(n), rdispls(n);
  constexpr int nowhere = 1 << 30, room = 4;
  for (int i = 0; i < p; ++i) {
    const auto at = static_cast<std::size_t>(i);
    sendcounts[at] = count(r, i);
    sdispls[at] = sendcounts[at] == 0 ? nowhere : 0;
    recvcounts[at] = count(i, r);
    rdispls[at] = recvcounts[at] == 0 ? -nowhere : -(i + 1) * room;
  }
  for (const Algorithm* algorithm : algorithms_of(Collective::alltoallv)) {
    for (const Gaps gaps : {Gaps::none, Gaps::in_all, Gaps::in_every_other}) {
      // A third of the ints of a block with gaps is written.
      const int stride = gaps == Gaps::none ? 1 : 3;
      const auto has_gaps = [gaps](int i) {
        return gaps == Gaps::in_all || (gaps == Gaps::in_every_other && i % 2 == 1);
      };
      std::vector<int> to(n * room * 3, -7);
      std::vector<int> expected = to;
      for (int i = 0; i < p; ++i) {
        for (int k = 0; k < count(i, r); ++k) {
          const int at = (i + 1) * room * stride - k * (has_gaps(i) ? 3 : 1);
          expected[to.size() - static_cast<std::size_t>(at)] = 100 * i + k;
        }
      }
      if (gaps == Gaps::in_every_other) {
        const std::vector<MPI_Datatype> sendtypes(n, spread);
        std::vector<MPI_Datatype> recvtypes(n, MPI_INT);
        std::vector<Count> sbytes(n), rbytes(n);
        for (std::size_t i = 0; i < n; ++i) {
          if (has_gaps(static_cast<int>(i))) recvtypes[i] = spread;
          sbytes[i] = Count{sdispls[i]} * 3 * Count{sizeof(int)};
          rbytes[i] = Count{rdispls[i]} * 3 * Count{sizeof(int)};
        }
        mpi::alltoallw(from.data(), sendcounts.data(), sbytes.data(), sendtypes.data(), to.data() + to.size(),
                       recvcounts.data(), rbytes.data(), recvtypes.data(), MPI_COMM_WORLD,
                       std::string(algorithm->name));
      } else {
        mpi::alltoallv(from.data(), sendcounts.data(), sdispls.data(), spread, to.data() + to.size(), recvcounts.data(),
                       rdispls.data(), gaps == Gaps::none ? MPI_INT : spread, MPI_COMM_WORLD,
                       std::string(algorithm->name));
      }
      expect(to == expected, algorithm->id(Collective::alltoallv));
    }
  }
  PMPI_Type_free(&spread);
}

// The default for an alltoall depends on the p blocks that a rank sends.
TEST_MPI(alltoall_is_chosen_by_what_a_rank_sends) {
  const int p = world_size();
  int error = MPI_SUCCESS;
  const Placement placement = mpi::CommState::of(MPI_COMM_WORLD, &error)->placement();
  for (Count count = 1; count <= Count{1} << 17; count *= 2) {
    std::vector<char> a(static_cast<std::size_t>(count * p)), b(a.size());
    const mpi::Call call{.collective = Collective::alltoall,
                         .sendbuf = a.data(),
                         .recvbuf = b.data(),
                         .sendcount = count,
                         .recvcount = count,
                         .sendtype = MPI_BYTE,
                         .recvtype = MPI_BYTE,
                         .comm = MPI_COMM_WORLD};
    const mpi::CallResult outcome = mpi::perform(call, *mpi::intern(Collective::alltoall, {}));
    const Selection expected = resolve({}, {.collective = Collective::alltoall,
                                            .p = p,
                                            .bytes = count * p,
                                            .cores = placement.cores,
                                            .nodes = placement.nodes,
                                            .crowded = placement.crowded});
    expect(outcome.served() != nullptr && outcome.served()->id() == expected.id(),
           "blocks of " + std::to_string(count) + " bytes are not served by " + expected.id());
    expect(outcome.bytes == count * p, "the report counts the bytes that a rank sends");
  }
}

// For the drop-in the native collective reports the error to the error handler.
TEST_MPI(erroneous_exchanges_and_prefixes) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  // Open MPI 4.1 reports MPI_IN_PLACE in the wrong place to MPI_COMM_WORLD, whatever the communicator.
  MPI_Errhandler of_world = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto n = static_cast<std::size_t>(world_size());
  std::vector<int> a(n, 1), b(n, 2), ones(n, 1), displs(n), negative(n, -1);
  const auto class_of = [](const mpi::Call& call) {
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(mpi::perform(call, *mpi::intern(call.collective, {})).error, &error_class);
    return error_class;
  };
  const auto exchange = [&](const std::vector<int>& sendcounts, const std::vector<int>& recvcounts) {
    return class_of(mpi::calls::alltoallv(a.data(), sendcounts.data(), displs.data(), MPI_INT, b.data(),
                                          recvcounts.data(), displs.data(), MPI_INT, comm));
  };
  expect(class_of(mpi::calls::alltoall(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, comm)) == MPI_ERR_COUNT,
         "alltoall of a negative count");
  expect(class_of(mpi::calls::alltoall(a.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm)) != MPI_SUCCESS,
         "alltoall that receives in place");
  expect(exchange(negative, ones) == MPI_ERR_COUNT, "alltoallv that sends a negative count");
  expect(exchange(ones, negative) == MPI_ERR_COUNT, "alltoallv that receives a negative count");
  expect(exchange(ones, ones) == MPI_SUCCESS, "alltoallv");
  expect(class_of(mpi::calls::scan(a.data(), b.data(), 1, MPI_INT, MPI_OP_NULL, comm)) == MPI_ERR_OP,
         "scan without an operator");
  // MPICH 5 aborts (library_faults, no_type_in_reduction). The other MPIs complain about the operator, which is not
  // defined on it.
  if (mpich_version() < 500) {
    const mpi::Call no_type = mpi::calls::exscan(a.data(), b.data(), 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
    expect(class_of(no_type) == MPI_ERR_OP, "exscan without a datatype");
  }
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
  PMPI_Errhandler_free(&of_world);
  PMPI_Comm_free(&comm);
}

// With many signatures on one communicator older plans go, and results stay right.
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
  const int others = side == 0 ? p - p / 2 : p / 2;
  expect(sum == others, "the sum of the other group");
  const auto n = static_cast<std::size_t>(others);
  std::vector<int> mine(n, world_rank()), theirs(n, -1), counts(n, 1), displs(n);
  mpi::alltoall(mine.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, inter);
  for (std::size_t i = 0; i < n; ++i) displs[i] = static_cast<int>(i);
  std::vector<int> again(n, -1);
  mpi::alltoallv(mine.data(), counts.data(), displs.data(), MPI_INT, again.data(), counts.data(), displs.data(),
                 MPI_INT, inter);
  const std::vector<MPI_Datatype> types(n, MPI_INT);
  for (int& displ : displs) displ *= static_cast<int>(sizeof(int));
  std::vector<int> by_types(n, -1);
  mpi::alltoallw(mine.data(), counts.data(), displs.data(), types.data(), by_types.data(), counts.data(), displs.data(),
                 types.data(), inter);
  for (std::size_t i = 0; i < n; ++i) {
    expect(theirs[i] == static_cast<int>(i) + (side == 0 ? p / 2 : 0), "alltoall with the other group");
  }
  expect(again == theirs, "alltoallv with the other group");
  expect(by_types == theirs, "alltoallw with the other group");
  PMPI_Comm_free(&inter);
  PMPI_Comm_free(&half);
}

}  // namespace circoll::test
