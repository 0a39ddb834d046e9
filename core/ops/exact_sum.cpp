// ExactSum: a fixed-point number of 4352 bits, after Kulisch.
//
// Long arrays go through two faster ways first: expansions in vectors (exact_rows.cpp), and where those lose a bit,
// digits that save their carries (Neal 2015, arXiv:1505.05571).
#include "circoll/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "circoll/error.hpp"
#include "ops/default_floats.hpp"
#include "ops/exact.hpp"

namespace circoll {
namespace {

constexpr int lowest_exponent = -2176;                       // of bit 0 of word 0
constexpr int subnormal_position = -1074 - lowest_exponent;  // of the last bit of the least double
constexpr int middle = -lowest_exponent / 64;                // the word of 1
constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << 52U) - 1;
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;

enum Mark : std::uint64_t { nan = 1, plus_infinity = 2, minus_infinity = 4, minus_zero = 8, other = 16 };

/// A double taken apart: its value is significand * 2^(position + lowest_exponent).
struct Parts {
  std::uint64_t significand;
  int position;
  bool negative;
  bool finite;
};

Parts parts_of(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto exponent = static_cast<int>(bits >> 52U & 0x7FFU);
  const std::uint64_t fraction = bits & fraction_mask;
  return {.significand = exponent == 0 ? fraction : fraction | (fraction_mask + 1),
          .position = subnormal_position + std::max(exponent, 1) - 1,
          .negative = bits >> 63U != 0,
          .finite = exponent != 0x7FF};
}

/// The marks of one number. A comparison would take a subnormal number for 0 where the program flushes them.
std::uint64_t mark_of(const Parts& parts) {
  if (parts.finite) return parts.significand == 0 && parts.negative ? minus_zero : other;
  if ((parts.significand & fraction_mask) != 0) return nan | other;
  return (parts.negative ? minus_infinity : plus_infinity) | other;
}

/// The marks of two sums together. A -0 counts only while there is nothing else.
std::uint64_t joined(std::uint64_t left, std::uint64_t right) {
  const std::uint64_t marks = left | right;
  return (marks & other) != 0 ? marks & ~std::uint64_t{minus_zero} : marks;
}

/// x + y + carry, with the carry out.
std::uint64_t add_with_carry(std::uint64_t x, std::uint64_t y, std::uint64_t& carry) {
  const std::uint64_t sum = x + y;
  const std::uint64_t result = sum + carry;
  carry = static_cast<std::uint64_t>(sum < x) | static_cast<std::uint64_t>(result < sum);
  return result;
}

/// Sums in digits of 32 bits that lie in 64 bits, so that a number is added without carries.
class Digits {
 public:
  void add(const Parts& parts) {
    const auto shift = static_cast<unsigned>(parts.position) & 31U;
    const std::int64_t sign = parts.negative ? -1 : 1;
    std::int64_t* const digit = &digits_[static_cast<std::size_t>(parts.position) / 32];
    digit[0] += sign * static_cast<std::int64_t>(parts.significand << shift & 0xFFFFFFFFU);
    digit[1] += sign * static_cast<std::int64_t>(parts.significand >> (32U - shift));
  }
  /// So many numbers, each below 2^53, leave a digit below 2^63.
  static constexpr std::size_t most_numbers = 1024;

  /// Writes all digits into words of 64 bits, with their carries, and begins anew.
  void take(std::span<std::uint64_t> words) {
    std::int64_t carry = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::int64_t low = digits_[2 * i] + carry;
      const std::int64_t high = digits_[2 * i + 1] + (low >> 32U);
      carry = high >> 32U;
      words[i] = (static_cast<std::uint64_t>(low) & 0xFFFFFFFFU) | static_cast<std::uint64_t>(high) << 32U;
    }
    digits_.fill(0);
  }

 private:
  std::array<std::int64_t, 2 * ExactSum::word_count> digits_{};
};

