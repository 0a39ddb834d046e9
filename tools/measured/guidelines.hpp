// Performance guidelines: bounds that a collective should not be slower than (docs/admin/measuring.md).
//
// A guideline compares a collective with other calls that would do for it. circoll-bench --guidelines measures both
// sides, every composition as one repetition. This file has the list of guidelines, their evaluation, and the rules
// that correct violations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "measured/measurement.hpp"
#include "measured/tuning.hpp"

namespace circoll {

/// The part of the vector of m bytes that a call of a side has.
enum class VectorPart {
  whole,
  half,     ///< rounded up
  at_root,  ///< all of it, as the block of the root; the other blocks are empty (irregular collectives)
};

struct GuidelineCall {
  Collective collective = Collective::barrier;  ///< the one that is called
  VectorPart part = VectorPart::whole;          ///< the part of m that it is called with
};

/// Work that a rank has at least, besides the calls of a side; it is executed with them.
enum class Local {
  none,
  copy_block,   ///< its own block of the result, out of the whole vector
  copy_vector,  ///< its contribution into a vector of p blocks
  reduce,       ///< one vector into another
};

/// Calls one after another.
struct GuidelineSide {
  std::vector<GuidelineCall> calls{};  ///< in their order
  Local local = Local::none;           ///< work of every rank besides the calls
};
/// "reduce+bcast", "allreduce/2+allreduce/2", "reduce_scatter@root", "bcast+copy_block": the name of a side in
/// files and tables.
[[nodiscard]] std::string to_string(const GuidelineSide& side);

enum class Relation {
  mock_up,   ///< the right-hand side computes the same
  split,     ///< two calls with half of the vector each
  monotony,  ///< the same call with the next larger size that was measured
};

/// By a guideline left(m) should not take longer than right(m). The bytes of the whole vector are m, as in the
/// rules of a file.
struct Guideline {
  Relation relation = Relation::mock_up;  ///< how the two sides compare
  std::string_view source{};              ///< its number in the paper, "(2)" to "(6)"; empty: of the wider list
  GuidelineSide left{};                   ///< should take no longer than the right-hand side
  GuidelineSide right{};                  ///< does the same, or more
  std::string_view counterpart{};  ///< the algorithm of the left collective that works like the right-hand side, if any
};
/// "reduce <= allreduce".
[[nodiscard]] std::string to_string(const Guideline& guideline);

/// All of them. Lives as long as the process.
[[nodiscard]] const std::vector<Guideline>& guidelines();

/// A side as one launch has measured it.
struct SideTime {
  std::string side{};       ///< to_string(GuidelineSide)
  std::string algorithm{};  ///< as circoll-bench was asked
  std::string served_by{};  ///< what ran
  Rank p = 1;               ///< ranks
  Count bytes = 0;          ///< m
  Count reps = 0;           ///< repetitions of the measurement
  double median_s = 0;      ///< seconds, over the repetitions
};

/// One run of circoll-bench --guidelines.
struct GuidelineRun {
  Launch launch{};                ///< about the run
  std::vector<SideTime> sides{};  ///< every side that was measured
};

/// Reads what circoll-bench --guidelines --json wrote. Throws Error(parse), naming the line, on anything else.
[[nodiscard]] GuidelineRun guideline_run_from_json(std::string_view json, const std::string& source);

struct GuidelineTest {
  double significance = 0.05;  ///< the largest corrected p value of a violation
  double least_effect = 0.05;  ///< left must take more than 1 + this times as long as right
};

enum class GuidelineVerdict {
  holds,     ///< no such difference, or one that chance explains
  violated,  ///< significant, and large enough
  too_few,   ///< large enough, but so few launches cannot make it significant
};
[[nodiscard]] std::string_view to_string(GuidelineVerdict verdict);

/// One guideline, for one algorithm, number of ranks and size.
struct Finding {
  const Guideline* guideline = nullptr;                ///< never nullptr in what is found
  std::string algorithm{};                             ///< of the left-hand side, as circoll-bench was asked
  Rank p = 1;                                          ///< ranks
  Count bytes = 0;                                     ///< m, of the left-hand side
  Count right_bytes = 0;                               ///< differs for monotony
  int left_launches = 0;                               ///< that have measured the left-hand side
  int right_launches = 0;                              ///< that have measured the right-hand side
  double left_s = 0;                                   ///< the median of the launches' medians
  double right_s = 0;                                  ///< likewise
  double factor = 0;                                   ///< left_s / right_s
  double p_value = 1;                                  ///< of the one-sided Mann-Whitney test of the launches' medians
  double corrected = 1;                                ///< `p_value`, corrected for all comparisons of the algorithm
  GuidelineVerdict verdict = GuidelineVerdict::holds;  ///< for this algorithm, p and m
};

/// All that can be compared. With equal times, the chance that any comparison of an algorithm is called violated is the
/// test's significance. Throws Error(invalid_argument) if runs that measured the same number of ranks have
/// different settings, or types, operators or roots differ at all.
[[nodiscard]] std::vector<Finding> check_guidelines(const std::vector<GuidelineRun>& runs,
                                                    const GuidelineTest& test = {});

/// The launches of each side that can show a violation among so many comparisons.
[[nodiscard]] int launches_needed(std::size_t comparisons, const GuidelineTest& test = {});

/// Rules that leave to the MPI library what it does well. Where "native" violates a guideline they take the fastest
/// algorithm that was measured, if it is faster than native ("auto" if nothing of Circoll was measured), else
/// "native". The same where these rules make a right-hand side so much faster that native is slower by more than the
/// test's least effect. With a library, such as "openmpi", the choices are from the algorithms inside it instead, for a
/// tuning file of it. Throws Error(invalid_argument) if none of them was measured.
[[nodiscard]] std::vector<RuleCell> guideline_fixes(const std::vector<GuidelineRun>& runs,
                                                    const std::vector<Finding>& findings,
                                                    const GuidelineTest& test = {}, std::string_view library = {});

}  // namespace circoll
