// The C++ and the C API.
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/local.hpp"  // both executors in one program: overloads must not clash
#include "circoll/mpi.hpp"
#include "circoll/select.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "harness.hpp"

extern "C" int circoll_test_c_abi(void);
extern "C" int circoll_test_c_errors(void);
extern "C" int circoll_test_c_requests(const char* choice, int persistent);
extern "C" int circoll_test_c_request_errors(void);

namespace circoll::test {

TEST_MPI(c_abi) {
  const int failed = circoll_test_c_abi();
  expect(failed == 0, "check " + std::to_string(failed));
}

/// Errors end no job under MPI_ERRORS_ARE_FATAL.
TEST_MPI(c_errors) {
  const int failed = circoll_test_c_errors();
  expect(failed == 0,
         "the check in line " + std::to_string(failed % 10000) + ", choice " + std::to_string(failed / 10000));
}

bool native_persistent_is_right();  // typed_api_test.cpp

TEST_MPI(c_requests) {
  const bool native_is_right = native_persistent_is_right();
  for (const int persistent : {0, 1}) {
    for (const char* const choice : {static_cast<const char*>(nullptr), "auto", "native"}) {
      if (persistent != 0 && !native_is_right && choice != nullptr && choice == std::string_view("native")) continue;
      const int failed = circoll_test_c_requests(choice, persistent);
      expect(failed == 0, "line " + std::to_string(failed / 1000) + " or " + std::to_string(failed % 1000) + " by " +
                              (choice == nullptr ? "NULL" : choice) + (persistent != 0 ? ", persistent" : ""));
    }
  }
  const int failed = circoll_test_c_request_errors();
  expect(failed == 0, "the check in line " + std::to_string(failed));
}

/// A reduce_scatter of n elements to rank `root`.
mpi::Call to_one_rank(std::vector<int>& in, std::vector<int>& out, std::vector<Count>& counts, int root,
                      bool in_place) {
  counts.assign(static_cast<std::size_t>(world_size()), 0);
  counts[static_cast<std::size_t>(root)] = static_cast<Count>(out.size());
  return {.collective = Collective::reduce_scatter,
          .sendbuf = in_place ? MPI_IN_PLACE : in.data(),
          .recvbuf = out.data(),
          .recvcounts = mpi::CountArray(counts.data()),
          .sendtype = MPI_INT,
          .op = MPI_SUM,
          .comm = MPI_COMM_WORLD};
}

/// True if the communicator remembers the call as native. (mpi::known_native() ends where it would have to ask MPI.)
bool remembered(const mpi::Call& call, const mpi::InternedChoice& choice) {
  int error = MPI_SUCCESS;
  mpi::CommState* const state = mpi::CommState::of(call.comm, &error);
  expect(error == MPI_SUCCESS && state != nullptr, "the communicator has a state");
  return state != nullptr && state->attached<mpi::KnownCalls>().find(call, choice, *state).native != nullptr;
}

/// A policy decides about the equivalent call, here a reduce. An algorithm that was named serves the call as it is.
TEST_MPI(reduce_scatter_to_one_rank_is_a_reduce) {
  const int p = world_size(), r = world_rank();
  constexpr Count n = 1000;
  for (int root = 0; root < p; ++root) {
    for (const bool in_place : {false, true}) {
      for (const char* const choice : {"auto", "circulant"}) {
        std::vector<int> in(n, r + 1), out(n, in_place ? r + 1 : -1);
        std::vector<Count> counts;
        const mpi::Call call = to_one_rank(in, out, counts, root, in_place);
        const mpi::CallResult outcome =
            mpi::perform(call, *mpi::intern(Collective::reduce_scatter, choice), mpi::Unserved::refuse);
        expect(outcome.error == MPI_SUCCESS && outcome.served() != nullptr, "served");
        const bool meant = std::string(choice) == "auto";
        expect(outcome.served()->collective == (meant ? Collective::reduce : Collective::reduce_scatter), choice);
        if (r == root) {
          expect(out == std::vector<int>(n, p * (p + 1) / 2), "the sum");
        } else if (!in_place) {
          expect(out == std::vector<int>(n, -1), "nothing for the others");
        }
      }
    }
  }
}

/// An algorithm that the environment names is a policy, and serves the reduce_scatter itself.
TEST_MPI(reduce_scatter_to_one_rank_by_a_named_algorithm) {
  const int p = world_size(), r = world_rank();
  for (const char* const name : {"circulant", "ring", "pairwise"}) {
    // It lives as long as the process, because plans refer to it.
    const Policy& named = *make_fixed_policy(parse_selection(Collective::reduce_scatter, name)).release();
    for (int root = 0; root < p; ++root) {
      std::vector<int> in(500, r + 1), out(500, -1);
      std::vector<Count> counts;
      const mpi::Call call = to_one_rank(in, out, counts, root, false);
      const mpi::CallResult outcome =
          mpi::perform(call, *mpi::intern(Collective::reduce_scatter, named), mpi::Unserved::native);
      expect(outcome.served() != nullptr && outcome.served()->algorithm->name == name, name);
      expect(out == std::vector<int>(500, r == root ? p * (p + 1) / 2 : -1), "the sum, and nothing for the others");
    }
  }
}

/// A reduce_scatter that is left to the library becomes the library's reduce, which Circoll remembers as native. Two
/// collectives take turns.
TEST_MPI(native_reduce_scatter_to_one_rank_is_a_native_reduce) {
  const int p = world_size(), r = world_rank();
  static const Policy& native = *make_policy("native").release();  // as long as the process
  const mpi::InternedChoice& choice = *mpi::intern(Collective::reduce_scatter, native);
  const mpi::InternedChoice& of_reduce = *mpi::intern(Collective::reduce, native);
  for (int call_number = 0; call_number < 6; ++call_number) {
    const int root = call_number % p;
    const bool in_place = call_number % 2 == 1;
    const bool nonblocking = call_number / 2 % 2 == 1;
    std::vector<int> in(10, r + 1), out(10, in_place ? r + 1 : -1);
    std::vector<Count> counts;
    const mpi::Call call = to_one_rank(in, out, counts, root, in_place);
    MPI_Request request = MPI_REQUEST_NULL;
    const mpi::CallResult outcome =
        nonblocking ? mpi::start(call, choice, &request, {}) : mpi::perform(call, choice, mpi::Unserved::refuse);
    if (nonblocking) PMPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(outcome.error == MPI_SUCCESS && outcome.served() == nullptr, "native");
    expect(outcome.bytes == 40, "bytes of the reduce");
    if (r == root) expect(out == std::vector<int>(10, p * (p + 1) / 2), "the sum");
    expect(remembered(*mpi::as_reduce(call, r, p), of_reduce), "the reduce is remembered");
    expect(!remembered(call, choice), "the call is not");
  }
}

/// Circoll remembers the values of the counts, not the array: the program may write other counts into it.
TEST_MPI(native_reduce_scatter_of_equal_counts_is_remembered) {
  const int p = world_size(), r = world_rank();
  static const Policy& native = *make_policy("native").release();  // as long as the process
  const mpi::InternedChoice& choice = *mpi::intern(Collective::reduce_scatter, native);
  MPI_Comm comm = MPI_COMM_NULL;  // whose memory is empty
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto ranks = static_cast<std::size_t>(p);
  std::vector<int> in(5 * ranks, r + 1), out(5);
  std::vector<int> counts(ranks);  // Open MPI 4 has no nonblocking call with wider ones
  const mpi::Call call{.collective = Collective::reduce_scatter,
                       .sendbuf = in.data(),
                       .recvbuf = out.data(),
                       .recvcounts = mpi::CountArray(counts.data()),
                       .sendtype = MPI_INT,
                       .op = MPI_SUM,
                       .comm = comm};
  const auto known = [&] {
    const auto key = mpi::with_one_count(call, p);
    return key && remembered(*key, choice);
  };
  const auto make = [&](bool nonblocking) {
    std::ranges::fill(out, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    const mpi::CallResult outcome =
        nonblocking ? mpi::start(call, choice, &request, {}) : mpi::perform(call, choice, mpi::Unserved::refuse);
    if (nonblocking) PMPI_Wait(&request, MPI_STATUS_IGNORE);
    const int mine = counts[static_cast<std::size_t>(r)];
    expect(outcome.error == MPI_SUCCESS && outcome.served() == nullptr, "native");
    expect(outcome.bytes == 4 * std::accumulate(counts.begin(), counts.end(), Count{0}), "bytes");
    std::vector<int> expected(5, -1);
    std::fill_n(expected.begin(), mine, p * (p + 1) / 2);
    expect(out == expected, "sums");
  };
  for (const bool nonblocking : {false, true}) {
    for (const int count : {2 + (nonblocking ? 2 : 0), 0, 1 + (nonblocking ? 2 : 0)}) {
      std::ranges::fill(counts, count);
      expect(!known(), "nothing is known yet");
      make(nonblocking);
      expect(known() == (p > 1 && count > 0), "equal counts, to more than one rank, but no counts of 0");
      make(nonblocking);
      ++counts[0];
      make(nonblocking);
      expect(!known(), "counts that differ are not");
    }
  }
  MPI_Comm_free(&comm);
}

/// Circoll remembers all calls of a program that take turns, not only those of other places in a table.
TEST_MPI(native_calls_that_take_turns_are_all_remembered) {
  const int p = world_size(), r = world_rank();
  static const Policy& native = *make_policy("native").release();  // as long as the process
  std::vector<int> in(static_cast<std::size_t>(8 * p), r + 1), out(in.size());
  MPI_Comm comm = MPI_COMM_NULL;  // whose memory is empty
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<mpi::Call> calls;
  for (const Count count : {1, 8}) {
    const mpi::Call call{.sendbuf = in.data(),
                         .recvbuf = out.data(),
                         .sendcount = count,
                         .recvcount = count,
                         .sendtype = MPI_INT,
                         .recvtype = MPI_INT,
                         .op = MPI_SUM,
                         .comm = comm};
    for (const Collective collective : all_collectives) {
      if (is_irregular(collective)) continue;
      calls.push_back(call);
      calls.back().collective = collective;
    }
    for (int root = 1; root < p; ++root) {
      calls.push_back(call);
      calls.back().collective = Collective::bcast;
      calls.back().root = root;
    }
  }
  const auto choice_for = [](const mpi::Call& call) -> const mpi::InternedChoice& {
    return *mpi::intern(call.collective, native);
  };
  for (const mpi::Call& call : calls) {
    expect(!remembered(call, choice_for(call)), "nothing is known yet");
    expect(mpi::perform(call, choice_for(call), mpi::Unserved::refuse).served() == nullptr, "native");
  }
  for (const mpi::Call& call : calls) expect(remembered(call, choice_for(call)), "remembered");
  MPI_Comm_free(&comm);
}

/// Communicators take turns, and new ones get handles of freed ones. Circoll remembers calls of the right communicator.
TEST_MPI(communicators_that_take_turns_are_all_remembered) {
  const int p = world_size(), r = world_rank();
  static const Policy& native = *make_policy("native").release();  // as long as the process
  const mpi::InternedChoice& choice = *mpi::intern(Collective::allreduce, native);
  for (int time = 0; time < 3; ++time) {
    std::array<MPI_Comm, 4> comms{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, r % 2, r, &comms[1]);
    const std::array<int, 4> sizes{p, r % 2 == 0 ? (p + 1) / 2 : p / 2, p, 1};
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < comms.size(); ++i) {
        const int one = 1;
        int sum = 0;
        const mpi::Call call{.collective = Collective::allreduce,
                             .sendbuf = &one,
                             .recvbuf = &sum,
                             .sendcount = 1,
                             .sendtype = MPI_INT,
                             .op = MPI_SUM,
                             .comm = comms[i]};
        expect(mpi::perform(call, choice, mpi::Unserved::refuse).served() == nullptr && sum == sizes[i], "the sum");
        expect(remembered(call, choice), "remembered");
        // The others may have the handle of the communicator that was freed last, for which Circoll asks MPI each time.
        if (i >= 2) expect(mpi::known_native(call, choice) != nullptr, "without asking MPI");
      }
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
  }
}

TEST_MPI(typed_api) {
  const int p = world_size(), r = world_rank();
  const auto n = static_cast<std::size_t>(p);
  const double total = p * (p + 1) / 2.0;
  const std::vector<double> mine(10, r + 1.0);
  std::vector<double> out(10);
  allreduce(mine, out, Op::sum, MPI_COMM_WORLD);
  expect(out == std::vector<double>(10, total), "allreduce");
  out = mine;
  allreduce(in_place, out, MPI_SUM, MPI_COMM_WORLD, "auto");
  expect(out == std::vector<double>(10, total), "allreduce in place");
  reduce(mine, out, Op::max, p - 1, MPI_COMM_WORLD);
  if (r == p - 1) expect(out == std::vector<double>(10, p), "reduce");

  std::vector<int> blocks(2 * n), block(2);
  std::iota(blocks.begin(), blocks.end(), 0);
  reduce_scatter_block(blocks, block, Op::sum, MPI_COMM_WORLD);
  expect(block == std::vector<int>{2 * r * p, (2 * r + 1) * p}, "reduce_scatter_block");
  std::vector<Count> counts(n), displs(n);
  for (std::size_t i = 0; i < n; ++i) counts[i] = static_cast<Count>(i % 3);
  std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), Count{0});
  const Count sum = std::accumulate(counts.begin(), counts.end(), Count{0});
  std::vector<int> vector(static_cast<std::size_t>(sum), 1),
      part(static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]));
  reduce_scatter(vector, part, counts, Op::sum, MPI_COMM_WORLD);
  expect(part == std::vector<int>(part.size(), p), "reduce_scatter");

  struct Record {
    char name[5];
    short value;
  };
  std::vector<Record> records(n);
  const std::array<Record, 1> own{Record{"abc", static_cast<short>(r)}};
  allgather(own, records, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < n; ++i) expect(records[i].value == static_cast<short>(i), "allgather of records");
  std::vector<int> contribution(part.size(), r), everything(vector.size(), -1);
  allgatherv(contribution, everything, counts, displs, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < n; ++i) {
    for (Count k = 0; k < counts[i]; ++k) {
      expect(everything[static_cast<std::size_t>(displs[i] + k)] == static_cast<int>(i), "allgatherv");
    }
  }

  std::vector<int> pair{r, -r}, pairs(2 * n);
  gather(pair, pairs, 0, MPI_COMM_WORLD);
  if (r == 0) {
    for (std::size_t i = 0; i < n; ++i) expect(pairs[2 * i + 1] == -static_cast<int>(i), "gather");
  }
  scatter(pairs, pair, 0, MPI_COMM_WORLD);
  expect(pair == std::vector<int>{r, -r}, "scatter");
  gatherv(contribution, everything, counts, displs, p - 1, MPI_COMM_WORLD);
  scatterv(everything, counts, displs, part, p - 1, MPI_COMM_WORLD);
  expect(part == contribution, "gatherv and scatterv");
  std::vector<float> payload(7, r == 0 ? 3.5F : 0.F);
  bcast(payload, 0, MPI_COMM_WORLD);
  expect(payload == std::vector<float>(7, 3.5F), "bcast");
  barrier(MPI_COMM_WORLD);
}

