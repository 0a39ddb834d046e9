// Sentences about failures that are handed on, and whether they are true.
#pragma once

#include <span>
#include <string_view>

#include "circoll/types.hpp"

namespace circoll::cli {

/// A sentence, with a meaning that can be computed.
struct Saying {
  std::string_view said;
  std::string_view meant;
  bool (*holds)(Rank p);
};

[[nodiscard]] std::span<const Saying> all_sayings();

}  // namespace circoll::cli
