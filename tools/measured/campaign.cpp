// The plan of a campaign: which calls are measured, by which candidates, in which order. And its outcome.
#include "measured/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "facts/hash.hpp"
#include "facts/median.hpp"
#include "measured/cells.hpp"

namespace circoll {
namespace {

using Key = std::tuple<Collective, Rank, Count>;

/// Sums over the rows of one cell.
struct Sums {
  double program_s = 0;
  double calls = 0;
  double bytes = 0;
  double waiting_s = 0;  // beyond what the shortest calls would have taken
  std::map<std::string, double> ran;
};

/// By collective, ranks and class of size; of those where sizes decide nothing one class has all.
std::map<Key, Sums> cells_of(const ProgramReport& report) {
  std::map<Key, Sums> cells;
  for (const ReportedRow& row : report.rows) {
    if (row.collective.neighbor) continue;  // there is one algorithm for them
    const Collective collective = row.collective.collective;
    // A call that does not block costs the program the time to begin it. The rest of its time is beside other work.
    const double blocked = row.mean_s > 0 ? std::min(1.0, row.mean_inside_s / row.mean_s) : 0;
    for (const ReportedSize& size : row.sizes) {
      if (size.calls == 0) continue;
      const Count from = size_decides(collective) ? size.bytes_from : 0;
      Sums& sums = cells[{collective, row.comm_size, from}];
      const double calls = static_cast<double>(size.calls) / report.ranks;
      sums.program_s += size.mean_s * blocked;
      if (size.least_s > 0) sums.waiting_s += std::max(0.0, size.mean_s - size.least_s * calls) * blocked;
      sums.calls += calls;
      sums.bytes += static_cast<double>(size.bytes) / report.ranks;
      sums.ran[row.native() ? "native" : size.algorithm] += calls;
    }
  }
  return cells;
}

/// The bytes of the vector, or nothing if they are too many for one.
std::optional<Count> vector_bytes(Collective collective, Rank p, double mean_bytes) {
  if (!(mean_bytes * static_cast<double>(p) < 1e18)) return std::nullopt;
  return Amounts::of_reported(collective, p, static_cast<Count>(std::llround(mean_bytes))).vector_bytes();
}

/// True if an algorithm of the report may be a candidate: it is known here, and can serve the call.
bool may_serve(const CampaignCell& cell, const std::string& algorithm, const CallFacts& facts) {
  try {
    return why_not(parse_selection(cell.collective, algorithm), facts, false).empty();
  } catch (const Error&) {
    return false;  // of another version
  }
}

std::vector<std::string> candidates_of(const CampaignCell& cell, const Policy& model, const CampaignOptions& options) {
  CallFacts facts = facts_of(cell.collective, cell.p, cell.bytes, options.op.op, options.op.type);
  facts.cores = std::min(cell.p, options.ranks_per_node);
  facts.crowded = options.crowded;
  std::vector<std::string> names{"auto", "native"};
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) != names.end()) return false;
    names.push_back(name);
    return true;
  };
  for (const auto& [algorithm, calls] : cell.ran) {
    if (algorithm != "native" && may_serve(cell, algorithm, facts)) add(algorithm);
  }
  int added = 0;
  std::vector<const Algorithm*> seen;  // one of them with other parameters is not worth a place
  for (const Candidate& candidate : model.decide(facts).candidates) {
    if (added >= options.candidates) break;
    const Algorithm* const algorithm = candidate.selection.algorithm;
    if (std::ranges::find(seen, algorithm) != seen.end()) continue;
    seen.push_back(algorithm);
    if (add(candidate.selection.text())) ++added;
  }
  return names;
}

/// Why calls cannot be measured at all; empty if they can.
std::string obstacle(const CampaignCell& cell, bool countable, const CampaignOptions& options) {
  if (cell.p == 0) return "the size of their communicators is not known";
  if (cell.p == 1) return "one rank has nobody to wait for";
  if (cell.p > options.most_ranks) {
    return fmt::format("{} ranks are more than the {} that can be started here", cell.p, options.most_ranks);
  }
  if (!countable) return "their bytes are beyond what can be counted";
  if (cell.bytes == 0 && cell.collective != Collective::barrier) return "they have no bytes";
  return "";
}

