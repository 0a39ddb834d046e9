// The caller's side of a call in C++: element types, operators, in place. Shared by the APIs of all executors.
#pragma once

// The first header of the project that those of the APIs read, so that an older standard is refused before all else.
#if __cplusplus < 202002L
#error "Circoll needs C++20: compile with -std=c++20"
#endif

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "circoll/algorithm.hpp"
#include "circoll/types.hpp"

namespace circoll {

class Policy;

/// Stands in for the send buffer (scatter: the receive buffer at the root), as MPI_IN_PLACE does.
struct InPlace {};
inline constexpr InPlace in_place{};  ///< the value to give

/// The Type of a C++ element type, or nothing if MPI has none for it.
template <typename T>
[[nodiscard]] constexpr std::optional<Type> type_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, std::byte>) return Type::byte;
  if constexpr (std::is_same_v<U, bool>) return Type::boolean;
  if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool>) {
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? Type::int8 : Type::uint8;
    if constexpr (sizeof(U) == 2) return is_signed ? Type::int16 : Type::uint16;
    if constexpr (sizeof(U) == 4) return is_signed ? Type::int32 : Type::uint32;
    if constexpr (sizeof(U) == 8) return is_signed ? Type::int64 : Type::uint64;
  }
  if constexpr (std::is_same_v<U, float>) return Type::float32;
  if constexpr (std::is_same_v<U, double>) return Type::float64;
  if constexpr (std::is_same_v<U, long double>) return Type::float_long;
  if constexpr (std::is_same_v<U, std::complex<float>>) return Type::complex64;
  if constexpr (std::is_same_v<U, std::complex<double>>) return Type::complex128;
  if constexpr (std::is_same_v<U, std::complex<long double>>) return Type::complex_long;
  return std::nullopt;
}

/// An array of counts or displacements, one per rank: int as in MPI's classic calls, or 64 bits. Not copied.
class Counts {
 public:
  Counts() = default;
  Counts(const int* data) : data_(data) {}                      // NOLINT(google-explicit-constructor)
  Counts(const Count* data) : data_(data), wide_(true) {}       // NOLINT(google-explicit-constructor)
  Counts(std::span<const Count> data) : Counts(data.data()) {}  // NOLINT(google-explicit-constructor)
  /// 64-bit integers of any type: MPI_Count, MPI_Aint.
  static Counts wide(const void* data) {
    Counts counts;
    counts.data_ = data;
    counts.wide_ = true;
    return counts;
  }

  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }  ///< true if an array was given
  [[nodiscard]] bool is_wide() const { return wide_; }                       ///< true if the integers have 64 bits
  [[nodiscard]] const void* data() const { return data_; }                   ///< the array as it was given
  [[nodiscard]] Count operator[](Rank i) const {
    if (!wide_) return static_cast<const int*>(data_)[i];
    std::int64_t value = 0;  // MPI_Count may be long or long long: read it without aliasing one as the other
    std::memcpy(&value, static_cast<const char*>(data_) + i * 8, sizeof value);
    return value;
  }

 private:
  const void* data_ = nullptr;
  bool wide_ = false;
};

/// A caller's operator: an associative function on arrays of elements.
struct UserOperator {
  /// inout[i] = left[i] op inout[i] for i < elements; the arrays do not overlap. May be called on any part of
  /// a vector.
  std::function<void(const void* left, void* inout, Count elements)> function;
  bool commutative = false;  ///< false: operands stay in the order of ranks
};

/// A predefined or a caller's operator. Refers to the UserOperator, which must outlive the call.
class Operator {
 public:
  Operator() = default;
  Operator(Op op) : op_(op) {}                          // NOLINT(google-explicit-constructor)
  Operator(const UserOperator& user) : user_(&user) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const UserOperator* user() const { return user_; }  ///< nullptr: it is a predefined one
  [[nodiscard]] Op predefined() const { return op_; }               ///< if user() is nullptr

 private:
  Op op_ = Op::sum;
  const UserOperator* user_ = nullptr;
};

/// The choice of an algorithm for a call. It is an id ("allreduce/circulant"), a name with parameters
/// ("circulant:segments=4"), a Selection, a Policy (circoll/select.hpp), or "auto" or nothing for the default policy.
/// Refers to its argument, which must outlive the call. A policy must live as long as the process over MPI, and as the
/// communicators that it was used on in process: it is known again by its address. All ranks must give the same.
class Choice {
 public:
  Choice() = default;
  Choice(std::string_view text) : text_(text) {}                  // NOLINT(google-explicit-constructor)
  Choice(const char* text) : text_(text) {}                       // NOLINT(google-explicit-constructor)
  Choice(const std::string& text) : text_(text) {}                // NOLINT(google-explicit-constructor)
  Choice(const Selection& selection) : selection_(&selection) {}  // NOLINT(google-explicit-constructor)
  Choice(const Policy& policy) : policy_(&policy) {}              // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::string_view text() const { return text_; }            ///< empty if it is not a text
  [[nodiscard]] const Selection* selection() const { return selection_; }  ///< nullptr if it is none
  [[nodiscard]] const Policy* policy() const { return policy_; }           ///< nullptr if it is none
  [[nodiscard]] bool is_default() const { return text_.empty() && selection_ == nullptr && policy_ == nullptr; }

 private:
  std::string_view text_;
  const Selection* selection_ = nullptr;
  const Policy* policy_ = nullptr;
};

}  // namespace circoll
