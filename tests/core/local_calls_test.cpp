// The typed calls of the in-process executor: in a row, in a thousand threads, failing, misused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/local.hpp"

namespace circoll {
namespace {

using local::Comm;
using local::World;

TEST(Local, AThousandThreads) {
  for (const Collective collective :
       {Collective::allreduce, Collective::allgather, Collective::bcast, Collective::barrier}) {
    if (algorithms_of(collective).empty()) continue;
    World world(1000);
    world.run([&](Comm& comm) {
      std::vector<std::int64_t> all(1000);
      const std::vector<std::int64_t> mine{comm.rank()};
      std::vector<std::int64_t> one{comm.rank() == 3 ? 77 : 0};
      switch (collective) {
        case Collective::allreduce:
          allreduce(mine, one, Op::sum, comm);
          EXPECT_EQ(one[0], 999 * 500);
          break;
        case Collective::allgather:
          allgather(mine, all, comm);
          EXPECT_EQ(all[999], 999);
          break;
        case Collective::bcast:
          bcast(one, 3, comm);
          EXPECT_EQ(one[0], 77);
          break;
        default:
          barrier(comm);
      }
    });
  }
}

TEST(Local, TypedCallsInARow) {
  // Many collectives one after another, ranks running ahead of one another: messages must not mix.
  World world(5);
  world.run([](Comm& comm) {
    const Rank p = comm.size();
    const Rank r = comm.rank();
    for (int repetition = 0; repetition < 50; ++repetition) {
      std::vector<double> mine(7, static_cast<double>(r + repetition));
      std::vector<double> sum(7);
      allreduce(mine, sum, Op::sum, comm);
      EXPECT_EQ(sum[6], static_cast<double>(10 + 5 * repetition));
      allreduce(in_place, mine, Op::sum, comm);
      EXPECT_EQ(mine, sum);

      std::vector<int> blocks(static_cast<std::size_t>(2 * p), static_cast<int>(r));
      std::vector<int> block(2);
      reduce_scatter_block(blocks, block, Op::sum, comm);
      EXPECT_EQ(block[1], 10);
      reduce_scatter_block(in_place, blocks, Op::sum, comm);
      EXPECT_EQ(blocks[1], 10);

      const std::vector<Count> counts{1, 0, 3, 2, 1};
      std::vector<int> uneven_blocks(7, 1);
      std::vector<int> own(static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]));
      reduce_scatter(uneven_blocks, own, counts, Op::sum, comm);
      for (const int x : own) EXPECT_EQ(x, 5);

      const std::vector<Count> displs{8, 0, 4, 2, 0};
      std::vector<int> gathered(9, -1);
      std::fill(own.begin(), own.end(), static_cast<int>(r));
      allgatherv(own, gathered, counts, displs, comm);
      EXPECT_EQ(gathered, (std::vector<int>{4, -1, 3, 3, 2, 2, 2, -1, 0}));

      std::vector<int> all(static_cast<std::size_t>(p));
      allgather(std::vector<int>{static_cast<int>(r)}, all, comm);
      EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 3, 4}));
    }
  });
}

TEST(Local, TypedExchangesAndPrefixes) {
  World world(5);
  world.run([](Comm& comm) {
    const Rank p = comm.size();
    const int r = static_cast<int>(comm.rank());
    std::vector<int> out, in(static_cast<std::size_t>(2 * p)), expected;
    for (int other = 0; other < 5; ++other) {
      out.insert(out.end(), {10 * r + other, 1});
      expected.insert(expected.end(), {10 * other + r, 1});
    }
    alltoall(out, in, comm);
    EXPECT_EQ(in, expected);
    alltoall(in_place, out, comm);
    EXPECT_EQ(out, expected);

    const std::vector<int> mine{r + 1, 1};
    std::vector<int> prefix(2, -7);
    scan(mine, prefix, Op::sum, comm);
    EXPECT_EQ(prefix, (std::vector<int>{(r + 1) * (r + 2) / 2, r + 1}));
    std::vector<int> below(2, -7);
    exscan(mine, below, Op::sum, comm);
    EXPECT_EQ(below, r == 0 ? (std::vector<int>{-7, -7}) : (std::vector<int>{r * (r + 1) / 2, r}));
    below = mine;
    exscan(in_place, below, Op::sum, comm);
    EXPECT_EQ(below, r == 0 ? mine : (std::vector<int>{r * (r + 1) / 2, r}));
    below = mine;
    scan(in_place, below, Op::sum, comm);
    EXPECT_EQ(below, prefix);
  });
}

