// A check that a text is XML, as far as pictures need it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace circoll::xml {

/// The number of times that `what` stands in `text`.
[[nodiscard]] inline std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

/// Empty if tags nest, attributes are quoted and '&' begins an entity; else what is wrong.
[[nodiscard]] inline std::string ill_formed(std::string_view xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find('<', at)) != xml.npos;) {
    const std::size_t end = xml.find('>', at);
    if (end == xml.npos) return "a tag does not end";
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != tag.npos) return "a tag within a tag: " + std::string(tag);
    if (occurrences(tag, "\"") % 2 != 0) return "an odd number of quotes: " + std::string(tag);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != std::string(tag)) return "unexpected <" + std::string(tag) + ">";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  for (std::size_t at = 0; (at = xml.find('&', at)) != xml.npos; ++at) {
    const std::size_t end = xml.find(';', at);
    if (end == xml.npos || end - at > 6) return "a bare ampersand";
  }
  if (xml.find("nan") != xml.npos || xml.find("inf") != xml.npos) return "a coordinate is not a number";
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace circoll::xml
