// Exact sums in vectors, by expansions of two numbers (Knuth's TwoSum; Ogita, Rump and Oishi 2005).
//
// A sum of two numbers is s + e with s rounded and e its error, both of which are exact. Errors are summed in c, and
// where that addition has an error, too, the vector does not decide, unless it cannot change the rounding.
// docs/developer/proof.md has the proof.
#include <algorithm>
#include <limits>

#include "ops/default_floats.hpp"
#include "ops/exact.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/exact_rows.cpp"
#include "hwy/foreach_target.h"
// after foreach_target.h
#include "ops/vector_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {
namespace {

/// sum = a + b rounded; returns its error. Exact unless something overflows, which leaves a NaN.
template <class Vec>
HWY_INLINE Vec two_sum(Vec a, Vec b, Vec& sum) {
  sum = hn::Add(a, b);
  const Vec b_part = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, b_part)), hn::Sub(b, b_part));
}

std::size_t partial_sums(std::span<const double> numbers, std::array<double, most_partial_sums>& partial) {
  const hn::CappedTag<double, 8> tag;
  const std::size_t width = hn::Lanes(tag);
  auto sum = hn::Set(tag, -0.0);  // adds nothing, not even to a -0
  auto errors = hn::Zero(tag);
  auto lost = hn::Zero(tag);
  std::size_t i = 0;
  for (; i + width <= numbers.size(); i += width) {
    const auto error = two_sum(sum, hn::LoadU(tag, numbers.data() + i), sum);
    lost = hn::Or(lost, two_sum(errors, error, errors));
  }
  if (!hn::AllTrue(tag, hn::Eq(lost, hn::Zero(tag)))) return 0;
  HWY_ALIGN std::array<double, 8> lanes;
  hn::Store(sum, tag, lanes.data());
  std::size_t count = 0;
  for (std::size_t lane = 0; lane < width; ++lane) partial[count++] = lanes[lane];
  hn::Store(errors, tag, lanes.data());
  for (std::size_t lane = 0; lane < width; ++lane) {
    if (lanes[lane] != 0) partial[count++] = lanes[lane];
  }
  for (; i < numbers.size(); ++i) partial[count++] = numbers[i];
  return count;
}

bool products(std::span<const double> left, std::span<const double> right, std::array<double, 1024>& terms) {
#if HWY_NATIVE_FMA && HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<double, 8> tag;
  const std::size_t width = hn::Lanes(tag);
  const auto zero = hn::Zero(tag);
  const auto least = hn::Set(tag, 0x1p-960);  // the error of a smaller product may be no number
  const auto most = hn::Set(tag, std::numeric_limits<double>::max());
  for (std::size_t i = 0; i < left.size(); i += width) {
    const std::size_t now = std::min(width, left.size() - i);
    HWY_ALIGN std::array<double, 8> a{}, b{};
    std::copy_n(left.begin() + static_cast<std::ptrdiff_t>(i), now, a.begin());
    std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(i), now, b.begin());
    const auto x = hn::Load(tag, a.data());
    const auto y = hn::Load(tag, b.data());
    const auto product = hn::Mul(x, y);
    const auto size = hn::Abs(product);
    const auto exact_zero = hn::Or(hn::Eq(x, zero), hn::Eq(y, zero));
    const auto fine = hn::And(hn::Or(exact_zero, hn::Ge(size, least)), hn::Le(size, most));
    if (!hn::AllTrue(tag, fine)) return false;
    // -0 adds nothing to anything.
    auto error = hn::MulSub(x, y, product);
    error = hn::IfThenElse(hn::Eq(error, zero), hn::Set(tag, -0.0), error);
    hn::Store(product, tag, a.data());
    hn::Store(error, tag, b.data());
    for (std::size_t lane = 0; lane < now; ++lane) {
      terms[2 * (i + lane)] = a[lane];
      terms[2 * (i + lane) + 1] = b[lane];
    }
  }
  return true;
#else
  static_cast<void>(left), static_cast<void>(right), static_cast<void>(terms);
  return false;
#endif
}

