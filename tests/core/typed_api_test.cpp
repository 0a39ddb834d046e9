// The typed API in one process: its calls, and the end of its requests when ranks fail.
#include <gtest/gtest.h>

#include <stdexcept>

#include "circoll/local.hpp"
#include "support/typed_api.hpp"
#include "support/typed_callables.hpp"
#include "support/typed_calls.hpp"

namespace circoll {
namespace {

using local::Comm;
using local::World;

const auto expect = [](bool holds, const std::string& what) { EXPECT_TRUE(holds) << what; };

/// Runs a check on worlds of some sizes.
template <typename Body>
void in_worlds(Body body) {
  for (const Rank p : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE("p = " + std::to_string(p));
    World world(p);
    world.run(body);
  }
}

TEST(TypedApi, AllCollectivesInAllWays) {
  in_worlds([](Comm& comm) { test::check_typed_calls(comm, expect, "auto", false); });
}

TEST(TypedApi, AllCollectivesByNamedAlgorithms) {
  in_worlds([](Comm& comm) { test::check_typed_calls(comm, expect, "by name", true); });
}

TEST(TypedApi, ResultsByValue) {
  in_worlds([](Comm& comm) { test::check_values(comm, expect); });
}

TEST(TypedApi, Callables) {
  in_worlds([](Comm& comm) {
    test::check_callables(comm, expect, "auto");
    test::check_callables_by_value(comm, expect);
  });
}

TEST(TypedApi, AnExceptionOfACallableLeavesTheCall) {
  World world(2);
  EXPECT_THROW(world.run([](Comm& comm) {
    (void)allreduce(
        1, [](int, int) -> int { throw std::range_error("the callable"); }, comm);
  }),
               std::range_error);
}

TEST(TypedApi, WrongCallsAreRefused) {
  in_worlds([](Comm& comm) { test::check_refusals(comm, expect); });
}

TEST(TypedApi, ErrorsOfBuffersNameThemAndTheirSizes) {
  const auto message_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  World world(2);
  world.run([&](Comm& comm) {
    const std::vector<int> thousand(1000);
    std::vector<int> three(3), many(2001);
    EXPECT_EQ(message_of([&] { allgather(thousand, three, comm); }), "recvbuf has 3 elements, and 2000 are needed");
    EXPECT_EQ(message_of([&] { allgather(thousand, many, comm); }),
              "recvbuf has 2001 elements, which are not p = 2 blocks of equal size");
    EXPECT_EQ(message_of([&] { allreduce(three, many, Op::sum, comm); }),
              "sendbuf has 3 elements, and 2001 are needed");
    EXPECT_EQ(message_of([&] { (void)reduce_scatter_block(three, Op::sum, comm); }),
              "sendbuf has 3 elements, which are not p = 2 blocks of equal size");
  });
}

TEST(TypedApi, RequestsAreHandles) {
  in_worlds([](Comm& comm) { test::check_requests(comm, expect); });
}

TEST(TypedApi, ManyCallsUnderWay) {
  in_worlds([](Comm& comm) { test::check_many_requests(comm, expect); });
}

TEST(TypedApi, RequestsAdvanceInOneThread) {
  World world(2);
  std::vector<int> a{1}, b{2}, sum_a{0}, sum_b{0};
  Request at_a = allreduce(a, sum_a, Op::sum, nonblocking(world.comm(0)));
  EXPECT_FALSE(at_a.test());
  EXPECT_THROW(world.run_single_threaded(std::vector<local::Call>(2)), Error);
  Request at_b = allreduce(b, sum_b, Op::sum, nonblocking(world.comm(1)));
  for (int i = 0; i < 100 && (at_a.active() || at_b.active()); ++i) {
    (void)at_a.test();
    (void)at_b.test();
  }
  EXPECT_FALSE(at_a.active() || at_b.active());
  EXPECT_EQ(sum_a[0], 3);
  EXPECT_EQ(sum_b[0], 3);
}

TEST(TypedApi, ErrorsComeFromWait) {
  // The operator fails on one rank; the others learn it from their requests, and no rank hangs.
  const UserOperator failing{[](const void*, void*, Count) { throw std::runtime_error("the operator"); }, true};
  World world(4);
  EXPECT_THROW(world.run([&](Comm& comm) {
    std::vector<int> x(10), y(10), z(10);
    Request bad = allreduce(x, y, failing, nonblocking(comm), "circulant_optimal");
    Request behind = allreduce(x, z, Op::sum, nonblocking(comm));
    EXPECT_THROW(
        {
          try {
            bad.wait();
          } catch (...) {
            EXPECT_FALSE(bad.active());
            EXPECT_TRUE(bad.test());
            EXPECT_THROW(behind.wait(), Error);
            throw;
          }
        },
        std::runtime_error);
    throw std::runtime_error("as expected");
  }),
               std::runtime_error);
}

TEST(TypedApi, UnsupportedCallsFailAloneAndTheNextOneIsMade) {
  const UserOperator last{[](const void*, void*, Count) {}, false};
  World world(3);
  world.run([&](Comm& comm) {
    std::vector<int> x{1}, y(1), z(1);
    // The algorithm needs a commutative operator. The preparation of the call finds that this one is not.
    Request refused = allreduce(x, y, last, nonblocking(comm), "circulant_optimal");
    Request served = allreduce(x, z, Op::sum, nonblocking(comm));
    EXPECT_EQ(test::code_thrown_by([&] { refused.wait(); }), ErrorCode::unsupported);
    served.wait();
    EXPECT_EQ(z[0], 3);
  });
}

TEST(TypedApi, AnExceptionThatDestroysARequestEndsTheOthers) {
  World world(3);
  try {
    world.run([](Comm& comm) {
      // Rank 2 does not take part, so that the call would never end.
      if (comm.rank() == 2) return;
      const Request request = barrier(nonblocking(comm));
      if (comm.rank() == 1) throw std::runtime_error("the reason");
      barrier(comm);
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the reason");
  }
}

TEST(TypedApi, RecordsAreCombinedByCallersOperators) {
  struct Pair {
    int a, b;
  };
  const UserOperator sum{[](const void* left, void* inout, Count elements) {
                           for (Count i = 0; i < elements; ++i) {
                             static_cast<Pair*>(inout)[i].a += static_cast<const Pair*>(left)[i].a;
                             static_cast<Pair*>(inout)[i].b += static_cast<const Pair*>(left)[i].b;
                           }
                         },
                         true};
  World world(4);
  world.run([&](Comm& comm) {
    const Pair result = allreduce(Pair{1, static_cast<int>(comm.rank())}, sum, comm);
    EXPECT_EQ(result.a, 4);
    EXPECT_EQ(result.b, 6);
  });
}

static_assert(!std::is_copy_constructible_v<Request> && std::is_nothrow_move_constructible_v<Request>);
static_assert(!Communicator<int> && !Communicator<double>);

}  // namespace
}  // namespace circoll
