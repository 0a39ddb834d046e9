#include "measured/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "circoll/collectives.hpp"
#include "facts/median.hpp"
#include "measured/cells.hpp"

namespace circoll::measured {
namespace {

using CellKey = std::tuple<Collective, Rank, Count>;

CellKey key_of(Collective collective, Rank p, Count bytes) {
  return {collective, p, Amounts::of_vector(collective, p, bytes).deciding_bytes()};
}

/// The time of an algorithm in a cell by one launch: geometric means over the sizes of the cell. Nothing if it was not
/// measured, or wrong.
std::optional<MedianTime> time_of(const Launch& launch, const CellKey& key, const std::string& algorithm) {
  double median = 0, low = 0, high = 0;  // sums of logarithms
  int count = 0;
  for (const Measurement& row : launch.rows) {
    if (row.algorithm != algorithm || row.collective != std::get<0>(key) || row.p != std::get<1>(key)) continue;
    const Count bytes = Amounts::of_measured(row.collective, row.p, row.bytes).vector_bytes();
    if (key_of(row.collective, row.p, bytes) != key) continue;
    if (row.wrong || !(row.median_s > 0)) return std::nullopt;
    const MedianTime time = row.time();
    median += std::log(time.median_s);
    low += std::log(time.low_s);
    high += std::log(time.high_s);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return MedianTime{
      .median_s = std::exp(median / count), .low_s = std::exp(low / count), .high_s = std::exp(high / count)};
}

/// A candidate with its times, one for each launch.
struct Timing {
  std::string algorithm;
  std::vector<MedianTime> times;

  [[nodiscard]] double seconds() const {
    std::vector<double> all;
    for (const MedianTime& one : times) all.push_back(one.median_s);
    return median(all);
  }
};

/// True if `fast` takes surely less time than `slow` in every launch.
bool beats(const Timing& fast, const Timing& slow, double margin) {
  for (std::size_t i = 0; i < fast.times.size(); ++i) {
    if (!surely_less(fast.times[i], slow.times[i], margin)) return false;
  }
  return true;
}

std::vector<Timing> timings_of(const AskedChoice& cell, const CellKey& key, const std::vector<Launch>& launches,
                               const RuleOperator& measured) {
  std::vector<Timing> timings;
  for (const std::string& algorithm : cell.candidates) {
    if (algorithm == "native" && cell.collective == Collective::allreduce) continue;
    if (algorithm != "native" && !op_of_rule(cell.collective, cell.p, algorithm, measured)) continue;
    Timing timing{.algorithm = algorithm, .times = {}};
    for (const Launch& launch : launches) {
      if (const auto time = time_of(launch, key, algorithm)) timing.times.push_back(*time);
    }
    if (!launches.empty() && timing.times.size() == launches.size()) timings.push_back(std::move(timing));
  }
  return timings;
}

const Timing* named(const std::vector<Timing>& timings, const std::string& algorithm) {
  for (const Timing& one : timings) {
    if (one.algorithm == algorithm) return &one;
  }
  return nullptr;
}

std::string micro(const Timing& timing) {
  return fmt::format("{} {:.2f} us", timing.algorithm, timing.seconds() * 1e6);
}

std::optional<Chosen> choose(const AskedChoice& cell, const CellKey& key, const std::vector<Launch>& launches,
                             const RuleOperator& measured, double margin) {
  const std::vector<Timing> timings = timings_of(cell, key, launches, measured);
  if (timings.empty()) return std::nullopt;
  const Timing* best =
      &*std::ranges::min_element(timings, [](const Timing& a, const Timing& b) { return a.seconds() < b.seconds(); });
  const Timing* const base = named(timings, cell.candidates.front());
  const Timing* const native = named(timings, "native");
  const Timing* use = best;
  if (native != nullptr && !beats(*best, *native, margin)) use = native;
  if (base != nullptr && !beats(*use, *base, margin)) use = base;
  std::string about = size_decides(cell.collective) ? fmt::format("{} bytes: ", cell.bytes) : "";
  about += micro(*use);
  for (const Timing* const other : {base, native}) {
    if (other != nullptr && other != use) about += ", " + micro(*other);
  }
  return Chosen{.collective = cell.collective,
                .p = cell.p,
                .bytes = std::get<2>(key),
                .base = cell.candidates.front(),
                .model = cell.model,
                .use = use->algorithm,
                .about = std::move(about)};
}

}  // namespace

std::vector<Chosen> choose(const std::vector<AskedChoice>& asked, const std::vector<Launch>& launches,
                           const RuleOperator& measured, const ChoiceOptions& options) {
  std::vector<Chosen> all;
  std::vector<CellKey> done;
  for (const AskedChoice& cell : asked) {
    const CellKey key = key_of(cell.collective, cell.p, cell.bytes);
    if (std::ranges::find(done, key) != done.end()) continue;
    done.push_back(key);
    if (auto chosen = choose(cell, key, launches, measured, options.margin)) all.push_back(*std::move(chosen));
  }
  return all;
}

std::size_t drop_unconfirmed(std::vector<Chosen>& chosen, const Launch& check, const ChoiceOptions& options) {
  std::size_t dropped = 0;
  for (Chosen& one : chosen) {
    if (!one.changes()) continue;
    const CellKey key{one.collective, one.p, one.bytes};
    const auto use = time_of(check, key, one.use), base = time_of(check, key, one.base);
    if (use && base && surely_less(*use, *base, options.margin)) continue;
    one.use = one.base;
    one.about = "as before: one more launch did not confirm another choice";
    ++dropped;
  }
  return dropped;
}

std::vector<RuleCell> rule_cells(const std::vector<Chosen>& chosen) {
  std::vector<RuleCell> cells;
  std::map<std::pair<Collective, Rank>, Count> largest;
  for (const Chosen& one : chosen) {
    cells.push_back({.collective = one.collective,
                     .p = one.p,
                     .bytes = one.bytes,
                     .use = one.use == one.model ? "auto" : one.use,
                     .about = one.about});
    if (!size_decides(one.collective)) continue;
    Count& most = largest[{one.collective, one.p}];
    most = std::max(most, one.bytes);
  }
  // The end lies between the largest size and four times it.
  for (const auto& [key, bytes] : largest) {
    cells.push_back({.collective = key.first, .p = key.second, .bytes = 4 * std::max<Count>(bytes, 1), .use = "auto"});
  }
  return cells;
}

Gain gain_of(const std::vector<Chosen>& chosen, const Launch& launch) {
  Gain gain;
  double native_log = 0, base_log = 0, changed_log = 0;
  for (const Chosen& one : chosen) {
    const CellKey key{one.collective, one.p, one.bytes};
    const auto use = time_of(launch, key, one.use), native = time_of(launch, key, "native");
    const auto base = time_of(launch, key, one.base);
    if (!use || !native || !base) continue;
    const double over_native = native->median_s / use->median_s, over_base = base->median_s / use->median_s;
    native_log += std::log(over_native);
    base_log += std::log(over_base);
    if (one.changes()) {
      changed_log += std::log(over_base);
      ++gain.changed;
    }
    if (gain.cells++ == 0 || over_native < gain.least_over_native) {
      gain.least_over_native = over_native;
      gain.slowest = fmt::format("{}{}, {}", to_string(one.collective),
                                 size_decides(one.collective) ? fmt::format(" of {} bytes", one.bytes) : "", one.use);
    }
  }
  if (gain.cells == 0) return gain;
  gain.over_native = std::exp(native_log / gain.cells);
  gain.over_base = std::exp(base_log / gain.cells);
  if (gain.changed > 0) gain.changed_by = std::exp(changed_log / gain.changed);
  return gain;
}

}  // namespace circoll::measured