TEST_MPI(typed_exchanges_and_prefixes) {
  const int p = world_size(), r = world_rank();
  const auto n = static_cast<std::size_t>(p);
  struct Record {
    short from, to;
    char padding;
  };
  std::vector<Record> letters(n), mail(n);
  for (std::size_t i = 0; i < n; ++i) letters[i] = {static_cast<short>(r), static_cast<short>(i), 'x'};
  alltoall(letters, mail, MPI_COMM_WORLD);
  alltoall(in_place, letters, MPI_COMM_WORLD, "bruck");
  for (std::size_t i = 0; i < n; ++i) {
    expect(mail[i].from == static_cast<short>(i) && mail[i].to == r, "alltoall of records");
    expect(letters[i].from == static_cast<short>(i) && letters[i].to == r, "alltoall in place");
  }

  // Rank s sends (s + d + 1) % 3 elements to rank d, and gets as many from it, so that in place is possible.
  std::vector<Count> counts(n), displs(n);
  for (std::size_t i = 0; i < n; ++i) counts[i] = static_cast<Count>((static_cast<std::size_t>(r) + i + 1) % 3);
  std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), Count{0});
  const auto total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Count{0}));
  std::vector<int> sent(total), expected(total);
  for (std::size_t i = 0; i < n; ++i) {
    for (Count k = 0; k < counts[i]; ++k) {
      sent[static_cast<std::size_t>(displs[i] + k)] = 100 * r + static_cast<int>(i);
      expected[static_cast<std::size_t>(displs[i] + k)] = 100 * static_cast<int>(i) + r;
    }
  }
  for (const char* const choice : {"auto", "circulant", "native"}) {  // native: 64-bit counts narrowed to int
    std::vector<int> got(total, -1), swapped = sent;
    alltoallv(sent, counts, displs, got, counts, displs, MPI_COMM_WORLD, choice);
    expect(got == expected, std::string("alltoallv by ") + choice);
    alltoallv(in_place, {}, {}, swapped, counts, displs, MPI_COMM_WORLD, choice);
    expect(swapped == expected, std::string("alltoallv in place by ") + choice);
  }

  const std::vector<double> mine(10, r + 1.0);
  std::vector<double> out(10, -1);
  scan(mine, out, Op::sum, MPI_COMM_WORLD);
  expect(out == std::vector<double>(10, (r + 1) * (r + 2) / 2.0), "scan");
  out = mine;
  scan(in_place, out, Op::max, MPI_COMM_WORLD, "linear");
  expect(out == mine, "scan in place");
  out.assign(10, -1);
  exscan(mine, out, Op::sum, MPI_COMM_WORLD);
  expect(out == std::vector<double>(10, r == 0 ? -1 : r * (r + 1) / 2.0), "exscan");
}