/// Words as a magnitude and a sign.
bool make_positive(std::span<std::uint64_t> words) {
  if ((words.back() & sign_bit) == 0) return false;
  std::uint64_t carry = 1;
  for (std::uint64_t& word : words) word = add_with_carry(~word, 0, carry);
  return true;
}

/// 64 bits from a position on; bits outside are 0.
std::uint64_t bits_from(std::span<const std::uint64_t> words, int position) {
  const auto word = static_cast<std::size_t>(position) / 64;
  const auto shift = static_cast<unsigned>(position) % 64;
  std::uint64_t bits = words[word] >> shift;
  if (shift != 0 && word + 1 < words.size()) bits |= words[word + 1] << (64 - shift);
  return bits;
}

bool any_below(std::span<const std::uint64_t> words, int position) {
  const auto word = static_cast<std::size_t>(position) / 64;
  const std::uint64_t mask = (std::uint64_t{1} << (static_cast<unsigned>(position) % 64)) - 1;
  return (words[word] & mask) != 0 || std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(word),
                                                  [](std::uint64_t one) { return one != 0; });
}

/// The nearest number of a format with so many digits: significand * 2^exponent.
struct Nearest {
  std::uint64_t significand = 0;
  int exponent = 0;
};

/// Of a magnitude, which is not 0.
Nearest nearest(std::span<const std::uint64_t> words, int digits, int min_exponent) {
  int top = static_cast<int>(words.size()) - 1;
  while (words[static_cast<std::size_t>(top)] == 0) --top;
  const int highest = 64 * top + 63 - std::countl_zero(words[static_cast<std::size_t>(top)]);
  const int lowest = std::max(highest - digits + 1, min_exponent - digits - lowest_exponent);
  std::uint64_t significand = highest < lowest ? 0 : bits_from(words, lowest);
  const bool half = (bits_from(words, lowest - 1) & 1U) != 0;
  if (half && ((significand & 1U) != 0 || any_below(words, lowest - 1))) ++significand;
  return {.significand = significand, .exponent = lowest + lowest_exponent};
}

/// The kind of a sum before it is rounded.
enum class Value { nan, infinity, zero, number };

struct Sign {
  Value value;
  bool negative;
};

/// Makes the words of a number its magnitude.
Sign sign_of(std::span<std::uint64_t> words, std::uint64_t marks) {
  constexpr std::uint64_t both = plus_infinity | minus_infinity;
  if ((marks & nan) != 0 || (marks & both) == both) return {Value::nan, false};
  if ((marks & both) != 0) return {Value::infinity, (marks & minus_infinity) != 0};
  const bool negative = make_positive(words);
  const bool zero = std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
  return zero ? Sign{Value::zero, (marks & minus_zero) != 0} : Sign{Value::number, negative};
}

template <typename Float>
Float rounded(std::array<std::uint64_t, ExactSum::word_count> words, std::uint64_t marks) {
  const ops::DefaultFloats settings;
  using Limits = std::numeric_limits<Float>;
  const Sign sign = sign_of(words, marks);
  Float result = 0;
  if (sign.value == Value::nan) return Limits::quiet_NaN();
  if (sign.value == Value::infinity) result = Limits::infinity();
  if (sign.value == Value::number) {
    const Nearest found = nearest(words, Limits::digits, Limits::min_exponent);
    result = std::ldexp(static_cast<Float>(found.significand), found.exponent);
  }
  return sign.negative ? -result : result;
}

