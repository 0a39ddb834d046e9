// A thread that ends a process without progress, and handlers of crashes. Both print where the process is.
#include "watchdog.hpp"

#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

namespace circoll::torture {
namespace {

/// State that the threads of the case write. The watchdog and signal handlers read it when nothing moves any more.
struct Watch {
  std::atomic<unsigned long> progress{0};
  std::string what;
  std::vector<std::vector<std::string>> steps;
  struct Lane {
    std::atomic<int> step{-1}, outstanding{0};
  };
  std::array<Lane, 2> lanes;
  std::atomic<int> judging{-1};
  int rank = 0;

  std::mutex mutex;
  std::condition_variable stopped;
  bool stop = false;
  std::thread thread;
};

Watch& watch() {
  static auto* const one = new Watch;
  return *one;
}

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, crashes.size()> previous_handlers;

void print_state(const char* reason) {
  const Watch& w = watch();
  std::array<char, 4096> text{};
  std::size_t used = 0;
  const auto add = [&](const char* format, auto... values) {
    const int length = std::snprintf(text.data() + used, text.size() - used, format, values...);
    used = std::min(used + static_cast<std::size_t>(std::max(length, 0)), text.size() - 1);
  };
  add("circoll-torture: rank %d: %s in %s\n", w.rank, reason, w.what.c_str());
  if (w.judging >= 0) add("  judging operation %d\n", w.judging.load());
  for (std::size_t lane = 0; lane < w.steps.size() && lane < w.lanes.size() && w.judging < 0; ++lane) {
    const auto step = static_cast<std::size_t>(std::max(w.lanes[lane].step.load(), 0));
    const char* const name = step < w.steps[lane].size() ? w.steps[lane][step].c_str() : "after the last step";
    add("  thread %zu, %d requests open, step %zu: %s\n", lane, w.lanes[lane].outstanding.load(), step, name);
  }
  if (::write(STDERR_FILENO, text.data(), used) < 0) return;
}

/// A signal handler may not call snprintf, but the process is lost anyway.
void on_crash(int signal) {
  print_state("crash");
  const auto* const at = std::find(crashes.begin(), crashes.end(), signal);
  ::sigaction(signal, &previous_handlers[static_cast<std::size_t>(at - crashes.begin())], nullptr);
  ::raise(signal);
}

void guard(double patience_s) {
  Watch& w = watch();
  using Clock = std::chrono::steady_clock;
  unsigned long last = w.progress;
  Clock::time_point since = Clock::now();
  std::unique_lock lock(w.mutex);
  while (!w.stopped.wait_for(lock, std::chrono::milliseconds(500), [&] { return w.stop; })) {
    const unsigned long now = w.progress;
    if (now != last) {
      last = now;
      since = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - since).count() > patience_s) {
      print_state("no progress");
      // The others get the time to say where they are.
      std::this_thread::sleep_for(std::chrono::seconds(2));
      ::_exit(3);
    }
  }
}

}  // namespace

void start_watchdog(int rank, double patience_s) {
  Watch& w = watch();
  w.rank = rank;
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = on_crash;
    ::sigaction(crashes[i], &action, &previous_handlers[i]);
  }
  w.thread = std::thread(guard, patience_s);
}

void stop_watchdog() {
  Watch& w = watch();
  {
    const std::lock_guard lock(w.mutex);
    w.stop = true;
  }
  w.stopped.notify_all();
  w.thread.join();
}

void watch_case(const std::string& what, std::vector<std::vector<std::string>> steps) {
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  w.what = what;
  w.steps = std::move(steps);
  w.judging = -1;
  for (Watch::Lane& lane : w.lanes) lane.step = -1;
  ++w.progress;
}

void watch_step(int lane, int step, int outstanding) {
  Watch& w = watch();
  w.lanes[static_cast<std::size_t>(lane)].step = step;
  w.lanes[static_cast<std::size_t>(lane)].outstanding = outstanding;
  ++w.progress;
}

void watch_judging(int operation) {
  watch().judging = operation;
  ++watch().progress;
}

}  // namespace circoll::torture
