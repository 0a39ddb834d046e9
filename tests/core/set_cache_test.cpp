// The small set-associative cache behind the memory of calls.
#include "facts/set_cache.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace circoll {
namespace {

struct Entry {
  std::unique_ptr<int> value{};  // entries may be such that cannot be copied
  std::uint64_t key = 0;

  [[nodiscard]] bool used() const { return value != nullptr; }
  [[nodiscard]] std::uint64_t hash() const { return key * 0x9e3779b97f4a7c15ULL; }
};
Entry entry(std::uint64_t key, int value) { return {std::make_unique<int>(value), key}; }

using Cache = SetCache<Entry, 3, 2>;

std::optional<int> value_of(Cache& cache, std::uint64_t key) {
  const Entry* const found = cache.find(entry(key, 0).hash(), [&](const Entry& one) { return one.key == key; });
  return found == nullptr ? std::nullopt : std::optional(*found->value);
}

TEST(SetCache, IsEmptyAtFirstAndWhenCleared) {
  Cache cache;
  EXPECT_EQ(value_of(cache, 1), std::nullopt);
  cache.add(entry(1, 10));
  EXPECT_EQ(value_of(cache, 1), 10);
  cache.clear();
  EXPECT_EQ(value_of(cache, 1), std::nullopt);
}

TEST(SetCache, KeepsTheFirstEntriesWhenItSpreads) {
  Cache cache;
  for (std::uint64_t key = 1; key <= 4; ++key) cache.add(entry(key, static_cast<int>(key)));
  int kept = 0;
  for (std::uint64_t key = 1; key <= 4; ++key) kept += value_of(cache, key) == static_cast<int>(key) ? 1 : 0;
  EXPECT_EQ(kept, 4) << "four hashes of this kind do not all meet in one set of three";
}

TEST(SetCache, OverwritesTheOldestOfASet) {
  Cache cache;
  for (std::uint64_t key = 1; key <= 100; ++key) cache.add(entry(key, static_cast<int>(key)));
  int kept = 0;
  for (std::uint64_t key = 1; key <= 100; ++key) kept += value_of(cache, key).has_value() ? 1 : 0;
  EXPECT_EQ(kept, 3 * 4) << "all places of all sets";
  // The last three of each set are there: the last one of all for certain.
  EXPECT_EQ(value_of(cache, 100), 100);
  EXPECT_EQ(value_of(cache, 1), std::nullopt);
}

TEST(SetCache, FindsWhatMeetsTheCondition) {
  Cache cache;
  cache.add(entry(7, 1));
  cache.add(entry(7, 2));
  const Entry* const second = cache.find(entry(7, 0).hash(), [](const Entry& one) { return *one.value == 2; });
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second->value, 2);
}

}  // namespace
}  // namespace circoll
