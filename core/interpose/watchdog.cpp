#include "interpose/watchdog.hpp"

#include <utility>

namespace circoll::interpose {

Watchdog::Watchdog(std::chrono::seconds patience, std::function<void()> bark)
    : thread_([this, patience, bark = std::move(bark)] {
        std::unique_lock lock(mutex_);
        if (!over_.wait_for(lock, patience, [this] { return is_over_; })) bark();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

}  // namespace circoll::interpose
