#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace circoll::cli {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() { clear(); }

void Progress::expect(std::size_t units, double seconds) {
  units_ = units;
  expected_s_ = seconds;
  done_ = left_out_ = 0;
  begin_ = Clock::now();
}

void Progress::step(const std::string& what) {
  what_ = what;
  if (terminal_) return show();
  fmt::print(stderr, "{}; about {} left\n", what_, readable_duration(left_s()));
}

double Progress::left_s() const {
  const std::size_t all = units_ - std::min(units_, left_out_);
  if (all == 0) return 0;
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(all));
  const double guess_s = expected_s_ * static_cast<double>(all) / static_cast<double>(units_);
  if (done_ == 0) return std::max(0.0, guess_s - elapsed_s);
  // What was expected counts less and less.
  const double trust = std::min(1.0, 4 * share);
  return (1 - share) * (trust * elapsed_s / share + (1 - trust) * guess_s);
}

void Progress::show() {
  if (!terminal_) return;
  const std::size_t all = std::max<std::size_t>(units_, 1);
  const std::size_t percent = std::min<std::size_t>(100, (done_ + left_out_) * 100 / all);
  fmt::print(stderr, "\r\033[K{}, {} %, about {} left", what_, percent, readable_duration(left_s()));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string readable_duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} min", (whole + 30) / 60);
}

}  // namespace circoll::cli
