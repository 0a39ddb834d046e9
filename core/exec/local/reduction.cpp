#include "exec/local/reduction.hpp"

#include <algorithm>
#include <cstring>

namespace circoll::local {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{32} << 10;  // stays in the first-level cache

}  // namespace

void Reduction::use(ReduceKernel kernel, const UserOperator* user, Count element_bytes) {
  kernel_ = kernel;
  user_ = user;
  element_bytes_ = static_cast<std::size_t>(element_bytes);
  if (user_ != nullptr) chunk_.resize(std::max({chunk_.size(), chunk_bytes, element_bytes_}));
}

void Reduction::apply(std::byte* dst, const std::byte* left, const std::byte* right, Count elements) {
  if (user_ == nullptr) {
    kernel_(dst, left, right, static_cast<std::size_t>(elements));
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(elements) * element_bytes_;
  if (dst == right) {
    user_->function(left, dst, elements);
  } else if (dst != left) {
    std::memcpy(dst, right, bytes);
    user_->function(left, dst, elements);
  } else {
    const std::size_t step = chunk_.size() / element_bytes_ * element_bytes_;
    for (std::size_t at = 0; at < bytes; at += step) {
      const std::size_t length = std::min(step, bytes - at);
      std::memcpy(chunk_.data(), right + at, length);
      user_->function(left + at, chunk_.data(), static_cast<Count>(length / element_bytes_));
      std::memcpy(dst + at, chunk_.data(), length);
    }
  }
}

}  // namespace circoll::local
