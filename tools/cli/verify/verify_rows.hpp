// The outcome of circoll verify, from one run or from the shards of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "circoll/verify.hpp"
#include "commands.hpp"
#include "shard/shard_file.hpp"

namespace circoll::cli {

/// One algorithm: what was proven, or why not.
// NOLINTNEXTLINE(bugprone-exception-escape): values of nlohmann's are moved without exceptions
struct VerifyRow {
  std::string id{};
  std::int64_t instances = 0;
  std::int64_t by_rotation = 0;  ///< of which by the execution of one rank
  double seconds = 0;
  nlohmann::ordered_json refutation = nullptr;  ///< of the smallest p that fails
  std::string line{};                           ///< the refutation as a line

  [[nodiscard]] bool refuted() const { return !refutation.is_null(); }
  /// False if the algorithm's needs left nothing to verify.
  [[nodiscard]] bool applies() const { return instances > 0 || refuted(); }
};

[[nodiscard]] VerifyRow row_of(const RangeVerdict& verdict);

/// Prints the rows, and sets the exit code. Throws Error(invalid_argument) if nothing was verified, or nothing of an
/// algorithm that was `named`.
void print_rows(const std::vector<VerifyRow>& rows, const std::set<std::string>& named, bool json, Context& context);

/// Verifies the cells of algorithm and p that are a shard's, into its file. An algorithm that is refuted is verified
/// for larger p all the same: other shards do not know of it. `work` is completed with the number of cells.
void verify_shard(const std::vector<Selection>& selections, const VerifyRange& range, ShardedWork work,
                  const ShardOptions& options);

/// The rows of all shards. Throws Error as combine_shards does.
[[nodiscard]] std::vector<VerifyRow> combined_rows(const std::vector<ShardResult>& shards);
/// The algorithms that the shards' command has named.
[[nodiscard]] std::set<std::string> named_in(const ShardedWork& work);

}  // namespace circoll::cli