/// The sums of one vector of elements over all rows. `undecided` has a lane that is true where the sum is another one.
template <class Tag>
HWY_INLINE hn::Vec<Tag> sum_of_vectors(Tag tag, const hn::TFromD<Tag>* column, const Rows& rows,
                                       hn::Mask<Tag>& undecided) {
  using Float = hn::TFromD<Tag>;
  const auto zero = hn::Zero(tag);
  auto sum = hn::LoadU(tag, column);
  auto errors = zero;
  auto lost = zero;
  for (std::size_t r = 1; r < rows.row_count; ++r) {
    const auto error = two_sum(sum, hn::LoadU(tag, column + r * rows.stride), sum);
    lost = hn::Add(lost, hn::Abs(two_sum(errors, error, errors)));
  }
  hn::Vec<Tag> result;
  const auto rest = two_sum(sum, errors, result);
  // The exact sum is result + rest + what was lost, which is at most `margin` with the rounding of this line's own.
  constexpr Float tiny = std::numeric_limits<Float>::epsilon() * 4;
  const auto margin = hn::Add(hn::Add(lost, lost), hn::Mul(hn::Abs(rest), hn::Set(tag, tiny)));
  const auto same = hn::And(hn::Eq(hn::Add(result, hn::Add(rest, margin)), result),
                            hn::Eq(hn::Add(result, hn::Sub(rest, margin)), result));
  const auto finite = hn::Le(hn::Abs(result), hn::Set(tag, std::numeric_limits<Float>::max()));
  undecided = hn::Not(hn::And(finite, hn::Or(hn::Eq(lost, zero), same)));
  // The sum of zeros has their sign, which the errors' zero would hide.
  return hn::IfThenElse(hn::And(hn::Eq(result, zero), hn::Eq(sum, zero)), sum, result);
}

template <typename Float>
void sum_rows(void* dst_bytes, const Rows& rows, std::size_t elements) {
  const DefaultFloats settings;
  const hn::CappedTag<Float, 16> tag;
  const std::size_t width = hn::Lanes(tag);
  auto* const dst = static_cast<Float*>(dst_bytes);
  const auto* const data = static_cast<const Float*>(rows.data);
  // The bound of what was lost holds for so many rows.
  constexpr std::size_t most_rows = std::size_t{1} << 20U;
  std::size_t i = 0;
  for (; i + width <= elements && rows.row_count <= most_rows; i += width) {
    hn::Mask<decltype(tag)> undecided;
    const auto sum = sum_of_vectors(tag, data + i, rows, undecided);
    if (HWY_LIKELY(hn::AllFalse(tag, undecided))) {
      hn::StoreU(sum, tag, dst + i);
      continue;
    }
    HWY_ALIGN std::array<Float, 16> sums;
    HWY_ALIGN std::array<Float, 16> marks;
    hn::Store(sum, tag, sums.data());
    hn::Store(hn::IfThenElseZero(undecided, hn::Set(tag, Float{1})), tag, marks.data());
    for (std::size_t lane = 0; lane < width; ++lane) {
      dst[i + lane] = marks[lane] == 0 ? sums[lane] : exact_column(data + i + lane, rows.stride, rows.row_count);
    }
  }
  // The rest, lane by lane with the same decisions.
  const hn::CappedTag<Float, 1> one;
  for (; i < elements; ++i) {
    hn::Mask<decltype(one)> undecided = hn::FirstN(one, 1);
    if (rows.row_count <= most_rows) {
      const auto sum = sum_of_vectors(one, data + i, rows, undecided);
      if (hn::AllFalse(one, undecided)) {
        dst[i] = hn::GetLane(sum);
        continue;
      }
    }
    dst[i] = exact_column(data + i, rows.stride, rows.row_count);
  }
}

/// The sum of two numbers, whose NaN is the quiet one of std::numeric_limits.
struct AddTwo {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    const auto sum = hn::Add(left, right);
    return hn::IfThenElse(hn::Eq(sum, sum), sum, hn::Set(tag, std::numeric_limits<hn::TFromD<Tag>>::quiet_NaN()));
  }
};

template <typename Float, std::size_t lanes>
void sum_of_two(void* dst, const void* left, const void* right, std::size_t elements) {
  const DefaultFloats settings;
  vector_kernel<AddTwo, hn::ScalableTag<Float>, lanes>(dst, left, right, elements);
}

ReduceKernel two_kernel(Type type) {
  switch (type) {
    case Type::float32:
      return sum_of_two<float, 1>;
    case Type::complex64:
      return sum_of_two<float, 2>;
    case Type::float64:
      return sum_of_two<double, 1>;
    case Type::complex128:
      return sum_of_two<double, 2>;
    default:
      return nullptr;
  }
}

SumOfRows sum_of_rows(Type type) {
  switch (type) {
    case Type::float32:
    case Type::complex64:
      return sum_rows<float>;
    case Type::float64:
    case Type::complex128:
      return sum_rows<double>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace circoll::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace circoll::ops {

std::size_t exact_partial_sums(Target target, std::span<const double> numbers,
                               std::array<double, most_partial_sums>& partial) {
  return CIRCOLL_ON(target, partial_sums)(numbers, partial);
}

bool exact_products(Target target, std::span<const double> left, std::span<const double> right,
                    std::array<double, 1024>& terms) {
  return CIRCOLL_ON(target, products)(left, right, terms);
}

SumOfRows exact_sum_of_rows(Target target, Type type) { return CIRCOLL_ON(target, sum_of_rows)(type); }

ReduceKernel exact_sum_of_two(Target target, Type type) { return CIRCOLL_ON(target, two_kernel)(type); }

}  // namespace circoll::ops
#endif
