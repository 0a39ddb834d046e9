// Finding algorithms by id, reading parameters, building schedules.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/relabelling.hpp"
#include "core/text.hpp"
#include "schedule/registry_entries.hpp"

namespace circoll {

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
  switch (family) {
    case Family::undeclared:
      return "undeclared";
    case Family::circulant:
      return "circulant";
    case Family::recursive_doubling:
      return "recursive doubling";
    case Family::dissemination:
      return "dissemination";
    case Family::ring:
      return "ring";
    case Family::tree:
      return "tree";
    case Family::chain:
      return "chain";
    case Family::linear:
      return "linear";
    case Family::pairwise:
      return "pairwise";
    case Family::hierarchical:
      return "hierarchical";
  }
  return "undeclared";
}

std::string Algorithm::id(Collective collective) const {
  return std::string(to_string(collective)) + "/" + std::string(name);
}

CriticalPath critical_path(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  if (algorithm.path != nullptr) return algorithm.path(shape);
  std::int64_t segments = 1;
  for (const ParamDeclaration& p : algorithm.params) {
    if (p.name != "segments") continue;
    const auto given = shape.params.find(p.name);
    segments = given == shape.params.end() ? p.fallback : given->second;
  }
  const CollectiveContract contract = contract_of(collective, {.size = shape.size, .root = shape.root}, segments);
  const Block user_blocks = is_exchange(collective) ? shape.size : contract.user_blocks;
  const Cost cost = algorithm.cost(shape);
  return {.blocks = user_blocks * segments, .volume = cost.sent, .combined = cost.reduced};
}

std::string Selection::id() const { return algorithm == nullptr ? "" : algorithm->id(collective); }

std::string Selection::text() const {
  if (algorithm == nullptr) return {};
  std::string text(algorithm->name);
  char separator = ':';
  for (const auto& [name, value] : params) {
    text += separator + name + "=" + std::to_string(value);
    separator = ',';
  }
  return text;
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

/// The value of a parameter; that of "segment" is in bytes.
std::int64_t value_of(std::string_view key, std::string_view text) {
  const auto value = key == "segment" ? parse_bytes(text) : parse_number(text);
  if (!value) {
    throw Error(ErrorCode::parse, "'" + std::string(text) + "' is not a number (" + std::string(number_forms) + ")");
  }
  return *value;
}

/// The names of a collective's algorithms, each after a space.
std::string listed(Collective collective) {
  std::string names;
  for (const Algorithm* a : algorithms_of(collective)) names += " " + std::string(a->name);
  return names;
}

/// Of every algorithm: the number of ranks on a node.
constexpr ParamDeclaration relabel{.name = "relabel", .minimum = 1, .maximum = 1 << 20, .summary = "ranks on a node"};

void check_within(const Algorithm& algorithm, const ParamDeclaration& p, std::int64_t value) {
  if (value >= p.minimum && value <= p.maximum) return;
  throw Error(ErrorCode::invalid_argument, std::string(algorithm.name) + ": " + std::string(p.name) + "=" +
                                               std::to_string(value) + " is outside " + std::to_string(p.minimum) +
                                               " .. " + std::to_string(p.maximum));
}

void check_param(const Algorithm& algorithm, std::string_view key, std::int64_t value) {
  if (key == "segment" && algorithm.param("segments") != nullptr) {
    throw Error(ErrorCode::invalid_argument, std::string(algorithm.name) +
                                                 ": segment=BYTES needs the size of the vector; give segments=NUMBER, "
                                                 "or the size (--bytes)");
  }
  std::vector<std::string> names;
  for (const ParamDeclaration& p : algorithm.params) {
    if (p.name == key) return check_within(algorithm, p, value);
    names.emplace_back(p.name);
  }
  if (can_relabel(algorithm.collectives.front())) {
    if (key == relabel.name) return check_within(algorithm, relabel, value);
    names.emplace_back(relabel.name);
  }
  throw Error(ErrorCode::unknown_name,
              std::string(algorithm.name) + " has no parameter '" + std::string(key) + "'" + suggestion(key, names));
}

/// Checks a parameter of an id, where "segment" stands for "segments".
void check_given(const Algorithm& algorithm, std::string_view key, std::int64_t value, const Params& others) {
  if (algorithm.param("segments") == nullptr || (key != "segment" && key != "segments")) {
    check_param(algorithm, key, value);
    return;
  }
  if (others.contains(key == "segment" ? "segments" : "segment")) {
    throw Error(ErrorCode::invalid_argument,
                std::string(algorithm.name) + ": segment (bytes) and segments (a number) exclude each other");
  }
  if (key == "segments") check_param(algorithm, key, value);
  if (value < 1) {
    throw Error(ErrorCode::invalid_argument, std::string(algorithm.name) + ": a segment has at least 1 byte");
  }
}

}  // namespace

Selection parse_selection(Collective collective, std::string_view name_and_params) {
  const std::size_t colon = name_and_params.find(':');
  const std::string_view name = name_and_params.substr(0, colon);
  Selection selection{.algorithm = find_algorithm(collective, name), .collective = collective};
  if (selection.algorithm == nullptr) {
    std::vector<std::string> names;
    for (const Algorithm* a : algorithms_of(collective)) names.emplace_back(a->name);
    throw Error(ErrorCode::unknown_name, std::string(to_string(collective)) + " has no algorithm '" +
                                             std::string(name) + "'" + suggestion(name, names));
  }
  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : name_and_params.substr(colon + 1);
  if (colon != std::string_view::npos && rest.empty())
    throw Error(ErrorCode::parse, "no parameter follows the ':' of '" + std::string(name_and_params) + "'");
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest = item.size() == rest.size() ? std::string_view{} : rest.substr(item.size() + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw Error(ErrorCode::parse, "'" + std::string(item) + "' is not of the form name=number");
    const std::string_view key = item.substr(0, equals);
    const std::int64_t value = value_of(key, item.substr(equals + 1));
    check_given(*selection.algorithm, key, value, selection.params);
    selection.params.insert_or_assign(std::string(key), value);
  }
  return selection;
}

