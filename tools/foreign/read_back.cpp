// Reads files back that have just been written.
#include <algorithm>
#include <limits>

#include "circoll/collectives.hpp"
#include "foreign/formats.hpp"

namespace circoll::foreign {
namespace {

constexpr Rank most_ranks = std::numeric_limits<std::int32_t>::max();
constexpr Count most_bytes = Count{1} << 40;

void add_bounds(std::vector<std::int64_t>& values, const Range& range) {
  for (const std::int64_t bound : {range.from, range.to}) {
    values.push_back(bound);
    if (bound > 0) values.push_back(bound - 1);
    if (bound < std::numeric_limits<std::int64_t>::max()) values.push_back(bound + 1);
  }
}

void make_ascending(std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) {
  std::erase_if(values, [&](std::int64_t value) { return value < least || value > most; });
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Placements of p ranks: all on one node, one on each, and at the bounds of the rules.
std::vector<Call> placed(Collective collective, Rank p, std::span<const Rule> rules) {
  std::vector<std::int64_t> per_node{1, p};
  for (const Rule& rule : rules) {
    if (rule.collective == collective) add_bounds(per_node, rule.ranks_per_node);
    if (rule.collective == collective && rule.nodes.from > 1)
      per_node.push_back((p + rule.nodes.from - 1) / rule.nodes.from);
  }
  make_ascending(per_node, 1, p);
  std::vector<Call> calls;
  calls.reserve(per_node.size());
  for (const Rank c : per_node) {
    calls.push_back({.collective = collective, .ranks = p, .nodes = (p + c - 1) / c, .ranks_per_node = c});
  }
  return calls;
}

/// Calls at and just outside of the bounds of every rule, of operators that commute and that do not.
std::vector<Call> telling_calls(std::span<const Rule> rules) {
  std::vector<Call> calls;
  for (const Collective collective : all_collectives) {
    std::vector<std::int64_t> ranks;
    std::vector<std::int64_t> bytes{0};
    for (const Rule& rule : rules) {
      if (rule.collective != collective) continue;
      add_bounds(ranks, rule.ranks);
      add_bounds(bytes, rule.bytes);
    }
    if (ranks.empty()) continue;
    make_ascending(ranks, 2, most_ranks);
    make_ascending(bytes, 0, size_decides(collective) ? most_bytes : 0);
    for (const Rank p : ranks) {
      for (Call call : placed(collective, p, rules)) {
        for (const Count size : bytes) {
          // Vectors of blocks have a multiple of p; of several sizes around a bound one may be none.
          const auto whole = Amounts::of_vector(collective, p, size);
          call.bytes = Amounts::of_block(collective, p, whole.block_bytes()).vector_bytes();
          call.element_bytes = 1;
          call.commutative = true;
          calls.push_back(call);
          if (!is_reducing(collective)) continue;
          call.commutative = false;
          call.predefined_op = false;
          calls.push_back(call);
          call.predefined_op = true;
        }
      }
    }
  }
  return calls;
}

}  // namespace

const Rule* first_rule(std::span<const Rule> rules, const Call& call) {
  const auto holds = [&](const Rule& rule) {
    return rule.collective == call.collective && rule.ranks.holds(call.ranks) && rule.nodes.holds(call.nodes) &&
           rule.ranks_per_node.holds(call.ranks_per_node) && rule.bytes.holds(call.bytes) &&
           (rule.operators == Operators::any || !is_reducing(call.collective) ||
            (rule.operators == Operators::commutative) == call.commutative);
  };
  const auto found = std::ranges::find_if(rules, holds);
  return found == rules.end() ? nullptr : &*found;
}

std::string read_back_difference(const Written& written, const Reader& reader) {
  if (written.exported.files.empty()) return "no file was written";
  const auto file = format_of(reader.id).read(written.exported.files.front().text, "the file written", reader);
  if (file->rejected()) {
    return "the library would reject the file written" +
           (file->warnings().empty() ? "" : ": " + file->warnings().front().text);
  }
  for (const Call& call : telling_calls(written.said)) {
    const Rule* const rule = written.meant ? nullptr : first_rule(written.said, call);
    const std::string wanted = written.meant ? written.meant(call) : rule == nullptr ? "" : rule->algorithm;
    const std::string got = file->decide(call).algorithm;
    if (got == wanted) continue;
    const auto named = [](const std::string& name) {
      return name.empty() ? std::string("the library's choice") : name;
    };
    return "the file written gives " + std::string(to_string(call.collective)) + " on " + std::to_string(call.ranks) +
           " ranks with " + std::to_string(call.bytes) + " bytes " + named(got) + " instead of " + named(wanted);
  }
  return "";
}

}  // namespace circoll::foreign
