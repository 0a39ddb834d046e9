#include "interpose/event.hpp"

#include <atomic>

namespace circoll::interpose {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::blocking:
      return "blocking";
    case Mode::nonblocking:
      return "nonblocking";
    case Mode::persistent:
      return "persistent";
  }
  return {};
}

std::string name_of(const Selection* served) { return served == nullptr ? "native" : served->text(); }

int thread_number() {
  static std::atomic<int> next{0};
  thread_local const int number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace circoll::interpose
