// Shards: every part of the work is in one shard, and only shards of the same work can be combined.
#include "measured/shard.hpp"

#include <gtest/gtest.h>

#include <random>

#include "circoll/error.hpp"

namespace circoll {
namespace {

TEST(Shard, IsWrittenAsItIsRead) {
  for (const char* text : {"1/1", "2/8", "8/8", "17/1000"}) EXPECT_EQ(to_string(parse_shard(text)), text);
  for (const char* text : {"", "1", "/", "1/", "/2", "0/2", "3/2", "-1/2", "1/2/3", "a/b", "1/2 ", "1/99999999999"}) {
    EXPECT_THROW((void)parse_shard(text), Error) << text;
  }
}

TEST(Shard, EveryCellAndItemBelongsToOne) {
  for (int of = 1; of <= 17; ++of) {
    for (const std::int64_t rows : {1, 2, 7, 64}) {
      for (const std::int64_t columns : {1, 3, 16, 17}) {
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t column = 0; column < columns; ++column) {
            int owners = 0;
            for (int i = 1; i <= of; ++i) owners += has_cell({i, of}, row, column) ? 1 : 0;
            ASSERT_EQ(owners, 1) << of << " " << row << " " << column;
          }
        }
      }
    }
    for (std::int64_t items = 0; items <= 70; ++items) {
      std::int64_t next = 0;
      for (int i = 1; i <= of; ++i) {
        const auto [first, last] = items_of({i, of}, items);
        ASSERT_EQ(first, next);
        ASSERT_GE(last - first, items / of);
        ASSERT_LE(last - first, items / of + 1);
        next = last;
      }
      ASSERT_EQ(next, items);
    }
  }
}

TEST(Shard, CellsOfARowAreSharedOut) {
  // There are as many columns as shards, or multiples. No shard gets one algorithm for all p.
  for (const int of : {2, 4, 8}) {
    for (int i = 1; i <= of; ++i) {
      int in_column = 0;
      int in_row = 0;
      for (int k = 0; k < of * 3; ++k) {
        in_column += has_cell({i, of}, k, 0) ? 1 : 0;
        in_row += has_cell({i, of}, 0, k) ? 1 : 0;
      }
      EXPECT_EQ(in_column, 3);
      EXPECT_EQ(in_row, 3);
    }
  }
}

ShardResult shard(int number, int of, std::vector<std::int64_t> items) {
  ShardResult result{.source = "shard" + std::to_string(number),
                     .work = {.command = "verify",
                              .arguments = {{"what", "all"}, {"ranks", "1..3"}},
                              .version = "1.0",
                              .seed = 7,
                              .items = 6},
                     .shard = {number, of},
                     .done = true,
                     .facts = {{"host", "a \"quoted\" name"}}};
  for (const std::int64_t item : items) result.parts[item] = R"({"item":)" + std::to_string(item) + "}";
  return result;
}

TEST(Shard, FilesAreReadAsTheyWereWritten) {
  const ShardResult before = shard(2, 3, {1, 4});
  const ShardResult after = shard_from_json(to_json(before), "file");
  EXPECT_TRUE(is_shard(to_json(before)));
  EXPECT_FALSE(is_shard("{}"));
  EXPECT_FALSE(is_shard("[1"));
  EXPECT_EQ(after.work, before.work);
  EXPECT_EQ(after.shard, before.shard);
  EXPECT_EQ(after.facts, before.facts);
  EXPECT_EQ(after.parts, before.parts);
  EXPECT_TRUE(after.done);
  EXPECT_EQ(to_json(after), to_json(before));
  EXPECT_EQ(shard_from_json(to_json(shard(1, 1, {})), "empty").parts.size(), 0U);
}

std::string refusal(const std::vector<ShardResult>& shards) {
  try {
    (void)combine_shards(shards);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Shard, AreCombinedIfNothingIsMissingOrTwice) {
  const std::vector<ShardResult> good{shard(3, 3, {2, 5}), shard(1, 3, {0, 3}), shard(2, 3, {1, 4})};
  const auto parts = combine_shards(good);
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts.at(4), R"({"item":4})");

  EXPECT_EQ(refusal({}), "there are no shards to combine");
  EXPECT_EQ(refusal({good[0], good[1]}), "shard 2/3 is missing");
  EXPECT_EQ(refusal({good[0], good[1], good[2], good[1]}),
            "shard1 (shard 1/3) and shard1 (shard 1/3) overlap: both have item 0");
  auto changed = good;
  changed[2].parts[5] = "{}";
  EXPECT_NE(refusal(changed).find("overlap: both have item 5"), std::string::npos);
  changed = good;
  changed[2].parts.erase(4);
  EXPECT_EQ(refusal(changed), "item 4 of 6 is in no shard");
  changed = good;
  changed[1].done = false;
  EXPECT_EQ(refusal(changed), "shard1 is not done: run the same command again, which goes on where it stopped");
  changed = good;
  changed[1].shard.of = 4;
  EXPECT_NE(refusal(changed).find("shards of one division"), std::string::npos);
}

TEST(Shard, OfOtherWorkAreRefused) {
  const ShardResult one = shard(1, 2, {0, 1, 2});
  const auto with = [&](auto&& change) {
    ShardResult other = shard(2, 2, {3, 4, 5});
    change(other.work);
    return refusal({one, other});
  };
  EXPECT_EQ(with([](ShardedWork&) {}), "");
  EXPECT_NE(with([](ShardedWork& w) { w.version = "1.1"; }).find("the version is 1.0 in the one and 1.1"),
            std::string::npos);
  EXPECT_NE(with([](ShardedWork& w) { w.command = "tune"; }).find("the command is verify"), std::string::npos);
  EXPECT_NE(with([](ShardedWork& w) { w.seed = 8; }).find("the seed is 7"), std::string::npos);
  EXPECT_NE(with([](ShardedWork& w) { w.arguments[1].second = "1..4"; }).find("ranks is 1..3"), std::string::npos);
  EXPECT_NE(with([](ShardedWork& w) { w.arguments.emplace_back("root", "all"); }).find("root is nothing"),
            std::string::npos);
  EXPECT_NE(with([](ShardedWork& w) { w.items = 7; }).find("the number of items"), std::string::npos);
}

TEST(Shard, DamagedFilesAreRefusedOrRead) {
  const std::string good = to_json(shard(2, 3, {1, 4}));
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(random() % 256);
        break;
      case 2:
        text.erase(at, 1 + random() % 8);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 16));
        break;
    }
    (void)is_shard(text);
    try {
      const ShardResult read = shard_from_json(text, "damaged");
      EXPECT_EQ(to_json(shard_from_json(to_json(read), "again")), to_json(read));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace circoll
