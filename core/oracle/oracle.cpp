#include "oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "circoll/error.hpp"
#include "circoll/ops.hpp"

namespace circoll::oracle {
namespace {

using Bytes = std::vector<std::byte>;
using Wide = std::complex<long double>;

std::uint64_t scramble(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

long double from_float16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const long double fraction = static_cast<long double>(bits & 1023) / 1024;
  const long double magnitude = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}
template <typename T>
T get(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Sign and magnitude 0.5 .. 1.5 from random bits.
long double some_real(std::uint64_t bits) {
  const long double magnitude = 0.5L + static_cast<long double>(bits >> 40) / (1 << 24);
  return (bits & 1) != 0 ? -magnitude : magnitude;
}

template <typename Value, typename Index>
void put_pair(std::span<std::byte> bytes, std::size_t at, Value value, Index index) {
  struct Pair {
    Value value;
    Index index;
  };
  put(bytes, at + offsetof(Pair, value), value);
  put(bytes, at + offsetof(Pair, index), index);
}

void put_element(Type type, std::span<std::byte> bytes, std::size_t at, std::uint64_t random) {
  const auto real = some_real(random);
  const auto imaginary = some_real(scramble(random));
  const auto index = static_cast<int>((random >> 8) % 100);
  const auto small = static_cast<int>((random >> 20) % 16);  // few values, so that indices decide
  switch (type) {
    case Type::float16:  // +-0.5 .. 1.5: exponent 14 or 15
      return put(bytes, at, static_cast<std::uint16_t>(((random & 1) << 15) | 0x3800 | ((random >> 8) & 0x3FF)));
    case Type::float32:
      return put(bytes, at, static_cast<float>(real));
    case Type::float64:
      return put(bytes, at, static_cast<double>(real));
    case Type::float_long:
      return put(bytes, at, real);
    case Type::complex64:
      return put(bytes, at, std::complex<float>(static_cast<float>(real), static_cast<float>(imaginary)));
    case Type::complex128:
      return put(bytes, at, std::complex<double>(static_cast<double>(real), static_cast<double>(imaginary)));
    case Type::complex_long:
      return put(bytes, at, Wide(real, imaginary));
    case Type::boolean:
      return put(bytes, at, (random & 1) != 0);
    case Type::logical:
      return put(bytes, at, static_cast<std::int32_t>(random % 3 == 0 ? 0 : random % 3));
    case Type::pair_float_int:
      return put_pair(bytes, at, static_cast<float>(small), index);
    case Type::pair_double_int:
      return put_pair(bytes, at, static_cast<double>(small), index);
    case Type::pair_long_int:
      return put_pair(bytes, at, static_cast<long>(small), index);
    case Type::pair_int_int:
      return put_pair(bytes, at, small, index);
    case Type::pair_short_int:
      return put_pair(bytes, at, static_cast<short>(small), index);
    case Type::pair_long_double_int:
      return put_pair(bytes, at, static_cast<long double>(small), index);
    case Type::pair_float_float:
      return put_pair(bytes, at, static_cast<float>(small), static_cast<float>(index));
    case Type::pair_double_double:
      return put_pair(bytes, at, static_cast<double>(small), static_cast<double>(index));
    default:
      std::memcpy(bytes.data() + at, &random, extent_bytes(type));
      return;
  }
}

/// The bytes of an element that carry its value; the others are padding. {begin, end} pairs.
std::vector<std::pair<std::size_t, std::size_t>> value_bytes(const local::Job& job) {
  const auto all = static_cast<std::size_t>(job.element_bytes());
  if (job.record_bytes > 0) return {{0, all}};
  constexpr std::size_t long_double_bytes = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
  switch (job.type) {
    case Type::float_long:
      return {{0, long_double_bytes}};
    case Type::complex_long:
      return {{0, long_double_bytes}, {sizeof(long double), sizeof(long double) + long_double_bytes}};
    case Type::pair_double_int:
    case Type::pair_long_int:
      return {{0, 8}, {8, 12}};
    case Type::pair_short_int:
      return {{0, 2}, {4, 8}};
    case Type::pair_long_double_int:
      return {{0, long_double_bytes}, {sizeof(long double), sizeof(long double) + 4}};
    default:
      return {{0, all}};
  }
}

/// The first element in which two arrays differ, or -1.
std::ptrdiff_t first_difference(const local::Job& job, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0)) return -1;
  const auto extent = static_cast<std::size_t>(job.element_bytes());
  const auto values = value_bytes(job);
  for (std::size_t at = 0; at < a.size(); at += extent) {
    for (const auto& [begin, end] : values) {
      if (std::memcmp(a.data() + at + begin, b.data() + at + begin, end - begin) != 0) {
        return static_cast<std::ptrdiff_t>(at / extent);
      }
    }
  }
  return -1;
}

struct Real {
  Wide (*get)(const std::byte*);
  long double epsilon;
};

template <typename T>
constexpr Real real_of() {
  return {[](const std::byte* at) { return Wide(get<T>(at)); }, std::numeric_limits<T>::epsilon()};
}
template <typename T>
constexpr Real complex_of() {
  return {[](const std::byte* at) { return Wide(get<std::complex<T>>(at)); }, std::numeric_limits<T>::epsilon()};
}

/// A reader of a floating-point type; nothing for the others.
std::optional<Real> floating(Type type) {
  switch (type) {
    case Type::float16:
      return Real{[](const std::byte* at) { return Wide(from_float16(get<std::uint16_t>(at))); }, 0x1p-10L};
    case Type::float32:
      return real_of<float>();
    case Type::float64:
      return real_of<double>();
    case Type::float_long:
      return real_of<long double>();
    case Type::complex64:
      return complex_of<float>();
    case Type::complex128:
      return complex_of<double>();
    case Type::complex_long:
      return complex_of<long double>();
    default:
      return std::nullopt;
  }
}

/// Compares a floating-point sum or product with the wide one, element by element, within the error bound.
std::ptrdiff_t first_beyond_bound(const local::Job& job, const std::vector<Bytes>& inputs, std::size_t offset,
                                  std::span<const std::byte> got) {
  const Real real = *floating(job.type);
  const bool sums = job.op.predefined() == Op::sum;
  const auto extent = static_cast<std::size_t>(job.element_bytes());
  const auto p = static_cast<long double>(job.size);
  for (std::size_t at = 0; at < got.size(); at += extent) {
    Wide value = sums ? 0 : 1;
    long double magnitude = sums ? 0 : 1;
    for (const Bytes& input : inputs) {
      const Wide x = real.get(input.data() + offset + at);
      value = sums ? value + x : value * x;
      magnitude = sums ? magnitude + std::abs(x) : magnitude * std::abs(x);
    }
    const long double bound = (sums ? 1 : 4) * p * real.epsilon * magnitude;
    if (!(std::abs(real.get(got.data() + at) - value) <= bound)) return static_cast<std::ptrdiff_t>(at / extent);
  }
  return -1;
}

std::string report(Rank rank, std::ptrdiff_t element, const std::string& what) {
  return "rank " + std::to_string(rank) + ", element " + std::to_string(element) + ": " + what;
}

/// scan, exscan: rank r gets the combination of the first inputs.
std::string check_prefix(const local::Job& job, const local::JobResult& outcome, bool bounded) {
  std::vector<Bytes> first;
  for (Rank rank = 0; rank < job.size; ++rank) {
    if (job.collective == Collective::scan) first.push_back(outcome.inputs[static_cast<std::size_t>(rank)]);
    const Bytes& got = outcome.outputs[static_cast<std::size_t>(rank)];
    if (!got.empty()) {
      const std::ptrdiff_t element =
          bounded ? first_beyond_bound(job, first, 0, got) : first_difference(job, got, combine(job, first));
      if (element >= 0) return report(rank, element, bounded ? "outside the error bound" : "wrong value");
    }
    if (job.collective == Collective::exscan) first.push_back(outcome.inputs[static_cast<std::size_t>(rank)]);
  }
  return {};
}

/// alltoall(v): the blocks for a rank, in the order of their sources.
std::string check_exchange(const local::Job& job, const local::JobResult& outcome) {
  const auto extent = static_cast<std::size_t>(job.element_bytes());
  std::vector<std::size_t> next(static_cast<std::size_t>(job.size), 0);  // of each source's input
  for (Rank rank = 0; rank < job.size; ++rank) {
    std::size_t offset = 0;
    for (Rank source = 0; source < job.size; ++source) {
      const std::size_t bytes = static_cast<std::size_t>(job.count_of(source, rank)) * extent;
      const auto s = static_cast<std::size_t>(source);
      const std::ptrdiff_t element =
          first_difference(job, std::span(outcome.outputs[static_cast<std::size_t>(rank)]).subspan(offset, bytes),
                           std::span(outcome.inputs[s]).subspan(next[s], bytes));
      if (element >= 0) return report(rank, element, "wrong value in the block of rank " + std::to_string(source));
      next[s] += bytes;
      offset += bytes;
    }
  }
  return {};
}

std::string check_reduction(const local::Job& job, const local::JobResult& outcome, bool same_bits) {
  const bool bounded = job.op.user() == nullptr && !is_exact(job.op.predefined(), job.type) && floating(job.type);
  const Bytes expected = bounded ? Bytes{} : combine(job, outcome.inputs);
  if (is_prefix(job.collective)) return check_prefix(job, outcome, bounded);
  const bool scatters = job.collective != Collective::allreduce && job.collective != Collective::reduce;
  std::size_t offset = 0;
  for (Rank rank = 0; rank < job.size; ++rank) {
    const Bytes& got = outcome.outputs[static_cast<std::size_t>(rank)];
    const bool seen = job.collective == Collective::allreduce && rank > 0 && got == outcome.outputs[0];
    if (!seen && !got.empty()) {
      const std::ptrdiff_t element = bounded
                                         ? first_beyond_bound(job, outcome.inputs, offset, got)
                                         : first_difference(job, got, std::span(expected).subspan(offset, got.size()));
      if (element >= 0) return report(rank, element, bounded ? "outside the error bound" : "wrong value");
    }
    if (scatters) offset += got.size();
    if (same_bits && job.collective == Collective::allreduce) {
      const std::ptrdiff_t element = first_difference(job, got, outcome.outputs[0]);
      if (element >= 0) return report(rank, element, "other bits than on rank 0");
    }
  }
  return {};
}

}  // namespace

