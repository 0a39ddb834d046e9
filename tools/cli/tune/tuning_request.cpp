// The cells that circoll tune --here measures.
#include "here.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "circoll/collectives.hpp"
#include "circoll/select.hpp"

namespace circoll::cli {
namespace {

/// Algorithms that are measured in a cell beside native.
constexpr std::size_t most_candidates = 4;
/// An algorithm that the model takes for so much slower is not measured.
constexpr double hopeless = 3;
/// Vectors of all ranks together in a cell.
constexpr Count most_cell_bytes = Count{4} << 20;

constexpr std::array<Count, 7> sizes{8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20};
constexpr std::array<Count, 3> quick_sizes{64, 4 << 10, 256 << 10};
constexpr std::array quick_collectives{Collective::allreduce, Collective::bcast,   Collective::allgather,
                                       Collective::alltoall,  Collective::barrier, Collective::reduce_scatter_block};

std::vector<Collective> collectives(bool quick) {
  if (quick) return {quick_collectives.begin(), quick_collectives.end()};
  return {all_collectives.begin(), all_collectives.end()};
}

/// The vectors of a collective, in bytes. Where ranks have blocks, the sizes are the blocks'.
std::vector<Count> vectors(Collective collective, const AskOptions& options) {
  if (collective == Collective::barrier) return {0};
  std::vector<Count> wanted(sizes.begin(), sizes.end());
  if (options.quick) wanted.assign(quick_sizes.begin(), quick_sizes.end());
  std::vector<Count> all;
  for (const Count size : wanted) {
    const Count vector = Amounts::of_block(collective, options.ranks, size).vector_bytes();
    if (all.empty() || vector <= most_cell_bytes) all.push_back(vector);
  }
  return all;
}

/// The cell of a vector. Of candidates that the model takes for equally fast, which are often one and the same, it
/// prefers the first, and so do we.
measured::AskedChoice cell_of(Collective collective, Count vector, const AskOptions& options) {
  CallFacts facts = facts_of(collective, options.ranks, vector, tuned_operator.op, tuned_operator.type);
  facts.cores = options.ranks;
  facts.nodes = 1;
  facts.crowded = options.crowded;
  const Decision decision = make_policy("model")->decide(facts);
  measured::AskedChoice cell{.collective = collective, .p = options.ranks, .bytes = vector};
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(cell.candidates, name) == cell.candidates.end()) cell.candidates.push_back(name);
  };
  if (options.today != nullptr) {
    const Decision today = options.today->decide(facts);
    add(today.selection ? today.selection->text() : "native");
  }
  double before = 0;
  std::size_t of_model = 0;
  for (const Candidate& candidate : decision.candidates) {
    if (of_model >= most_candidates || candidate.seconds > hopeless * decision.candidates.front().seconds) break;
    if (of_model > 0 && candidate.seconds < before * (1 + 1e-6)) continue;
    if (of_model++ == 0) cell.model = candidate.selection.text();
    add(candidate.selection.text());
    before = candidate.seconds;
  }
  add("native");
  return cell;
}

Count decisive_bytes(const measured::AskedChoice& cell) {
  return Amounts::of_vector(cell.collective, cell.p, cell.bytes).deciding_bytes();
}

}  // namespace

std::vector<measured::AskedChoice> asked_cells(const AskOptions& options) {
  std::vector<measured::AskedChoice> cells;
  for (const Collective collective : collectives(options.quick)) {
    for (const Count vector : vectors(collective, options)) {
      cells.push_back(cell_of(collective, vector, options));
    }
  }
  return cells;
}

std::vector<measured::AskedChoice> cells_to_check(const std::vector<measured::AskedChoice>& asked,
                                                  const std::vector<measured::Chosen>& chosen) {
  std::vector<measured::AskedChoice> cells;
  for (const measured::AskedChoice& cell : asked) {
    for (const measured::Chosen& one : chosen) {
      if (one.collective != cell.collective || one.bytes != decisive_bytes(cell)) continue;
      measured::AskedChoice check = cell;
      check.candidates = {one.base};
      for (const std::string& name : {one.use, std::string("native")}) {
        if (std::ranges::find(check.candidates, name) == check.candidates.end()) {
          check.candidates.push_back(name);
        }
      }
      cells.push_back(std::move(check));
    }
  }
  return cells;
}

std::string cells_json(std::vector<measured::AskedChoice> cells, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = cells.size(); i > 1; --i) std::swap(cells[i - 1], cells[random() % i]);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const measured::AskedChoice& cell : cells) {
    list.push_back({{"collective", to_string(cell.collective)},
                    {"bytes", Amounts::of_vector(cell.collective, cell.p, cell.bytes).measured_bytes()},
                    {"algorithms", cell.candidates}});
  }
  return nlohmann::ordered_json{{"circoll_cells", 1}, {"cells", list}}.dump(1) + "\n";
}

std::size_t series_in(const std::vector<measured::AskedChoice>& cells) {
  std::size_t series = 0;
  for (const measured::AskedChoice& cell : cells) series += cell.candidates.size();
  return series;
}

}  // namespace circoll::cli
