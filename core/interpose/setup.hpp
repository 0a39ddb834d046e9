// Parts of the begin and the end of MPI, and the sentences that users get there.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exec/mpi/comm/stalls.hpp"
#include "interpose/report_setting.hpp"

namespace circoll::interpose {

/// Ends the process with a sentence if its MPI is another one than this drop-in's. `caller` is an address in the code
/// that calls MPI_Init.
void stop_if_wrong(const void* caller) noexcept;

/// Ends what the drop-in has made for sessions, if at most `left` sessions of the program are open. Call it where
/// MPI_Init was not called, or in MPI_Finalize. Collective over the processes for which it was made. They wait for one
/// another if there is a report.
void end_sessions_if(int left) noexcept;

/// Calls a function on a thread of its own after some time, unless it is destroyed before.
class Watchdog {
 public:
  Watchdog(std::chrono::seconds patience, std::function<void()> bark)
      : thread_([this, patience, bark = std::move(bark)] {
          std::unique_lock lock(mutex_);
          if (!over_.wait_for(lock, patience, [this] { return is_over_; })) bark();
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

/// Prints that a function of MPI waits for other ranks, when some seconds have passed. Destroying it before prevents
/// that. nullptr if no thread can be started. `function` is a literal.
[[nodiscard]] std::unique_ptr<Watchdog> watch(int rank, const char* function);

/// Says which ranks run without the drop-in, if there are any, and what follows. `reports`: there would be a report.
void say_absent(const std::vector<int>& absent, int size, bool reports);

/// Writes a message to stderr, and leaves time for it to be read. Launchers may lose what a process writes just before
/// it aborts.
inline void say_and_wait(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

/// Says on stderr that a wait was ended because the calls of the ranks do not match (exec/mpi/comm/stalls.hpp).
void say_stalled(const mpi::Stalled& stalled) noexcept;

}  // namespace circoll::interpose
