// The sparse exchange of the C++ API, with random patterns that all ranks know.
#include <atomic>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/library/library.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

struct Item {
  double number = 0;
  int from = 0, to = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

constexpr ExchangeBy ways[] = {ExchangeBy::consensus, ExchangeBy::census};

/// The ways take turns on a communicator.
ExchangeBy way_of(unsigned number) { return ways[number % std::size(ways)]; }

enum class Pattern { random, nobody, from_one, to_one, all, patterns };

/// The number of elements from one rank to another; -1: no message.
int elements(unsigned round, int from, int to) {
  std::mt19937 random(round * 7919U + static_cast<unsigned>(from * world_size() + to));
  const auto pattern = static_cast<Pattern>(round % static_cast<unsigned>(Pattern::patterns));
  const bool sends = pattern == Pattern::random     ? random() % 3 == 0
                     : pattern == Pattern::from_one ? from == world_size() - 1
                     : pattern == Pattern::to_one   ? to == 0
                                                    : pattern == Pattern::all;
  if (!sends) return -1;
  constexpr unsigned sizes[] = {0, 1, 10, 1000, 30000};
  return static_cast<int>(random() % (sizes[random() % 5] + 1));
}

std::vector<Item> data(unsigned round, int from, int to) {
  std::vector<Item> made(static_cast<std::size_t>(elements(round, from, to)));
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = {.number = static_cast<double>(round) + static_cast<double>(i) / 4, .from = from, .to = to};
  return made;
}

ByRank<Item> sent_in(unsigned round) {
  ByRank<Item> made;
  for (int to = 0; to < world_size(); ++to) {
    if (elements(round, world_rank(), to) >= 0) made[to] = data(round, world_rank(), to);
  }
  return made;
}

void check(unsigned round, const ByRank<Item>& received, const std::string& what) {
  ByRank<Item> expected;
  for (int from = 0; from < world_size(); ++from) {
    if (elements(round, from, world_rank()) >= 0) expected[from] = data(round, from, world_rank());
  }
  expect(received == expected, what + ", round " + std::to_string(round));
}

struct OwnComm {
  MPI_Comm comm = MPI_COMM_NULL;
  OwnComm() { PMPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  ~OwnComm() { MPI_Comm_free(&comm); }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  operator MPI_Comm() const { return comm; }  // NOLINT(google-explicit-constructor): as classes of programs do
};

}  // namespace

TEST_MPI(exchanges_that_wait) {
  const OwnComm own;
  for (unsigned round = 0; round < 40; ++round) {
    if (round % 3 == 0) {
      check(round, sparse_exchange(sent_in(round), own, way_of(round / 2)), "on a class that is a communicator");
    } else {
      check(round, sparse_exchange(sent_in(round), own.comm, way_of(round / 2)), "blocking");
    }
  }
}

TEST_MPI(exchanges_that_begin) {
  const OwnComm own, other;
  for (unsigned round = 0; round < 30; round += 3) {
    std::vector<Exchange<Item>> under_way;
    under_way.push_back(sparse_exchange(sent_in(round), nonblocking(own), way_of(round)));
    under_way.push_back(sparse_exchange(sent_in(round + 1), nonblocking(own.comm), way_of(round / 2)));
    const std::vector<int> mine(100, world_rank());
    std::vector<int> sum(100);
    Request reduction = allreduce(mine, sum, Op::sum, nonblocking(own.comm));
    under_way.push_back(sparse_exchange(sent_in(round + 2), nonblocking(other.comm), way_of(round / 2)));
    // The ranks ask in different orders.
    const auto first = static_cast<std::size_t>(world_rank()) % 3;
    while (!under_way[first].test()) {
    }
    if (world_rank() % 2 == 0) reduction.wait();
    for (unsigned i = 0; i < 3; ++i) check(round + i, under_way[i].wait(), "nonblocking");
    reduction.wait();
    expect(sum.front() == world_size() * (world_size() - 1) / 2, "a reduction among exchanges");
  }
  // The end of an exchange that nobody waits for.
  for (unsigned round = 0; round < 5; ++round)
    (void)sparse_exchange(sent_in(round), nonblocking(own.comm), way_of(round));
  check(9, sparse_exchange(sent_in(9), own.comm), "after exchanges that were dropped");
}

TEST_MPI(exchanges_refuse_wrong_ranks) {
  for (const Rank wrong : {Rank{-1}, Rank{world_size()}}) {
    try {
      (void)sparse_exchange(ByRank<int>{{wrong, {1}}}, MPI_COMM_WORLD);
      fail("rank " + std::to_string(wrong) + " is accepted");
    } catch (const Error& error) {
      expect(error.code() == ErrorCode::invalid_argument, error.what());
    }
  }
}

TEST_MPI(exchanges_refuse_two_messages_for_a_rank) {
  const std::vector<ExchangeMessage> twice(2, {.to = 0});
  try {
    (void)mpi::begin_exchange(
        twice, [](Rank, Count) -> void* { return nullptr; }, MPI_COMM_WORLD);
    fail("two messages for rank 0 are accepted");
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::invalid_argument, error.what());
  }
}