TEST_MPI(api_errors) {
  std::vector<int> a(4), b(4);
  const auto code_of = [](auto&& f) {
    try {
      f();
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::ok;
  };
  expect(code_of([&] { allreduce(a, b, Op::sum, MPI_COMM_WORLD, "no_such"); }) == ErrorCode::unknown_name, "name");
  expect(code_of([&] { allreduce(std::vector<int>(3), b, Op::sum, MPI_COMM_WORLD); }) == ErrorCode::invalid_argument,
         "size");
  std::vector<int> uneven(static_cast<std::size_t>(world_size()) + 1);
  if (world_size() > 1) {
    expect(code_of([&] { alltoall(in_place, uneven, MPI_COMM_WORLD); }) == ErrorCode::invalid_argument, "p blocks");
  }
  expect(code_of([&] { alltoallv(a, {}, {}, b, {}, {}, MPI_COMM_WORLD); }) == ErrorCode::invalid_argument, "p counts");
  for (const char* const choice : {"auto", "native", "linear"}) {
    const auto is_wrong = [&](const std::string& what, auto&& call) {
      expect(code_of(call) == ErrorCode::invalid_argument, what + " by " + choice);
    };
    is_wrong("root", [&] { mpi::bcast(a.data(), 4, MPI_INT, -3, MPI_COMM_WORLD, choice); });
    is_wrong("typed root", [&] { bcast(a, world_size(), MPI_COMM_WORLD, choice); });
    is_wrong("root of a gather", [&] { gather(a, b, -1, MPI_COMM_WORLD, choice); });
    is_wrong("count", [&] { mpi::allreduce(a.data(), b.data(), -4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, choice); });
    is_wrong("operator", [&] { allreduce(a, b, MPI_OP_NULL, MPI_COMM_WORLD, choice); });
    is_wrong("communicator", [&] { allreduce(a, b, Op::sum, MPI_COMM_NULL, choice); });
    is_wrong("communicator of an allgather", [&] { allgather(a, b, MPI_COMM_NULL, choice); });
    is_wrong("communicator of a reduce", [&] { reduce(a, b, Op::sum, 0, MPI_COMM_NULL, choice); });
    const std::vector<Count> negative(static_cast<std::size_t>(world_size()), -1);
    is_wrong("counts", [&] { allgatherv(a, b, negative, negative, MPI_COMM_WORLD, choice); });
  }
}

int handled_errors = 0;
void count_error(MPI_Comm* /*comm*/, int* /*code*/, ...) { ++handled_errors; }

/// Errors that MPI finds: a handler of the user's is called once, and MPI_ERRORS_ARE_FATAL ends nothing.
TEST_MPI(errors_of_the_library) {
  handled_errors = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
  PMPI_Comm_create_errhandler(count_error, &counting);
  for (MPI_Errhandler handler : {MPI_Errhandler{MPI_ERRORS_ARE_FATAL}, counting}) {
    PMPI_Comm_set_errhandler(comm, handler);
    int error_class = MPI_SUCCESS;
    const double x = 1;
    double y = 0;
    try {
      mpi::allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, comm);
    } catch (const MpiError& e) {
      PMPI_Error_class(e.mpi_code(), &error_class);
    }
    const int handled = handled_errors;
    // An MPICH 5 returns MPI_SUCCESS after a handler of the user's (library_faults, error_after_handler).
    const bool forgets = handler == counting && PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, comm) == MPI_SUCCESS;
    expect(error_class == (forgets ? MPI_SUCCESS : MPI_ERR_OP), "MPI's error");
    expect(handled == (handler == counting ? 1 : 0), "calls of the handler");
  }
  PMPI_Errhandler_free(&counting);
  PMPI_Comm_free(&comm);
}

}  // namespace circoll::test
