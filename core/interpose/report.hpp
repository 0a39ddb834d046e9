// The report at MPI_Finalize: the ledgers of all ranks, as text for a person and as JSON for a program.
//
// Predicted times of the model stand beside measured ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/select.hpp"
#include "interpose/event.hpp"

namespace circoll::interpose {

/// The time that the MPI library itself would be predicted to take for a call.
struct NativeEstimate {
  std::string algorithm;
  double seconds = 0;
};

/// Estimates are for a predefined operator, and a communicator on the given machine.
class Estimator {
 public:
  /// `library` runs the program. For Open MPI the fixed decision for allreduce is known (the policy openmpi_fixed).
  /// With `memory`, all messages of Circoll go through the memory of one node, and those of the library go as the
  /// machine says. With `crowded`, the ranks are more than their processors.
  Estimator(const Machine& machine, Library library, bool memory, bool crowded);

  /// The algorithm of the MPI library's own decision, where Circoll has that decision. Otherwise it is the one of least
  /// predicted time of all that the library has (Algorithm::peers). So it flatters the library. `bytes` as in Event.
  /// Nothing if no such algorithm serves p ranks.
  [[nodiscard]] std::optional<NativeEstimate> native(Collective collective, Rank p, Count bytes);
  /// The predicted seconds of an algorithm by name and parameters; nothing if it does not exist for p ranks.
  [[nodiscard]] std::optional<double> served(Collective collective, Rank p, Count bytes,
                                             const std::string& algorithm) const;

 private:
  [[nodiscard]] std::optional<NativeEstimate> estimate(Collective collective, Rank p, Count vector_bytes) const;

  PolicyOptions options_;
  std::vector<MachineForLength> machines_;  ///< of what Circoll serves
  Library library_;
  std::unique_ptr<const Policy> model_;
  std::unique_ptr<const Policy> fixed_;  ///< nullptr: not known
  std::map<std::tuple<Collective, Rank, Count>, std::optional<NativeEstimate>> known_;
};

/// True if ranks of one call may have blocks of different sizes, in different size classes.
[[nodiscard]] bool differs_by_rank(const CalledCollective& called);

/// A report's facts about the run.
struct RunFacts {
  std::string program{};  ///< its name (facts/program_name.hpp)
  int ranks = 1;          ///< of MPI_COMM_WORLD
  std::string mpi;        ///< the MPI library and its version
  Library library = Library::mpich;
  Machine machine{};       ///< of the predicted times
  std::string profile{};   ///< the file that "auto" goes by, or why there is none; empty: nobody asked
  std::string topology{};  ///< what is known of the machine above the nodes; empty: nobody asked
  std::string network{};   ///< its numbers and where they come from, or why there are none; empty: nobody asked
  std::string devices{};   ///< why calls may have memory of devices; empty: they have none
  /// The ways of messages between ranks of one node. Only ranks that have others on their node count.
  struct Node {
    int ranks = 0;
    int by_memory = 0;      ///< reach all of them by memory
    int read_directly = 0;  ///< and read them
    bool all = false;       ///< every rank reaches every other one by memory
    bool crowded = false;   ///< the ranks of some node have fewer processors than they are
    std::string reason;     ///< why the others do not reach them
    std::string reading_reason;
  } node{};
  std::vector<double> program_s{};         ///< seconds from MPI_Init to MPI_Finalize, of each rank
  std::optional<ReportSection> learned{};  ///< of all ranks, if anything was to be learned
};

/// Adds up ledgers. docs/user/reports.md describes what comes out.
class Report {
 public:
  /// A row of the text, and the widths of its columns.
  using Cells = std::array<std::string, 8>;
  using Widths = std::array<std::size_t, std::tuple_size_v<Cells>>;

  explicit Report(RunFacts facts) : facts_(std::move(facts)) {}

  /// Adds one rank's Ledger::serialised(). Throws nlohmann::json::exception if it is none.
  void add_rank(std::string_view serialised);
  /// At most 100 columns, but for reasons and long names. Rows that took below 1 % of the time in collectives are only
  /// counted.
  [[nodiscard]] std::string text() const;
  /// All rows, with a line for each value.
  [[nodiscard]] std::string json() const;
  /// The same on one line, without a line break at its end.
  [[nodiscard]] std::string json_line() const;
  /// The number of served calls, and the share of the program's time that collectives took.
  [[nodiscard]] std::string one_line() const;
  /// The run in sentences, at the end of the text. They say where the time was spent, and what to do next.
  [[nodiscard]] std::vector<std::string> summary() const;

 private:
  /// Own time, summed up over the ranks that have measured it.
  struct Own {
    int ranks = 0;
    double sum_s = 0, max_s = 0;            // per rank
    double sum_call_s = 0, max_call_s = 0;  // per rank and call
    void add(double seconds, std::int64_t calls);
  };
  struct Sum {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    std::int64_t most_calls = 0;  // of a rank
    double seconds = 0;           // the most of a rank, as the next
    double inside_s = 0;
    double all_seconds = 0;  // of all ranks together, as the next
    double all_inside_s = 0;
    double least_s = 0;  // of the shortest call; the least and the most of the ranks
    double most_least_s = 0;
    /// Takes in one rank's sum.
    void join(const Sum& one);
  };
  struct SizeClass {
    Sum sum;
    std::string algorithm;
    std::string why;
  };
  struct Row {
    Sum sum;
    Own own;
    std::map<int, SizeClass> classes;
  };
  struct Predicted {
    std::optional<double> seconds;
    std::optional<NativeEstimate> native;
  };
  /// Communicator size, mode, collective, algorithm, why native.
  using Key = std::tuple<Rank, Mode, CalledCollective, std::string, std::string>;

  [[nodiscard]] Predicted predict(Estimator& estimator, const Key& key, const Sum& sum,
                                  const std::string& algorithm) const;
  [[nodiscard]] Predicted predict(Estimator& estimator, const Key& key, const Row& row) const;
  [[nodiscard]] Cells cells_of(Estimator& estimator, const Key& key, const Row& row) const;
  /// The lines below a row of the text: its sizes, and the reason of its choice.
  static void add_sizes_to(std::string& text, const Row& row);
  /// True for rows of which the text shows only the number.
  [[nodiscard]] bool is_small(const Row& row) const;
  [[nodiscard]] std::string json_with(int indent) const;
  /// The mean over all ranks of a sum over them.
  [[nodiscard]] double mean_of(double all) const { return all / std::max(1, facts_.ranks); }
  /// The ways of messages inside nodes, in a sentence.
  [[nodiscard]] std::string inside_nodes() const;

  RunFacts facts_;
  std::map<Key, Row> rows_;
  Own own_;
  double all_inside_s_ = 0;   ///< in the entry points of collectives, of all ranks together
  double most_inside_s_ = 0;  ///< of the rank where it is most
};

}  // namespace circoll::interpose
