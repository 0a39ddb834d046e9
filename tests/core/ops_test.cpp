// The reduction kernels against scalar definitions written out here, on every instruction set of this
// machine.
#include "circoll/ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel_definitions.hpp"
#include "ops/kernels.hpp"

namespace circoll {
namespace {

using ops::kernel_on;
using ops::Target;

/// The instruction sets that this processor has.
std::vector<Target> usable_targets() {
  std::vector<Target> targets;
  std::copy_if(ops::all_targets.begin(), ops::all_targets.end(), std::back_inserter(targets), ops::is_usable);
  return targets;
}

const std::array<std::size_t, 14> sizes{0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 1000, 1003};
enum class Alias { none, left, right };

/// One call on `n` elements that start `shift` elements after an aligned address; checks the elements around
/// them too.
template <typename T>
void check_call(ReduceKernel kernel, const std::function<T(T, T)>& define, std::size_t n, std::size_t shift,
                Alias alias, bool compare_bits, Random& random) {
  std::vector<T> left(n + 3), right(n + 3), dst(n + 3);
  for (auto* array : {&left, &right, &dst}) {
    for (T& element : *array) element = Element<T>::any(random);
  }
  if (alias == Alias::left) dst = left;
  if (alias == Alias::right) dst = right;
  const auto before = dst;
  const T* left_arg = (alias == Alias::left ? dst : left).data() + shift;
  const T* right_arg = (alias == Alias::right ? dst : right).data() + shift;
  kernel(dst.data() + shift, left_arg, right_arg, n);
  for (std::size_t i = 0; i < dst.size(); ++i) {
    const bool inside = i >= shift && i < shift + n;
    const T expected = inside ? define(left[i], right[i]) : before[i];
    const bool as_expected = compare_bits ? same_bits(dst[i], expected) : Element<T>::same(dst[i], expected);
    ASSERT_TRUE(as_expected) << "element " << i << " of " << n << ", shift " << shift << ", alias "
                             << static_cast<int>(alias);
  }
}

template <typename T>
void check_kernel(ReduceKernel kernel, const std::function<T(T, T)>& define, bool compare_bits) {
  Random random(1);
  for (const std::size_t n : sizes) {
    for (const std::size_t shift : {0u, 1u, 2u}) {
      for (const Alias alias : {Alias::none, Alias::left, Alias::right}) {
        check_call(kernel, define, n, shift, alias, compare_bits, random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class OpsOnTarget : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, OpsOnTarget, testing::ValuesIn(usable_targets()),
                         [](const auto& info) { return "Target" + std::to_string(static_cast<int>(info.param)); });

TEST(Ops, TheBestUsableTargetIsUsed) {
  EXPECT_EQ(ops::best_target(), usable_targets().back());
  EXPECT_STREQ(kernel_target(), ops::name_of(usable_targets().back()));
  EXPECT_EQ(reduce_kernel(Op::sum, Type::float32), kernel_on(usable_targets().back(), Op::sum, Type::float32));
}

TEST(Ops, EachTargetHasKernelsOfItsOwn) {
  // A kernel for each instruction set that the compiler knows, unless the compiler's own target holds that set already.
  std::set<ReduceKernel> kernels;
  std::set<std::string> names;
  for (const Target target : ops::all_targets) {
    kernels.insert(kernel_on(target, Op::sum, Type::float32));
    names.insert(ops::name_of(target));
  }
  EXPECT_EQ(kernels.size(), names.size());
}

TEST_P(OpsOnTarget, KernelsEqualTheDefinitions) {
  for_each_type([this](Type type, auto zero, const Ops& ops) {
    using T = decltype(zero);
    ASSERT_EQ(extent_bytes(type), sizeof(T));
    for (const Op op : ops) {
      SCOPED_TRACE(std::string(to_string(op)) + " on " + std::string(to_string(type)));
      const ReduceKernel kernel = kernel_on(GetParam(), op, type);
      ASSERT_NE(kernel, nullptr);
      // Where the result is an operand, NaN payloads count too.
      const bool compare_bits = has_bits<T> && (op == Op::min || op == Op::max);
      check_kernel<T>(
          kernel, [op](T a, T b) { return Element<T>::define(op, a, b); }, compare_bits);
    }
  });
}

TEST_P(OpsOnTarget, ReplaceAndNoOpCopyEveryType) {
  for_each_type([this](Type type, auto zero, const Ops&) {
    using T = decltype(zero);
    SCOPED_TRACE(to_string(type));
    check_kernel<T>(
        kernel_on(GetParam(), Op::replace, type), [](T, T b) { return b; }, false);
    check_kernel<T>(
        kernel_on(GetParam(), Op::no_op, type), [](T a, T) { return a; }, false);
  });
}

TEST_P(OpsOnTarget, EveryHalfIsConverted) {
  constexpr std::size_t n = 65536;
  // Neutral elements, operands that shift the result into the subnormal range and out of range, and ties.
  constexpr std::array<std::uint16_t, 10> others{0x0000, 0x8000, 0x3C00, 0x0001, 0x0400,
                                                 0x1400, 0x3BFF, 0x3C01, 0x4000, 0x7BFF};
  for (const std::uint16_t other : others) {
    std::vector<Half> left(n), right(n, Half{other}), dst(n);
    for (std::size_t i = 0; i < n; ++i) left[i] = {static_cast<std::uint16_t>(i)};
    for (const Op op : floating_ops) {
      kernel_on(GetParam(), op, Type::float16)(dst.data(), left.data(), right.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(Element<Half>::same(dst[i], Element<Half>::define(op, left[i], right[i])))
            << to_string(op) << " of " << std::hex << i << " and " << other << " gave " << dst[i].bits;
      }
    }
  }
}

TEST(Ops, TargetsGiveTheSameBits) {
  for_each_type([](Type type, auto zero, const Ops& ops) {
    constexpr std::size_t n = 1003;
    using T = decltype(zero);
    Random random(2);
    std::vector<T> left(n), right(n);
    for (auto* array : {&left, &right}) {
      for (T& element : *array) element = Element<T>::any(random);
    }
    for (const Op op : ops) {
      std::vector<T> first;
      for (const Target target : usable_targets()) {
        std::vector<T> dst(n);
        kernel_on(target, op, type)(dst.data(), left.data(), right.data(), n);
        if (first.empty()) first = dst;
        for (std::size_t i = 0; i < n; ++i) {
          const bool equal =
              has_bits<T> && is_exact(op, type) ? same_bits(dst[i], first[i]) : Element<T>::same(dst[i], first[i]);
          ASSERT_TRUE(equal) << to_string(op) << " on " << to_string(type) << " differs on " << ops::name_of(target);
        }
      }
    }
  });
}

TEST(Ops, AreDefinedExactlyWhereMpiDefinesThem) {
  std::size_t types = 0;
  for_each_type([&types](Type type, auto, const Ops& ops) {
    ++types;
    for (std::size_t i = 0; i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      bool defined = op == Op::replace || op == Op::no_op;
      for (const Op listed : ops) defined |= listed == op;
      EXPECT_EQ(reduce_kernel(op, type) != nullptr, defined) << to_string(op) << " on " << to_string(type);
    }
  });
  EXPECT_EQ(types, type_count);
}

TEST(Ops, AcceptNullPointersForNoElements) {
  for_each_type([](Type type, auto, const Ops& ops) {
    for (const Op op : ops) reduce_kernel(op, type)(nullptr, nullptr, nullptr, 0);
    reduce_kernel(Op::replace, type)(nullptr, nullptr, nullptr, 0);
    reduce_kernel(Op::no_op, type)(nullptr, nullptr, nullptr, 0);
  });
}

TEST(Ops, ComplexProductsAreNotFused) {
  // (1 + e)(1 - e) rounds to 1; a fused multiply-subtract would give -e^2 for the real part.
  const double e = std::ldexp(1.0, -30);
  const std::vector<Complex<double>> left(5, {1 + e, 1}), right(5, {1 - e, 1});
  std::vector<Complex<double>> dst(5);
  reduce_kernel(Op::prod, Type::complex128)(dst.data(), left.data(), right.data(), dst.size());
  for (const auto& z : dst) EXPECT_EQ(z.re, 0.0);
}

TEST(Ops, MinlocAndMaxlocOfTiesTakeTheLowerIndexInEitherOrder) {
  const Pair<double, int> low{-0.0, 1}, high{0.0, 2};
  for (const Op op : pair_ops) {
    for (const auto& [a, b] : {std::pair(low, high), std::pair(high, low)}) {
      Pair<double, int> result{};
      reduce_kernel(op, Type::pair_double_int)(&result, &a, &b, 1);
      EXPECT_EQ(result.index, 1);
      EXPECT_TRUE(std::signbit(result.value)) << "value and index come from the same operand";
    }
  }
}

TEST(Ops, AreExactButForRoundedSumsAndProducts) {
  const std::set<Type> rounded{Type::float16,   Type::float32,    Type::float64,     Type::float_long,
                               Type::complex64, Type::complex128, Type::complex_long};
  for_each_type([&rounded](Type type, auto, const Ops& ops) {
    for (const Op op : ops) {
      const bool rounds = (op == Op::sum || op == Op::prod) && rounded.count(type) != 0;
      EXPECT_EQ(is_exact(op, type), !rounds) << to_string(op) << " on " << to_string(type);
    }
  });
}

TEST(Ops, CommuteAndRepeatAsDocumented) {
  const std::set<Op> idempotent{Op::min, Op::max, Op::land, Op::lor, Op::band, Op::bor, Op::minloc, Op::maxloc};
  for (std::size_t i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_EQ(is_commutative(op), op != Op::replace && op != Op::no_op) << to_string(op);
    EXPECT_EQ(is_idempotent(op), idempotent.count(op) != 0) << to_string(op);
  }
}

}  // namespace
}  // namespace circoll
