// The classic rules file of Open MPI, taken apart as its reader does: numbers, and everything else is skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/openmpi.hpp"

namespace circoll::foreign::openmpi {

struct ClassicRule {
  std::int64_t from_bytes = 0;
  std::int64_t algorithm = 0;
  std::int64_t fanout = 0;
  std::int64_t segment_bytes = 0;
  std::size_t line = 0;
};
struct ClassicEntry {
  std::int64_t label = 0;  ///< the number that stands for a range of ranks
  std::size_t line = 0;
  std::vector<ClassicRule> rules{};
};
struct ClassicBlock {
  std::int64_t id = 0;
  std::size_t line = 0;
  std::vector<ClassicEntry> entries{};
};
struct ClassicFile {
  std::vector<ClassicBlock> blocks{};
  std::vector<Warning> warnings{};  ///< of what the reader skips or misreads in silence
  std::string error{};              ///< the reason why the file is rejected as a whole; empty if it is not
  std::size_t error_line = 0;
};

/// Never throws: what is wrong stands in the result.
[[nodiscard]] ClassicFile parse_classic(std::string_view text, Version version);

/// The entry that serves p ranks, and its rule for a size. They depend on the version. -1: none.
[[nodiscard]] std::ptrdiff_t entry_of(const ClassicBlock& block, Rank p, Version version);
[[nodiscard]] std::ptrdiff_t rule_of(const ClassicEntry& entry, Count bytes, Version version);

}  // namespace circoll::foreign::openmpi
