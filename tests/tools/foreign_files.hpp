// Helpers that tests of tuning files of other libraries share.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "foreign/foreign.hpp"

namespace circoll::foreign {

using Tuning = std::unique_ptr<const TuningFile>;

inline Tuning read_for(std::string_view id, std::string_view text) { return read(text, "file", find_reader(id)); }

inline Call call_of(Collective collective, Rank p, Count bytes) {
  return {.collective = collective, .ranks = p, .nodes = p, .bytes = bytes};
}
inline std::string algorithm(const Tuning& file, Collective collective, Rank p, Count bytes) {
  return file->decide(call_of(collective, p, bytes)).algorithm;
}

inline bool warns(const TuningFile& file, std::string_view of, std::size_t line) {
  return std::any_of(file.warnings().begin(), file.warnings().end(),
                     [&](const Warning& one) { return one.line == line && one.text.find(of) != std::string::npos; });
}
inline std::string all_warnings(const TuningFile& file) {
  std::string text;
  for (const Warning& one : file.warnings()) text += std::to_string(one.line) + ": " + one.text + "\n";
  return text;
}
inline bool noted(const ForeignDecision& verdict, std::string_view what) {
  return std::any_of(verdict.notes.begin(), verdict.notes.end(),
                     [&](const std::string& note) { return note.find(what) != std::string::npos; });
}
inline bool lost(const Exported& exported, std::string_view what) {
  return std::any_of(exported.losses.begin(), exported.losses.end(),
                     [&](const std::string& loss) { return loss.find(what) != std::string::npos; });
}

}  // namespace circoll::foreign
