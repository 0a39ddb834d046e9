// The sparse exchange of the C++ API, with random patterns that all ranks know.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "circoll/mpi.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

struct Item {
  double number = 0;
  int from = 0, to = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

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
      check(round, exchange(sent_in(round), own), "on a class that is a communicator");
    } else {
      check(round, exchange(sent_in(round), own.comm), "blocking");
    }
  }
}

TEST_MPI(exchanges_that_begin) {
  const OwnComm own, other;
  for (unsigned round = 0; round < 30; round += 3) {
    std::vector<Exchange<Item>> under_way;
    under_way.push_back(exchange(sent_in(round), nonblocking(own)));
    under_way.push_back(exchange(sent_in(round + 1), nonblocking(own.comm)));
    const std::vector<int> mine(100, world_rank());
    std::vector<int> sum(100);
    Request reduction = allreduce(mine, sum, Op::sum, nonblocking(own.comm));
    under_way.push_back(exchange(sent_in(round + 2), nonblocking(other.comm)));
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
  for (unsigned round = 0; round < 5; ++round) (void)exchange(sent_in(round), nonblocking(own.comm));
  check(9, exchange(sent_in(9), own.comm), "after exchanges that were dropped");
}

TEST_MPI(exchanges_refuse_wrong_ranks) {
  for (const Rank wrong : {Rank{-1}, Rank{world_size()}}) {
    try {
      (void)exchange(ByRank<int>{{wrong, {1}}}, MPI_COMM_WORLD);
      fail("rank " + std::to_string(wrong) + " is accepted");
    } catch (const Error& error) {
      expect(error.code() == ErrorCode::invalid_argument, error.what());
    }
  }
}

}  // namespace circoll::test
