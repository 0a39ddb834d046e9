// Helpers of the two parts of the module that play collectives: ranks of a subject, and Ctrl-C.
#pragma once

#include <optional>
#include <string>

#include "python/bindings.hpp"
#include "sim/sim.hpp"

namespace circoll::python {

/// The ranks that are played, and the name of what they do.
struct Simulated {
  std::string id;
  sim::Ranks ranks;
};

/// The ranks of a subject; an algorithm has the parameters that the cost model finds best. Called without the
/// interpreter's lock. Throws sim::Stopped on Ctrl-C.
[[nodiscard]] Simulated simulated_of(const Subject& subject, Rank p, Count bytes, Rank root, const Machine& machine,
                                     int jobs);

/// Runs what may throw sim::Stopped, without the interpreter's lock. Ctrl-C then becomes KeyboardInterrupt.
template <class Run>
void interruptible(Run&& run) {
  bool stopped = false;
  try {
    run();
  } catch (const sim::Stopped&) {
    stopped = true;
  }
  if (!stopped) return;
  const py::gil_scoped_acquire lock;
  throw py::error_already_set();
}

}  // namespace circoll::python
