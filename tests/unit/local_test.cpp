// The in-process executor against the oracle: every algorithm of the registry, crossed over p, counts, in
// place, roots, types, operators and segments; and the executor's own behaviour.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "circoll/algorithm.hpp"
#include "circoll/ops.hpp"
#include "circoll/relabelling.hpp"
#include "circoll/select.hpp"
#include "exec/local/job.hpp"
#include "oracle/oracle.hpp"

namespace circoll {
namespace {

using local::Comm;
using local::Job;
using local::Mode;
using local::World;

/// x -> a x + b modulo 2^32; composition is associative and does not commute.
struct Affine {
  std::uint32_t a;
  std::uint32_t b;
};

UserOperator composition() {
  return {[](const void* left, void* inout, Count elements) {
            const auto* l = static_cast<const Affine*>(left);
            auto* r = static_cast<Affine*>(inout);
            for (Count i = 0; i < elements; ++i) r[i] = {l[i].a * r[i].a, r[i].a * l[i].b + r[i].b};
          },
          false};
}

/// x + y modulo a prime: exact, commutative, and not one of MPI's.
UserOperator modular_sum() {
  return {[](const void* left, void* inout, Count elements) {
            const auto* l = static_cast<const std::uint64_t*>(left);
            auto* r = static_cast<std::uint64_t*>(inout);
            for (Count i = 0; i < elements; ++i) r[i] = (l[i] % 1'000'003 + r[i] % 1'000'003) % 1'000'003;
          },
          true};
}

struct Operation {
  Type type;
  Op op;
};

/// Predefined operations in turn; the sequence covers all kinds of types and operators in a few steps.
Operation sample_operation(const Needs& needs, std::size_t turn) {
  static const std::vector<Operation> any{{Type::int32, Op::sum},
                                          {Type::float64, Op::sum},
                                          {Type::uint8, Op::bxor},
                                          {Type::float32, Op::sum},
                                          {Type::pair_double_int, Op::maxloc},
                                          {Type::int16, Op::prod},
                                          {Type::complex64, Op::sum},
                                          {Type::boolean, Op::land},
                                          {Type::float_long, Op::sum},
                                          {Type::uint64, Op::max},
                                          {Type::float16, Op::sum},
                                          {Type::complex128, Op::prod},
                                          {Type::logical, Op::lor},
                                          {Type::pair_short_int, Op::minloc},
                                          {Type::float64, Op::min}};
  static const std::vector<Operation> idempotent{
      {Type::int32, Op::max}, {Type::float64, Op::min}, {Type::uint8, Op::band}, {Type::pair_float_int, Op::minloc}};
  const auto& list = needs.idempotent ? idempotent : any;
  return list[turn % list.size()];
}

/// p counts around `count`, with zeros.
std::vector<Count> uneven(Rank p, Count count) {
  std::vector<Count> counts;
  for (Rank r = 0; r < p; ++r) counts.push_back(r % 3 == 1 ? 0 : count * (r % 4) / 2 + r % 2);
  return counts;
}

/// p * p counts; in place what goes to a rank is as much as comes from it.
std::vector<Count> uneven_exchange(Rank p, Count count, bool symmetric) {
  std::vector<Count> counts;
  for (Rank s = 0; s < p; ++s) {
    for (Rank d = 0; d < p; ++d) {
      const Rank a = symmetric ? std::min(s, d) : s;
      const Rank b = symmetric ? std::max(s, d) : d;
      counts.push_back((a + 2 * b) % 3 == 1 ? 0 : count * ((a + b) % 4) / 8 + a % 2);
    }
  }
  return counts;
}

std::string describe(const Job& job, const Selection& selection) {
  std::string text = selection.id();
  for (const auto& [name, value] : selection.params) text += ":" + name + "=" + std::to_string(value);
  return text + " p=" + std::to_string(job.size) + " root=" + std::to_string(job.root) +
         " count=" + std::to_string(job.counts[0]) + (job.counts.size() > 1 ? " (uneven)" : "") +
         (job.in_place ? " in place" : "") + " " + std::string(to_string(job.op.predefined())) +
         (job.op.user() != nullptr ? " user" : "") + " " + std::string(to_string(job.type));
}

void expect_correct(const Job& job, const Selection& selection, Mode mode) {
  SCOPED_TRACE(describe(job, selection));
  const bool exact = job.op.user() == nullptr && is_exact(job.op.predefined(), job.type);
  const bool same_bits = selection.algorithm->guarantees.same_bits || exact;
  try {
    EXPECT_EQ(oracle::check(job, local::execute_all(job, selection, mode), same_bits), "");
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

Job job_of(const Selection& selection, Rank p, Rank root, Count count, bool in_place, std::size_t turn) {
  Job job;
  job.collective = selection.collective;
  job.size = p;
  job.root = root;
  job.counts = {count};
  job.in_place = in_place;
  const Operation operation = sample_operation(selection.algorithm->needs, turn);
  job.type = operation.type;
  job.op = operation.op;
  job.fill = [type = job.type](Rank rank, std::span<std::byte> bytes) { oracle::fill(type, rank, bytes); };
  return job;
}

/// Calls body(selection) for every algorithm, collective that it serves, and some values of its parameters.
template <typename Body>
void for_each_selection(Body body) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      std::vector<Params> settings{{}};
      if (can_relabel(collective)) settings.push_back({{"relabel", 3}});
      for (const ParamDeclaration& param : algorithm->params) {
        for (const std::int64_t value : {std::int64_t{1}, std::int64_t{3}, std::int64_t{8}}) {
          if (value < param.minimum || value > param.maximum) continue;
          settings.push_back({{std::string(param.name), value}});
        }
      }
      for (const Params& params : settings) body(Selection{algorithm, collective, params});
    }
  }
}

bool serves(const Selection& selection, Rank p) {
  return unmet_need(*selection.algorithm, p, OperatorTraits{.commutative = true, .idempotent = true}).empty();
}

void sweep(const std::vector<Rank>& sizes, Mode mode) {
  std::size_t turn = 0;
  for_each_selection([&](const Selection& selection) {
    for (const Rank p : sizes) {
      if (!serves(selection, p)) continue;
      const std::set<Count> counts{0, 1, p - 1, p, p + 1, 1000};
      const std::set<Rank> roots =
          is_rooted(selection.collective) ? std::set<Rank>{0, p / 2, p - 1} : std::set<Rank>{0};
      for (const Rank root : roots) {
        for (const Count count : counts) {
          if (count == 1000 && root != *roots.rbegin()) continue;
          for (const bool in_place : {false, true}) {
            Job job = job_of(selection, p, root, count, in_place, turn++);
            expect_correct(job, selection, mode);
            if (is_irregular(selection.collective)) {
              job.counts = is_exchange(selection.collective) ? uneven_exchange(p, count, in_place) : uneven(p, count);
              expect_correct(job, selection, mode);
            }
          }
        }
      }
      if (testing::Test::HasFailure()) return;  // one algorithm's first failing p says enough
    }
  });
}

// Sanitizers make every access dear: they look at fewer p, not at fewer algorithms.
#ifdef CIRCOLL_SANITIZED
const std::vector<Rank> sizes_in_turns{1, 2, 3, 5, 8};
const std::vector<Rank> sizes_in_threads{2, 3};
#else
const std::vector<Rank> sizes_in_turns{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33};
const std::vector<Rank> sizes_in_threads{1, 2, 3, 4, 7};
#endif

TEST(Local, EveryAlgorithmTakingTurns) { sweep(sizes_in_turns, Mode::single_thread); }

TEST(Local, EveryAlgorithmInThreads) { sweep(sizes_in_threads, Mode::threads); }

TEST(Local, CallersOperators) {
  const UserOperator affine = composition();
  const UserOperator modular = modular_sum();
  for_each_selection([&](const Selection& selection) {
    if (!is_reducing(selection.collective) || selection.algorithm->needs.idempotent) return;
    for (const Rank p : {1, 2, 3, 4, 5, 7, 8, 13, 16, 22}) {
      if (!serves(selection, p)) continue;
      for (const Rank root : is_rooted(selection.collective) ? std::vector<Rank>{0, p - 1} : std::vector<Rank>{0}) {
        for (const bool in_place : {false, true}) {
          Job job = job_of(selection, p, root, 29, in_place, 0);
          job.type = Type::uint64;
          job.op = modular;
          job.fill = [](Rank rank, std::span<std::byte> bytes) { oracle::fill(Type::uint64, rank, bytes); };
          expect_correct(job, selection, Mode::single_thread);
          if (needs_of(*selection.algorithm, selection.collective, selection.params).commutative) continue;
          job.op = affine;
          job.record_bytes = sizeof(Affine);
          expect_correct(job, selection, Mode::single_thread);
        }
      }
    }
  });
}

TEST(Local, ThousandsOfRanksTakingTurns) {
  for_each_selection([&](const Selection& selection) {
    const Rank p = 2000;
    if (!serves(selection, p) || !selection.params.empty()) return;
    // Only schedules of logarithmic size: all ranks' are in memory at once. p concurrent pipelines are not.
    if (!selection.algorithm->params.empty() && !is_rooted(selection.collective)) return;
    const Shape shape{.size = p};
    if (build_schedule(*selection.algorithm, selection.collective, shape).ranges.size() > 500) return;
    const Job job = job_of(selection, p, is_rooted(selection.collective) ? 1234 : 0, 1, false, 0);
    expect_correct(job, selection, Mode::single_thread);
  });
}

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

TEST(Local, MisuseIsRefused) {
  World world(1);
  world.run([](Comm& comm) {
    std::vector<float> x(4);
    std::vector<float> y(4);
    EXPECT_THROW(allreduce(x, y, Op::band, comm), Error);
    EXPECT_THROW(allreduce(std::vector<float>(3), y, Op::sum, comm), Error);
    EXPECT_THROW(allreduce(x, y, Op::sum, comm, "no_such_algorithm"), Error);
    EXPECT_THROW(allreduce(x, y, Op::sum, comm, "allgather/circulant_optimal"), Error);
    const UserOperator affine = composition();
    EXPECT_THROW(allreduce(x, y, affine, comm, "allreduce/circulant_optimal"),
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

TEST(Select, FloatingPointSumsGetTheSameBitsEverywhere) {
  for (const Rank p : {1, 2, 3, 8, 100, 1000}) {
    for (const Count bytes : {0, 8, 1000, 100'000, 100'000'000}) {
      EXPECT_TRUE(default_selection(Collective::allreduce, p, bytes, false, true).algorithm->guarantees.same_bits);
    }
  }
}

TEST(Select, DefaultsMeetNeeds) {
  for (const Collective collective : all_collectives) {
    if (algorithms_of(collective).empty()) continue;
    for (const Rank p : {1, 2, 3, 8, 100, 1000}) {
      for (const Count bytes : {0, 8, 1000, 100'000, 100'000'000}) {
        const Selection selection = default_selection(collective, p, bytes, true, true);
        EXPECT_TRUE(selection.algorithm->serves(collective));
        EXPECT_EQ(unmet_need(*selection.algorithm, p, {.commutative = true, .idempotent = false}), "");
      }
    }
  }
}

}  // namespace
}  // namespace circoll
