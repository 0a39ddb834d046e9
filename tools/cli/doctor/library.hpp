// The examination of one MPI library by circoll doctor. It looks at the launcher, at Circoll's files, at ranks that are
// started, and at what "auto" goes by in them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "circoll/select.hpp"
#include "doctor/finding.hpp"
#include "launcher.hpp"
#include "select/profile_search.hpp"

namespace circoll::cli {

struct LibraryExamination {
  std::string name{};  ///< with the version that programs run with, or else the launcher's
  Findings findings{};
  bool complete = false;  ///< ranks start, and Circoll can serve them
  bool crowded = false;
  std::string profile{};                      ///< the file; empty: there is none
  std::unique_ptr<const Policy> automatic{};  ///< what "auto" is; nullptr if it could not be found out
};

/// Starts `ranks` of circoll-bench for a moment.
[[nodiscard]] LibraryExamination examine_library(const Launcher& launcher, Rank ranks);

/// The findings about a search for a profile. `ranks`: those that are asked for.
[[nodiscard]] Findings findings_of(const select::FoundProfile& found, Rank ranks, const std::string& mpi);

}  // namespace circoll::cli
