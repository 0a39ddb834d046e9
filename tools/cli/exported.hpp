// Measured choices as a tuning file of another library: how tune and guidelines write it (command_export.cpp).
#pragma once

#include <string>
#include <vector>

#include "foreign/foreign.hpp"
#include "measured/measurement.hpp"
#include "measured/tuning.hpp"
#include "options/cli11.hpp"

namespace circoll::cli {

/// The options that ask for such a file.
struct ExportRequest {
  std::string id{};          ///< of the reader, "openmpi-4.1"; empty: none is wanted
  bool commutative = false;  ///< programs combine by operators that commute only
  bool all_ranks = false;    ///< choices reach to other numbers of ranks

  [[nodiscard]] bool wanted() const { return !id.empty(); }
  /// The library whose own algorithms are chosen from; empty if no file is wanted. Throws Error(unknown_name).
  [[nodiscard]] std::string library() const;
};

/// The number of cells of each choice, as lines under the name of the file that has them.
[[nodiscard]] std::string chosen_text(const std::string& path, const std::vector<RuleCell>& cells,
                                      std::size_t launches);

void add_export_options(CLI::App& command, ExportRequest& request);

/// Writes the file, and what belongs beside it. Returns lines that say how it is used, what it cannot say, and which of
/// the launches were made under another version.
[[nodiscard]] std::string write_exported(const ExportRequest& request, const std::string& path,
                                         const std::vector<RuleCell>& cells, const std::vector<const Launch*>& launches,
                                         const std::string& about);

}  // namespace circoll::cli
