// Building the schedules of algorithms, relabelled and as parts of others.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "circoll/builder.hpp"
#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "schedule/registry.hpp"
#include "schedule/relabelling.hpp"
#include "schedule/rotation.hpp"

namespace circoll {

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
  if (const auto given = shape.params.find(window.name); given != shape.params.end()) {
    Schedule schedule = with_window(build_schedule(algorithm, collective, without_window(shape)), given->second);
    schedule.shape.params = shape.params;
    return schedule;
  }
  if (!shape.params.contains(relabel.name)) {
    Shape written = shape;
    if (algorithm.rotation != Rotation::none) written.rank = 0;
    Builder builder(algorithm.id(collective), collective, written);
    algorithm.build(builder);
    Schedule schedule = std::move(builder).finish();
    if (algorithm.rotation != Rotation::none) rotate(schedule, algorithm.rotation, shape.rank);
    return schedule;
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
