// The table of readers, and what is common to all exports: what was written is read back and compared.
#include <algorithm>
#include <array>

#include "circoll/error.hpp"
#include "core/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/read_back.hpp"

namespace circoll::foreign {
namespace {

// A line for each reader, those of a library together, the oldest version first. {reader, write, read, names}
const std::vector<Format> table{};

}  // namespace

std::span<const Format> formats() { return table; }

const Format& format_of(std::string_view id) {
  std::vector<std::string> known;
  for (const Format& format : formats()) {
    if (format.reader.id == id) return format;
    known.emplace_back(format.reader.id);
  }
  throw Error(ErrorCode::unknown_name, unknown_name(id, "reader of tuning files", known));
}

std::span<const Reader> readers() {
  static const std::vector<Reader> all = [] {
    std::vector<Reader> made;
    for (const Format& format : formats()) made.push_back(format.reader);
    return made;
  }();
  return all;
}

const Reader& find_reader(std::string_view id) { return format_of(id).reader; }

Exported export_rules(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  Written written = format_of(reader.id).write(rules, reader, options);
  const bool something =
      std::any_of(written.said.begin(), written.said.end(), [](const Rule& rule) { return !rule.algorithm.empty(); });
  if (!something) {
    std::string why = "nothing of the rules can be said to " + std::string(reader.id);
    for (const std::string& loss : written.exported.losses) why += "\n  " + loss;
    throw Error(ErrorCode::invalid_argument, why);
  }
  const std::string difference = read_back_difference(written, reader);
  check(difference.empty(), difference.c_str());
  return std::move(written.exported);
}

std::unique_ptr<const TuningFile> read(std::string_view text, const std::string& source, const Reader& reader) {
  return format_of(reader.id).read(text, source, reader);
}

}  // namespace circoll::foreign
