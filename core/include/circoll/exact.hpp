// Exact sums of floating-point numbers: fixed-point numbers so wide that no sum of float or double is ever rounded.
//
//   circoll::ExactSum sum;
//   sum.add(numbers);                       // a span of double, float, Float16 or BFloat16
//   sum.add_products(a, b);                 // exact products, for dot products
//   const double rounded = sum.to_double();  // rounded once
//
// The order of additions changes nothing, not one bit. An ExactSum is an element of collectives: it is trivially
// copyable, and + is its operator (circoll/exact_sum.hpp). docs/user/reproducible.md says what the values mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace circoll {

/// A floating-point number of 16 bits, as IEEE 754 defines such formats. It has a sign, `ExponentBits` of exponent, and
/// a significand of `Digits` digits, of which the first is not stored. An array of them is an array of their bits.
template <int Digits, int ExponentBits>
class ShortFloat {
 public:
  static_assert(Digits + ExponentBits == 16, "a sign, an exponent and a fraction have 16 bits");
  static constexpr int digits = Digits;                         ///< of the significand
  static constexpr int max_exponent = 1 << (ExponentBits - 1);  ///< all are below 2^max_exponent
  static constexpr int min_exponent = 3 - max_exponent;         ///< as of std::numeric_limits
  static constexpr std::uint16_t infinity_bits = ((1 << ExponentBits) - 1) << (Digits - 1);  ///< of +infinity
  static constexpr std::uint16_t nan_bits = infinity_bits | 1 << (Digits - 2);  ///< of the quiet NaN that sums give

  constexpr ShortFloat() = default;  ///< +0
  /// The nearest number, rounded once, and of two that are equally near the one with an even significand. A NaN becomes
  /// the one of nan_bits.
  explicit ShortFloat(double number);
  /// The number that has these 16 bits: sign, exponent and fraction, from the highest one on.
  [[nodiscard]] static constexpr ShortFloat from_bits(std::uint16_t bits) {
    ShortFloat made;
    made.bits_ = bits;
    return made;
  }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }  ///< as from_bits() takes them
  [[nodiscard]] explicit operator double() const;                       ///< exact
  [[nodiscard]] explicit operator float() const { return static_cast<float>(double(*this)); }  ///< exact
  /// True if the bits are equal.
  [[nodiscard]] friend constexpr bool operator==(ShortFloat, ShortFloat) = default;

 private:
  std::uint16_t bits_ = 0;
};

using Float16 = ShortFloat<11, 5>;  ///< binary16 of IEEE 754
using BFloat16 = ShortFloat<8, 8>;  ///< the first half of a float
extern template class ShortFloat<11, 5>;
extern template class ShortFloat<8, 8>;

/// The sum of up to 2^63 numbers or products of two numbers, without any rounding. Infinities, NaN and the signs of
/// zeros are kept beside it, so that the result is the one of IEEE 754 for a sum that is rounded once.
class ExactSum {
 public:
  /// 64-bit words of the fixed-point number, the least significant first, in two's complement. Bit 0 of word 0 is
  /// 2^-2176, which is below every product of two subnormal numbers.
  static constexpr int word_count = 68;

  ExactSum() = default;  ///< the sum of nothing, which is +0

  void add(double number);                      ///< adds one number, exactly; a float is converted by the program
  void add(std::span<const double> numbers);    ///< adds all of them
  void add(std::span<const float> numbers);     ///< adds all of them
  void add(std::span<const Float16> numbers);   ///< adds all of them
  void add(std::span<const BFloat16> numbers);  ///< adds all of them
  void add_product(double left, double right);  ///< adds left * right, which is not rounded
  /// Adds left[i] * right[i] for all i < left.size(). `right` must have as many numbers.
  void add_products(std::span<const double> left, std::span<const double> right);
  /// The same for numbers of 32 bits.
  void add_products(std::span<const float> left, std::span<const float> right);
  /// The same for numbers of 16 bits.
  void add_products(std::span<const Float16> left, std::span<const Float16> right);
  /// Likewise.
  void add_products(std::span<const BFloat16> left, std::span<const BFloat16> right);

  ExactSum& operator+=(const ExactSum& other);  ///< associative and commutative: no bit depends on the order
  /// The sum of two sums.
  [[nodiscard]] friend ExactSum operator+(ExactSum left, const ExactSum& right) { return left += right; }
  /// True if both have the same bits. Sums of the same numbers in another order are equal.
  [[nodiscard]] friend bool operator==(const ExactSum&, const ExactSum&) = default;

  /// The nearest number, and the one with an even significand of two that are equally near. An infinity from
  /// 2^1024 - 2^970 on (of float 2^128 - 2^103).
  [[nodiscard]] double to_double() const;
  [[nodiscard]] float to_float() const;  ///< the same for 32 bits, rounded once
  /// The same for 16 bits, rounded once. An infinity from 65520 on.
  [[nodiscard]] Float16 to_float16() const;
  /// The same for the other 16 bits, rounded once. An infinity from 2^128 - 2^119 on.
  [[nodiscard]] BFloat16 to_bfloat16() const;

  /// The words [first, last) that hold a value. All words above have its sign, and those below are 0.
  struct Window {
    int first = 0;          ///< the lowest word
    int last = word_count;  ///< behind the highest word
    /// 64-bit words of a packed sum: a word of marks, then the window.
    [[nodiscard]] constexpr std::size_t packed_words() const { return 1 + static_cast<std::size_t>(last - first); }
  };
  /// Enough for every sum of numbers of type double or float. Products need all words.
  static constexpr Window of_numbers{17, 51};
  /// The least window for the sum of 2^62 such sums.
  [[nodiscard]] Window window() const;
  /// Writes the words of a window, which must be enough. `packed` has Window::packed_words().
  void pack(Window window, std::span<std::uint64_t> packed) const;
  [[nodiscard]] static ExactSum unpack(Window window, std::span<const std::uint64_t> packed);
  /// Adds packed sums of the same window: inout[i] += left[i], for `sums` sums one after another.
  static void add_packed(const std::uint64_t* left, std::uint64_t* inout, std::size_t sums, Window window);

 private:
  void remember(std::uint64_t marks);
  void add_bits(std::uint64_t low, std::uint64_t high, int position, bool negative);

  std::array<std::uint64_t, word_count> words_{};
  std::uint64_t marks_ = 0;  ///< seen: NaN, infinities, -0, anything else
};

}  // namespace circoll
