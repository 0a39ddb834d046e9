// The drop-in's event of one call, and the section of a wrapper: all that report and trace are made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/types.hpp"
#include "facts/call_mode.hpp"
#include "facts/called_collective.hpp"

namespace circoll::interpose {

using Mode = CallMode;

/// The algorithm with the parameters that it ran with, or "native". The choice "bcast" may give "pipeline:segments=8".
[[nodiscard]] inline std::string name_of(const Selection* served) {
  return served == nullptr ? "native" : served->text();
}

/// The same for a call. A sum whose operands travel is served by an algorithm of another collective (CIRCOLL_SUM).
/// That stands in front: "allgather/ring".
[[nodiscard]] inline std::string name_of(const CalledCollective& called, const Selection* served) {
  const bool moved = served != nullptr && is_reducing(called.collective) && !is_reducing(served->collective);
  return moved ? std::string(to_string(served->collective)) + "/" + served->text() : name_of(served);
}

/// A number of the calling thread, from 0 in the order of first use.
[[nodiscard]] inline int thread_number() {
  static std::atomic<int> next{0};
  thread_local const int number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

/// One call that has come to its end. Each start of a persistent request is one. Times are PMPI_Wtime's.
struct Event {
  CalledCollective collective{};
  Mode mode = Mode::blocking;
  Rank ranks = 0;                     ///< of the communicator (its local group); 0: not known
  const Selection* served = nullptr;  ///< nullptr: the native collective. Read during record() only
  std::string_view reason{};          ///< why native, or why this algorithm. Read during record() only
  Count bytes = 0;                    ///< packed: CallResult::bytes
  double begin_s = 0;                 ///< when the entry point was called; of a persistent request, MPI_Start
  double end_s = 0;                   ///< when the operation was complete
  double inside_s = 0;                ///< spent inside that entry point: end_s - begin_s if it blocks
  double own_s = 0;                   ///< of it our own work, outside of MPI and waiting; 0: not known
  int thread = -1;                    ///< thread_number() of the caller; -1: it is the thread that records
};

/// A section that a wrapper adds to the report.
struct ReportSection {
  std::string json;                ///< a value
  std::vector<std::string> lines;  ///< without "circoll: "
};

}  // namespace circoll::interpose