/// The times of one cell, by the numbers of launches that have measured it.
class CellTimes {
 public:
  CellTimes(const CampaignCell& cell, const std::vector<Launch>& launches) {
    for (const Launch& launch : launches) {
      for (const Measurement& row : launch.rows) {
        if (row.collective != cell.collective || row.p != cell.p || row.bytes != cell.measured_bytes()) continue;
        sources_.insert(launch.source);
        if (!row.wrong && row.median_s > 0) times_[row.algorithm][launch.source] = row.time();
      }
    }
  }
  /// The algorithms that every launch has measured.
  [[nodiscard]] std::vector<std::string> algorithms() const {
    std::vector<std::string> all;
    for (const auto& [algorithm, times] : times_) {
      if (times.size() == sources_.size()) all.push_back(algorithm);
    }
    return all;
  }
  /// The median over the launches.
  [[nodiscard]] std::optional<double> of(const std::string& algorithm) const {
    const auto found = times_.find(algorithm);
    if (found == times_.end()) return std::nullopt;
    std::vector<double> seconds;
    for (const auto& [source, time] : found->second) seconds.push_back(time.median_s);
    return median(seconds);
  }
  /// True if one took surely less time than the other in every launch. Both were measured in every one.
  [[nodiscard]] bool surely_gains(const std::string& use, const std::string& before, double margin) const {
    return std::ranges::all_of(sources_, [&](const std::string& source) {
      return surely_less(times_.at(use).at(source), times_.at(before).at(source), margin);
    });
  }

 private:
  std::set<std::string> sources_;
  std::map<std::string, std::map<std::string, MedianTime>> times_;
};

/// True if a rule may leave the calls of a cell to an algorithm.
bool may_be_rule(const CampaignCell& cell, const std::string& algorithm, const RuleOperator& op) {
  if (algorithm == "auto") return false;
  if (algorithm == "native") {
    return cell.collective != Collective::allreduce || is_order_free(op.op, op.type);
  }
  return measured::op_of_rule(cell.collective, cell.p, algorithm, op).has_value();
}

}  // namespace

Count CampaignCell::measured_bytes() const { return Amounts::of_vector(collective, p, bytes).measured_bytes(); }

double launch_seconds(const CampaignCell& cell, const CampaignOptions& options) {
  return options.start_s + options.seconds * static_cast<double>(cell.candidates.size());
}

Campaign plan_campaign(const ProgramReport& report, const CampaignOptions& options) {
  require(options.launches >= 1, "a campaign takes one launch or more");
  require(options.candidates >= 1, "a campaign takes one candidate or more");
  require(options.seconds > 0 && options.limit_s > 0, "times must be positive");
  const auto model = make_policy("model", {.machine = options.machine});
  const double calls = static_cast<double>(report.calls) / report.ranks;
  const double elsewhere_s = report.program_s.value_or(0) - report.collectives_s();
  Campaign campaign;
  std::vector<CampaignCell> cells;
  for (const auto& [key, sums] : cells_of(report)) {
    const auto& [collective, p, from] = key;
    CampaignCell cell{.collective = collective, .p = p, .program_s = sums.program_s, .calls = sums.calls};
    cell.ran.assign(sums.ran.begin(), sums.ran.end());
    const auto bytes = vector_bytes(collective, std::max<Rank>(p, 1), sums.bytes / sums.calls);
    cell.bytes = bytes.value_or(0);
    cell.between_s = calls > 0 ? std::clamp(elsewhere_s / calls, 0.0, most_imitated_s) : 0;
    cell.spread_s = std::min(2 * sums.waiting_s / sums.calls, most_imitated_s);
    campaign.program_s += cell.program_s;
    if (std::string why = obstacle(cell, bytes.has_value(), options); !why.empty()) {
      campaign.left_out.push_back({std::move(cell), std::move(why)});
    } else {
      cells.push_back(std::move(cell));
    }
  }
  std::ranges::stable_sort(cells,
                           [](const CampaignCell& a, const CampaignCell& b) { return a.program_s > b.program_s; });
  for (CampaignCell& cell : cells) {
    cell.candidates = candidates_of(cell, *model, options);
    const double seconds = options.launches * launch_seconds(cell, options);
    if (cell.candidates.size() == 2) {
      campaign.left_out.push_back({std::move(cell), "no algorithm of Circoll may serve them"});
    } else if (campaign.estimate_s + seconds > options.limit_s) {
      campaign.left_out.push_back({std::move(cell), "the time is used up by those that cost more"});
    } else {
      campaign.estimate_s += seconds;
      campaign.covered_s += cell.program_s;
      campaign.cells.push_back(std::move(cell));
    }
  }
  std::ranges::stable_sort(campaign.left_out,
                           [](const LeftOut& a, const LeftOut& b) { return a.cell.program_s > b.cell.program_s; });
  return campaign;
}

