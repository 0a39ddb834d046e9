// Pieces of text as the readers of this room take and show them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "circoll/types.hpp"

namespace circoll::sim {

/// The text without blanks at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The text in quotes, shortened, for messages.
[[nodiscard]] std::string excerpt(std::string_view text);

/// A file with a line for each of p ranks, in their order. "#" begins a comment, and lines with nothing else count not.
class LinesOfRanks {
 public:
  /// `items` is what the lines have, in the plural, for messages. Text and names must outlive it.
  LinesOfRanks(std::string_view text, Rank p, const std::string& source, std::string_view items)
      : text_(text), p_(p), source_(source), items_(items) {}

  /// Takes the text of the next line; nothing after the last one.
  [[nodiscard]] std::optional<std::string_view> next();
  /// Counts it as that of a rank. Throws Error(parse) if there are more of them than ranks.
  void count();
  /// Throws Error(parse) if there are fewer of them than ranks.
  void finish() const;
  /// Throws Error(parse) with source and line.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string_view text_;
  Rank p_;
  const std::string& source_;
  std::string_view items_;
  Rank counted_ = 0;
  std::size_t line_ = 0;
};

}  // namespace circoll::sim
