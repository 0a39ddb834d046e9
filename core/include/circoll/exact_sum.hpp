// Sums over all numbers of all ranks, rounded once: the same bits for every number of ranks and every distribution.
//
//   const double sum = circoll::exact_sum(numbers, comm);      // any number of them on each rank
//   const double dot = circoll::exact_dot(x, y, comm);         // products are not rounded either
//   std::array<circoll::ExactSum, 2> sums;                     // several in one message
//   sums[0].add_products(r, r);
//   sums[1].add_products(p, q);
//   circoll::exact_sum(sums, comm);
//
// Each call is one allreduce of a size that does not depend on the numbers. From 30 sums on there are two: the ranks
// first exchange which words of the sums have values. docs/user/reproducible.md says what the values mean.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "circoll/comm.hpp"
#include "circoll/exact.hpp"

namespace circoll {

namespace detail {

/// Adds the sums of all ranks, of which only the words of a window travel. It is the same on all ranks.
template <typename C>
void add_exactly(std::span<ExactSum> sums, ExactSum::Window window, C&& comm, const Choice& choice) {
  using Traits = CommunicatorTraits<std::remove_cvref_t<C>>;
  const std::size_t words = window.packed_words();
  std::vector<std::uint64_t> packed(words * sums.size());
  const auto place = [&](std::size_t i) { return std::span(packed).subspan(i * words, words); };
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].pack(window, place(i));
  const UserOperator add{[window](const void* left, void* inout, Count count) {
                           ExactSum::add_packed(static_cast<const std::uint64_t*>(left),
                                                static_cast<std::uint64_t*>(inout), static_cast<std::size_t>(count),
                                                window);
                         },
                         true};
  CollectiveCall call{.collective = Collective::allreduce,
                      .recvbuf = packed.data(),
                      .count = static_cast<Count>(sums.size()),
                      .record_bytes = static_cast<Count>(words * sizeof(std::uint64_t)),
                      .in_place = true};
  const OperatorOn<C> op = add;
  Traits::execute(comm, call, &op, choice);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = ExactSum::unpack(window, place(i));
}

/// Numbers that can be summed exactly.
template <typename Numbers>
concept ExactNumbers = Elements<Numbers> &&
    (std::same_as<Element<Numbers>, double> || std::same_as<Element<Numbers>, float> ||
     std::same_as<Element<Numbers>, Float16> || std::same_as<Element<Numbers>, BFloat16>);

template <typename T>
T rounded(const ExactSum& sum) {
  if constexpr (std::same_as<T, float>) return sum.to_float();
  if constexpr (std::same_as<T, double>) return sum.to_double();
  if constexpr (std::same_as<T, Float16>) return sum.to_float16();
  if constexpr (std::same_as<T, BFloat16>) return sum.to_bfloat16();
}

}  // namespace detail

/// Sums i of all ranks, added: each rank has the results in place of its own sums. All ranks give as many sums.
template <BlockingCommunicator C>
void exact_sum(std::span<ExactSum> sums, C&& comm, const Choice& choice = {}) {
  constexpr std::size_t few = 30;  // shorter messages are worth one more from here on
  ExactSum::Window window;
  if (sums.size() >= few) {
    std::array<int, 2> bounds{-ExactSum::word_count, 0};
    for (const ExactSum& sum : sums) {
      const ExactSum::Window one = sum.window();
      bounds = {std::max(bounds[0], -one.first), std::max(bounds[1], one.last)};
    }
    allreduce(in_place, bounds, Op::max, comm);
    window = {.first = -bounds[0], .last = bounds[1]};
  }
  detail::add_exactly(sums, window, comm, choice);
}

/// The sum of all numbers of all ranks, rounded once. Ranks may have different counts.
template <detail::ExactNumbers Numbers, BlockingCommunicator C>
[[nodiscard]] detail::Element<Numbers> exact_sum(const Numbers& numbers, C&& comm, const Choice& choice = {}) {
  using T = detail::Element<Numbers>;
  ExactSum sum;
  sum.add(std::span<const T>(numbers));
  detail::add_exactly(std::span(&sum, 1), ExactSum::of_numbers, comm, choice);
  return detail::rounded<T>(sum);
}

/// The sum of left[i] * right[i] over all i of all ranks, rounded once. Both sides have as many numbers at a rank.
template <detail::ExactNumbers Left, detail::ExactNumbers Right, BlockingCommunicator C>
requires std::same_as<detail::Element<Left>, detail::Element<Right>>
[[nodiscard]] detail::Element<Left> exact_dot(const Left& left, const Right& right, C&& comm,
                                              const Choice& choice = {}) {
  using T = detail::Element<Left>;
  ExactSum sum;
  sum.add_products(std::span<const T>(left), std::span<const T>(right));
  detail::add_exactly(std::span(&sum, 1), {}, comm, choice);
  return detail::rounded<T>(sum);
}

}  // namespace circoll
