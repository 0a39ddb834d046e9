// Bit classes: algorithms whose results have the same bits for every operator, rounding included.
#pragma once

#include <cstdint>
#include <string>

#include "circoll/algorithm.hpp"
#include "circoll/verify.hpp"

namespace circoll {

/// The operators for which two schedules are to give the same bits.
enum class BitsOf : std::uint8_t {
  /// a op b = b op a bit by bit, as with MPI's predefined operators on numbers of IEEE 754. The payload of a NaN is
  /// excepted, because the standard leaves open from which operand it comes.
  commuting,
  any,  ///< operands in one order, too, as of a program's own operators
};

/// A class of schedules that combine every element of every rank's result by the same expression. Schedules of equal
/// classes give the same bits, whatever the elements are. Schedules of different classes may give the same bits by
/// chance, or for an operator that rounds nothing.
///
/// A vector that is cut has an expression for each part. Where all expressions are the same within the caller's blocks,
/// the cuts do not matter. Otherwise equal classes have equal cuts.
struct BitClass {
  std::uint64_t high = 0, low = 0;  ///< a hash of the expressions of all ranks
  bool one_expression = true;       ///< for all elements, and for all ranks but of scan and exscan
  /// The expression of the first element, at the first rank that has a result; "(0+1)+2" for ranks 0, 1, 2. Of scan and
  /// exscan it is that of the last rank. Cut off after 160 characters.
  std::string expression{};

  friend bool operator==(const BitClass& a, const BitClass& b) { return a.high == b.high && a.low == b.low; }
};

/// The class of an algorithm of a reduction for one p, root and parameters. shape.rank is ignored. The schedules of all
/// ranks are built and executed symbolically, O(p log p) steps for most algorithms: under a millisecond for 8 ranks,
/// tens of them for 64. With `on_arrival` the schedules are transformed first (combined_on_arrival), which changes no
/// class. Throws Error(invalid_argument) if the collective reduces nothing, and as build_schedule does.
[[nodiscard]] BitClass bit_class(const Algorithm& algorithm, Collective collective, const Shape& shape,
                                 BitsOf operators = BitsOf::commuting, const OnArrival& on_arrival = {});

}  // namespace circoll
