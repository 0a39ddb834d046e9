// The formats of tuning files: a pair of functions for each, which the table in registry.cpp joins with their readers.
// The parts that all writers share are here, too: the head of a file, and reading a written file back.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/foreign.hpp"

namespace circoll::foreign {

/// A file as a writer has made it, and what it means by it.
struct Written {
  Exported exported{};  ///< its losses are those of the options, and then its own
  /// Neutral rules that the file must come to, guarded and narrowed as the format wants it. Of several that hold the
  /// first counts, and an empty algorithm is the library's choice. Calls that none holds are the library's own affair.
  std::vector<Rule> said{};
  /// The algorithm of every call, where the file decides about all or its guards see more than rules.
  /// Empty: `said` says everything.
  std::function<std::string(const Call&)> meant{};
};

using Write = Written (*)(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options);
using Read = std::unique_ptr<const TuningFile> (*)(std::string_view text, const std::string& source,
                                                   const Reader& reader);
/// The library's own names of a collective's algorithms, as Rule::algorithm has them.
using Names = std::vector<std::string_view> (*)(Collective collective, const Reader& reader);

struct Format {
  Reader reader;
  Write write = nullptr;
  Read read = nullptr;
  Names names = nullptr;
};

/// All formats, in the order of readers().
[[nodiscard]] std::span<const Format> formats();
/// The format of a reader; throws as find_reader does.
[[nodiscard]] const Format& format_of(std::string_view id);

// The formats' functions follow. Each format has a file or more.

/// The classic file of Open MPI's coll/tuned, for all versions.
[[nodiscard]] Written write_openmpi_classic(std::span<const Rule> rules, const Reader& reader,
                                            const ExportOptions& options);
[[nodiscard]] std::unique_ptr<const TuningFile> read_openmpi_classic(std::string_view text, const std::string& source,
                                                                     const Reader& reader);
/// The JSON file of Open MPI's coll/tuned from 6.0 on.
[[nodiscard]] Written write_openmpi_json(std::span<const Rule> rules, const Reader& reader,
                                         const ExportOptions& options);
[[nodiscard]] std::unique_ptr<const TuningFile> read_openmpi_json(std::string_view text, const std::string& source,
                                                                  const Reader& reader);
[[nodiscard]] std::vector<std::string_view> openmpi_names(Collective collective, const Reader& reader);

namespace mpich {

/// The selection tree of MPICH, for all versions.
[[nodiscard]] Written write_selection(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options);
[[nodiscard]] std::unique_ptr<const TuningFile> read_selection(std::string_view text, const std::string& source,
                                                               const Reader& reader);
[[nodiscard]] std::vector<std::string_view> selection_names(Collective collective, const Reader& reader);

}  // namespace mpich

/// The head of a file for people. It has the title, the origin of the rules, what to be warned of, and what is lost.
/// Each line begins with `mark`.
[[nodiscard]] std::string head_text(const Reader& reader, const ExportOptions& options,
                                    std::span<const std::string> losses, std::string_view mark);
/// Adds NAME.losses.txt with this head beside a file without comments, if there is something to say.
void add_side_file(Exported& exported, const Reader& reader, const ExportOptions& options);

/// The first of the rules that holds a call, or nullptr.
[[nodiscard]] const Rule* first_rule(std::span<const Rule> rules, const Call& call);
/// A sentence about the first telling call that the file decides otherwise than `said`; empty if none.
[[nodiscard]] std::string read_back_difference(const Written& written, const Reader& reader);

}  // namespace circoll::foreign
