// Facts of UCC's TL/UCP, and tokens of UCC_TL_UCP_TUNE.
#include "foreign/ucc.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "circoll/collectives.hpp"
#include "foreign/variables.hpp"

namespace circoll::foreign::ucc {
namespace {

using Name = std::string_view;

struct Names {
  Collective collective;
  Name name;
};
constexpr std::array names{Names{Collective::allreduce, "allreduce"},
                           Names{Collective::reduce, "reduce"},
                           Names{Collective::reduce_scatter_block, "reduce_scatter"},
                           Names{Collective::reduce_scatter, "reduce_scatterv"},
                           Names{Collective::allgather, "allgather"},
                           Names{Collective::allgatherv, "allgatherv"},
                           Names{Collective::gather, "gather"},
                           Names{Collective::gatherv, "gatherv"},
                           Names{Collective::scatter, "scatter"},
                           Names{Collective::scatterv, "scatterv"},
                           Names{Collective::bcast, "bcast"},
                           Names{Collective::barrier, "barrier"},
                           Names{Collective::alltoall, "alltoall"},
                           Names{Collective::alltoallv, "alltoallv"}};

constexpr Name allreduce[] = {"knomial", "sra_knomial", "dbt", "sliding_window", "ring"};
constexpr Name allgather[] = {"knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"};
constexpr Name allgatherv[] = {"ring", "knomial"};
constexpr Name bcast[] = {"knomial", "sag_knomial", "dbt"};
constexpr Name reduce[] = {"knomial", "dbt", "srg_knomial"};
constexpr Name reduce_scatter[] = {"ring", "knomial"};
constexpr Name reduce_scatterv[] = {"ring"};
constexpr Name alltoall[] = {"pairwise", "bruck", "onesided"};
constexpr Name alltoallv[] = {"pairwise", "hybrid", "onesided"};
constexpr Name knomial_only[] = {"knomial"};
constexpr Name linear_only[] = {"linear"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string lower(Name text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(), [](char c) { return lower(c); });
  return made;
}

std::optional<std::int64_t> digits_in(Name text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::vector<Range>> ranges_in(Name text, bool single) {
  std::vector<Range> ranges;
  for (const Name part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    if (dash == Name::npos && !single) return std::nullopt;
    const auto from = parse_size(part.substr(0, dash));
    const auto to = dash == Name::npos ? from : parse_size(part.substr(dash + 1));
    if (!from || !to || *from > *to) return std::nullopt;
    ranges.push_back({*from, *to});
  }
  return ranges;
}

/// Names of collectives, of MPI's and of UCC's own.
bool take_collectives(Name field, Token& token) {
  std::vector<Collective> found;
  for (const Name part : split(field, ',')) {
    const std::string name = lower(part);
    const auto collective = collective_of(name);
    if (!collective && name != "fanin" && name != "fanout") return false;
    if (collective) found.push_back(*collective);
  }
  token.collectives = std::move(found);
  token.all_collectives = false;
  return true;
}

bool take_memory(Name field, Token& token) {
  constexpr std::array memories{"host", "cuda", "cuda_managed", "rocm", "rocm_managed"};
  bool host = false;
  for (const Name part : split(field, ',')) {
    const std::string name = lower(part);
    if (std::find(memories.begin(), memories.end(), name) == memories.end()) return false;
    host = host || name == "host";
  }
  token.host = host;
  return true;
}

bool take_score(Name field, Token& token) {
  if (lower(field) == "inf") {
    token.score = std::numeric_limits<std::int32_t>::max();
    return true;
  }
  const auto score = digits_in(field);
  if (score) token.score = score;
  return score.has_value();
}

/// One field of a token, which the reader recognizes by its form; true if it is one.
bool take_field(Name field, Token& token) {
  if (field.starts_with('@')) {
    token.algorithm = std::string(field.substr(1));
    return !token.algorithm.empty();
  }
  if (field.starts_with('[') && field.ends_with(']') && field.size() > 2) {
    const auto teams = ranges_in(field.substr(1, field.size() - 2), true);
    if (teams) token.teams = *teams;
    return teams.has_value();
  }
  if (take_collectives(field, token) || take_memory(field, token) || take_score(field, token)) return true;
  const auto bytes = ranges_in(field, false);
  if (bytes) token.bytes = *bytes;
  return bytes.has_value();
}

}  // namespace

Name name_of(Collective collective) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const Names& one) { return one.collective == collective; });
  return found == names.end() ? Name{} : found->name;
}

std::optional<Collective> collective_of(Name name) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const Names& one) { return one.name == name; });
  return found == names.end() ? std::nullopt : std::optional(found->collective);
}

