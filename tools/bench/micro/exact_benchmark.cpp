// Exact sums beside plain ones: bytes of summands per second.
//
// The data tell the methods of one long sum apart. Usual numbers are summed by expansions in vectors, and numbers over
// 300 orders of magnitude by digits that save their carries. "words" adds each number with its carries.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "circoll/exact.hpp"
#include "ops/exact.hpp"

namespace {

std::vector<double> numbers(std::size_t count, int orders_of_magnitude) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> fraction(-1, 1);
  std::uniform_real_distribution<double> power(-orders_of_magnitude / 2.0, orders_of_magnitude / 2.0);
  std::vector<double> made(count);
  for (double& number : made) number = fraction(random) * std::pow(10, power(random));
  return made;
}

std::size_t count_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0)) / sizeof(double);
}

/// `sum` gives a number for a span of them.
template <typename Sum>
void run(benchmark::State& state, int orders_of_magnitude, Sum sum) {
  const std::vector<double> data = numbers(count_of(state), orders_of_magnitude);
  for (auto _ : state) {
    double result = sum(std::span<const double>(data));
    benchmark::DoNotOptimize(result);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

double plain(std::span<const double> data) { return std::accumulate(data.begin(), data.end(), 0.0); }
double exact(std::span<const double> data) {
  circoll::ExactSum sum;
  sum.add(data);
  return sum.to_double();
}
double words(std::span<const double> data) {
  circoll::ExactSum sum;
  for (const double number : data) sum.add(number);
  return sum.to_double();
}
double dot(std::span<const double> data) {
  circoll::ExactSum sum;
  sum.add_products(data.first(data.size() / 2), data.subspan(data.size() / 2));
  return sum.to_double();
}

constexpr int usual = 0, wide = 300;
void sum_plain(benchmark::State& state) { run(state, usual, plain); }
void sum_expansions(benchmark::State& state) { run(state, usual, exact); }
void sum_digits(benchmark::State& state) { run(state, wide, exact); }
void sum_words(benchmark::State& state) { run(state, usual, words); }
void sum_words_wide(benchmark::State& state) { run(state, wide, words); }
void dot_product(benchmark::State& state) { run(state, usual, dot); }
BENCHMARK(sum_plain)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20);
BENCHMARK(sum_expansions)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20);
BENCHMARK(sum_digits)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20);
BENCHMARK(sum_words)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20);
BENCHMARK(sum_words_wide)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20);
BENCHMARK(dot_product)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20);

/// Sums of eight rows, as an allreduce of eight ranks has them.
void rows(benchmark::State& state, int orders_of_magnitude, bool exactly) {
  constexpr std::size_t row_count = 8;
  const std::size_t count = count_of(state);
  const std::vector<double> data = numbers(row_count * count, orders_of_magnitude);
  std::vector<double> sums(count);
  const auto sum_rows = circoll::ops::exact_sum_of_rows(circoll::ops::best_target(), circoll::Type::float64);
  const circoll::ReduceKernel add = circoll::reduce_kernel(circoll::Op::sum, circoll::Type::float64);
  for (auto _ : state) {
    if (exactly) {
      sum_rows(sums.data(), {.data = data.data(), .stride = count, .row_count = row_count}, count);
    } else {
      add(sums.data(), data.data(), data.data() + count, count);
      for (std::size_t r = 2; r < row_count; ++r) add(sums.data(), sums.data(), data.data() + r * count, count);
    }
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int64_t>(row_count));
}
void rows_plain(benchmark::State& state) { rows(state, usual, false); }
void rows_exact(benchmark::State& state) { rows(state, usual, true); }
void rows_exact_wide(benchmark::State& state) { rows(state, wide, true); }
BENCHMARK(rows_plain)->Arg(8)->Arg(1 << 10)->Arg(128 << 10);
BENCHMARK(rows_exact)->Arg(8)->Arg(1 << 10)->Arg(128 << 10);
BENCHMARK(rows_exact_wide)->Arg(8)->Arg(1 << 10)->Arg(128 << 10);

}  // namespace