std::vector<CampaignItem> campaign_items(std::size_t cells, int launches, std::uint64_t seed) {
  std::vector<CampaignItem> items;
  items.reserve(cells * static_cast<std::size_t>(std::max(0, launches)));
  for (int launch = 0; launch < launches; ++launch) {
    const std::size_t begin = items.size();
    for (std::size_t cell = 0; cell < cells; ++cell) items.push_back({.launch = launch, .cell = cell});
    SplitMix random(seed * 1000003 + static_cast<std::uint64_t>(launch));
    for (std::size_t left = cells; left > 1; --left) {
      std::swap(items[begin + left - 1], items[begin + random.next() % left]);
    }
  }
  return items;
}

std::vector<RuleCell> with_ends(std::vector<RuleCell> cells, const std::string& otherwise) {
  constexpr Count factor = 4;
  const auto order = [](const RuleCell& a, const RuleCell& b) {
    return std::tie(a.collective, a.p, a.bytes) < std::tie(b.collective, b.p, b.bytes);
  };
  std::ranges::sort(cells, order);
  std::vector<RuleCell> ends;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const RuleCell& cell = cells[i];
    if (!size_decides(cell.collective) || cell.use == otherwise) continue;
    const auto beside = [&](std::size_t at) {
      return at < cells.size() && cells[at].collective == cell.collective && cells[at].p == cell.p;
    };
    const auto end_at = [&](Count bytes) {
      RuleCell end{.collective = cell.collective, .p = cell.p, .bytes = bytes, .use = otherwise};
      const bool there = std::ranges::any_of(ends, [&](const RuleCell& e) { return !order(e, end) && !order(end, e); });
      if (!there) ends.push_back(std::move(end));
    };
    const Count below = cell.bytes / factor;
    if (below >= 1 && !(i > 0 && beside(i - 1) && cells[i - 1].bytes >= below / factor)) end_at(below);
    if (cell.bytes > std::numeric_limits<Count>::max() / (factor * factor)) continue;
    const Count above = cell.bytes * factor;
    if (!(beside(i + 1) && cells[i + 1].bytes <= above * factor)) end_at(above);
  }
  cells.insert(cells.end(), ends.begin(), ends.end());
  std::ranges::sort(cells, order);
  return cells;
}

CampaignResult evaluate(const std::vector<CampaignCell>& cells, const std::vector<Launch>& launches,
                        const RuleOperator& op, double margin) {
  CampaignResult result;
  std::vector<RuleCell> rules;
  for (const CampaignCell& cell : cells) {
    const CellTimes times(cell, launches);
    const std::vector<std::string> measured = times.algorithms();
    if (std::ranges::find(measured, "auto") == measured.end()) continue;
    CellGain gain{.cell = cell, .use = "auto", .today_s = *times.of("auto"), .native_s = times.of("native")};
    gain.fastest = "auto";
    gain.fastest_s = gain.use_s = gain.today_s;
    for (const std::string& algorithm : measured) {
      const double seconds = *times.of(algorithm);
      if (!may_be_rule(cell, algorithm, op) || !(seconds < gain.fastest_s)) continue;
      gain.fastest = algorithm;
      gain.fastest_s = seconds;
    }
    if (gain.fastest != "auto" && times.surely_gains(gain.fastest, "auto", margin)) {
      gain.use = gain.fastest;
      gain.use_s = gain.fastest_s;
      rules.push_back({.collective = cell.collective,
                       .p = cell.p,
                       .bytes = size_decides(cell.collective) ? cell.bytes : 0,
                       .use = gain.use,
                       .about = fmt::format("{:.2f} us, before {:.2f} us", gain.use_s * 1e6, gain.today_s * 1e6)});
    }
    result.gained_s += gain.gained_s();
    result.gains.push_back(std::move(gain));
  }
  result.rules = with_ends(rules);
  return result;
}

}  // namespace circoll
