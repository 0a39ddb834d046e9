// Bandwidth of the reduction kernels against the loop one would write: bytes read and written per second.
#include <benchmark/benchmark.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "circoll/ops.hpp"

namespace {

using circoll::Op;
using circoll::Type;

// A ReduceKernel as the compiler makes it of the scalar definition for the baseline instruction set.
template <typename T, T (*combine)(T, T)>
void scalar_loop(void* dst_bytes, const void* left_bytes, const void* right_bytes, std::size_t elements) {
  auto* dst = static_cast<T*>(dst_bytes);
  const auto* left = static_cast<const T*>(left_bytes);
  const auto* right = static_cast<const T*>(right_bytes);
  for (std::size_t i = 0; i < elements; ++i) dst[i] = combine(left[i], right[i]);
}

template <typename T>
T add(T a, T b) {
  return a + b;
}
std::uint8_t bit_or(std::uint8_t a, std::uint8_t b) { return a | b; }
std::complex<double> multiply(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// dst = dst op right, as a rank accumulates what it receives. state.range(0) is the size of a vector in
/// bytes.
template <typename T>
void run(benchmark::State& state, circoll::ReduceKernel kernel) {
  const std::size_t elements = static_cast<std::size_t>(state.range(0)) / sizeof(T);
  std::vector<T> dst(elements, T(1)), right(elements, T(0));
  for (auto _ : state) {
    kernel(dst.data(), dst.data(), right.data(), elements);
    benchmark::DoNotOptimize(dst.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 3);
  state.SetLabel(circoll::kernel_target());
}

void sizes(benchmark::internal::Benchmark* bench) { bench->Arg(4 << 10)->Arg(64 << 10)->Arg(4 << 20); }

#define CIRCOLL_COMPARE(name, T, op, type, scalar)                                          \
  BENCHMARK_CAPTURE(run<T>, name##_kernel, circoll::reduce_kernel(op, type))->Apply(sizes); \
  BENCHMARK_CAPTURE(run<T>, name##_scalar, (scalar_loop<T, scalar>))->Apply(sizes)

CIRCOLL_COMPARE(sum_float32, float, Op::sum, Type::float32, add<float>);
CIRCOLL_COMPARE(sum_float64, double, Op::sum, Type::float64, add<double>);
CIRCOLL_COMPARE(sum_int32, std::int32_t, Op::sum, Type::int32, add<std::int32_t>);
CIRCOLL_COMPARE(bor_byte, std::uint8_t, Op::bor, Type::byte, bit_or);
CIRCOLL_COMPARE(prod_complex128, std::complex<double>, Op::prod, Type::complex128, multiply);

#undef CIRCOLL_COMPARE

}  // namespace

BENCHMARK_MAIN();
