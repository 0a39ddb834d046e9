// Arithmetic of declared costs.
#pragma once

#include <algorithm>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// The value of a declared parameter.
[[nodiscard]] inline std::int64_t value_of(const Shape& shape, const ParamDeclaration& declared) {
  const auto given = shape.params.find(declared.name);
  return given == shape.params.end() ? declared.fallback : given->second;
}

/// The larger of every count: the maximum over two ranks.
[[nodiscard]] constexpr Cost most(const Cost& a, const Cost& b) {
  return {.rounds = std::max(a.rounds, b.rounds),
          .sent = std::max(a.sent, b.sent),
          .received = std::max(a.received, b.received),
          .reduced = std::max(a.reduced, b.reduced),
          .copied = std::max(a.copied, b.copied)};
}

/// 1 if p = 1 and the contribution must be copied to the result.
[[nodiscard]] inline std::int64_t lonely_copy(const Shape& shape) { return shape.size == 1 && !shape.in_place ? 1 : 0; }

}  // namespace circoll::patterns
