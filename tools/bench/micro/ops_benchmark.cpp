// Bandwidth of the reduction kernels against the loop one would write: bytes read and written per second.
#include <benchmark/benchmark.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

/// dst = dst op right, as a rank accumulates what it receives. state.range(0) is the size of a vector in bytes.
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
}

template <typename T, T (*scalar)(T, T)>
void compare(Op op, Type type) {
  const std::string name = std::string(to_string(op)) + "_" + std::string(to_string(type));
  for (const auto& [suffix, kernel] :
       {std::pair("/kernel", circoll::reduce_kernel(op, type)), std::pair("/scalar", &scalar_loop<T, scalar>)}) {
    benchmark::RegisterBenchmark((name + suffix).c_str(), run<T>, kernel)->Arg(4 << 10)->Arg(64 << 10)->Arg(4 << 20);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("kernel_target", circoll::kernel_target());
  compare<float, add<float>>(Op::sum, Type::float32);
  compare<double, add<double>>(Op::sum, Type::float64);
  compare<std::int32_t, add<std::int32_t>>(Op::sum, Type::int32);
  compare<std::uint8_t, bit_or>(Op::bor, Type::byte);
  compare<std::complex<double>, multiply>(Op::prod, Type::complex128);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
