// Calls that may take long: they let other threads of Python run, show their progress, and end on Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>

#include "circoll/verify.hpp"
#include "sim/sim.hpp"

namespace circoll::python {

/// The state of a long call, which its own thread writes and the calling thread reads.
class LongCall {
 public:
  /// Notes the part of the work that is done, from 0 to 1. Throws sim::Stopped once the call is to end.
  void at(double part) {
    part_.store(part, std::memory_order_relaxed);
    if (stopped()) throw sim::Stopped{};
  }
  /// True once the call is to end.
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// Throws sim::Stopped once the call is to end. Any thread may call it.
  void go_on() const {
    if (stopped()) throw sim::Stopped{};
  }
  /// The watch of a proof that is the part of the work between these two.
  [[nodiscard]] ProofWatch proof(double from, double to) {
    return [this, from, to](double part) { at(from + (to - from) * part); };
  }

 private:
  friend void run_long(const char* name, const pybind11::object* progress, const std::function<void(LongCall&)>& work);
  std::atomic<double> part_{0};
  std::atomic<bool> stopped_{false};
};

/// Runs `work` in a thread of its own, without the interpreter's lock, which the caller does not hold either. The
/// calling thread looks for signals meanwhile, twenty times a second, and shows the progress under a name. `progress`
/// is False, True for a line on the terminal, or a function of the part that is done. nullptr means False. Exceptions
/// of the function and of signal handlers end the work. They are thrown here, as those of the work are.
void run_long(const char* name, const pybind11::object* progress, const std::function<void(LongCall&)>& work);

}  // namespace circoll::python
