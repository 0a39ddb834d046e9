#include "facts/processor_name.hpp"

#include <sys/utsname.h>

#include <array>
#include <fstream>

namespace circoll {
namespace {

/// Every run of blanks as one space, none at the ends, and no control characters.
std::string tidied(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

/// The value of the first line "key : value".
std::string value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && tidied(line.substr(0, colon)) == key) return tidied(line.substr(colon + 1));
  }
  return "";
}

}  // namespace

std::string processor_name_in(std::string_view cpuinfo) {
  // x86, s390 and most others; POWER.
  for (const std::string_view key : {"model name", "cpu", "cpu model"}) {
    if (std::string value = value_of(cpuinfo, key); !value.empty()) return value;
  }
  const std::string part = value_of(cpuinfo, "CPU part");
  return part.empty() ? "" : "ARM " + value_of(cpuinfo, "CPU implementer") + " " + part;
}

std::string processor_name() {
  // The first processor is described in its beginning.
  std::array<char, 4096> buffer{};
  std::ifstream file("/proc/cpuinfo", std::ios::binary);
  file.read(buffer.data(), buffer.size());
  std::string name = processor_name_in({buffer.data(), static_cast<std::size_t>(file.gcount())});
  utsname system{};
  if (name.empty() && uname(&system) == 0) name = tidied(static_cast<const char*>(system.machine));
  return name;
}

}  // namespace circoll
