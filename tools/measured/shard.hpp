// Shards are parts of a long command's work, done one by one and put together in the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace circoll {

/// One of several shards, numbered from 1.
struct Shard {
  int number = 1;  ///< 1 <= number <= of
  int of = 1;      ///< how many there are

  friend bool operator==(const Shard&, const Shard&) = default;
};
/// Reads "2/8". Throws Error(invalid_argument) saying what is wrong.
[[nodiscard]] Shard parse_shard(std::string_view text);
[[nodiscard]] std::string to_string(const Shard& shard);  ///< "2/8"

/// True if a cell of a table is the shard's. Rows and columns are dealt out in turns, so that each shard has about as
/// many cells of each row, and of each column. Every cell belongs to one shard.
[[nodiscard]] bool has_cell(const Shard& shard, std::int64_t row, std::int64_t column);
/// The items of a list that are the shard's: from the first one up to, not including, the second. They follow one
/// another, and shards differ by one item at most. Every item belongs to one shard.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> items_of(const Shard& shard, std::int64_t items);

/// The work that shards are parts of. Shards go together only if it is equal in all of them.
struct ShardedWork {
  std::string command{};                                         ///< of circoll: "verify"
  std::vector<std::pair<std::string, std::string>> arguments{};  ///< all that the results depend on
  std::string version{};                                         ///< of Circoll
  std::uint64_t seed = 0;                                        ///< of the order of the work
  std::int64_t items = 0;                                        ///< of all shards together

  /// The value of an argument; `otherwise` if there is none of this name.
  [[nodiscard]] std::string argument(std::string_view name, std::string_view otherwise = {}) const;

  friend bool operator==(const ShardedWork&, const ShardedWork&) = default;
};

/// The results of one shard, some or all of them.
struct ShardResult {
  std::string source{};                         ///< its file
  ShardedWork work{};                           ///< what was cut into shards
  Shard shard{};                                ///< which one it is
  bool done = false;                            ///< nothing of it is left to do
  std::map<std::string, std::string> facts{};   ///< of where and when it ran: may differ
  std::map<std::int64_t, std::string> parts{};  ///< an item's result, as JSON, by the item's number from 0
};

/// Writes and reads {"circoll_shard": 1, "command": ..., "arguments": {...}, "version": ..., "seed": ..., "items": ...,
/// "shard": 2, "of": 8, "done": true, "facts": {...}, "parts": [[0, {...}], ...]}. Reading throws Error(parse).
[[nodiscard]] std::string to_json(const ShardResult& result);
[[nodiscard]] ShardResult shard_from_json(std::string_view json, const std::string& source);
/// True if a text that is JSON is such a result.
[[nodiscard]] bool is_shard(std::string_view json);

/// Throws Error(invalid_argument) that names the difference unless two works are equal.
void require_same_work(const ShardedWork& one, const std::string& one_source, const ShardedWork& other,
                       const std::string& other_source);

/// The parts of all shards, by item. Throws Error(invalid_argument) if the shards are not of one work, one is not done,
/// two have the same item, or an item is missing.
[[nodiscard]] std::map<std::int64_t, std::string> combine_shards(const std::vector<ShardResult>& shards);

}  // namespace circoll
