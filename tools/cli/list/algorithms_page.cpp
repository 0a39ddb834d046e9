// docs/algorithms.md, made from the registry.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "circoll/collectives.hpp"
#include "circoll/select.hpp"
#include "facts/text.hpp"
#include "list/list.hpp"

namespace circoll::cli {
namespace {

constexpr std::string_view algorithms_introduction = R"(# Algorithms

Written by `circoll list --page algorithms`. {}

**When** says for which sizes and p an algorithm is the one to take: by its declared cost on the default machine, or
measured ([experiments](experiments/README.md)). Sizes are those of the whole vector. "Never by cost" means that the
model takes another algorithm for every call; a test compares that, too. **Peers** are the names of the same algorithm
in Open MPI, MPICH and UCC ([peers.md](peers.md)). Costs as formulas are in [costs.md](costs.md), symbols in
[notation](lab/notation.md), and `circoll list COLLECTIVE/ALGORITHM` prints everything that an algorithm declares.

| collective | circulant | other families |
|---|---|---|
)";

constexpr std::string_view choices_introduction = R"(
## What the model chooses

On the default machine, for ranks that share no nodes, and sums of float64 where there is an operator; "from" is the
least power of two of bytes at which the choice changes. `circoll explain` shows any other call.

| collective | p | choice |
|---|--:|---|
)";

constexpr std::array<Rank, 10> chosen_sizes{2, 3, 5, 8, 11, 16, 36, 64, 100, 1000};
constexpr Count fewest_chosen_bytes = 8;
constexpr Count most_chosen_bytes = Count{64} << 20;

/// Collectives that the same algorithms serve: "allgather, allgatherv".
std::string names_of(const Algorithm& algorithm) {
  std::vector<std::string_view> names;
  for (const Collective c : algorithm.collectives) names.push_back(to_string(c));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The collectives whose directory the registry has, in its order; algorithms of one directory serve
/// the same collectives.
std::vector<Collective> directories() {
  std::vector<Collective> found;
  for (const Algorithm* a : all_algorithms()) {
    if (found.empty() || found.back() != a->collectives.front()) found.push_back(a->collectives.front());
  }
  return found;
}

std::vector<const Algorithm*> algorithms_in(Collective directory) {
  std::vector<const Algorithm*> found;
  for (const Algorithm* a : all_algorithms()) {
    if (a->collectives.front() == directory) found.push_back(a);
  }
  return found;
}

std::string names_in_family(Collective directory, bool circulant) {
  std::vector<std::string_view> names;
  for (const Algorithm* a : algorithms_in(directory)) {
    if ((a->family == Family::circulant) == circulant) names.push_back(a->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Names in other libraries, as "Open MPI: linear (allgather), default (allgatherv); MPICH: brucks".
std::string peers_of(const Algorithm& algorithm) {
  std::vector<std::string> libraries;
  for (const Library library : all_libraries) {
    std::vector<std::string> names;
    for (const Peer& peer : algorithm.peers) {
      if (peer.library != library) continue;
      std::vector<std::string_view> where;
      for (const Collective c : peer.collectives) where.push_back(to_string(c));
      names.push_back(where.empty() ? std::string(peer.name)
                                    : fmt::format("{} ({} only)", peer.name, fmt::join(where, ", ")));
    }
    if (!names.empty()) libraries.push_back(fmt::format("{}: {}", title_of(library), fmt::join(names, ", ")));
  }
  return libraries.empty() ? "-" : fmt::format("{}", fmt::join(libraries, "; "));
}

std::string section(Collective directory) {
  const std::vector<const Algorithm*> algorithms = algorithms_in(directory);
  std::string text =
      fmt::format("\n## {}\n\n| algorithm | family | when | needs | peers | source |\n|---|---|---|---|---|---|\n",
                  names_of(*algorithms.front()));
  for (const Algorithm* a : algorithms) {
    const auto needs = needs_in_words(*a);
    text += fmt::format("| [{0}](../core/algorithms/{1}/{0}.cpp) | {2} | {3} | {4} | {5} | {6} |\n", a->name,
                        to_string(directory), to_string(a->family), a->when,
                        needs.empty() ? "-" : fmt::format("{}", fmt::join(needs, ", ")), peers_of(*a), a->source);
  }
  return text;
}

/// "recursive_doubling, from 4 KiB circulant_optimal"
std::string choices(Collective collective, Rank p) {
  std::string text;
  std::string_view before;
  for (Count bytes = fewest_chosen_bytes; bytes <= most_chosen_bytes; bytes *= 2) {
    const Decision decision = default_policy().decide(facts_of(collective, p, bytes, Op::sum, Type::float64));
    const std::string_view now = decision.selection ? decision.selection->algorithm->name : "native";
    if (now == before) continue;
    text += text.empty() ? std::string(now) : fmt::format(", from {} {}", readable_bytes(bytes), now);
    before = now;
    if (!size_decides(collective)) break;
  }
  return text;
}

/// A row for each run of shown sizes with the same choice.
std::string rows_of_choices(Collective collective) {
  std::string text;
  std::vector<Rank> sizes;
  std::string same;
  const auto end_row = [&] {
    if (!sizes.empty()) text += fmt::format("| {} | {} | {} |\n", to_string(collective), fmt::join(sizes, ", "), same);
    sizes.clear();
  };
  for (const Rank p : chosen_sizes) {
    std::string now = choices(collective, p);
    if (now != same) end_row();
    same = std::move(now);
    sizes.push_back(p);
  }
  end_row();
  return text;
}

/// The number of algorithms, as a sentence. README.md has it too.
std::string numbers_of_algorithms() {
  const auto& all = all_algorithms();
  const auto circulant = std::ranges::count_if(all, [](const Algorithm* a) { return a->family == Family::circulant; });
  const auto served = std::ranges::count_if(all_collectives, [](Collective c) { return !algorithms_of(c).empty(); });
  return fmt::format("{} algorithms, {} of them on circulant graphs, serve {} collectives.", all.size(), circulant,
                     served);
}

}  // namespace

std::string_view title_of(Library library) {
  switch (library) {
    case Library::openmpi:
      return "Open MPI";
    case Library::mpich:
      return "MPICH";
    case Library::ucc:
      return "UCC";
  }
  return {};
}

std::vector<std::string> needs_in_words(const Algorithm& algorithm, bool articles) {
  std::vector<std::string> words;
  const Needs& needs = algorithm.needs;
  if (needs.commutative) words.emplace_back(articles ? "a commutative operator" : "commutative operator");
  if (needs.idempotent) words.emplace_back(articles ? "an idempotent operator" : "idempotent operator");
  if (needs.power_of_two) words.emplace_back("p a power of two");
  if (needs.even_size) words.emplace_back("p even");
  if (needs.min_size > 1) words.push_back(fmt::format("p >= {}", needs.min_size));
  return words;
}

std::string algorithms_page() {
  std::string text = fmt::format(algorithms_introduction, numbers_of_algorithms());
  for (const Collective c : directories()) {
    text += fmt::format("| {} | {} | {} |\n", names_of(*algorithms_in(c).front()), names_in_family(c, true),
                        names_in_family(c, false));
  }
  for (const Collective c : directories()) text += section(c);
  text += choices_introduction;
  for (const Collective c : directories()) text += rows_of_choices(c);
  return text;
}

}  // namespace circoll::cli
