// All mutable state of the drop-in: the choices read from the environment, and what was served so far.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/select.hpp"
#include "circoll/types.hpp"
#include "exec/mpi/perform.hpp"
#include "interpose/event.hpp"
#include "interpose/progress.hpp"

namespace circoll::interpose {

/// One row of the report.
struct Row {
  Collective collective = Collective::barrier;
  std::string algorithm;  ///< "native" or a name
  std::string reason;     ///< of native
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
};

class State {
 public:
  /// The state, made at the first use after MPI_Init; nullptr while MPI is not initialised or is finalised.
  /// Reads the environment; on rank 0 of MPI_COMM_WORLD, warns about what it does not understand.
  [[nodiscard]] static State* get();
  /// The state if there is one already.
  [[nodiscard]] static State* known();

  /// Compares the configuration of all ranks of MPI_COMM_WORLD, which all call this, in MPI_Init. If it differs, one
  /// warning, and all calls are native from then on.
  void agree();

  [[nodiscard]] const mpi::Interned& choice(Collective collective) const {
    return *choices_[static_cast<std::size_t>(collective)];
  }
  [[nodiscard]] const ProgressSource& progress() const { return progress_; }
  [[nodiscard]] ProgressSource& progress() { return progress_; }
  /// Whether anybody wants events. If not, none should be made.
  [[nodiscard]] bool recording() const { return !report_.empty(); }
  /// Adds one call to report and trace. Thread-safe; allocates nothing for a call like an earlier one.
  void record(const Event& event);

 private:
  State();
  void read_choices();
  /// The policy of the environment; a wrong one is a warning and the policy "native".
  const Policy& read_policy();
  [[nodiscard]] const mpi::Interned* read_choice(Collective collective, const std::string& value);
  const Policy& keep(std::unique_ptr<const Policy> policy);
  void warn(const std::string& text) const;
  void register_report();
  void report();
  [[nodiscard]] std::string serialised() const;
  static int at_finalize(MPI_Comm comm, int keyval, void* value, void* extra);

  int world_rank_ = 0;
  ProgressSource progress_;
  PolicyOptions options_;
  std::vector<std::unique_ptr<const Policy>> policies_;  ///< what choices_ refer to
  std::array<const mpi::Interned*, all_collectives.size()> choices_{};
  std::string report_;  ///< "" none, "1" stderr, else a file name
  std::mutex mutex_;
  std::vector<Row> rows_;
  std::vector<const Algorithm*> row_algorithms_;  ///< of rows_, so that a repeated call compares no strings
};

/// Adds up the rows of all ranks, as State::serialised wrote them, and formats a table.
[[nodiscard]] std::string format_report(std::string_view serialised, int ranks);

}  // namespace circoll::interpose