Selection parse_selection(std::string_view id) {
  const std::size_t slash = id.find('/');
  const std::string_view collective_name = id.substr(0, slash);
  const auto collective = collective_from_string(collective_name);
  if (!collective || slash == std::string_view::npos) {
    const std::string what = "'" + std::string(id) + "' is not COLLECTIVE/ALGORITHM";
    if (collective) {
      throw Error(ErrorCode::unknown_name, what + "; algorithms of " + std::string(id) + " are" + listed(*collective));
    }
    std::vector<std::string> names;
    std::string collectives;
    for (const Collective c : all_collectives) {
      for (const Algorithm* a : algorithms_of(c)) names.push_back(a->id(c));
      collectives += " " + std::string(to_string(c));
    }
    throw Error(ErrorCode::unknown_name, what + suggestion(id, names) + "; collectives are" + collectives);
  }
  return parse_selection(*collective, id.substr(slash + 1));
}

Selection with_segment_count(const Selection& selection, Rank p, Count bytes) {
  const auto given = selection.params.find("segment");
  if (given == selection.params.end()) return selection;
  const ParamDeclaration* const declared = selection.algorithm->param("segments");
  check(declared != nullptr && given->second > 0, "a segment size has been checked");
  Shape shape{.size = p};
  shape.params = selection.params;
  shape.params.erase("segment");
  shape.params.insert_or_assign("segments", declared->minimum);
  const Count blocks = critical_path(*selection.algorithm, selection.collective, shape).blocks;
  const Count units = std::max<Count>(blocks / declared->minimum, 1);
  const Count unit_bytes = bytes / units + (bytes % units == 0 ? 0 : 1);
  const Count needed = unit_bytes / given->second + (unit_bytes % given->second == 0 ? 0 : 1);
  Selection counted = selection;
  shape.params.insert_or_assign("segments", std::clamp<Count>(needed, declared->minimum, declared->maximum));
  counted.params = std::move(shape.params);
  return counted;
}

namespace {

std::string unmet(const Needs& needs, Rank size, const OperatorTraits& op) {
  if (needs.commutative && !op.commutative) return "needs a commutative operator";
  if (needs.idempotent && !op.idempotent) return "needs an idempotent operator (min, max, land, lor, band, bor)";
  if (needs.power_of_two && (size & (size - 1)) != 0) return "needs a power of two of ranks";
  if (needs.even_size && size % 2 != 0) return "needs an even number of ranks";
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

Shape labelled(Collective collective, const Shape& shape) {
  const auto cores = shape.params.find(relabel.name);
  if (cores == shape.params.end()) return shape;
  (void)contract_of(collective, shape, 1);  // rank and root are what they should be
  Shape inner = shape;
  inner.params.erase(inner.params.find(relabel.name));
  if (inner.labels == nullptr) {
    inner.labels = std::make_shared<const Relabelling>(Relabelling::across_nodes(shape.size, cores->second));
  }
  require(inner.labels->size() == shape.size, "there are as many labels as ranks");
  inner.rank = inner.labels->label(shape.rank);
  if (is_rooted(collective)) inner.root = inner.labels->label(shape.root);
  return inner;
}

Schedule build_schedule(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  if (!algorithm.serves(collective)) {
    throw Error(ErrorCode::unknown_name,
                std::string(algorithm.name) + " does not serve " + std::string(to_string(collective)));
  }
  const std::string why = unmet_need(algorithm, shape.size, {.commutative = true, .idempotent = true});
  if (!why.empty()) throw Error(ErrorCode::unsupported, algorithm.id(collective) + " " + why);
  for (const auto& [key, value] : shape.params) check_param(algorithm, key, value);
  if (!shape.params.contains(relabel.name)) {
    Builder builder(algorithm.id(collective), collective, shape);
    algorithm.build(builder);
    return std::move(builder).finish();
  }
  const Shape inner = labelled(collective, shape);
  Schedule schedule = relabelled(build_schedule(algorithm, collective, inner), *inner.labels);
  schedule.shape.params = shape.params;
  return schedule;
}

Schedule build_schedule(std::string_view id, const Shape& shape) {
  const Selection selection = parse_selection(id);
  Shape with_params = shape;
  for (const auto& [key, value] : selection.params) with_params.params.insert_or_assign(key, value);
  return build_schedule(*selection.algorithm, selection.collective, with_params);
}

Schedule build_part(const Builder& outer, std::string_view id, const Shape& shape) {
  const Selection selection = parse_selection(id);
  Shape part = shape;
  // A part sees the parameters of the whole that it declares itself.
  std::erase_if(part.params, [&](const auto& entry) {
    return std::ranges::none_of(selection.algorithm->params,
                                [&](const ParamDeclaration& p) { return p.name == entry.first; });
  });
  check(outer.size() >= part.size, "a part has at most as many ranks as the whole");
  return build_schedule(*selection.algorithm, selection.collective, part);
}

}  // namespace circoll
