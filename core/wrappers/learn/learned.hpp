// The results of learning: as reports show them, and as the file of CIRCOLL_LEARN keeps them. Knows no MPI.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "select/profile.hpp"

namespace circoll::interpose {

/// Calls for which one result is enough, on every communicator of so many ranks.
struct LearnedKey {
  Rank ranks = 1;
  Rank nodes = 1;
  Rank ranks_per_node = 1;
  Collective collective = Collective::barrier;
  bool commutative = true, exact = true, idempotent = false;  ///< the operator
  int size_class = 0;                                         ///< of the whole vector's bytes (ledger.hpp)

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const LearnedKey&, const LearnedKey&) = default;
};

/// One algorithm that was tried.
struct TriedAlgorithm {
  std::string name{};
  double ratio = 0;  ///< its time over that of the best one then, in its last contest
  std::int64_t calls = 0;
};

/// The outcome for calls of one key, on one communicator or on several.
struct LearnedRow {
  std::int64_t communicators = 1;
  std::int64_t calls = 0;
  std::int64_t searches = 0;
  bool settled = false;     ///< everything that could be paid for has been tried
  std::string unlearned{};  ///< the algorithm that serves the calls if nothing is learned
  std::string use{};        ///< the best one, as rules have it; "auto": the former
  double best_s = 0;        ///< its time, agreed upon
  double gain = 1;          ///< time of the former over that of the best
  double saved_s = 0;       ///< by that, over all calls since
  double spent_s = 0;       ///< on trying
  std::vector<TriedAlgorithm> tried{};
};

/// Adds another communicator's outcome. Numbers add up, and the outcome with more calls gives the rest.
void join(LearnedRow& all, const LearnedRow& one);

/// All that was learned in a run.
struct Learned {
  std::map<LearnedKey, LearnedRow> rows{};
  double in_collectives_s = 0;  ///< that were learned from, summed up over communicators
  double tried_s = 0;           ///< of it, beyond what the best known algorithms would have taken

  void add(const LearnedKey& key, const LearnedRow& row);
  void add(const Learned& other);
  [[nodiscard]] double saved_s() const;
};

/// Says that the program has made too few calls to learn from. Empty if one row has settled at least.
[[nodiscard]] std::string too_few_calls(const Learned& learned);

/// For other ranks, as text. Throws nlohmann::json::exception on text that is not from serialised().
[[nodiscard]] std::string serialised(const Learned& learned);
[[nodiscard]] Learned learned_from(std::string_view serialised);

/// The section of the report, without "circoll: ": a line each. The first one says it all. If learning was `asked` for,
/// another one says that there were too few calls.
[[nodiscard]] std::vector<std::string> report_lines(const Learned& learned, bool asked);
/// Likewise, as a value of the JSON report.
[[nodiscard]] std::string report_json(const Learned& learned);

/// A rules file (docs/admin/rules.md) of the rows that have settled, with the machine on which they were learned. Among
/// rows that rules cannot tell apart, the first stands for all. Rows that no rule can express are left out.
[[nodiscard]] std::string learned_text(const Learned& learned, const select::ProfileKey& machine);

/// The rows of such a file: keys and choices. Throws Error(parse), naming the line, on a file that is none.
struct LearnedFile {
  select::ProfileKey machine{};
  Learned learned{};
};
[[nodiscard]] LearnedFile read_learned(std::string_view text, const std::string& source);

/// Why results learned on one machine are of no use on another one; empty if they are.
[[nodiscard]] std::string why_not_here(const select::ProfileKey& learned, const select::ProfileKey& here);

/// Adds rows to a file, in place of those about the same calls. Other processes may do so at the same time. Throws
/// Error(invalid_argument) if the file cannot be written, is of another machine, or is no such file. It stays as it is
/// then.
void store_learned(const std::string& file, const Learned& learned, const select::ProfileKey& machine);

}  // namespace circoll::interpose
