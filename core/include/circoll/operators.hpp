// Callables as operators of the typed API: lambdas, functions and function objects, on elements of any kind.
//
//   struct Hit { double score; int place; };
//   const auto better = [](const Hit& a, const Hit& b) { return b.score > a.score ? b : a; };
//   circoll::allreduce(mine, best, better, comm);                        // operands stay in the order of ranks
//   circoll::allreduce(mine, best, circoll::commutative(better), comm);  // operands may change places
//
// A callable combines two elements T into one: T f(const T& left, const T& right), called on a const object. It must be
// associative, must give the same result on all ranks, and is called on any part of a vector. Only algorithms that keep
// the order of ranks serve it, unless commutative() says that they need not. A request keeps a copy of the callable.
//
// std::plus, std::multiplies, std::bit_and, std::bit_or, std::bit_xor, std::logical_and and std::logical_or are MPI's
// operators on the element types that MPI has. They are as fast there, and commutative.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "circoll/buffers.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// A callable whose operands may change places; made by commutative().
template <typename F>
struct Commutative {
  F combine;  ///< the callable itself
};

/// Says of a callable that f(a, b) equals f(b, a), so that all algorithms may serve it.
template <typename F>
[[nodiscard]] constexpr Commutative<std::decay_t<F>> commutative(F&& f) {
  return {std::forward<F>(f)};
}

/// \cond
namespace detail {

/// Stands for the element type where a buffer has none, so that one mistake gives one message.
struct NoElement {};

template <typename F>
inline constexpr bool is_commutative_callable = false;
template <typename F>
inline constexpr bool is_commutative_callable<Commutative<F>> = true;

template <typename F>
constexpr const F& callable_in(const F& f) {
  return f;
}
template <typename F>
constexpr const F& callable_in(const Commutative<F>& f) {
  return f.combine;
}
template <typename F>
using CallableIn = std::remove_cvref_t<decltype(callable_in(std::declval<const F&>()))>;

template <typename F, template <typename> typename Function, typename T>
inline constexpr bool is_function = std::is_same_v<F, Function<T>> || std::is_same_v<F, Function<void>>;

/// The predefined operator that a function object of the standard library is on elements T.
template <typename F, typename T>
[[nodiscard]] constexpr std::optional<Op> predefined_of() {
  constexpr bool whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  constexpr bool complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>> ||
                           std::is_same_v<T, std::complex<long double>>;
  if (!type_of<T>().has_value()) return std::nullopt;
  if constexpr (whole || std::is_floating_point_v<T> || complex) {
    if (is_function<F, std::plus, T>) return Op::sum;
    if (is_function<F, std::multiplies, T>) return Op::prod;
  }
  if constexpr (whole || std::is_same_v<T, std::byte>) {
    if (is_function<F, std::bit_and, T>) return Op::band;
    if (is_function<F, std::bit_or, T>) return Op::bor;
    if (is_function<F, std::bit_xor, T>) return Op::bxor;
  }
  if constexpr (std::is_integral_v<T>) {
    if (is_function<F, std::logical_and, T>) return Op::land;
    if (is_function<F, std::logical_or, T>) return Op::lor;
  }
  return std::nullopt;
}

/// True if elements T can be combined by a callable F. Otherwise the compiler prints a sentence.
template <typename F, typename T>
[[nodiscard]] constexpr bool check_callable() {
  constexpr bool combines = std::is_invocable_r_v<T, const F&, const T&, const T&>;
  constexpr bool associative = !is_function<F, std::minus, T> && !is_function<F, std::divides, T>;
  static_assert(combines,
                "op is no operator of these elements: give circoll::Op::sum (max, ...), MPI's operator, or a callable "
                "T f(const T&, const T&) that is const, as [](const T& a, const T& b) { return ...; }");
  static_assert(associative, "std::minus and std::divides are not associative, as an operator must be");
  static_assert(alignof(T) <= alignof(std::max_align_t), "elements of such an alignment cannot be combined");
  return combines && associative && alignof(T) <= alignof(std::max_align_t);
}

/// UserOperator::function for one callable. An element's bytes are written, as T need not be assignable.
template <typename T, typename F>
void combine_elements(const F& f, const void* left, void* inout, Count elements) {
  const T* const a = static_cast<const T*>(left);
  T* const b = static_cast<T*>(inout);
  for (Count i = 0; i < elements; ++i) {
    const T result = std::invoke(f, a[i], b[i]);
    std::memcpy(static_cast<void*>(b + i), &result, sizeof(T));
  }
}

/// An operator that refers to a callable.
template <typename T, typename F>
[[nodiscard]] UserOperator refer_to(const F& f, bool commutative) {
  auto* const callable = &f;
  return {[callable](const void* left, void* inout, Count elements) {
            combine_elements<T>(*callable, left, inout, elements);
          },
          commutative};
}

/// A callable and the operator that refers to it, which live as long as a request.
template <typename T, typename F>
struct KeptCallable {
  KeptCallable(const F& f, bool commutative) : callable(f), op(refer_to<T>(callable, commutative)) {}
  KeptCallable(const KeptCallable&) = delete;
  KeptCallable& operator=(const KeptCallable&) = delete;

  F callable;
  UserOperator op;
};

}  // namespace detail
/// \endcond

}  // namespace circoll
