// A campaign measures exactly the calls that a program has made, those that cost it most first (docs/admin/rules.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circoll/model.hpp"
#include "circoll/types.hpp"
#include "measured/program_report.hpp"
#include "measured/tuning.hpp"

namespace circoll {

/// The longest work between calls, and the latest arrivals, that are imitated. More would only take longer.
inline constexpr double most_imitated_s = 2e-3;

/// Calls of a program that are measured as one: of a collective, a communicator's size and a size class.
struct CampaignCell {
  Collective collective = Collective::barrier;  ///< of the calls
  Rank p = 1;                                   ///< ranks of their communicators
  Count bytes = 0;                              ///< of the whole vector, in the mean over the calls
  double program_s = 0;                         ///< that the program spent in them, mean over its ranks
  double calls = 0;                             ///< likewise
  double between_s = 0;  ///< other work between two calls of the program, in the mean; at most `most_imitated_s`
  /// The time in which ranks arrive at a call: twice the mean time beyond that of the shortest call. At most likewise.
  double spread_s = 0;
  /// The algorithms that served them in the program, with the calls of each, mean over the ranks.
  std::vector<std::pair<std::string, double>> ran{};
  /// "auto", which is what runs today, "native", and algorithms with parameters, to be measured in turns.
  std::vector<std::string> candidates{};

  /// As circoll-bench counts them.
  [[nodiscard]] Count measured_bytes() const;
};

/// Calls of the program that are not measured, in a sentence's end: "64 ranks are more than the 2 that ...".
struct LeftOut {
  CampaignCell cell{};  ///< the calls
  std::string why{};    ///< the sentence's end
};

struct CampaignOptions {
  double limit_s = 600;                                   ///< of all measurements together
  int launches = 3;                                       ///< of the bench, for each cell
  int candidates = 3;                                     ///< of the model's best, besides native and what ran
  double seconds = 0.2;                                   ///< that a candidate is measured in a launch
  double start_s = 2;                                     ///< that a launch takes by itself
  Rank most_ranks = 2;                                    ///< that can be started
  Rank ranks_per_node = 2;                                ///< as the ranks will be placed
  bool crowded = false;                                   ///< a node has more ranks than processors
  Machine machine{};                                      ///< of the model that names candidates
  RuleOperator op{.op = Op::sum, .type = Type::float64};  ///< that the measurements combine by
};

struct Campaign {
  std::vector<CampaignCell> cells{};  ///< the most expensive first
  std::vector<LeftOut> left_out{};    ///< with the reason for each
  double estimate_s = 0;              ///< of the measurements
  double program_s = 0;               ///< that the program spent in all its collectives
  double covered_s = 0;               ///< of that in `cells`
};

/// Plans the measurements. A cell that would take the campaign beyond the limit is left out; cheaper ones may fit.
[[nodiscard]] Campaign plan_campaign(const ProgramReport& report, const CampaignOptions& options);
/// The time that one launch of a cell is expected to take.
[[nodiscard]] double launch_seconds(const CampaignCell& cell, const CampaignOptions& options);

/// One launch of the bench.
struct CampaignItem {
  int launch = 0;        ///< from 0
  std::size_t cell = 0;  ///< in Campaign::cells
};
/// All launches of a campaign. Every launch measures all cells, in an order of its own that the seed gives, equally on
/// every machine. A drift of the machine so meets different cells.
[[nodiscard]] std::vector<CampaignItem> campaign_items(std::size_t cells, int launches, std::uint64_t seed);

/// A cell that was measured, and what that would change in the program. It is an estimate.
struct CellGain {
  CampaignCell cell{};               ///< as it was measured
  std::string use{};                 ///< "auto", or what is surely faster than that
  double today_s = 0;                ///< a call by "auto" without the rules
  double use_s = 0;                  ///< a call by `use`
  std::optional<double> native_s{};  ///< a call by the MPI library; nothing: it was not measured
  std::string fastest{};             ///< of all, sure or not
  double fastest_s = 0;              ///< a call by it

  [[nodiscard]] bool sure() const { return use != "auto"; }
  /// Of the program's time, mean over its ranks. It is no larger a share of the time that the program had in the calls.
  [[nodiscard]] double gained_s() const {
    return sure() ? std::min(cell.calls, cell.program_s / today_s) * (today_s - use_s) : 0;
  }
};

struct CampaignResult {
  std::vector<RuleCell> rules{};  ///< of sure gains, with cells that end a rule where nothing was measured
  std::vector<CellGain> gains{};  ///< by the cells' order
  double gained_s = 0;            ///< seconds of the program: CellGain::gained_s(), summed up
};

/// Puts the measurements of a campaign together. Cells in which no launch has measured "auto" are left out.
///
/// The fastest algorithm becomes a rule if it was faster than "auto" in every launch, by more than the margin and the
/// intervals of the medians. An allreduce whose operator is not exact is not left to the MPI library, which need not
/// give all ranks the same bits. `op` is the operator that was measured.
[[nodiscard]] CampaignResult evaluate(const std::vector<CampaignCell>& cells, const std::vector<Launch>& launches,
                                      const RuleOperator& op, double margin);

/// Rules reach from one measured size to the next. These cells end them: around each size that is served by something
/// else than `otherwise` there are cells with that, at a quarter and four times its bytes. Where the next measured size
/// is within sixteen times there are none, and the two meet in the middle.
[[nodiscard]] std::vector<RuleCell> with_ends(std::vector<RuleCell> cells, const std::string& otherwise = "auto");

}  // namespace circoll
