// Profiles (docs/admin/tuning.md): the fastest choice in each cell, where it is so beyond doubt, and the file of them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "measured/tuning.hpp"
#include "select/profile.hpp"

namespace circoll::measured {

/// A cell as it was asked for: the candidates, of which the first is what runs without the tuning.
struct AskedChoice {
  Collective collective = Collective::barrier;
  Rank p = 1;
  Count bytes = 0;  ///< of the whole vector
  std::vector<std::string> candidates{};
  std::string model{};  ///< the model's choice, which needs no rule; empty: unknown
};

struct ChoiceOptions {
  double margin = 0.03;  ///< what runs without the tuning stays unless it takes longer by more than this share
};

/// A choice for a cell, with the medians of the launches' medians that it was made by.
struct Chosen {
  Collective collective = Collective::barrier;
  Rank p = 1;
  Count bytes = 0;      ///< of the whole vector; 0 where sizes cannot decide
  std::string base{};   ///< the choice without the tuning
  std::string model{};  ///< as AskedChoice::model
  std::string use{};
  std::string about{};

  [[nodiscard]] bool changes() const { return use != base; }
};

/// The choice in each cell. It is the fastest if that was surely_less() than the base in every launch, else the base.
/// Native is preferred to a third likewise, but an allreduce is not left to it, since ranks could get different bits.
/// Where sizes cannot decide, the geometric mean over them does. Cells that not all launches have measured are left
/// out. `measured` is the operator of the launches.
[[nodiscard]] std::vector<Chosen> choose(const std::vector<AskedChoice>& asked, const std::vector<Launch>& launches,
                                         const RuleOperator& measured, const ChoiceOptions& options = {});

/// Gives choices back to the base that a launch does not confirm, by the same test. Returns how many. The choices were
/// not made by that launch.
[[nodiscard]] std::size_t drop_unconfirmed(std::vector<Chosen>& chosen, const Launch& check,
                                           const ChoiceOptions& options = {});

/// The rules of choices; the model's are "auto". Each reaches halfway to the next size, and the last one as far beyond.
/// Larger vectors are left to the model.
[[nodiscard]] std::vector<RuleCell> rule_cells(const std::vector<Chosen>& chosen);

/// The gain of choices, by a launch that they were not made by.
struct Gain {
  int cells = 0;           ///< that the launch has measured
  int changed = 0;         ///< of them, those in which the base is another one
  double over_native = 1;  ///< geometric mean over the cells of native's time / the choice's
  double over_base = 1;    ///< likewise of the base
  double changed_by = 1;   ///< likewise, over the cells that have changed
  double least_over_native = 1;
  std::string slowest{};  ///< the cell of least_over_native, in words
};
[[nodiscard]] Gain gain_of(const std::vector<Chosen>& chosen, const Launch& launch);

/// One number of ranks of a profile, measured.
struct ProfilePart {
  select::ProfileKey key{};
  select::ProfileRanks ranks{};
  RuleOperator op{};
  std::vector<RuleCell> cells{};  ///< all of ranks.ranks
};

/// The rules for one program, measured.
struct ProgramPart {
  select::ProfileKey key{};
  select::ProfileProgram program{};
  RuleOperator op{};
  std::vector<RuleCell> cells{};
};

/// The profile `before`, or a new one, with this part in place of its former one. Collectives without cells keep their
/// rules for the number of ranks. The text has been read back. Throws Error(parse) if `before` is no profile, and
/// Error(invalid_argument) if it has another key.
[[nodiscard]] std::string merged_profile(const std::string& before, const ProfilePart& part);
[[nodiscard]] std::string merged_profile(const std::string& before, const ProgramPart& part);
/// The profile `before`, or an empty one, without rules for a program.
[[nodiscard]] std::string without_program(const std::string& before, const select::ProfileKey& key,
                                          const std::string& program);

/// The outcome of writing a profile.
struct StoredProfile {
  std::string file;
  std::string damaged;  ///< what was there before and could not be read is this now; empty: nothing of the kind
};

/// Makes a directory if need be. Throws Error(invalid_argument), in a sentence, unless a profile can be written there.
void require_writable(const std::string& directory);

/// Merges a part into a file. Readers see the whole file, before or after. Several processes may write at once: a lock
/// file beside it orders them. A new file begins as a copy of the profile `beginning`, if that is not empty. Throws
/// Error(invalid_argument), in a sentence.
[[nodiscard]] StoredProfile store_profile(const std::string& file, const std::variant<ProfilePart, ProgramPart>& part,
                                          const std::string& beginning = "");

}  // namespace circoll::measured
