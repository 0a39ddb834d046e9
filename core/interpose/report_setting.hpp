// The values of CIRCOLL_REPORT and CIRCOLL_TRACE: words that ask for a report, and placeholders in names of files.
// Rank 0 fills placeholders in. This file uses no MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace circoll::interpose {

/// The value of CIRCOLL_REPORT: "0", "1", "short", or the name of a file. People write other words for 1 and 0, too.
[[nodiscard]] std::string report_setting();

/// The values of the placeholders in a file's name.
struct FileNameFacts {
  std::string host{};     ///< %h
  std::string process{};  ///< %p: the process id of rank 0
  std::string job{};      ///< %j: the scheduler's name of the job; empty: as %p
  int ranks = 1;          ///< %n: of MPI_COMM_WORLD
};

/// The name with its placeholders filled in. %% is a percent sign, and unknown placeholders stay.
[[nodiscard]] std::string filled_in(std::string_view name, const FileNameFacts& facts);
/// The placeholders of a name that filled_in() does not know: "%x", or "%" at the end.
[[nodiscard]] std::vector<std::string> unknown_placeholders(std::string_view name);

/// Appends a line to a file by one write. So lines of jobs that end at the same time do not mix. False if that failed.
[[nodiscard]] bool append_line(const std::string& path, std::string_view line);

}  // namespace circoll::interpose
