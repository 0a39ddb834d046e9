// A walk over the pieces of a plan.
#pragma once

#include <span>

#include "circoll/plan.hpp"

namespace circoll {

/// Walks over a list of pieces from front to back, taking any number of elements at a time.
class Cursor {
 public:
  Cursor(std::span<const Piece> pieces, Count extent_bytes) : pieces_(pieces), extent_bytes_(extent_bytes) {}

  [[nodiscard]] bool at_end() const { return pieces_.empty(); }
  [[nodiscard]] Count available() const { return pieces_.front().elements - taken_; }
  Piece take(Count elements) {
    const Piece& front = pieces_.front();
    const Piece piece{front.offset_bytes + taken_ * extent_bytes_, elements, front.area};
    taken_ += elements;
    if (taken_ == front.elements) {
      pieces_ = pieces_.subspan(1);
      taken_ = 0;
    }
    return piece;
  }

 private:
  std::span<const Piece> pieces_;
  Count extent_bytes_;
  Count taken_ = 0;
};

}  // namespace circoll
