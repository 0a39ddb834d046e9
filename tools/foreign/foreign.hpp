// Tuning files of other libraries (Open MPI, MPICH): written, and read as these libraries read them.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/model.hpp"
#include "circoll/types.hpp"
#include "measured/tuning.hpp"

namespace circoll::foreign {

/// A reader of tuning files: a library, and the versions of it that read alike.
struct Reader {
  std::string_view id;       ///< "openmpi-4.1", as `circoll export --for` takes it
  std::string_view title;    ///< "Open MPI 4.1, rules of coll/tuned"
  std::string_view library;  ///< "openmpi", "mpich"
  /// One line: what the files are called and how they are used, for lists of readers.
  std::string_view use{};
};

/// All readers, those of a library together, the oldest version first.
[[nodiscard]] std::span<const Reader> readers();
/// The reader of this id. Throws Error(unknown_name) with the ids that there are.
[[nodiscard]] const Reader& find_reader(std::string_view id);

/// The end of a range that has none.
inline constexpr Count unbounded = std::numeric_limits<Count>::max();

/// From `from` to `to`, both included.
struct Range {
  Count from = 0;        ///< the least value that it holds
  Count to = unbounded;  ///< the greatest value that it holds

  [[nodiscard]] bool holds(Count value) const { return value >= from && value <= to; }  ///< true from `from` to `to`
  /// True if it holds every number of ranks, nodes or bytes from 1 on.
  [[nodiscard]] bool is_any() const { return from <= 1 && to == unbounded; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The operators that a rule is for.
enum class Operators { any, commutative, noncommutative };

/// A rule in a form that every writer understands: calls, and what the library shall serve them by. Of several rules
/// that hold the first counts. Calls that no rule holds are the library's own affair.
struct Rule {
  Collective collective = Collective::barrier;  ///< the one whose calls it is about
  Range ranks{1};                               ///< of the communicator
  Range nodes{1};                               ///< on which the communicator has ranks
  Range ranks_per_node{1};                      ///< the most that a node has
  Range bytes{};                                ///< of the whole vector, as in Circoll's rules
  Operators operators = Operators::any;         ///< of reductions: those that it is about
  std::string algorithm{};  ///< the library's own name for it (Algorithm::peers); empty: the library decides
  Count segment_bytes = 0;  ///< 0: not said
  std::int64_t radix = 0;   ///< or fan-out; 0: not said
  std::string from{};       ///< where the rule comes from, for messages: "rules.json:12: circulant"
};

/// A file to be written.
struct File {
  std::string suffix{};  ///< appended to the name that the user has given; empty for the main file
  std::string text{};    ///< the whole file
};

/// The outcome of an export: files, how to use them, and what could not be said in their format.
struct Exported {
  std::vector<File> files{};          ///< the main one first
  std::vector<std::string> use{};     ///< lines for the shell, where "{}" stands for the main file's name
  std::vector<std::string> losses{};  ///< sentences; they stand in the head of the file, or in one beside it
};

struct ExportOptions {
  std::string about{};                ///< one line: where the rules come from
  std::vector<std::string> losses{};  ///< what has been lost before: Translated::losses. They come first in the file.
  /// Operators::commutative: programs combine by operators that commute only. Formats without operators then may name
  /// algorithms that are wrong for others. The files say so.
  Operators operators = Operators::any;
  std::string base{};  ///< text of the library's own selection file that the rules are put into; MPICH only
};

/// Rules in the format of a reader. Conditions that the format cannot express are guarded if that is possible.
/// Otherwise the rule is left out, and is among the losses. The text has been read back by read(). Throws
/// Error(invalid_argument) if nothing of the rules can be said.
[[nodiscard]] Exported export_rules(std::span<const Rule> rules, const Reader& reader,
                                    const ExportOptions& options = {});

/// The text for ExportOptions::base from a file: trees as JSON, or a libmpich, which has its own as strings. Throws
/// Error(invalid_argument) if the file cannot be read or has no tree.
[[nodiscard]] std::string read_base(const std::string& path);

/// A base and where it was found.
struct InstalledBase {
  std::string path{};  ///< of the library that it was found in
  std::string text{};  ///< the whole file
};
/// The trees of the MPICH that is installed here, in LD_LIBRARY_PATH or a usual directory. Nothing for other libraries,
/// or if no installed MPICH has a tree that the reader's version accepts.
[[nodiscard]] std::optional<InstalledBase> find_base(const Reader& reader);

/// A call of a program, as a library's decision sees it.
struct Call {
  Collective collective = Collective::barrier;  ///< which one is called
  Rank ranks = 1;                               ///< of the communicator
  Rank nodes = 1;                               ///< on which the communicator has ranks
  Rank ranks_per_node = 1;                      ///< the most that a node has
  Count bytes = 0;                              ///< of the whole vector
  Count element_bytes = 8;                      ///< bytes from one element to the next
  bool commutative = true;                      ///< of reductions: the operator
  bool predefined_op = true;                    ///< likewise
  bool in_place = false;                        ///< the call gives MPI_IN_PLACE
};

/// The decision of a library about a call, by its file.
struct ForeignDecision {
  std::string algorithm{};           ///< the library's own name; empty: no rule holds, the library decides by itself
  std::string parameters{};          ///< "segment size 65536"; empty if there are none
  std::string rule{};                ///< "rules.txt:7: p >= 16, from 65536 bytes"; empty if none holds
  std::vector<std::string> notes{};  ///< what else happens: substitutes, refusals, differences among ranks
};

/// Something in a file that does not do what its author must think.
struct Warning {
  std::size_t line = 0;  ///< 0: the file as a whole
  std::string text{};    ///< one sentence, without the line's number
  bool grave = true;     ///< false: worth knowing, and no reason to change the file for this version of the library
};

/// A tuning file as a library has read it.
class TuningFile {
 public:
  TuningFile() = default;
  TuningFile(const TuningFile&) = delete;
  TuningFile& operator=(const TuningFile&) = delete;
  virtual ~TuningFile() = default;

  /// Never throws, whatever the call.
  [[nodiscard]] virtual ForeignDecision decide(const Call& call) const = 0;
  /// In the order of lines.
  [[nodiscard]] const std::vector<Warning>& warnings() const { return warnings_; }
  /// True if the library rejects the file as a whole, silently or not; the warnings say why.
  [[nodiscard]] bool rejected() const { return rejected_; }

 protected:
  void warn(std::size_t line, std::string text, bool grave = true) {
    warnings_.push_back({.line = line, .text = std::move(text), .grave = grave});
  }
  void sort_warnings() { std::ranges::stable_sort(warnings_, {}, &Warning::line); }

  std::vector<Warning> warnings_{};
  bool rejected_ = false;
};

/// Rules of Circoll in neutral form, by the library's names, and what has got lost on the way.
struct Translated {
  std::vector<Rule> rules{};          ///< the first that holds a call counts
  std::vector<std::string> losses{};  ///< sentences; empty: everything could be said
};

/// Where ranks are, for formats that know no nodes: they fill nodes in order.
struct PlacementOptions {
  Rank ranks_per_node = 0;  ///< 0: not said. Else rules are narrowed to jobs placed so, and hold for these only.
};

/// The rules of a rules file (docs/admin/rules.md), for a reader's library. Names are Algorithm::names_in, or the
/// library's own after "openmpi/" and the like. Throws Error(parse) as make_rules_policy does.
[[nodiscard]] Translated translate_rules(std::string_view json, const std::string& source, const Reader& reader,
                                         const PlacementOptions& placement = {});
/// Measured choices. A cell reaches from one size to the next as in rules_json, and to its own number of ranks. With
/// `all_ranks` a number of ranks reaches to the next, too. The outermost numbers reach to one rank and to all.
[[nodiscard]] Translated translate_cells(std::span<const RuleCell> cells, const RuleOperator& measured,
                                         const Reader& reader, bool all_ranks = false);

/// A grid of calls that a machine's model is asked about.
struct ModelGrid {
  std::vector<Collective> collectives{};  ///< empty: all
  std::vector<Rank> ranks{};              ///< of communicators, ascending
  std::vector<Count> bytes{};             ///< of the whole vector
  Rank ranks_per_node = 1;                ///< the most that a node has
  Operators operators = Operators::any;   ///< as ExportOptions::operators
};
/// The fastest algorithms that the library has, by a machine's model, at the points of a grid and around them.
[[nodiscard]] Translated translate_model(const Machine& machine, const ModelGrid& grid, const Reader& reader);

/// Reads a file as a library does. Text that the library does not understand is a warning, never an error here.
/// `source` names the file in messages.
[[nodiscard]] std::unique_ptr<const TuningFile> read(std::string_view text, const std::string& source,
                                                     const Reader& reader);

}  // namespace circoll::foreign