TEST(Local, TypedRootedCalls) {
  for (const Collective needed : {Collective::reduce, Collective::gather, Collective::gatherv, Collective::scatter,
                                  Collective::scatterv, Collective::bcast, Collective::barrier}) {
    if (algorithms_of(needed).empty()) GTEST_SKIP() << "no algorithm of " << to_string(needed);
  }
  World world(5);
  world.run([](Comm& comm) {
    const Rank r = comm.rank();
    for (Rank root = 0; root < comm.size(); ++root) {
      const bool at_root = r == root;
      std::vector<int> mine{static_cast<int>(r), 1};
      std::vector<int> result(at_root ? 2 : 0);
      reduce(mine, result, Op::sum, root, comm);
      if (at_root) {
        EXPECT_EQ(result, (std::vector<int>{10, 5}));
      }

      std::vector<int> all(at_root ? 10 : 0);
      gather(mine, all, root, comm);
      if (at_root) {
        EXPECT_EQ(all, (std::vector<int>{0, 1, 1, 1, 2, 1, 3, 1, 4, 1}));
      }
      std::vector<int> back(2);
      scatter(all, back, root, comm);
      EXPECT_EQ(back, mine);

      const std::vector<Count> counts{1, 0, 3, 2, 1};
      const std::vector<Count> displs{8, 0, 4, 2, 0};
      const std::vector<int> own(static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]), static_cast<int>(r));
      std::vector<int> gathered(at_root ? 9 : 0, -1);
      const auto at_root_only = [&](const std::vector<Count>& v) {
        return at_root ? std::span<const Count>(v) : std::span<const Count>{};
      };
      gatherv(own, gathered, at_root_only(counts), at_root_only(displs), root, comm);
      if (at_root) {
        EXPECT_EQ(gathered, (std::vector<int>{4, -1, 3, 3, 2, 2, 2, -1, 0}));
      }
      std::vector<int> own_back(own.size());
      scatterv(gathered, at_root_only(counts), at_root_only(displs), own_back, root, comm);
      EXPECT_EQ(own_back, own);

      std::vector<double> buffer(100, at_root ? 3.5 : 0.0);
      bcast(buffer, root, comm);
      EXPECT_EQ(buffer[99], 3.5);
      barrier(comm);
    }
  });
}

TEST(Local, AFailingRankEndsTheOthers) {
  World world(4);
  const auto body = [](Comm& comm) {
    if (comm.rank() == 2) throw std::runtime_error("the reason");
    std::vector<int> x(1);
    allreduce(in_place, x, Op::sum, comm);
  };
  try {
    world.run(body);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the reason");
  }
}

TEST(Local, AFailingOperatorEndsTheOthers) {
  const UserOperator failing{[](const void*, void*, Count) { throw std::runtime_error("the operator"); }, true};
  World world(8);
  EXPECT_THROW(world.run([&](Comm& comm) {
    std::vector<int> x(10'000);
    std::vector<int> y(10'000);
    allreduce(x, y, failing, comm, "circulant_optimal");
  }),
               std::runtime_error);
}

TEST(Local, DisagreeingRanksAreFound) {
  World world(3);
  EXPECT_THROW(world.run([](Comm& comm) {
    std::vector<int> x(comm.rank() == 1 ? 9U : 12U);
    allreduce(in_place, x, Op::sum, comm, "circulant_optimal");
  }),
               Error);
}

TEST(Local, ACountThatDiffersFromTheRootsIsFound) {
  // The direct linear gatherv exchanges no counts before the data.
  for (const std::size_t sent : {1U, 3U}) {
    World world(3);
    EXPECT_THROW(world.run([&](Comm& comm) {
      const std::vector<Count> counts{2, 2, 2};
      const std::vector<Count> displs{0, 2, 4};
      const std::vector<int> mine(comm.rank() == 1 ? sent : 2U, 1);
      std::vector<int> all(6);
      gatherv(mine, all, counts, displs, 0, comm, "linear");
    }),
                 Error)
        << sent;
  }
}

TEST(Local, MisuseIsRefused) {
  World world(1);
  world.run([](Comm& comm) {
    std::vector<float> x(4);
    std::vector<float> y(4);
    EXPECT_THROW(allreduce(x, y, Op::band, comm), Error);
    EXPECT_THROW(allreduce(std::vector<float>(3), y, Op::sum, comm), Error);
    EXPECT_THROW(allreduce(x, y, Op::sum, comm, "no_such_algorithm"), Error);
    EXPECT_THROW(allreduce(x, y, Op::sum, comm, "allgather/circulant_optimal"), Error);
    const UserOperator ordered{[](const void*, void*, Count) {}, false};
    EXPECT_THROW(allreduce(x, y, ordered, comm, "allreduce/circulant_optimal"),
                 Error);             // needs a commutative one
    allreduce(x, y, Op::sum, comm);  // the communicator stays usable
  });
}

TEST(Local, PlansAreEvictedNotLost) {
  World world(3, local::Options{.plan_cache_bytes = 4096});
  world.run([](Comm& comm) {
    for (int repetition = 0; repetition < 3; ++repetition) {
      for (std::size_t count = 1; count < 20; ++count) {
        std::vector<int> x(count, 1);
        allreduce(in_place, x, Op::sum, comm);
        EXPECT_EQ(x.back(), 3);
      }
    }
  });
}

}  // namespace
}  // namespace circoll
