// Facts of UCC's TL/UCP, and tokens of UCC_TL_UCP_TUNE.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/formats.hpp"

namespace circoll::foreign::ucc {

/// The name of a collective; empty if UCC has none (scan, exscan).
[[nodiscard]] std::string_view name_of(Collective collective);
[[nodiscard]] std::optional<Collective> collective_of(std::string_view name);
/// The names of TL/UCP's algorithms for a collective. A number in a token is a place in this list, from 0 on.
[[nodiscard]] std::span<const std::string_view> algorithms_in(Collective collective);
/// The variable with the radix of an algorithm, as "ALLREDUCE_SRA_KN_RADIX"; empty if it has none.
[[nodiscard]] std::string_view radix_variable(Collective collective, std::string_view algorithm);
/// True if tokens can tell sizes of calls apart, alike on all ranks, and if they count blocks.
[[nodiscard]] bool sizes_tell(Collective collective);
[[nodiscard]] bool counts_blocks(Collective collective);
[[nodiscard]] Count counted_bytes(const Call& call);

/// A token that has been read: a rule for host memory, or for another.
struct Token {
  std::vector<Collective> collectives{};  ///< empty: all, or only such as are not MPI's
  bool all_collectives = true;
  std::vector<Range> bytes{};  ///< empty: all
  std::vector<Range> teams{};  ///< empty: all
  bool host = true;            ///< it is for memory of the host
  std::optional<std::int64_t> score{};
  std::string algorithm{};  ///< as written
  std::string text{};
};

/// The token, or nothing with the reason why UCC refuses it, and with it the whole string.
[[nodiscard]] std::optional<Token> parse_token(std::string_view text, std::string& why);
/// "4k" as UCC reads it: K, M, G and T are powers of 1024, and "inf" is the largest number.
[[nodiscard]] std::optional<Count> parse_size(std::string_view text);
/// The name of the algorithm that a token names for a collective; empty if there is none.
[[nodiscard]] std::string_view named(Collective collective, std::string_view algorithm);

}  // namespace circoll::foreign::ucc
