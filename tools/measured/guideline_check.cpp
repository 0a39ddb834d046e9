// Measured sides of guidelines: read, held against one another, and what rules make of them.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/median.hpp"
#include "facts/statistics.hpp"
#include "measured/cells.hpp"
#include "measured/guidelines.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

bool is_side(const std::string& name) {
  return std::ranges::any_of(guidelines(), [&](const Guideline& guideline) {
    return to_string(guideline.left) == name || to_string(guideline.right) == name;
  });
}

SideTime read_side(const select::Json& entry, const std::string& source) {
  const select::Members row(entry, source);
  SideTime one{.side = row.text("side"),
               .algorithm = row.text("algorithm"),
               .served_by = row.text("served_by"),
               .p = row.integer("p"),
               .bytes = row.integer("bytes"),
               .reps = row.integer("reps"),
               .median_s = row.number("median_us") * 1e-6};
  if (!is_side(one.side)) row.fail(row.at("side"), "'" + one.side + "' is no side of a guideline");
  if (one.p < 1 || one.bytes < 0 || one.reps < 0 || !(one.median_s >= 0) || (one.reps > 0 && one.median_s == 0)) {
    row.fail(entry, "'p', 'bytes', 'reps' or 'median_us' is out of range");
  }
  return one;
}

/// A side in one cell; sizes of the same side follow one another.
using SideKey = std::tuple<std::string, std::string, Rank, Count>;  // side, algorithm, p, bytes
using Samples = std::map<SideKey, std::vector<double>>;             // the launches' medians, ascending

Samples samples_of(const std::vector<GuidelineRun>& runs) {
  std::vector<const Launch*> launches;
  launches.reserve(runs.size());
  for (const GuidelineRun& run : runs) launches.push_back(&run.launch);
  require_comparable(launches);
  Samples samples;
  for (const GuidelineRun& run : runs) {
    std::map<SideKey, double> of_launch;  // a launch counts once, whatever its file repeats
    for (const SideTime& time : run.sides) {
      if (time.reps > 0) of_launch.emplace(SideKey(time.side, time.algorithm, time.p, time.bytes), time.median_s);
    }
    for (const auto& [key, median_s] : of_launch) samples[key].push_back(median_s);
  }
  for (auto& [key, medians] : samples) std::ranges::sort(medians);
  return samples;
}

Finding compare(const Guideline& guideline, const Samples::value_type& left, const Samples::value_type& right) {
  Finding finding{.guideline = &guideline,
                  .algorithm = std::get<1>(left.first),
                  .p = std::get<2>(left.first),
                  .bytes = std::get<3>(left.first),
                  .right_bytes = std::get<3>(right.first),
                  .left_launches = static_cast<int>(left.second.size()),
                  .right_launches = static_cast<int>(right.second.size()),
                  .left_s = median_of_sorted(left.second),
                  .right_s = median_of_sorted(right.second)};
  finding.factor = finding.left_s / finding.right_s;
  finding.p_value = mann_whitney(left.second, right.second);
  return finding;
}

/// The verdicts about one algorithm. Everything that is compared counts, also what is clearly faster.
void judge(std::span<Finding*> of_algorithm, const GuidelineTest& test) {
  std::vector<double> p_values;
  p_values.reserve(of_algorithm.size());
  for (const Finding* finding : of_algorithm) p_values.push_back(finding->p_value);
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t i = 0; i < of_algorithm.size(); ++i) {
    Finding& finding = *of_algorithm[i];
    finding.corrected = corrected[i];
    if (finding.factor <= 1 + test.least_effect) continue;
    const double least_p = least_mann_whitney(static_cast<std::size_t>(finding.left_launches),
                                              static_cast<std::size_t>(finding.right_launches));
    if (finding.corrected <= test.significance) {
      finding.verdict = GuidelineVerdict::violated;
    } else if (least_p * static_cast<double>(of_algorithm.size()) > test.significance) {
      finding.verdict = GuidelineVerdict::too_few;
    }
  }
}

/// The cell that a guideline compares `left` with.
Samples::const_iterator right_of(const Guideline& guideline, const Samples& samples, Samples::const_iterator left) {
  if (guideline.relation != Relation::monotony) {
    SideKey key = left->first;
    std::get<0>(key) = to_string(guideline.right);
    return samples.find(key);
  }
  const auto next = std::next(left);
  if (next == samples.end()) return next;
  const auto& [side, algorithm, p, bytes] = next->first;
  return std::tie(side, algorithm, p) ==
                 std::tie(std::get<0>(left->first), std::get<1>(left->first), std::get<2>(left->first))
             ? next
             : samples.end();
}

/// A cell of rules in the making.
struct Fix {
  measured::TimedCell cell{};
  std::string reason{};  ///< empty: native serves it
  bool inside = false;   ///< the choice is from algorithms inside the library

  [[nodiscard]] bool only_native() const {
    return std::ranges::all_of(cell.candidates, [](const measured::Timed& time) { return time.algorithm == "native"; });
  }
  /// The time that a call saves over native.
  [[nodiscard]] double saved_s() const {
    const auto [best, native] = measured::best_and_native(cell);
    return reason.empty() || native == nullptr ? 0 : native->median_s - best->median_s;
  }
  [[nodiscard]] RuleCell rule() const {
    RuleCell chosen{.collective = cell.collective, .p = cell.p, .bytes = cell.bytes, .use = "native"};
    if (reason.empty()) return chosen;
    if (only_native() && !inside) {
      chosen.use = "auto";
    } else if (auto best = measured::fastest(cell, {.margin = 0})) {
      chosen = *std::move(best);
    }
    chosen.about = reason + (chosen.about.empty() ? "" : ": ") + chosen.about;
    return chosen;
  }
};

