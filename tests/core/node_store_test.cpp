// Blocks of a segment's memory are disjoint, come back, and are never outside.
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "exec/node/board.hpp"
#include "gtest/gtest.h"

namespace circoll::node {
namespace {

struct alignas(64) CacheLine {
  std::array<std::byte, 64> bytes{};
};

std::span<std::byte> bytes_of(std::vector<CacheLine>& lines) {
  return {reinterpret_cast<std::byte*>(lines.data()), lines.size() * sizeof(CacheLine)};
}

TEST(Store, IsUsedToTheEndAndAgain) {
  std::vector<CacheLine> lines(8);
  Store store(bytes_of(lines));
  const std::size_t first = store.take(64), second = store.take(65), third = store.take(64);
  EXPECT_EQ(first, 64U);  // a line in front of every block
  EXPECT_EQ(second, 192U);
  EXPECT_EQ(third, 384U);
  EXPECT_EQ(store.take(1), 0U);  // of 7 lines 2, 3 and 2 are taken, one more has no room for its head and a byte
  store.give_back(second);
  EXPECT_EQ(store.take(1), 0U);  // the oldest are used again first
  store.give_back(first);
  EXPECT_EQ(store.take(200), 64U);  // 5 lines, at the beginning
  EXPECT_EQ(store.take(1), 0U);
}

TEST(Store, GivesNothingOutside) {
  std::vector<CacheLine> lines(4);
  Store store(bytes_of(lines));
  EXPECT_EQ(store.take(4 * 64), 0U);
  EXPECT_EQ(store.take(~std::size_t{0}), 0U);
  EXPECT_EQ(store.take(3 * 64), 64U);
  EXPECT_TRUE(Store().data(64, 0).empty());
  EXPECT_EQ(Store().take(1), 0U);
  EXPECT_EQ(store.data(64, 192).size(), 192U);
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{65}, std::uint64_t{320}, ~std::uint64_t{63}}) {
    EXPECT_TRUE(store.data(offset, 64).empty()) << offset;
  }
  EXPECT_TRUE(store.data(64, 193).empty());
  EXPECT_TRUE(store.data(64, ~std::uint64_t{0}).empty());
}

TEST(Store, KeepsBlocksApartWhateverTheOrder) {
  std::mt19937_64 random(7);
  std::vector<CacheLine> lines(300);
  Store store(bytes_of(lines));
  struct Held {
    std::size_t offset, bytes;
    std::byte mark;
  };
  std::vector<Held> held;
  int refused = 0, taken = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (held.empty() || random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % 3000;
      const std::size_t offset = store.take(bytes);
      if (offset == 0) {
        ++refused;
      } else {
        ++taken;
        const auto mark = static_cast<std::byte>(random());
        const auto data = store.data(offset, bytes);
        ASSERT_EQ(data.size(), bytes);
        std::memset(data.data(), static_cast<int>(mark), bytes);
        held.push_back({offset, bytes, mark});
      }
    } else {
      const std::size_t which = random() % held.size();
      for (const std::byte b : store.data(held[which].offset, held[which].bytes)) ASSERT_EQ(b, held[which].mark);
      store.give_back(held[which].offset);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace circoll::node