/// The same for a format of 16 bits.
template <typename Short>
Short rounded_short(std::array<std::uint64_t, ExactSum::word_count> words, std::uint64_t marks) {
  const Sign sign = sign_of(words, marks);
  if (sign.value == Value::nan) return Short::from_bits(Short::nan_bits);
  unsigned bits = sign.value == Value::infinity ? Short::infinity_bits : 0U;
  if (sign.value == Value::number) {
    const Nearest found = nearest(words, Short::digits, Short::min_exponent);
    // The stored exponent is that of the last digit, counted from the least one. The first digit of a normal number
    // adds 1 to it, and a significand that was rounded up to 2^digits adds 2.
    const int exponent = found.exponent - (Short::min_exponent - Short::digits);
    const auto whole = static_cast<std::uint64_t>(exponent) << static_cast<unsigned>(Short::digits - 1);
    bits = static_cast<unsigned>(std::min<std::uint64_t>(whole + found.significand, Short::infinity_bits));
  }
  return Short::from_bits(static_cast<std::uint16_t>(bits | (sign.negative ? 0x8000U : 0U)));
}

}  // namespace

void ExactSum::remember(std::uint64_t marks) { marks_ = joined(marks_, marks); }

/// Adds or subtracts (low + high * 2^64) * 2^(position + lowest_exponent).
void ExactSum::add_bits(std::uint64_t low, std::uint64_t high, int position, bool negative) {
  const auto shift = static_cast<unsigned>(position) % 64;
  const std::array<std::uint64_t, 3> pieces{low << shift, shift == 0 ? high : low >> (64 - shift) | high << shift,
                                            shift == 0 ? 0 : high >> (64 - shift)};
  std::size_t i = static_cast<std::size_t>(position) / 64;
  std::uint64_t carry = negative ? 1 : 0;
  const std::uint64_t flip = negative ? ~std::uint64_t{0} : 0;
  for (const std::uint64_t piece : pieces) {
    words_[i] = add_with_carry(words_[i], piece ^ flip, carry);
    ++i;
  }
  // Above the pieces stand zeros, or ones where they were negated.
  for (; i < words_.size() && carry != (flip & 1U); ++i) words_[i] = add_with_carry(words_[i], flip, carry);
}

void ExactSum::add(double number) {
  const Parts parts = parts_of(number);
  remember(mark_of(parts));
  if (parts.finite && parts.significand != 0) add_bits(parts.significand, 0, parts.position, parts.negative);
}

void ExactSum::add(std::span<const double> numbers) {
  const ops::DefaultFloats settings;
  constexpr std::size_t part = Digits::most_numbers;
  constexpr std::size_t few = 32;
  if (numbers.size() <= few) {
    for (const double number : numbers) add(number);
    return;
  }
  Digits digits;
  std::array<std::uint64_t, word_count> words{};
  for (std::size_t done = 0; done < numbers.size(); done += part) {
    const auto now = numbers.subspan(done, std::min(part, numbers.size() - done));
    std::array<double, ops::most_partial_sums> partial;
    const std::size_t partial_sums = ops::exact_partial_sums(ops::best_target(), now, partial);
    if (partial_sums != 0) {
      for (std::size_t i = 0; i < partial_sums; ++i) add(partial[i]);
      continue;
    }
    for (const double number : now) {
      const Parts taken = parts_of(number);
      remember(mark_of(taken));
      if (taken.finite) digits.add(taken);
    }
    digits.take(words);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < words.size(); ++i) words_[i] = add_with_carry(words_[i], words[i], carry);
  }
}

void ExactSum::add(std::span<const float> numbers) {
  const ops::DefaultFloats settings;  // a conversion may flush subnormal numbers, too
  std::array<double, 1024> wide;
  while (!numbers.empty()) {
    const std::size_t now = std::min(wide.size(), numbers.size());
    std::copy_n(numbers.begin(), now, wide.begin());
    add(std::span<const double>(wide).first(now));
    numbers = numbers.subspan(now);
  }
}

void ExactSum::add_product(double left, double right) {
  const Parts a = parts_of(left);
  const Parts b = parts_of(right);
  const bool negative = a.negative != b.negative;
  const bool zero = a.significand == 0 || b.significand == 0;
  if (!a.finite || !b.finite) {
    const bool invalid = zero || ((mark_of(a) | mark_of(b)) & nan) != 0;
    return remember((invalid ? nan : negative ? minus_infinity : plus_infinity) | other);
  }
  remember(zero && negative ? minus_zero : other);
  if (zero) return;
  const unsigned __int128 product = static_cast<unsigned __int128>(a.significand) * b.significand;
  add_bits(static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64U),
           a.position + b.position + lowest_exponent, negative);
}