void fill(Type type, Rank rank, std::span<std::byte> bytes) {
  const std::size_t extent = extent_bytes(type);
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  const std::uint64_t seed = scramble(static_cast<std::uint64_t>(rank) + 1);
  for (std::size_t at = 0; at + extent <= bytes.size(); at += extent) {
    put_element(type, bytes, at, scramble(seed + at / extent));
  }
}

std::vector<std::byte> combine(const local::Job& job, const std::vector<std::vector<std::byte>>& inputs) {
  Bytes result = inputs[0];
  const std::size_t elements = result.size() / static_cast<std::size_t>(job.element_bytes());
  for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
    if (const UserOperator* user = job.op.user()) {
      Bytes right = inputs[rank];
      if (elements > 0) user->function(result.data(), right.data(), static_cast<Count>(elements));
      result = std::move(right);
    } else {
      const ReduceKernel kernel = reduce_kernel(job.op.predefined(), job.type);
      require(kernel != nullptr, "the operator is not defined on this type");
      kernel(result.data(), result.data(), inputs[rank].data(), elements);
    }
  }
  return result;
}

std::string check(const local::Job& job, const local::JobResult& outcome, bool same_bits) {
  if (!outcome.violation.empty()) return outcome.violation;
  for (Rank rank = 0; rank < job.size; ++rank) {
    const auto bytes = static_cast<std::size_t>(job.output_elements(rank) * job.element_bytes());
    if (outcome.outputs[static_cast<std::size_t>(rank)].size() != bytes)
      return report(rank, 0, "a result of wrong size");
  }
  if (is_reducing(job.collective)) return check_reduction(job, outcome, same_bits);
  if (is_exchange(job.collective)) return check_exchange(job, outcome);

  // The others move the inputs: all of them one after another, cut at the ranks' blocks for scatter.
  Bytes all;
  for (const Bytes& input : outcome.inputs) all.insert(all.end(), input.begin(), input.end());
  const bool scatters = job.collective == Collective::scatter || job.collective == Collective::scatterv;
  std::size_t offset = 0;
  for (Rank rank = 0; rank < job.size; ++rank) {
    const Bytes& got = outcome.outputs[static_cast<std::size_t>(rank)];
    if (got.empty()) continue;
    const std::ptrdiff_t element = first_difference(job, got, std::span(all).subspan(offset, got.size()));
    if (element >= 0) return report(rank, element, "wrong value");
    if (scatters) offset += got.size();
  }
  return {};
}

}  // namespace circoll::oracle