class Fixes {
 public:
  Fixes(std::vector<measured::TimedCell> cells, bool inside) {
    for (measured::TimedCell& cell : cells) all_.push_back({.cell = std::move(cell), .inside = inside});
  }

  /// The one for the left-hand side of a finding of native that does not have a reason yet, or nullptr.
  [[nodiscard]] Fix* wanted(const Finding& finding) {
    if (finding.algorithm != "native") return nullptr;
    const auto collective = collective_from_string(to_string(finding.guideline->left));
    Fix* const fix = collective ? find(*collective, finding.p, finding.bytes) : nullptr;
    return fix != nullptr && fix->reason.empty() ? fix : nullptr;
  }
  /// The time that the right-hand side saves over native, by the fixes so far.
  [[nodiscard]] double saved_on_the_right(const Finding& finding) {
    double saved_s = 0;
    for (const GuidelineCall& call : finding.guideline->right.calls) {
      if (call.part == VectorPart::at_root) continue;  // another collective by the rules
      const Count bytes = call.part == VectorPart::half ? (finding.right_bytes + 1) / 2 : finding.right_bytes;
      const Fix* const fix = find(call.collective, finding.p, bytes);
      saved_s += fix != nullptr ? fix->saved_s() : 0;
    }
    return saved_s;
  }
  [[nodiscard]] std::vector<RuleCell> rules() const {
    std::vector<RuleCell> cells;
    cells.reserve(all_.size());
    for (const Fix& fix : all_) cells.push_back(fix.rule());
    return cells;
  }

 private:
  [[nodiscard]] Fix* find(Collective collective, Rank p, Count bytes) {
    const bool sized = size_decides(collective);
    const auto found = std::ranges::find_if(all_, [&](const Fix& fix) {
      return fix.cell.collective == collective && fix.cell.p == p && (!sized || fix.cell.bytes == bytes);
    });
    return found == all_.end() ? nullptr : &*found;
  }

  std::vector<Fix> all_;
};

}  // namespace

GuidelineRun guideline_run_from_json(std::string_view json, const std::string& source) {
  GuidelineRun run{.launch = launch_from_json(json, source), .sides = {}};
  const select::Json root = select::read_json(json, source);
  const select::Json* const sides = root.member("sides");
  if (sides == nullptr || sides->array() == nullptr) {
    select::fail_at(source, root.line, "this is no circoll-bench --guidelines --json: it has no 'sides'");
  }
  for (const select::Json& entry : *sides->array()) run.sides.push_back(read_side(entry, source));
  return run;
}

std::vector<Finding> check_guidelines(const std::vector<GuidelineRun>& runs, const GuidelineTest& test) {
  require(test.significance > 0 && test.significance < 1 && test.least_effect >= 0,
          "the significance lies between 0 and 1, and the least effect is not negative");
  const Samples samples = samples_of(runs);
  std::vector<Finding> findings;
  for (const Guideline& guideline : guidelines()) {
    const std::string name = to_string(guideline.left);
    for (auto left = samples.lower_bound(SideKey(name, "", 0, 0));
         left != samples.end() && std::get<0>(left->first) == name; ++left) {
      const auto right = right_of(guideline, samples, left);
      if (right != samples.end()) findings.push_back(compare(guideline, *left, *right));
    }
  }
  std::map<std::string, std::vector<Finding*>> by_algorithm;
  for (Finding& finding : findings) by_algorithm[finding.algorithm].push_back(&finding);
  for (auto& [algorithm, of_algorithm] : by_algorithm) judge(of_algorithm, test);
  return findings;
}

int launches_needed(std::size_t comparisons, const GuidelineTest& test) {
  std::size_t launches = 1;
  while (least_mann_whitney(launches, launches) * static_cast<double>(comparisons) > test.significance) ++launches;
  return static_cast<int>(launches);
}

std::vector<RuleCell> guideline_fixes(const std::vector<GuidelineRun>& runs, const std::vector<Finding>& findings,
                                      const GuidelineTest& test, std::string_view library) {
  const RuleOperator measured = runs.empty() ? RuleOperator{} : measured_operator(runs.front().launch);
  // In rules "auto" is the model's choice.
  const bool by_model = std::ranges::all_of(runs, [](const GuidelineRun& run) { return run.launch.default_policy; });
  std::vector<measured::Timed> times;
  for (const auto& [key, medians] : samples_of(runs)) {
    const auto& [side, algorithm, p, bytes] = key;
    if (algorithm == "auto" && !by_model) continue;
    if (const auto collective = collective_from_string(side)) {
      times.push_back(
          {*collective, p, bytes, algorithm, median_of_sorted(medians), static_cast<int>(medians.size()), false});
    }
  }
  measured::require_library(times, library);
  Fixes fixes(measured::timed_cells(times, measured, library), !library.empty());
  for (const Finding& finding : findings) {
    if (finding.verdict != GuidelineVerdict::violated) continue;
    if (Fix* const fix = fixes.wanted(finding)) fix->reason = to_string(*finding.guideline) + " violated";
  }
  // A collective that is better served now may do for other calls, too.
  for (bool again = true; again;) {
    again = false;
    for (const Finding& finding : findings) {
      Fix* const fix = fixes.wanted(finding);
      if (fix == nullptr) continue;
      const double saved_s = fixes.saved_on_the_right(finding);
      if (saved_s <= 0 || finding.left_s <= (1 + test.least_effect) * (finding.right_s - saved_s)) continue;
      fix->reason = to_string(*finding.guideline) + " violated by these rules";
      again = true;
    }
  }
  return fixes.rules();
}

}  // namespace circoll
