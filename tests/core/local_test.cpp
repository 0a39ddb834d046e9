// The in-process executor against the oracle: every algorithm of the registry, crossed over p, counts, in
// place, roots, types, operators and segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "exec/local/job.hpp"
#include "oracle/oracle.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {
namespace {

using local::Job;
using local::Mode;

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

/// Predefined operations in turn. A few steps of the sequence cover all kinds of types and operators.
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

/// p * p counts. In place, as much goes to a rank as comes from it.
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
      // Threads wait for processors, and have the blocks that take turns have.
      const std::set<Count> counts =
          mode == Mode::threads ? std::set<Count>{0, p + 1, 1000} : std::set<Count>{0, 1, p - 1, p, p + 1, 1000};
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

// Sanitizers make every access slow, so their builds try fewer p, but not fewer algorithms.
#ifdef CIRCOLL_SANITIZED
const std::vector<Rank> sizes_in_turns{1, 2, 3, 5};
const std::vector<Rank> larger_sizes_in_turns{8};
const std::vector<Rank> sizes_in_threads{2, 3};
#else
const std::vector<Rank> sizes_in_turns{1, 2, 3, 4, 5, 6, 7, 8, 9};
const std::vector<Rank> larger_sizes_in_turns{16, 17, 33};
const std::vector<Rank> sizes_in_threads{1, 2, 3, 4, 7};
#endif

TEST(Local, EveryAlgorithmTakingTurns) { sweep(sizes_in_turns, Mode::single_thread); }

TEST(Local, EveryAlgorithmTakingTurnsOnUpTo33Ranks) { sweep(larger_sizes_in_turns, Mode::single_thread); }

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
    // Only schedules of logarithmic size are built, because those of all ranks are in memory at once. p concurrent
    // pipelines are larger.
    if (!selection.algorithm->params.empty() && !is_rooted(selection.collective)) return;
    const Shape shape{.size = p};
    if (build_schedule(*selection.algorithm, selection.collective, shape).ranges.size() > 500) return;
    const Job job = job_of(selection, p, is_rooted(selection.collective) ? 1234 : 0, 1, false, 0);
    expect_correct(job, selection, Mode::single_thread);
  });
}

}  // namespace
}  // namespace circoll
