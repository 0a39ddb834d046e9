// Any text is a tuning file to its reader, which never throws, and decides about every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "foreign/formats.hpp"

namespace circoll::foreign {

/// Reads the text, and asks about calls of all collectives.
inline void read_tuning(Read read, std::string_view id, const std::uint8_t* data, std::size_t size) {
  const Reader reader{.id = id, .title = "fuzzed", .library = "fuzzed"};
  const auto file = read({reinterpret_cast<const char*>(data), size}, "file", reader);
  for (const Collective collective : all_collectives) {
    for (const Rank p : {1, 2, 7, 64, 100000}) {
      for (const Count bytes : {Count{0}, Count{4096}, Count{1} << 40}) {
        (void)file->decide({.collective = collective, .ranks = p, .nodes = p, .bytes = bytes, .commutative = false});
      }
    }
  }
}

}  // namespace circoll::foreign
