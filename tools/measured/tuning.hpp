// From measurements to rules in a file (docs/admin/rules.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "measured/measurement.hpp"

namespace circoll {

/// The best service of a collective on p ranks at one size, and around it.
struct RuleCell {
  Collective collective = Collective::barrier;  ///< whose calls the cell is about
  Rank p = 1;                                   ///< ranks
  Count bytes = 0;                              ///< of the whole vector, as in rules; 0 where sizes cannot decide
  std::string use{};    ///< "native", "auto", an algorithm with parameters, or one inside a library ("openmpi/ring")
  std::string about{};  ///< why
};

/// The operator that was measured: rules of reductions are for operators like it.
struct RuleOperator {
  Op op = Op::bor;         ///< never a caller's
  Type type = Type::byte;  ///< of the elements
};

/// Throws Error(unknown_name) if the launch names an operator or type that is not known.
[[nodiscard]] RuleOperator measured_operator(const Launch& launch);

struct RulesText {
  std::string about{};             ///< what was measured, where and when, for the reader of the file
  std::string otherwise = "auto";  ///< for calls that no cell is near: of other numbers of ranks, or other operators
  bool one_node = false;           ///< rules are for communicators whose ranks share one node
  bool all_collectives = false;    ///< collectives without cells are served by `otherwise`, too
};

/// A rules file of cells that differ in collective, p or bytes. A rule reaches from one size to the next: neighbours
/// with the same choice become one rule, others meet at the geometric mean of their sizes, and the outermost have no
/// end. Choices that `otherwise` makes, too, are not written. The rules of a reduction are for the widest class of
/// operators that holds the measured one and that the algorithm can serve. The text has been read back as a
/// rules policy. Throws Error(invalid_argument) if a cell cannot be said in rules.
[[nodiscard]] std::string rules_json(const std::vector<RuleCell>& cells, const RuleOperator& measured,
                                     const RulesText& text = {});

/// The library of an algorithm inside one: "openmpi" of "openmpi/ring:segment=65536"; empty for others.
[[nodiscard]] std::string_view library_of(std::string_view algorithm);

struct TuneOptions {
  double margin = 0.05;  ///< native is left only for an algorithm that takes less than 1 / (1 + margin) of its time
  bool in_every_launch = false;  ///< and that was faster in every launch; without effect where native was not measured
  /// The library whose own algorithms are chosen from, for a tuning file of it ("openmpi"). Empty: Circoll's are, for
  /// rules.
  std::string library{};
};

/// The fastest of the measured candidates in each cell, by the median of the launches' medians. It is native if nothing
/// is faster by the margin, or in every launch if that is asked for. Candidates are right, measured by as many launches
/// as any other in their cell, and able to serve calls by a rule: Circoll's, or those inside the library of the
/// options. Where sizes cannot decide the geometric mean over those that all candidates share does. Throws
/// Error(invalid_argument) if launches of one number of ranks have different settings, or types, operators or roots
/// differ at all, or if none has measured an algorithm inside the library of the options.
[[nodiscard]] std::vector<RuleCell> tune(const std::vector<Launch>& launches, const TuneOptions& options = {});

}  // namespace circoll
