// A small reader of GOAL, and the time of what it reads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "circoll/types.hpp"

namespace circoll {

/// An item of a rank in GOAL.
struct Item {
  std::string what;  ///< "send", "recv", "calc"
  Count amount = 0;  ///< bytes, or time
  Rank peer = -1;
  std::int64_t tag = 0;
  std::vector<std::string> requires_{};
};
using RankItems = std::map<std::string, Item>;

/// Reads the part of the grammar that the writer uses; fails the test for anything else.
inline std::vector<RankItems> read_goal(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  std::size_t p = 0;
  in >> word >> p;
  EXPECT_EQ(word, "num_ranks");
  std::vector<RankItems> ranks;
  std::size_t number = 0;
  while (in >> word >> number) {
    EXPECT_EQ(word, "rank");
    EXPECT_EQ(number, ranks.size());
    in >> word;
    EXPECT_EQ(word, "{");
    RankItems items;
    while (in >> word && word != "}") {
      if (word.back() == ':') {
        word.pop_back();
        EXPECT_FALSE(items.contains(word)) << word;
        Item& item = items[word];
        in >> item.what >> item.amount;
        if (item.what == "calc") continue;
        std::string unit, direction, tag;
        in >> unit >> direction >> item.peer >> tag >> item.tag;
        EXPECT_EQ(unit, "b");
        EXPECT_EQ(direction, item.what == "send" ? "to" : "from");
        EXPECT_EQ(tag, "tag");
        EXPECT_GE(item.amount, 1);
      } else {
        std::string verb, before;
        in >> verb >> before;
        EXPECT_EQ(verb, "requires");
        EXPECT_TRUE(items.contains(word) && items.contains(before)) << word << " " << before;
        items[word].requires_.push_back(before);
      }
    }
    EXPECT_EQ(word, "}");
    ranks.push_back(std::move(items));
  }
  EXPECT_EQ(ranks.size(), p);
  return ranks;
}

/// The time of all items with latency L, G for each byte, and nothing else. An item runs once all required items have
/// run.
inline double time_of(const std::vector<RankItems>& ranks, double latency, double per_byte) {
  std::map<std::pair<std::size_t, std::string>, double> ended;
  std::map<std::tuple<Rank, Rank, std::int64_t>, double> arrived;
  std::size_t all = 0;
  for (const RankItems& items : ranks) all += items.size();
  double last = 0;
  for (bool moved = true; moved && ended.size() < all;) {
    moved = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const auto& [id, item] : ranks[r]) {
        if (ended.contains({r, id})) continue;
        double begin = 0;
        bool ready = true;
        for (const std::string& before : item.requires_) {
          const auto found = ended.find({r, before});
          ready = ready && found != ended.end();
          if (ready) begin = std::max(begin, found->second);
        }
        if (!ready) continue;
        const auto me = static_cast<Rank>(r);
        if (item.what == "send") {
          arrived[{me, item.peer, item.tag}] = begin + latency + per_byte * static_cast<double>(item.amount);
        } else if (item.what == "recv") {
          const auto message = arrived.find({item.peer, me, item.tag});
          if (message == arrived.end()) continue;
          begin = std::max(begin, message->second);
        } else {
          begin += static_cast<double>(item.amount);
        }
        ended[{r, id}] = begin;
        last = std::max(last, begin);
        moved = true;
      }
    }
  }
  EXPECT_EQ(ended.size(), all) << "items wait for one another";
  return last;
}

}  // namespace circoll