TEST_MPI(exchanges_found_by_their_arguments) {
  using namespace circoll;  // NOLINT(google-build-using-namespace): as programs do
  ByRank<int> variable{{world_rank(), {1, 2}}};
  expect(sparse_exchange(variable, MPI_COMM_WORLD) == variable, "a message to itself");
}

namespace {

constexpr std::size_t long_message = 1 << 20;

/// The code of the error that an exchange throws.
int error_of(const std::function<void()>& exchange) {
  try {
    exchange();
  } catch (const MpiError& error) {
    return error.mpi_code();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
  return MPI_SUCCESS;
}

/// An exchange in which the other ranks find nothing wrong.
void check_around(MPI_Comm comm, int wrong_rank, int wrong_error, const std::string& what,
                  const std::function<void()>& exchange) {
  const int error = error_of(exchange);
  expect(error == (world_rank() == wrong_rank ? wrong_error : MPI_SUCCESS), what + ": error " + std::to_string(error));
  for (unsigned round = 0; round < 3; ++round)
    check(round, sparse_exchange(sent_in(round), comm, way_of(round)), "after " + what);
}

}  // namespace

TEST_MPI(exchanges_end_with_messages_of_wrong_length) {
  const OwnComm own;
  const int last = world_size() - 1;
  if (last == 0) return;
  const auto exchange = [&](bool waits, ExchangeBy by) {
    if (world_rank() == 0) {
      const ByRank<float> wrong{{last, {1.0F}}};
      if (waits) return (void)sparse_exchange(wrong, own.comm, by);
      return (void)sparse_exchange(wrong, nonblocking(own.comm), by).wait();
    }
    ByRank<double> right;
    for (Rank to = 1; to <= last; ++to) right[to].assign(long_message, world_rank());
    const ByRank<double> received =
        waits ? sparse_exchange(right, own.comm, by) : sparse_exchange(right, nonblocking(own.comm), by).wait();
    expect(
        world_rank() == last || received ==
                                    [&] {
                                      ByRank<double> expected;
                                      for (Rank from = 1; from <= last; ++from)
                                        expected[from].assign(long_message, static_cast<double>(from));
                                      return expected;
                                    }(),
        "the other messages");
  };
  for (const ExchangeBy by : ways) {
    for (const bool waits : {true, false})
      check_around(own.comm, last, MPI_ERR_TRUNCATE, "a wrong length", [&] { exchange(waits, by); });
  }
}

TEST_MPI(exchanges_end_without_places) {
  const OwnComm own;
  const std::vector<double> data(long_message, 1);
  const int last = world_size() - 1;
  std::vector<ExchangeMessage> to_all;
  for (Rank to = 0; to <= last; ++to)
    to_all.push_back({.to = to, .data = data.data(), .bytes = static_cast<Count>(data.size() * sizeof(double))});
  for (const unsigned number : {0U, 1U, 2U, 3U}) {
    const bool throws = number < 2;
    const auto exchange = [&] {
      ByRank<double> received;
      mpi::begin_exchange(
          to_all,
          [&](Rank from, Count) -> void* {
            if (world_rank() == last && throws) throw std::bad_alloc();
            if (world_rank() == last) return nullptr;
            return (received[from] = std::vector<double>(long_message)).data();
          },
          own.comm, way_of(number))
          .wait();
      for (const auto& [from, elements] : received) expect(elements == data, "from " + std::to_string(from));
    };
    check_around(own.comm, last, throws ? MPI_ERR_NO_MEM : MPI_ERR_TRUNCATE, "no place", exchange);
  }
}

TEST_MPI(exchanges_without_memory) {
  const OwnComm own;
  const int last = world_size() - 1;
  for (const ExchangeBy by : ways) check(4, sparse_exchange(sent_in(4), own.comm, by), "the first exchange");
  const std::vector<char> data(30000, 'a');
  for (const ExchangeBy by : ways) {
    int failed = 1;
    for (long n = 1; failed != 0; ++n) {
      std::vector<ExchangeMessage> to_all;
      for (Rank to = 0; to <= last; ++to) to_all.push_back({.to = to, .data = data.data(), .bytes = Count{30000}});
      auto received = std::make_shared<ByRank<char>>();
      ExchangePlace place = detail::place_in(received);
      const int error = error_of([&] {
        if (world_rank() == last) until_failure = n;
        mpi::begin_exchange(std::move(to_all), std::move(place), own.comm, by).wait();
      });
      failed = until_failure == 0 ? 1 : 0;
      until_failure = 0;
      expect(error == MPI_SUCCESS || (world_rank() == last && error == MPI_ERR_NO_MEM),
             "error " + std::to_string(error));
      PMPI_Bcast(&failed, 1, MPI_INT, last, own.comm);
      for (unsigned round = 0; round < 2; ++round)
        check(round, sparse_exchange(sent_in(round), own.comm), "after allocation " + std::to_string(n));
    }
  }
}

TEST_MPI(only_a_census_announces_messages) {
  const OwnComm own;
  const auto allocated = [&](ExchangeBy by) {
    const long before = allocations;
    (void)sparse_exchange(ByRank<int>(), own.comm, by);
    return allocations - before;
  };
  (void)allocated(ExchangeBy::consensus);
  const long usual = allocated(ExchangeBy::consensus);
  expect(allocated(ExchangeBy::census) > usual, "the first census has memory for announcements");
  expect(allocated(ExchangeBy::census) == usual, "which the next one has already");
}

TEST_MPI(exchanges_outlive_their_communicator) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  auto under_way = sparse_exchange(sent_in(4), nonblocking(comm));
  auto next = sparse_exchange(sent_in(5), nonblocking(comm), ExchangeBy::census);
  MPI_Comm_free(&comm);
  check(4, under_way.wait(), "on a communicator that is freed");
  check(5, next.wait(), "on a communicator that is freed");
}

TEST_MPI(exchanges_count_private_communicators) {
  std::atomic<int>& used = mpi::globals().private_comms;
  mpi::CommState::bury_released();  // those of tests before
  const int before = used;
  {
    const OwnComm own;
    check(1, sparse_exchange(sent_in(1), own.comm), "counted");
    expect(used == before + 1, "one more communicator is in use");
  }
  mpi::CommState::bury_released();
  expect(used == before, "the communicator is given back");
  const OwnComm own;
  if (world_rank() == 0) used = mpi::library::most_private_communicators;
  try {
    (void)sparse_exchange(sent_in(1), own.comm);
    fail("there is no bound for private communicators");
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::unsupported, error.what());
  }
  used = before;
  check(1, sparse_exchange(sent_in(1), own.comm), "after a refusal");
}

}  // namespace circoll::test
