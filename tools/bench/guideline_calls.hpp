// The calls of one side of a guideline, and its local work.
#pragma once

#include <string>
#include <vector>

#include "cell.hpp"
#include "measured/guidelines.hpp"

namespace circoll::bench {

/// Memory that all sides of one size share. A call takes its data where the one before has left them.
struct GuidelineMemory {
  /// For vectors of at least `wanted` bytes.
  GuidelineMemory(const Options& options, Count wanted);

  Count elements = 1;  ///< of one rank's block: at least one, the bytes rounded up
  Count extent = 1;    ///< bytes of an element
  int rank = 0, size = 1;
  Count bytes = 0;                ///< m: of all p blocks
  std::vector<char> stages[3]{};  ///< before the first call, after it, after the second
};

class GuidelineCalls {
 public:
  /// Refers to `memory`. `algorithm` serves all calls.
  GuidelineCalls(const Options& options, GuidelineMemory& memory, const GuidelineSide& side,
                 const std::string& algorithm);
  GuidelineCalls(const GuidelineCalls&) = delete;
  GuidelineCalls& operator=(const GuidelineCalls&) = delete;
  GuidelineCalls(GuidelineCalls&&) = default;
  GuidelineCalls& operator=(GuidelineCalls&&) = delete;
  ~GuidelineCalls() = default;

  /// The algorithm of the calls; all have the same.
  [[nodiscard]] const Runner& runner() const { return calls_.front().runner; }
  /// Makes the calls.
  void run() const;
  /// The same, and says what served them: "recursive_doubling+binomial".
  [[nodiscard]] std::string served() const;

 private:
  struct One {
    mpi::Call call{};
    Runner runner{};
    std::vector<Count> counts{}, displs{};  ///< what the call's arrays refer to
  };
  void add(const Options& options, const GuidelineCall& what, std::size_t index, const std::string& algorithm);
  void work_locally() const;

  GuidelineMemory* memory_;
  Local local_;
  mpi::Call reduction_{};
  std::vector<One> calls_{};
};

}  // namespace circoll::bench
