// Sums by integers of any length, for tests of exact sums: sign and magnitude in words of 32 bits, and a rounding that
// compares candidates. It shares no method with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace circoll::exact_reference {

/// A multiple of 2^-2200.
class BigNumber {
 public:
  static constexpr int exponent = -2200;

  BigNumber() = default;
  explicit BigNumber(double number) {
    int binary = 0;
    const double fraction = std::frexp(std::fabs(number), &binary);  // below 1, with 53 bits
    negative_ = number < 0;
    set(static_cast<std::uint64_t>(std::ldexp(fraction, 53)), binary - 53 - exponent);
  }
  /// 2^binary
  static BigNumber power(int binary) {
    BigNumber number;
    number.set(1, binary - exponent);
    return number;
  }

  [[nodiscard]] bool is_zero() const { return words_.empty(); }
  [[nodiscard]] bool negative() const { return negative_; }
  [[nodiscard]] BigNumber magnitude() const {
    BigNumber result = *this;
    result.negative_ = false;
    return result;
  }
  friend BigNumber operator+(const BigNumber& a, const BigNumber& b) {
    BigNumber result;
    if (a.negative_ == b.negative_) {
      result = a;
      result.add_words(b);
    } else if (compare(a, b) >= 0) {
      result = a;
      result.subtract_words(b);
    } else {
      result = b;
      result.subtract_words(a);
    }
    return result;
  }
  friend BigNumber operator-(const BigNumber& a, BigNumber b) {
    b.negative_ = !b.negative_;
    return a + b;
  }
  /// The product of two numbers that are multiples of 2^-1100.
  friend BigNumber operator*(const BigNumber& a, const BigNumber& b) {
    BigNumber result;
    for (std::size_t bit = 0; bit < 32 * b.words_.size(); ++bit) {
      if ((b.words_[bit / 32] >> bit % 32 & 1U) != 0) result.add_words(a.shifted(static_cast<int>(bit)));
    }
    result = result.shifted(exponent);
    result.negative_ = a.negative_ != b.negative_;
    return result;
  }
  /// Of the magnitudes.
  friend int compare(const BigNumber& a, const BigNumber& b) {
    if (a.words_.size() != b.words_.size()) return a.words_.size() < b.words_.size() ? -1 : 1;
    for (std::size_t i = a.words_.size(); i-- > 0;) {
      if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i] ? -1 : 1;
    }
    return 0;
  }
  /// An estimate of the magnitude.
  [[nodiscard]] double estimate() const {
    double sum = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      sum += std::ldexp(static_cast<double>(words_[i]), static_cast<int>(32 * i) + exponent);
    }
    return sum;
  }

 private:
  void set(std::uint64_t bits, int position) {
    for (int bit = 0; bit < 64; ++bit) {
      if ((bits >> bit & 1U) == 0) continue;
      const auto at = static_cast<std::size_t>(position + bit);
      if (words_.size() <= at / 32) words_.resize(at / 32 + 1);
      words_[at / 32] |= std::uint32_t{1} << at % 32;
    }
  }
  void add_words(const BigNumber& other) {
    words_.resize(std::max(words_.size(), other.words_.size()) + 1);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += std::uint64_t{words_[i]} + (i < other.words_.size() ? other.words_[i] : 0);
      words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    trim();
  }
  void subtract_words(const BigNumber& other) {
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      borrow += std::int64_t{words_[i]} - (i < other.words_.size() ? other.words_[i] : 0);
      words_[i] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
    trim();
    if (words_.empty()) negative_ = false;
  }
  [[nodiscard]] BigNumber shifted(int bits) const {
    BigNumber result;
    for (std::size_t bit = 0; bit < 32 * words_.size(); ++bit) {
      const int to = static_cast<int>(bit) + bits;
      if ((words_[bit / 32] >> bit % 32 & 1U) != 0 && to >= 0) result.set(1, to);
    }
    return result;
  }
  void trim() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }

  std::vector<std::uint32_t> words_;
  bool negative_ = false;
};

/// The nearest number, by comparing its neighbours.
template <typename Float>
Float nearest(const BigNumber& exact) {
  if (exact.is_zero()) return Float{0};
  constexpr Float infinity = std::numeric_limits<Float>::infinity();
  const BigNumber size = exact.magnitude();
  Float below = static_cast<Float>(std::min<double>(size.estimate(), std::numeric_limits<Float>::max()));
  while (compare(BigNumber(below), size) > 0) below = std::nextafter(below, Float{0});
  Float above = below;
  BigNumber above_big;
  while (true) {
    above = std::nextafter(below, infinity);
    above_big = std::isinf(above) ? BigNumber::power(std::numeric_limits<Float>::max_exponent)
                                  : BigNumber(static_cast<double>(above));
    if (std::isinf(above) || compare(above_big, size) > 0) break;
    below = above;
  }
  const int closer = compare(size - BigNumber(below), above_big - size);
  // Of two neighbours one is even: the one that is twice a number of the neighbours' distance.
  const BigNumber step = above_big - BigNumber(below);
  const double units = size.is_zero() ? 0 : std::round(BigNumber(below).estimate() / step.estimate());
  const bool below_even = std::fmod(units, 2.0) == 0;
  const bool take_below = compare(size, above_big) < 0 && (closer < 0 || (closer == 0 && below_even));
  const Float result = take_below ? below : above;
  return exact.negative() ? -result : result;
}