std::span<const Name> algorithms_in(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return allreduce;
    case Collective::reduce:
      return reduce;
    case Collective::reduce_scatter_block:
      return reduce_scatter;
    case Collective::reduce_scatter:
      return reduce_scatterv;
    case Collective::allgather:
      return allgather;
    case Collective::allgatherv:
      return allgatherv;
    case Collective::bcast:
      return bcast;
    case Collective::alltoall:
      return alltoall;
    case Collective::alltoallv:
      return alltoallv;
    case Collective::barrier:
    case Collective::gather:
    case Collective::scatter:
      return knomial_only;
    case Collective::gatherv:
    case Collective::scatterv:
      return linear_only;
    case Collective::scan:
    case Collective::exscan:
      break;
  }
  return {};
}

Name radix_variable(Collective collective, Name algorithm) {
  if (collective == Collective::allreduce && algorithm == "knomial") return "ALLREDUCE_KN_RADIX";
  if (collective == Collective::allreduce && algorithm == "sra_knomial") return "ALLREDUCE_SRA_KN_RADIX";
  if (collective == Collective::bcast && algorithm == "knomial") return "BCAST_KN_RADIX";
  if (collective == Collective::bcast && algorithm == "sag_knomial") return "BCAST_SAG_KN_RADIX";
  if (collective == Collective::reduce && algorithm == "knomial") return "REDUCE_KN_RADIX";
  if (collective == Collective::reduce && algorithm == "srg_knomial") return "REDUCE_SRG_KN_RADIX";
  if (collective == Collective::reduce_scatter_block && algorithm == "knomial") return "REDUCE_SCATTER_KN_RADIX";
  if (collective == Collective::allgather && algorithm == "knomial") return "ALLGATHER_KN_RADIX";
  if (collective == Collective::barrier) return "BARRIER_KN_RADIX";
  if (collective == Collective::gather) return "GATHER_KN_RADIX";
  if (collective == Collective::scatter) return "SCATTER_KN_RADIX";
  return {};
}

bool sizes_tell(Collective collective) {
  return size_decides(collective) && collective != Collective::gather && collective != Collective::scatter;
}

bool counts_blocks(Collective collective) { return collective == Collective::reduce_scatter_block; }

Count counted_bytes(const Call& call) {
  if (!size_decides(call.collective)) return 0;
  const auto amounts = Amounts::of_vector(call.collective, call.ranks, call.bytes);
  return counts_blocks(call.collective) ? amounts.block_bytes() : amounts.vector_bytes();
}

std::optional<Count> parse_size(Name text) {
  if (lower(text) == "inf") return unbounded;
  Count unit = 1;
  if (!text.empty() && (text.back() == 'b' || text.back() == 'B')) text.remove_suffix(1);
  if (!text.empty()) {
    constexpr Name units = "kmgt";
    const std::size_t at = units.find(lower(text.back()));
    if (at != Name::npos) {
      unit = Count{1} << (10 * (at + 1));
      text.remove_suffix(1);
    }
  }
  const auto value = digits_in(text);
  if (!value || *value > unbounded / unit) return std::nullopt;
  return *value * unit;
}

Name named(Collective collective, Name algorithm) {
  const auto known = algorithms_in(collective);
  if (const auto number = digits_in(algorithm)) {
    return *number < static_cast<std::int64_t>(known.size()) ? known[static_cast<std::size_t>(*number)] : Name{};
  }
  const auto found = std::find(known.begin(), known.end(), algorithm);
  return found == known.end() ? Name{} : *found;
}

std::optional<Token> parse_token(Name text, std::string& why) {
  Token token{.text = std::string(text)};
  for (const Name field : split(text, ':')) {
    if (take_field(field, token)) continue;
    why = quoted(field) + " of " + quoted(text) +
          " is no collective, range of sizes, memory, [team sizes], score or @algorithm";
    if (lower(field) == "cpu") why += "; the memory of the host is called host";
    return std::nullopt;
  }
  if (!token.score && token.algorithm.empty()) {
    why = quoted(text) + " has neither a score nor an algorithm";
    return std::nullopt;
  }
  if (!token.algorithm.empty() && token.all_collectives) {
    why = quoted(text) + " names an algorithm and no collective";
    return std::nullopt;
  }
  for (const Collective collective : token.collectives) {
    if (!token.algorithm.empty() && named(collective, token.algorithm).empty()) {
      why = std::string(name_of(collective)) + " has no algorithm " + quoted(token.algorithm);
      return std::nullopt;
    }
  }
  return token;
}

}  // namespace circoll::foreign::ucc

namespace circoll::foreign {

std::vector<std::string_view> ucc_names(Collective collective, const Reader& /*reader*/) {
  const auto known = ucc::algorithms_in(collective);
  return {known.begin(), known.end()};
}

}  // namespace circoll::foreign
