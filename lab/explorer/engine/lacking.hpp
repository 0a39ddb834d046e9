// The parts of C++20 that Emscripten 3.1's standard library lacks, included before every file of the engine.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <version>

#if defined(__EMSCRIPTEN__) && !defined(__cpp_lib_ranges)
namespace std::ranges {

template <typename A, typename B>
constexpr bool equal(const A& a, const B& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <typename A, typename F>
constexpr bool all_of(const A& a, F f) {
  return std::all_of(std::begin(a), std::end(a), f);
}
template <typename A, typename F>
constexpr bool any_of(const A& a, F f) {
  return std::any_of(std::begin(a), std::end(a), f);
}
template <typename A, typename F>
constexpr bool none_of(const A& a, F f) {
  return std::none_of(std::begin(a), std::end(a), f);
}
template <typename A>
constexpr auto max_element(const A& a) {
  return std::max_element(std::begin(a), std::end(a));
}
template <typename A, typename T>
constexpr auto find(const A& a, const T& value) {
  return std::find(std::begin(a), std::end(a), value);
}
template <typename A, typename T, typename Key>
constexpr auto find(const A& a, const T& value, Key key) {
  return std::find_if(std::begin(a), std::end(a), [&](const auto& x) { return std::invoke(key, x) == value; });
}
template <typename A, typename F>
constexpr auto find_if(const A& a, F f) {
  return std::find_if(std::begin(a), std::end(a), f);
}
template <typename A, typename Less>
void stable_sort(A& a, Less less) {
  std::stable_sort(std::begin(a), std::end(a), less);
}
template <typename A, typename Key>
void stable_sort(A& a, std::ranges::less less, Key key) {
  std::stable_sort(std::begin(a), std::end(a),
                   [&](const auto& x, const auto& y) { return less(std::invoke(key, x), std::invoke(key, y)); });
}
template <typename A, typename Key>
void sort(A& a, std::ranges::less less, Key key) {
  std::sort(std::begin(a), std::end(a),
            [&](const auto& x, const auto& y) { return less(std::invoke(key, x), std::invoke(key, y)); });
}

}  // namespace std::ranges

namespace std {

template <typename To, typename From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// Reads a number as from_chars does: no blanks before it, no sign "+".
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  if (first == last || *first == ' ' || *first == '+') return {first, errc::invalid_argument};
  const string text(first, last);
  char* end = nullptr;
  const double read = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  value = read;
  return {first + (end - text.c_str()), errc{}};
}

/// There are no threads here: the work is done where the thread would be started.
class jthread {
 public:
  template <typename F, typename... Args>
  explicit jthread(F&& f, Args&&... args) {
    std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  }
};

}  // namespace std
#endif