/// The same for a format of 16 bits, by looking for the greatest number that is not above. Numbers of one sign are in
/// the order of their bits.
template <typename Short>
Short nearest_short(const BigNumber& exact) {
  const BigNumber size = exact.magnitude();
  const auto value = [](unsigned bits) {
    return bits == Short::infinity_bits
               ? BigNumber::power(Short::max_exponent)
               : BigNumber(static_cast<double>(Short::from_bits(static_cast<std::uint16_t>(bits))));
  };
  unsigned below = 0, above = Short::infinity_bits;
  while (above - below > 1) {
    const unsigned between = (below + above) / 2;
    (compare(value(between), size) <= 0 ? below : above) = between;
  }
  const int closer = compare(size - value(below), value(above) - size);
  const bool beyond = compare(size, value(above)) >= 0;
  const unsigned bits = !beyond && (closer < 0 || (closer == 0 && below % 2 == 0)) ? below : above;
  return Short::from_bits(static_cast<std::uint16_t>(bits | (exact.negative() ? 0x8000U : 0U)));
}

/// The sum of IEEE 754 that is rounded once.
template <typename Float>
Float sum_of(const std::vector<Float>& numbers) {
  BigNumber exact;
  bool nan = false, plus = false, minus = false, only_minus_zero = !numbers.empty();
  for (const Float number : numbers) {
    nan = nan || std::isnan(number);
    plus = plus || (std::isinf(number) && number > 0);
    minus = minus || (std::isinf(number) && number < 0);
    only_minus_zero = only_minus_zero && number == 0 && std::signbit(number);
    if (std::isfinite(number)) exact = exact + BigNumber(static_cast<double>(number));
  }
  if (nan || (plus && minus)) return std::numeric_limits<Float>::quiet_NaN();
  if (plus || minus) return plus ? std::numeric_limits<Float>::infinity() : -std::numeric_limits<Float>::infinity();
  return only_minus_zero ? -Float{0} : nearest<Float>(exact);
}

/// Numbers of one of many kinds: alike, over the whole range, cancelling, near a tie, subnormal, huge, special.
template <typename Float>
std::vector<Float> random_numbers(std::mt19937_64& random, std::size_t count) {
  using Limits = std::numeric_limits<Float>;
  const auto kind = random() % 8;
  const auto significand = [&] {
    return static_cast<Float>(std::ldexp(static_cast<double>(random() >> 11U), -53) + 1) *
           static_cast<Float>(random() % 2 == 0 ? 1 : -1);
  };
  const auto exponent = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  const auto scaled = [&](int low, int high) { return std::ldexp(significand(), exponent(low, high)); };
  std::vector<Float> numbers;
  while (numbers.size() < count) {
    switch (kind) {
      case 0:  // as in programs
        numbers.push_back(scaled(-3, 3));
        break;
      case 1:  // all exponents
        numbers.push_back(scaled(Limits::min_exponent - Limits::digits, Limits::max_exponent - 2));
        break;
      case 2: {  // pairs that cancel, and a small rest
        const Float number = scaled(Limits::min_exponent, Limits::max_exponent - 2);
        numbers.push_back(number);
        numbers.push_back(random() % 8 == 0 ? scaled(Limits::min_exponent, 0) : -number);
        break;
      }
      case 3:  // ties, and a little beside them
        numbers.push_back(std::ldexp(Float{1}, exponent(0, 2)) * static_cast<Float>(random() % 2 == 0 ? 1 : -1));
        numbers.push_back(std::ldexp(Float{1}, -Limits::digits + exponent(-1, 1)));
        if (random() % 2 == 0) numbers.push_back(std::ldexp(significand(), exponent(-Limits::digits * 3, 0)));
        break;
      case 4:  // subnormal
        numbers.push_back(scaled(Limits::min_exponent - Limits::digits, Limits::min_exponent));
        break;
      case 5:  // overflow in between
        numbers.push_back(scaled(Limits::max_exponent - 3, Limits::max_exponent - 2));
        break;
      case 6:  // zeros of both signs, and a few numbers
        numbers.push_back(random() % 4 == 0 ? static_cast<Float>(exponent(-2, 2)) : -Float{0});
        break;
      default:  // rarely something special
        numbers.push_back(random() % 64 != 0  ? scaled(-100, 100)
                          : random() % 2 == 0 ? Limits::infinity()
                          : random() % 2 == 0 ? -Limits::infinity()
                          : random() % 2 == 0 ? Limits::quiet_NaN()
                                              : -Limits::quiet_NaN());  // of other bits
    }
  }
  numbers.resize(count);
  return numbers;
}

}  // namespace circoll::exact_reference
