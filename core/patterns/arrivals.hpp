// Scratch for messages that arrive.
#pragma once

#include <utility>
#include <vector>

#include "circoll/builder.hpp"

namespace circoll::patterns {

/// A few places in turn, each for the blocks of one message. The next message can arrive while the last one is still
/// combined, or leaves again.
class Arrivals {
 public:
  /// All messages carry the blocks of `like`.
  Arrivals(Builder& builder, Region like) : b_(builder), like_(std::move(like)) {}
  /// Every message says what it carries.
  explicit Arrivals(Builder& builder) : b_(builder) {}

  [[nodiscard]] Region next() {
    const std::size_t turn = turn_++ % depth;
    if (turn >= buffers_.size()) buffers_.push_back(b_.scratch_like(like_));
    return b_.region(buffers_[turn]);
  }
  [[nodiscard]] Region next(const Region& like) {
    const std::size_t turn = turn_++ % depth;
    if (turn < buffers_.size()) return b_.region(b_.view_like(buffers_[turn], like));
    buffers_.push_back(b_.scratch_like(like));
    return b_.region(buffers_[turn]);
  }

 private:
  static constexpr std::size_t depth = 3;
  Builder& b_;
  Region like_;
  std::vector<std::int32_t> buffers_;
  std::size_t turn_ = 0;
};

}  // namespace circoll::patterns
