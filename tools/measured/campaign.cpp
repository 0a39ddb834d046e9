// The plan of a campaign: which calls are measured, by which candidates, in which order. And its outcome.
#include "measured/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/hash.hpp"

namespace circoll {
namespace {

using Key = std::tuple<Collective, Rank, Count>;

/// Sums over the rows of one cell.
struct Sums {
  double program_s = 0;
  double calls = 0;
  double bytes = 0;
  std::map<std::string, double> ran;
};

/// By collective, ranks and class of size; of those where sizes decide nothing one class has all.
std::map<Key, Sums> cells_of(const ProgramReport& report) {
  std::map<Key, Sums> cells;
  for (const ReportedRow& row : report.rows) {
    // A call that does not block costs the program the time to begin it. The rest of its time is beside other work.
    const double blocked = row.mean_s > 0 ? std::min(1.0, row.mean_inside_s / row.mean_s) : 0;
    for (const ReportedSize& size : row.sizes) {
      if (size.calls == 0) continue;
      const Count from = size_decides(row.collective) ? size.bytes_from : 0;
      Sums& sums = cells[{row.collective, row.comm_size, from}];
      const double calls = static_cast<double>(size.calls) / report.ranks;
      sums.program_s += size.mean_s * blocked;
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
  std::vector<std::string> names{"native"};
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

/// True if an algorithm gained in every launch that has measured it (see evaluate()).
bool surely_gains(const CampaignCell& cell, const std::string& use, const std::vector<Medians>& launches,
                  double margin) {
  int compared = 0;
  for (const Medians& launch : launches) {
    const auto time = launch.of(cell, use);
    const auto ran = as_it_ran(cell, launch);
    const auto before = ran ? ran : launch.of(cell, "native");
    if (!time || !before) continue;
    if (!(*time * (1 + margin) < *before)) return false;
    ++compared;
  }
  return compared > 0;
}

bool has_run(const CampaignCell& cell, const std::string& algorithm) {
  return std::any_of(cell.ran.begin(), cell.ran.end(), [&](const auto& one) { return one.first == algorithm; });
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
  Campaign campaign;
  std::vector<CampaignCell> cells;
  for (const auto& [key, sums] : cells_of(report)) {
    const auto& [collective, p, from] = key;
    CampaignCell cell{.collective = collective, .p = p, .program_s = sums.program_s, .calls = sums.calls};
    cell.ran.assign(sums.ran.begin(), sums.ran.end());
    const auto bytes = vector_bytes(collective, std::max<Rank>(p, 1), sums.bytes / sums.calls);
    cell.bytes = bytes.value_or(0);
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
    if (cell.candidates.size() == 1) {
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
                        const TuneOptions& options) {
  const std::vector<Launch> all = joined(launches);
  std::vector<RuleCell> fastest = tune(all, options);
  const Medians medians(all);
  std::vector<Medians> of_launches;
  of_launches.reserve(all.size());
  for (const Launch& launch : all) of_launches.emplace_back(std::vector<Launch>{launch});
  CampaignResult result;
  for (const CampaignCell& cell : cells) {
    // The bench rounds sizes as the cell's measured ones are rounded.
    const Count bytes = size_decides(cell.collective)
                            ? Amounts::of_measured(cell.collective, cell.p, cell.measured_bytes()).vector_bytes()
                            : 0;
    const auto chosen = std::ranges::find_if(fastest, [&](const RuleCell& rule) {
      return rule.collective == cell.collective && rule.p == cell.p &&
             (rule.bytes == bytes || !size_decides(cell.collective));
    });
    if (chosen == fastest.end()) continue;
    CellGain gain{.cell = cell, .use = chosen->use};
    gain.sure = surely_gains(cell, chosen->use, of_launches, options.margin);
    if (!gain.sure && !has_run(cell, chosen->use)) {
      gain.use = "auto";
      fastest.erase(chosen);
    }
    gain.ran_s = as_it_ran(cell, medians);
    gain.use_s = medians.of(cell, gain.use);
    gain.native_s = medians.of(cell, "native");
    result.gained_s += gain.gained_s();
    result.gains.push_back(std::move(gain));
  }
  result.rules = with_ends(fastest);
  return result;
}

}  // namespace circoll
