// Pieces of text as the readers of this room take and show them.
#pragma once

#include <string>
#include <string_view>

namespace circoll::sim {

/// The text without blanks at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The text in quotes, shortened, for messages.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace circoll::sim
