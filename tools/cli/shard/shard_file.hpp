// The file of a shard's results, which a command that is started again goes on with.
#pragma once

#include <chrono>
#include <string>

#include "measured/shard.hpp"
#include "options/cli11.hpp"

namespace circoll::cli {

/// The options --shard and -o of a command that can be divided.
struct ShardOptions {
  std::string shard{};   ///< "2/8"; empty: all of it
  std::string output{};  ///< the file; empty: no shard is written

  [[nodiscard]] bool asked() const { return !shard.empty() || !output.empty(); }
  /// Throws Error(invalid_argument) if there is a shard and no file.
  [[nodiscard]] Shard parsed() const;
};
void add_shard_options(CLI::App& command, ShardOptions& options);

/// The results of a shard in a file that is written atomically, every few seconds and when all is done.
class ShardFile {
 public:
  /// Takes over what is in the file, if there is one. Throws Error if it is of other work, or of another shard: nothing
  /// is written over.
  ShardFile(std::string path, const ShardedWork& work, const Shard& shard);

  /// True if all of it was done before.
  [[nodiscard]] bool complete() const { return result_.done; }
  [[nodiscard]] bool has(std::int64_t item) const { return result_.parts.contains(item); }
  [[nodiscard]] std::size_t parts() const { return result_.parts.size(); }
  /// Adds the result of an item, as JSON.
  void add(std::int64_t item, const std::string& json);
  /// Adds a fact of where it ran. One that an earlier start has noted gets the new one behind it.
  void note(const std::string& name, const std::string& value);
  void save();
  /// Says that nothing is left to do.
  void finish();

 private:
  std::string path_{};
  ShardResult result_{};
  std::chrono::steady_clock::time_point saved_;
};

}  // namespace circoll::cli
