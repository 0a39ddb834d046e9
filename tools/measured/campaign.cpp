// The plan of a campaign: which calls are measured, by which candidates, in which order.
#include "measured/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/split_mix.hpp"

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
    // A call that does not block costs the program what it takes to begin it; the rest is beside other work.
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
    if (std::find(names.begin(), names.end(), name) != names.end()) return false;
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
    if (std::find(seen.begin(), seen.end(), algorithm) != seen.end()) continue;
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
  std::stable_sort(cells.begin(), cells.end(),
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
  std::stable_sort(campaign.left_out.begin(), campaign.left_out.end(),
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

}  // namespace circoll
