// Formulas as papers, lectures and other libraries print them, to be compared with what the algorithms do.
#pragma once

#include <span>
#include <string_view>

namespace circoll::cli {

/// A printed time formula. The coefficients are formulas in p, q, L, P, r, n (docs/notation.md; "lg p" is log2 p): of
/// alpha, alpha_uni, m beta, m beta_uni, m gamma.
struct PrintedFormula {
  std::string_view id;       ///< the algorithm that it is about
  std::string_view printed;  ///< as it stands there, with m for the vector
  std::string_view where;
  std::string_view alpha;
  std::string_view alpha_uni;
  std::string_view bytes;
  std::string_view bytes_uni;
  std::string_view combined;
  std::string_view remark;  ///< why it differs from what the algorithm does; empty if it does not
};

[[nodiscard]] std::span<const PrintedFormula> printed_formulas();

}  // namespace circoll::cli
