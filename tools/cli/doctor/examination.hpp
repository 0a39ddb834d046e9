// The examinations of circoll doctor, and their findings, each with what to do about it.
//
// That of the system starts no ranks. That of an MPI library looks at the launcher, at Circoll's files, at ranks that
// are started, and at what "auto" goes by in them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "circoll/select.hpp"
#include "circoll/types.hpp"
#include "launcher.hpp"
#include "select/profile_search.hpp"

namespace circoll::cli {

enum class Weight {
  good,
  note,   ///< worth to know; nothing is wrong
  wrong,  ///< something does not work, or is not what was meant
};

/// A statement about one thing that was looked at.
struct Diagnosis {
  Weight weight = Weight::good;
  std::string about{};  ///< a word or two
  std::string says{};
  std::string todo{};  ///< empty: nothing
};
using Diagnoses = std::vector<Diagnosis>;

inline void add_good(Diagnoses& findings, std::string about, std::string says) {
  findings.push_back({.about = std::move(about), .says = std::move(says)});
}
inline void add_note(Diagnoses& findings, std::string about, std::string says, std::string todo = {}) {
  findings.push_back(
      {.weight = Weight::note, .about = std::move(about), .says = std::move(says), .todo = std::move(todo)});
}
inline void add_wrong(Diagnoses& findings, std::string about, std::string says, std::string todo) {
  findings.push_back(
      {.weight = Weight::wrong, .about = std::move(about), .says = std::move(says), .todo = std::move(todo)});
}

/// Processors and control groups, for `ranks` on this node.
[[nodiscard]] Diagnoses examine_processors(Rank ranks);
/// Settings that may forbid processes to read one another's memory.
[[nodiscard]] Diagnoses examine_copies();
/// Variables that begin with CIRCOLL_: those that are set, and those that are not Circoll's.
[[nodiscard]] Diagnoses examine_environment();

struct LibraryExamination {
  std::string name{};  ///< with the version that programs run with, or else the launcher's
  Diagnoses findings{};
  Diagnosis outdated{};   ///< a profile that is not used any more since the library was upgraded; if it says something
  bool complete = false;  ///< ranks start, and Circoll can serve them
  bool crowded = false;
  std::string profile{};                      ///< the file; empty: there is none
  std::unique_ptr<const Policy> automatic{};  ///< what "auto" is; nullptr if it could not be found out
};

/// Starts `ranks` of circoll-bench for a moment.
[[nodiscard]] LibraryExamination examine_library(const Launcher& launcher, Rank ranks);

}  // namespace circoll::cli
