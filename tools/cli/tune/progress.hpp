// The progress of circoll tune --here, on a terminal and elsewhere.
#pragma once

#include <chrono>
#include <string>

namespace circoll::cli {

/// Says how far a long command is, and how long it will take, on standard error. On a terminal one line is written over
/// and over; elsewhere each step is a line.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The work is `units` long, and is taken to need `seconds`.
  void expect(std::size_t units, double seconds);
  /// The next step, in words.
  void step(const std::string& what);
  /// Units that are done, measured now.
  void advance(std::size_t units) { done_ += units; }
  /// Units that need not be done.
  void skip(std::size_t units) { left_out_ += units; }
  /// Writes the line anew.
  void show();
  /// Removes it.
  void clear();
  /// The seconds that are left.
  [[nodiscard]] double left_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  std::string what_{};
  std::size_t units_ = 0, done_ = 0, left_out_ = 0;
  double expected_s_ = 0;
  Clock::time_point begin_ = Clock::now();
};

/// "1 min 20 s".
[[nodiscard]] std::string readable_duration(double seconds);

}  // namespace circoll::cli
