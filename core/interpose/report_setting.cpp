#include "interpose/report_setting.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "facts/environment.hpp"
#include "facts/files.hpp"

namespace circoll::interpose {
namespace {

/// The text that replaces a percent sign and the letter behind it; nothing for an unknown letter.
std::optional<std::string> value_of(char letter, const FileNameFacts& facts) {
  switch (letter) {
    case 'h':
      return facts.host;
    case 'p':
      return facts.process;
    case 'j':
      return facts.job.empty() ? facts.process : facts.job;
    case 'n':
      return std::to_string(facts.ranks);
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string report_setting() {
  std::string value = environment("CIRCOLL_REPORT").value_or("0");
  for (const char* const word : {"yes", "true", "on"}) {
    if (value == word) return "1";
  }
  for (const char* const word : {"no", "false", "off"}) {
    if (value == word) return "0";
  }
  return value;
}

std::string filled_in(std::string_view name, const FileNameFacts& facts) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 1 < name.size()) {
      if (const auto value = value_of(name[i + 1], facts)) {
        text += *value;
        ++i;
        continue;
      }
    }
    text += name[i];
  }
  return text;
}

std::vector<std::string> unknown_placeholders(std::string_view name) {
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') continue;
    if (i + 1 == name.size() || !value_of(name[i + 1], {}))
      unknown.emplace_back(name.substr(i, 2));
    else
      ++i;
  }
  return unknown;
}

bool append_line(const std::string& path, std::string_view line) {
  const std::string whole = std::string(line) + "\n";
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file || write(file.get(), whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) return false;
  return close(file.release()) == 0;
}

}  // namespace circoll::interpose
