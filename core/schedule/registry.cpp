// Finding algorithms, with their needs and promises.
#include <algorithm>
#include <array>

#include "circoll/algorithm.hpp"
#include "schedule/registry.hpp"

namespace circoll {
namespace {

CriticalPath path_of(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  if (algorithm.path != nullptr) return algorithm.path(shape);
  const std::int64_t segments = param_value(algorithm, shape.params, "segments").value_or(1);
  const CollectiveContract contract = contract_of(collective, {.size = shape.size, .root = shape.root}, segments);
  const Block user_blocks = is_exchange(collective) ? shape.size : contract.user_blocks;
  const Cost cost = algorithm.cost(shape);
  return {.blocks = user_blocks * segments, .volume = cost.sent, .combined = cost.reduced};
}

}  // namespace

Algorithm of_file(Collective directory, std::string_view name, Algorithm described) {
  described.name = name;
  if (described.collectives.empty()) described.collectives = {directory};
  return described;
}

bool Algorithm::serves(Collective collective) const {
  return std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
}

const ParamDeclaration* Algorithm::param(std::string_view name) const {
  const auto found =
      std::find_if(params.begin(), params.end(), [&](const ParamDeclaration& d) { return d.name == name; });
  return found == params.end() ? nullptr : &*found;
}

std::vector<std::string_view> Algorithm::names_in(Library library, Collective collective) const {
  std::vector<std::string_view> names;
  for (const Peer& peer : peers) {
    const auto& at = peer.collectives.empty() ? collectives : peer.collectives;
    if (peer.library == library && std::find(at.begin(), at.end(), collective) != at.end()) names.push_back(peer.name);
  }
  return names;
}

std::string_view to_string(Family family) {
  static constexpr std::array<std::string_view, 10> names{
      "undeclared", "circulant", "recursive doubling", "dissemination", "ring", "tree",
      "chain",      "linear",    "pairwise",           "hierarchical"};
  return names[static_cast<std::size_t>(family)];
}

std::string Algorithm::id(Collective collective) const {
  return std::string(to_string(collective)) + "/" + std::string(name);
}

Shape without_window(const Shape& shape) {
  Shape plain = shape;
  plain.params.erase(std::string(window.name));
  return plain;
}

Selection without_window(Selection selection) {
  selection.params.erase(std::string(window.name));
  return selection;
}

std::optional<std::int64_t> param_value(const Algorithm& algorithm, const Params& given, std::string_view name) {
  const ParamDeclaration* const declared = algorithm.param(name);
  if (declared == nullptr) return std::nullopt;
  const auto value = given.find(name);
  return value == given.end() ? declared->fallback : value->second;
}

Cost cost_of(const Algorithm& algorithm, const Shape& shape) {
  if (!shape.params.contains(window.name)) return algorithm.cost(shape);
  Cost cost = algorithm.cost(without_window(shape));
  cost.rounds *= 2;  // that of a message, and that of its answer
  return cost;
}

CriticalPath critical_path(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  if (shape.params.contains(window.name)) {
    CriticalPath path = path_of(algorithm, collective, without_window(shape));
    path.one_way *= 2;
    return path;
  }
  CriticalPath path = path_of(algorithm, collective, shape);
  if (algorithm.levels != nullptr) path.levels = algorithm.levels(shape);
  return path;
}

const std::vector<const Algorithm*>& all_algorithms() { return algorithms::entries(); }

std::vector<const Algorithm*> algorithms_of(Collective collective) {
  std::vector<const Algorithm*> result;
  for (const Algorithm* a : all_algorithms()) {
    if (a->serves(collective)) result.push_back(a);
  }
  return result;
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* a : all_algorithms()) {
    if (a->name == name && a->serves(collective)) return a;
  }
  return nullptr;
}

namespace {

std::string unmet(const Needs& needs, Rank size, const OperatorTraits& op) {
  if (needs.commutative && !op.commutative) return "needs a commutative operator";
  if (needs.idempotent && !op.idempotent) return "needs an idempotent operator (min, max, land, lor, band, bor)";
  if (needs.power_of_two && (size & (size - 1)) != 0) return "needs a power of two of ranks";
  if (needs.even_size && size % 2 != 0) return "needs an even number of ranks";
  if (needs.only_size != 0 && size != needs.only_size) return "is for " + std::to_string(needs.only_size) + " ranks";
  if (size < needs.min_size) return "needs at least " + std::to_string(needs.min_size) + " ranks";
  return {};
}

}  // namespace

std::string unmet_need(const Algorithm& algorithm, Rank size, const OperatorTraits& op) {
  return unmet(algorithm.needs, size, op);
}

std::string unmet_need(const Selection& selection, Rank size, const OperatorTraits& op) {
  return unmet(needs_of(*selection.algorithm, selection.collective, selection.params), size, op);
}

Needs needs_of(const Algorithm& algorithm, Collective collective, const Params& params) {
  Needs needs = algorithm.needs;
  if (params.contains(relabel.name) && is_reducing(collective)) needs.commutative = true;
  return needs;
}

Guarantees guarantees_of(const Algorithm& algorithm, const Params& params) {
  Guarantees guarantees = algorithm.guarantees;
  if (params.contains(relabel.name)) guarantees.rank_order = false;
  return guarantees;
}

}  // namespace circoll
