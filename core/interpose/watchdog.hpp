// A watchdog says something if what it watches takes too long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace circoll::interpose {

/// Calls a function on a thread of its own after some time, unless it is destroyed before.
class Watchdog {
 public:
  Watchdog(std::chrono::seconds patience, std::function<void()> bark);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace circoll::interpose
