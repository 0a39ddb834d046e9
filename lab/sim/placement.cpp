// Placements of ranks on nodes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "circoll/error.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"
#include "select/text_file.hpp"
#include "sim/text.hpp"
#include "sim/topology.hpp"

namespace circoll::sim {
namespace {

void check_room(Rank p, Rank cores, Rank nodes) {
  require(p >= 1 && cores >= 1 && nodes >= 1, "there is at least one rank, one node, and one rank on a node");
  if (nodes_needed(p, cores) <= nodes) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("p = {} with {} {} on a node needs {} nodes, and the network has {}", p, cores,
                          cores == 1 ? "rank" : "ranks", nodes_needed(p, cores), nodes));
}

/// A number below `end`, all of them equally likely.
std::uint64_t below(std::uint64_t end, SplitMix& random) {
  const std::uint64_t rest = (0 - end) % end;  // 2^64 mod end: so many numbers would be drawn once too often
  std::uint64_t bits = random.next();
  while (bits < rest) bits = random.next();
  return bits % end;
}

/// The first p of all places, shuffled.
std::vector<Node> random_nodes(Rank p, Rank cores, Rank nodes, std::uint64_t seed) {
  const Rank places = nodes * std::min(cores, p);
  if (places > Rank{1} << 28U)
    throw Error(ErrorCode::invalid_argument, "ranks are placed at random on at most 2^28 places of all nodes together");
  std::vector<std::uint32_t> place(static_cast<std::size_t>(places));
  std::iota(place.begin(), place.end(), 0U);
  SplitMix random(seed);
  for (std::size_t r = 0; r < static_cast<std::size_t>(p); ++r)
    std::swap(place[r], place[r + below(place.size() - r, random)]);
  place.resize(static_cast<std::size_t>(p));
  for (std::uint32_t& one : place) one /= static_cast<std::uint32_t>(std::min(cores, p));
  return place;
}

}  // namespace

Placement parse_placement(std::string_view text) {
  if (text == "consecutive") return {};
  if (text == "round_robin") return {.kind = Placement::Kind::round_robin};
  if (text.starts_with("file:") && text.size() > 5)
    return {.kind = Placement::Kind::file, .file = std::string(text.substr(5))};
  if (text.starts_with("random:")) {
    if (const auto seed = parse_number(text.substr(7)))
      return {.kind = Placement::Kind::random, .seed = static_cast<std::uint64_t>(*seed)};
  }
  throw Error(ErrorCode::parse,
              excerpt(text) + " is no placement: consecutive, round_robin, random:SEED (a number) or file:NAME");
}

std::vector<Node> nodes_from_text(std::string_view text, Rank p, Rank cores, Rank nodes, const std::string& source) {
  check_room(p, cores, nodes);
  std::vector<Node> all;
  std::vector<Rank> ranks_on(static_cast<std::size_t>(nodes), 0);
  LinesOfRanks lines(text, p, source, "nodes");
  while (const auto item = lines.next()) {
    std::uint64_t node = 0;
    const auto [rest, error] = std::from_chars(item->data(), item->data() + item->size(), node);
    if (error != std::errc{} || rest != item->data() + item->size() || node >= static_cast<std::uint64_t>(nodes))
      lines.fail(fmt::format("{} is no node; nodes are 0 .. {}", excerpt(*item), nodes - 1));
    lines.count();
    if (++ranks_on[node] > cores)
      lines.fail(fmt::format("node {} has more than {} {}", node, cores, cores == 1 ? "rank" : "ranks"));
    all.push_back(static_cast<Node>(node));
  }
  lines.finish();
  return all;
}

std::vector<Node> place(const Placement& placement, Rank p, Rank cores, Rank nodes) {
  check_room(p, cores, nodes);
  if (placement.kind == Placement::Kind::file)
    return nodes_from_text(select::read_text_file(placement.file), p, cores, nodes, placement.file);
  if (placement.kind == Placement::Kind::random) return random_nodes(p, cores, nodes, placement.seed);
  const Rank used = nodes_needed(p, cores);
  std::vector<Node> all(static_cast<std::size_t>(p));
  for (Rank r = 0; r < p; ++r)
    all[static_cast<std::size_t>(r)] =
        static_cast<Node>(placement.kind == Placement::Kind::consecutive ? r / cores : r % used);
  return all;
}

}  // namespace circoll::sim