void ExactSum::add_products(std::span<const double> left, std::span<const double> right) {
  require(left.size() == right.size(), "a dot product needs as many numbers on both sides");
  const ops::DefaultFloats settings;
  constexpr std::size_t part = 512;
  std::array<double, 2 * part> terms;
  for (std::size_t done = 0; done < left.size(); done += part) {
    const std::size_t now = std::min(part, left.size() - done);
    const auto a = left.subspan(done, now);
    const auto b = right.subspan(done, now);
    if (ops::exact_products(ops::best_target(), a, b, terms)) {
      add(std::span<const double>(terms).first(2 * now));
      continue;
    }
    for (std::size_t i = 0; i < now; ++i) add_product(a[i], b[i]);
  }
}

void ExactSum::add_products(std::span<const float> left, std::span<const float> right) {
  require(left.size() == right.size(), "a dot product needs as many numbers on both sides");
  const ops::DefaultFloats settings;
  std::array<double, 1024> products;  // of 48 bits, which a double holds
  for (std::size_t done = 0; done < left.size(); done += products.size()) {
    const std::size_t now = std::min(products.size(), left.size() - done);
    for (std::size_t i = 0; i < now; ++i) products[i] = static_cast<double>(left[done + i]) * right[done + i];
    add(std::span<const double>(products).first(now));
  }
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = add_with_carry(words_[i], other.words_[i], carry);
  remember(other.marks_);
  return *this;
}

namespace {

/// Numbers as double, a part at a time.
template <typename Short, typename Take>
void each_part(std::span<const Short> numbers, Take&& take) {
  std::array<double, 1024> wide;
  for (std::size_t done = 0; done < numbers.size(); done += wide.size()) {
    const std::size_t now = std::min(wide.size(), numbers.size() - done);
    for (std::size_t i = 0; i < now; ++i) wide[i] = static_cast<double>(numbers[done + i]);
    take(std::span<double>(wide).first(now), done);
  }
}

/// Products of 22 digits or less, which a double holds with every exponent that they may have.
template <typename Short>
void add_short_products(ExactSum& sum, std::span<const Short> left, std::span<const Short> right) {
  require(left.size() == right.size(), "a dot product needs as many numbers on both sides");
  const ops::DefaultFloats settings;
  each_part(left, [&](std::span<double> products, std::size_t done) {
    for (std::size_t i = 0; i < products.size(); ++i) products[i] *= static_cast<double>(right[done + i]);
    sum.add(std::span<const double>(products));
  });
}

}  // namespace

void ExactSum::add(std::span<const Float16> numbers) {
  each_part(numbers, [&](std::span<double> wide, std::size_t) { add(std::span<const double>(wide)); });
}
void ExactSum::add(std::span<const BFloat16> numbers) {
  each_part(numbers, [&](std::span<double> wide, std::size_t) { add(std::span<const double>(wide)); });
}
void ExactSum::add_products(std::span<const Float16> left, std::span<const Float16> right) {
  add_short_products(*this, left, right);
}
void ExactSum::add_products(std::span<const BFloat16> left, std::span<const BFloat16> right) {
  add_short_products(*this, left, right);
}

double ExactSum::to_double() const { return rounded<double>(words_, marks_); }
float ExactSum::to_float() const { return rounded<float>(words_, marks_); }
Float16 ExactSum::to_float16() const { return rounded_short<Float16>(words_, marks_); }
BFloat16 ExactSum::to_bfloat16() const { return rounded_short<BFloat16>(words_, marks_); }

