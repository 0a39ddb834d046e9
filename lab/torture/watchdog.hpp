// Says what was going on when a run hangs or crashes.
#pragma once

#include <string>
#include <vector>

namespace circoll::torture {

/// Starts the watchdog: without progress for so many seconds the process prints where it is and exits with 3. Crashes
/// print the same.
void start_watchdog(int rank, double patience_s);
void stop_watchdog();

/// The case that begins: how to run it again, and the names of the steps of each thread.
void watch_case(const std::string& what, std::vector<std::vector<std::string>> steps);
/// A thread (0 or 1) begins a step, with so many requests open.
void watch_step(int lane, int step, int outstanding);
/// All threads are done, and the results of this operation are judged.
void watch_judging(int operation);

}  // namespace circoll::torture
