// Files of schedules (docs/lab/formats.md), which several commands take in place of an id.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "circoll/ops.hpp"
#include "options/cli11.hpp"
#include "verify/given.hpp"

namespace circoll::cli {

/// True if a word names a file that exists, or begins with "file:".
[[nodiscard]] bool names_file(const std::string& word);

/// Throws Error(invalid_argument) if a word names a file and one of these options was given. A file of schedules makes
/// them meaningless, since it has one call with its own ranks, root and segments.
void refuse_for_file(const std::string& word, const CLI::App& command, std::initializer_list<const char*> meaningless);

/// The schedules of all ranks, as a file has them.
struct ScheduleFile {
  std::string path{};
  std::vector<Schedule> ranks{};
  // Of a file in XML: the place in the file that a step comes from, in words, and two steps that nothing orders.
  std::function<std::string(Rank, std::size_t)> place_of{};
  std::optional<Refutation> race{};

  [[nodiscard]] const Schedule& first() const { return ranks.front(); }
};

/// Reads a file of the text or the JSON form. With the lab also an algorithm of MSCCL in XML.
///
/// Throws Error with the file and the line. Its code is parse, or unsupported for XML without the lab. It is
/// invalid_argument unless the schedules are of ranks 0 .. p-1 of one call, with the caller's buffers as MPI defines
/// them.
[[nodiscard]] ScheduleFile read_schedule_file(const std::string& word);

/// The proof of a file. A refutation names the place in the file, if steps have one.
using FileProof = GivenProof;
[[nodiscard]] FileProof prove(const ScheduleFile& file);

/// A file whose schedules are proven, with what was found out about them.
struct ProvenFile {
  ScheduleFile file{};
  FileProof proof{};
};
/// Reads a file and proves it, for commands that execute or price it. Throws Error(refuted) with file, rank and step
/// if it is wrong, and as read_schedule_file().
[[nodiscard]] ProvenFile read_proven_file(const std::string& word);

/// The algorithm that a file has, beside those of the registry. It lives as long as the process. Throws as
/// read_proven_file().
[[nodiscard]] Selection selection_of_file(const std::string& word);

/// Throws Error(unsupported) if the schedules of a file are not for an operator.
void require_fits(const ProvenFile& file, const OperatorTraits& op);

}  // namespace circoll::cli