template <int Digits, int ExponentBits>
ShortFloat<Digits, ExponentBits>::ShortFloat(double number) {
  ExactSum sum;
  sum.add(number);
  if constexpr (Digits == Float16::digits) {
    *this = sum.to_float16();
  } else {
    *this = sum.to_bfloat16();
  }
}

template <int Digits, int ExponentBits>
ShortFloat<Digits, ExponentBits>::operator double() const {
  constexpr auto fraction_digits = static_cast<unsigned>(Digits - 1);
  constexpr std::uint64_t hidden = std::uint64_t{1} << fraction_digits;
  const std::uint64_t magnitude = bits_ & 0x7FFFU;
  const std::uint64_t sign = static_cast<std::uint64_t>(bits_ & 0x8000U) << 48U;
  constexpr std::uint64_t quiet_nan = 0x7FF8000000000000U, infinity = 0x7FF0000000000000U;
  if (magnitude >= infinity_bits) return std::bit_cast<double>(magnitude > infinity_bits ? quiet_nan : sign | infinity);
  const std::uint64_t exponent = magnitude >> fraction_digits;
  if (exponent == 0) {
    const double size =
        static_cast<double>(magnitude) * std::bit_cast<double>(std::uint64_t{1023 + min_exponent - Digits} << 52U);
    return sign == 0 ? size : -size;
  }
  const std::uint64_t wide = exponent + (1023 - (max_exponent - 1));
  return std::bit_cast<double>(sign | wide << 52U | (magnitude & (hidden - 1)) << (52U - fraction_digits));
}

template class ShortFloat<11, 5>;
template class ShortFloat<8, 8>;

ExactSum::Window ExactSum::window() const {
  const std::uint64_t sign = (words_.back() & sign_bit) != 0 ? ~std::uint64_t{0} : 0;
  int first = 0;
  int last = word_count;
  while (first < word_count && words_[static_cast<std::size_t>(first)] == 0) ++first;
  if (first == word_count) return {.first = middle, .last = middle + 1};  // 0 is in every window
  while (last > first && words_[static_cast<std::size_t>(last - 1)] == sign) --last;
  // One word more for the sign, and for what the sum of many grows by.
  return {.first = first, .last = std::min(last + 1, word_count)};
}

void ExactSum::pack(Window window, std::span<std::uint64_t> packed) const {
  packed.front() = marks_;
  std::copy_n(words_.begin() + window.first, window.last - window.first, packed.begin() + 1);
}

ExactSum ExactSum::unpack(Window window, std::span<const std::uint64_t> packed) {
  ExactSum sum;
  sum.marks_ = packed.front();
  const auto end = std::copy_n(packed.begin() + 1, window.last - window.first, sum.words_.begin() + window.first);
  if ((packed[window.packed_words() - 1] & sign_bit) != 0) std::fill(end, sum.words_.end(), ~std::uint64_t{0});
  return sum;
}

void ExactSum::add_packed(const std::uint64_t* left, std::uint64_t* inout, std::size_t sums, Window window) {
  const std::size_t words = window.packed_words();
  for (std::size_t s = 0; s < sums; ++s, left += words, inout += words) {
    inout[0] = joined(inout[0], left[0]);
    std::uint64_t carry = 0;
    for (std::size_t i = 1; i < words; ++i) inout[i] = add_with_carry(inout[i], left[i], carry);
  }
}

namespace ops {

/// Where vectors cannot decide: one element of all rows.
template <typename Float>
Float exact_column(const Float* column, std::size_t stride, std::size_t rows) {
  ExactSum sum;
  for (std::size_t r = 0; r < rows; ++r) sum.add(static_cast<double>(column[r * stride]));
  if constexpr (sizeof(Float) == sizeof(float)) return sum.to_float();
  return static_cast<Float>(sum.to_double());
}
template float exact_column(const float*, std::size_t, std::size_t);
template double exact_column(const double*, std::size_t, std::size_t);

}  // namespace ops
}  // namespace circoll
