// A queue that allocates only when it grows.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace circoll {

/// A first-in, first-out queue in a ring of memory. Unlike std::deque it keeps that memory when elements go, so that a
/// queue that is in use all the time stops allocating.
template <typename T>
class Ring {
 public:
  Ring() = default;
  /// With memory for `elements`.
  explicit Ring(std::size_t elements) : places_(std::bit_ceil(elements)) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& front() { return places_[first_]; }
  [[nodiscard]] const T& front() const { return places_[first_]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  /// From the front; 0 is the first.
  [[nodiscard]] T& operator[](std::size_t i) { return places_[(first_ + i) & (places_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return places_[(first_ + i) & (places_.size() - 1)]; }

  void push_back(T value) {
    if (size_ == places_.size()) grow();
    ++size_;
    back() = std::move(value);
  }
  void pop_front() {
    front() = T{};
    first_ = (first_ + 1) & (places_.size() - 1);
    --size_;
  }

 private:
  void grow() {
    std::vector<T> places(places_.empty() ? 8 : 2 * places_.size());
    for (std::size_t i = 0; i < size_; ++i) places[i] = std::move((*this)[i]);
    places_ = std::move(places);
    first_ = 0;
  }

  std::vector<T> places_{};  ///< a power of two of them
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace circoll
