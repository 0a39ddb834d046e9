// Every call of one rank, for CIRCOLL_TRACE: the trace-event format that Perfetto and Chrome open.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interpose/event.hpp"

namespace circoll::interpose {

class Trace {
 public:
  /// Events that a rank keeps: the memory is bounded, and the first ones stay.
  static constexpr std::size_t most_events = std::size_t{1} << 17U;

  explicit Trace(std::size_t limit = most_events) : limit_(limit) { events_.reserve(limit); }

  /// Adds a call, or counts it as dropped. Allocates for the first call of its collective, mode, communicator size,
  /// algorithm with parameters, and reason only. Not thread-safe.
  void add(const Event& event);
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }
  /// The beginning of the earliest call; a large number if there is none.
  [[nodiscard]] double begin_s() const;

  /// Writes the objects of the array traceEvents of one process, each after a comma. A call that blocks is a complete
  /// event of its thread. Any other one is a pair of asynchronous events, so that those which overlap are shown as
  /// such, and a complete event of its thread for the time inside the entry point. `microseconds` maps Event's times.
  void write(int process, const std::function<double(double)>& microseconds,
             const std::function<void(std::string_view)>& sink) const;

 private:
  /// Properties that calls have in common.
  struct CallKind {
    CalledCollective collective;
    Mode mode;
    Rank ranks;
    const Algorithm* algorithm;
    Params params;
    std::string name;  ///< of the algorithm, as the report has it
    std::string reason;
    [[nodiscard]] bool is_of(const Event& event) const;
  };
  struct Entry {
    double begin_s;
    double end_s;
    double inside_s;
    Count bytes;
    std::uint32_t kind;
    int thread;
  };
  [[nodiscard]] std::uint32_t kind_of(const Event& event);

  std::size_t limit_;
  std::int64_t dropped_ = 0;
  std::vector<Entry> events_;
  std::vector<CallKind> kinds_;
  std::unordered_multimap<std::size_t, std::uint32_t> index_;  // of kinds_, by hash
};

}  // namespace circoll::interpose
