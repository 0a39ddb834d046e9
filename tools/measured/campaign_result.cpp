// The outcome of a campaign: rules, and what the program would gain by them.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "circoll/collectives.hpp"
#include "measured/campaign.hpp"

namespace circoll {
namespace {

/// Launches of one number and setting as one: a campaign starts the bench once for each cell.
std::vector<Launch> joined(const std::vector<Launch>& launches) {
  std::map<std::tuple<std::string, std::string>, std::size_t> known;
  std::vector<Launch> all;
  for (const Launch& launch : launches) {
    const auto [at, fresh] = known.emplace(std::tuple(launch.source, launch.setting), all.size());
    if (fresh) {
      all.push_back(launch);
    } else {
      Launch& one = all[at->second];
      one.rows.insert(one.rows.end(), launch.rows.begin(), launch.rows.end());
    }
  }
  return all;
}

class Medians {
 public:
  explicit Medians(const std::vector<Launch>& launches) {
    std::map<std::string, std::vector<Launch>> settings;
    for (const Launch& launch : launches) settings[launch.setting].push_back(launch);
    for (const auto& [setting, group] : settings) {
      for (const Combined& one : combine(group)) {
        if (one.row.wrong || !(one.row.median_s > 0)) continue;
        medians_[{one.row.collective, one.row.p, one.row.bytes, one.row.algorithm}] = one.row.median_s;
      }
    }
  }
  [[nodiscard]] std::optional<double> of(const CampaignCell& cell, const std::string& algorithm) const {
    const auto found = medians_.find({cell.collective, cell.p, cell.measured_bytes(), algorithm});
    return found == medians_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::tuple<Collective, Rank, Count, std::string>, double> medians_;
};

/// A call as it ran, the mean over what served the calls; nothing if one of these was not measured.
std::optional<double> as_it_ran(const CampaignCell& cell, const Medians& medians) {
  double seconds = 0;
  double calls = 0;
  for (const auto& [algorithm, of_it] : cell.ran) {
    const auto median = medians.of(cell, algorithm);
    if (!median) return std::nullopt;
    seconds += *median * of_it;
    calls += of_it;
  }
  return calls > 0 ? std::optional(seconds / calls) : std::nullopt;
}

}  // namespace

std::vector<RuleCell> with_ends(std::vector<RuleCell> cells, const std::string& otherwise) {
  constexpr Count factor = 4;
  const auto order = [](const RuleCell& a, const RuleCell& b) {
    return std::tie(a.collective, a.p, a.bytes) < std::tie(b.collective, b.p, b.bytes);
  };
  std::sort(cells.begin(), cells.end(), order);
  std::vector<RuleCell> ends;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const RuleCell& cell = cells[i];
    if (!size_decides(cell.collective) || cell.use == otherwise) continue;
    const auto beside = [&](std::size_t at) {
      return at < cells.size() && cells[at].collective == cell.collective && cells[at].p == cell.p;
    };
    const auto end_at = [&](Count bytes) {
      RuleCell end{.collective = cell.collective, .p = cell.p, .bytes = bytes, .use = otherwise};
      const bool there =
          std::any_of(ends.begin(), ends.end(), [&](const RuleCell& e) { return !order(e, end) && !order(end, e); });
      if (!there) ends.push_back(std::move(end));
    };
    const Count below = cell.bytes / factor;
    if (below >= 1 && !(i > 0 && beside(i - 1) && cells[i - 1].bytes >= below / factor)) end_at(below);
    if (cell.bytes > std::numeric_limits<Count>::max() / (factor * factor)) continue;
    const Count above = cell.bytes * factor;
    if (!(beside(i + 1) && cells[i + 1].bytes <= above * factor)) end_at(above);
  }
  cells.insert(cells.end(), ends.begin(), ends.end());
  std::sort(cells.begin(), cells.end(), order);
  return cells;
}

CampaignResult evaluate(const std::vector<CampaignCell>& cells, const std::vector<Launch>& launches,
                        const TuneOptions& options) {
  const std::vector<Launch> all = joined(launches);
  const std::vector<RuleCell> fastest = tune(all, options);
  const Medians medians(all);
  CampaignResult result;
  for (const CampaignCell& cell : cells) {
    // The bench rounds sizes as the cell's measured ones are rounded.
    const Count bytes = size_decides(cell.collective)
                            ? Amounts::of_measured(cell.collective, cell.p, cell.measured_bytes()).vector_bytes()
                            : 0;
    const auto chosen = std::find_if(fastest.begin(), fastest.end(), [&](const RuleCell& rule) {
      return rule.collective == cell.collective && rule.p == cell.p &&
             (rule.bytes == bytes || !size_decides(cell.collective));
    });
    if (chosen == fastest.end()) continue;
    CellGain gain{.cell = cell, .use = chosen->use};
    gain.ran_s = as_it_ran(cell, medians);
    gain.use_s = medians.of(cell, chosen->use);
    gain.native_s = medians.of(cell, "native");
    result.gained_s += gain.gained_s();
    result.gains.push_back(std::move(gain));
  }
  result.rules = with_ends(fastest);
  return result;
}

}  // namespace circoll
