// The memory of a message: bytes in one place, or in several that follow one another in the message.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace circoll::node {

/// A view of bytes in one or several places. `Byte` is std::byte, or const std::byte.
template <typename Byte>
class Pieces {
 public:
  Pieces() = default;
  /// One place: any type that converts to a span, so that callers can pass such a value for a message. It is a view, as
  /// a span is.
  template <typename Memory>
  requires std::convertible_to<Memory&, std::span<Byte>>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  Pieces(Memory&& one) : one_(one), size_(one_.size()) {}
  /// Several places, which stay where they are.
  [[nodiscard]] static Pieces of(std::span<const std::span<Byte>> many) {
    Pieces pieces;
    pieces.many_ = many;
    for (const std::span<Byte> piece : many) pieces.size_ += piece.size();
    return pieces;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool contiguous() const { return many_.empty(); }
  /// The only piece. Precondition: contiguous().
  [[nodiscard]] std::span<Byte> one() const { return one_; }

  /// Calls use(piece) for the places of `bytes` bytes from `at` on, in order. Bytes behind the end are left out.
  /// O(pieces).
  template <typename Use>
  void for_each(std::size_t at, std::size_t bytes, Use use) const {
    if (contiguous()) return part(one_, at, bytes, use);
    for (const std::span<Byte> piece : many_) {
      if (bytes == 0) return;
      if (at < piece.size()) {
        const std::size_t here = std::min(bytes, piece.size() - at);
        use(piece.subspan(at, here));
        bytes -= here;
      }
      at -= std::min(at, piece.size());
    }
  }

 private:
  template <typename Use>
  static void part(std::span<Byte> piece, std::size_t at, std::size_t bytes, Use use) {
    if (at < piece.size() && bytes > 0) use(piece.subspan(at, std::min(bytes, piece.size() - at)));
  }

  std::span<Byte> one_{};
  std::span<const std::span<Byte>> many_{};
  std::size_t size_ = 0;
};

/// A taker gets the parts of a message instead of memory that they are copied to.
class Taker {
 public:
  /// Parts begin at multiples of so many bytes of the message, and lie where such a multiple may begin. There are two
  /// exceptions: a part may begin with a piece of the memory, or be in a place of the taker.
  static constexpr std::int64_t part_unit = 16;

  Taker() = default;
  Taker(const Taker&) = default;
  Taker& operator=(const Taker&) = default;
  virtual ~Taker() = default;

  /// The place of the taker's own that is best to read the next part into. The part has at most `bytes` bytes from `at`
  /// on. Empty: there is no such place.
  [[nodiscard]] virtual std::span<std::byte> place([[maybe_unused]] std::size_t at,
                                                   [[maybe_unused]] std::size_t bytes) {
    return {};
  }
  /// Takes the bytes from `at` on. They are gone afterwards.
  virtual void take(std::size_t at, std::span<const std::byte> part) = 0;
};

/// Copies the bytes from `at` on to memory with room for `bytes`.
inline void copy_from(const Pieces<const std::byte>& pieces, std::size_t at, std::byte* to, std::size_t bytes) {
  pieces.for_each(at, bytes, [&](std::span<const std::byte> piece) {
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  });
}

/// Copies `from` to the place of the bytes from `at` on, as much as there is room for.
inline void copy_to(const Pieces<std::byte>& pieces, std::size_t at, std::span<const std::byte> from) {
  const std::byte* next = from.data();
  pieces.for_each(at, from.size(), [&](std::span<std::byte> piece) {
    std::memcpy(piece.data(), next, piece.size());
    next += piece.size();
  });
}

}  // namespace circoll::node
