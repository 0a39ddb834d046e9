// A file beside the main one holds what a format without comments cannot.
#pragma once

#include "foreign/formats.hpp"

namespace circoll::foreign {

/// Adds NAME.losses.txt with the head that other formats have, if there are losses, or something to be warned of.
inline void add_side_file(Exported& exported, const Reader& reader, const ExportOptions& options) {
  if (exported.losses.empty() && options.operators == Operators::any) return;
  std::string text = std::string(reader.title) + "; written by circoll export\n";
  if (!options.about.empty()) text += options.about + "\n";
  if (options.operators != Operators::any) text += "FOR PROGRAMS WHOSE OPERATORS COMMUTE: it is wrong for others\n";
  for (const std::string& loss : exported.losses) text += "- " + loss + "\n";
  exported.files.push_back({.suffix = ".losses.txt", .text = std::move(text)});
}

}  // namespace circoll::foreign
