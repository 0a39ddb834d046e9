// A small set-associative cache: few places for each hash, the oldest of which is overwritten.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace circoll {

/// Entries have `used()`, false for one that is made by default, and `hash()`, of which the high bits are good.
///
/// There is no set until the first entry comes, one set until that is full, and 2^bits sets from then on. One place for
/// each hash would not do: of ten entries that take turns two would most likely have the same.
template <typename Entry, std::size_t places, int bits>
class SetCache {
 public:
  /// The entry of this hash that meets a condition, or nullptr.
  template <typename Condition>
  [[nodiscard]] Entry* find(std::uint64_t hash, const Condition& condition) {
    if (sets_.empty()) return nullptr;
    for (Entry& entry : set_of(hash).entries) {
      if (entry.used() && condition(entry)) return &entry;
    }
    return nullptr;
  }
  /// Puts an entry in place of the one that came first to its set. Throws std::bad_alloc and has done nothing then.
  void add(Entry entry) {
    if (sets_.empty()) sets_.resize(1);
    if (sets_.size() == 1 && sets_[0].is_full()) spread();
    Set& set = set_of(entry.hash());
    set.add(std::move(entry));
  }
  void clear() noexcept { sets_ = std::vector<Set>(); }

 private:
  struct Set {
    std::array<Entry, places> entries{};
    std::size_t oldest = 0;

    [[nodiscard]] bool is_full() const { return entries[oldest].used(); }
    void add(Entry entry) {
      entries[oldest] = std::move(entry);
      oldest = (oldest + 1) % places;
    }
  };

  /// From one set to all of them.
  void spread() {
    std::vector<Set> all(std::size_t{1} << bits);
    all.swap(sets_);
    for (Entry& entry : all[0].entries) {
      Set& set = set_of(entry.hash());
      set.add(std::move(entry));
    }
  }
  [[nodiscard]] Set& set_of(std::uint64_t hash) {
    return sets_[static_cast<std::size_t>(hash >> (64 - bits)) & (sets_.size() - 1)];
  }

  std::vector<Set> sets_{};  ///< none, one, or all
};

}  // namespace circoll
