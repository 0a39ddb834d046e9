// The file of CIRCOLL_LEARN: rules of what was learned, for the next run on such a machine. Knows no MPI.
#pragma once

#include <string>
#include <string_view>

#include "select/profile.hpp"
#include "wrappers/learn/learned_rows.hpp"

namespace circoll::interpose {

/// A rules file (docs/rules.md) of the rows that have settled, with the machine on which they were learned. Of rows
/// that rules cannot tell apart the first stands for all. What no rule can say is left out.
[[nodiscard]] std::string learned_text(const Learned& learned, const select::ProfileKey& machine);

/// The rows of such a file: keys and choices. Throws Error(parse), naming the line, on a file that is none.
struct LearnedFile {
  select::ProfileKey machine{};
  Learned learned{};
};
[[nodiscard]] LearnedFile read_learned(std::string_view text, const std::string& source);

/// Why what was learned on one machine is of no use on another one; empty if it is.
[[nodiscard]] std::string why_not_here(const select::ProfileKey& learned, const select::ProfileKey& here);

/// Adds rows to a file, in place of those about the same calls, while other processes may do so, too. Throws
/// Error(invalid_argument) if it cannot be written, or is there and is of another machine or no such file: it stays as
/// it is then.
void store_learned(const std::string& file, const Learned& learned, const select::ProfileKey& machine);

}  // namespace circoll::interpose
