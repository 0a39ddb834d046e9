// Profiles: files of rules (docs/admin/tuning.md) that were measured on a machine, with a head that says on which one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/select.hpp"

namespace circoll::select {

/// The MPI library and the processor for which a profile holds.
struct ProfileKey {
  std::string library{};    ///< with its version: "Open MPI 4.1.4"
  std::string processor{};  ///< as processor_name() has it

  bool operator==(const ProfileKey&) const = default;
};

/// A number of ranks on one node that a profile knows, and where it comes from.
struct ProfileRanks {
  Rank ranks = 2;
  bool crowded = false;  ///< the ranks were more than the processors
  Count processors = 0;  ///< that they had
  Count launches = 0;
  std::string circoll{};  ///< version
  std::string date{};
  std::string host{};
};

/// A program for which a profile has rules of its own, and where they come from.
struct ProfileProgram {
  std::string name{};    ///< as program_name() has it
  std::string report{};  ///< the file whose calls were measured
  Count launches = 0;
  std::string circoll{};  ///< version
  std::string date{};
  std::string host{};
  std::string tried{};  ///< the outcome of runs of the program with the rules; empty: there were none
};

struct ProfileHead {
  ProfileKey key{};
  std::vector<ProfileRanks> measured{};    ///< in ascending order, each once
  std::vector<ProfileProgram> programs{};  ///< in the order of the file

  /// nullptr if it was not measured.
  [[nodiscard]] const ProfileRanks* find(Rank ranks) const;
  /// nullptr if there are no rules of its own.
  [[nodiscard]] const ProfileProgram* find_program(std::string_view name) const;
};

/// Reads the head, and checks that all rules are for one node. Throws Error(parse), naming the line.
[[nodiscard]] ProfileHead read_profile_head(std::string_view text, const std::string& source);

/// The policy "auto" where there is a profile. The rules for `program`, if there are some, go before those for the
/// machine. Its rules are for what was measured, and the model for all other calls.
/// Its decisions have the model's candidates, as those of "auto" have. An allreduce whose operator is not exact is not
/// left to the MPI library, which need not give all ranks the same bits. Throws as read_profile_head() and
/// make_rules_policy() do.
[[nodiscard]] std::unique_ptr<const Policy> make_profile_policy(std::string_view text, const std::string& source,
                                                                const PolicyOptions& options,
                                                                const std::string& program = "");

/// The name and version of an MPI library, from the text of MPI_Get_library_version.
[[nodiscard]] std::string library_name(std::string_view version_text);

/// The file name of a profile: readable, and different for different keys.
[[nodiscard]] std::string profile_file_name(const ProfileKey& key);

}  // namespace circoll::select
