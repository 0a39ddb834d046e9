// The catalogue tells what there is to choose: collectives, algorithms, parameters, and the default machine.
#include "answers.hpp"
#include "circoll/collectives.hpp"
#include "schedule/relabelling.hpp"
#include "show/values_json.hpp"

namespace circoll::explorer {
namespace {

json params_of(const Algorithm& algorithm) {
  json params = json::array();
  for (const ParamDeclaration& param : algorithm.params) {
    params.push_back({{"name", param.name},
                      {"least", param.minimum},
                      {"most", param.maximum},
                      {"fallback", param.fallback},
                      {"summary", param.summary}});
  }
  return params;
}

json described(const Algorithm& algorithm, Collective collective) {
  const Needs& needs = algorithm.needs;
  json unmet = json::array();
  if (needs.commutative) unmet.push_back("a commutative operator");
  if (needs.idempotent) unmet.push_back("an idempotent operator");
  if (needs.power_of_two) unmet.push_back("p a power of two");
  if (needs.even_size) unmet.push_back("an even p");
  if (needs.min_size > 1) unmet.push_back("p >= " + std::to_string(needs.min_size));
  json gives = json::array();
  if (algorithm.guarantees.same_bits) gives.push_back("the same bits on all ranks");
  if (algorithm.guarantees.rank_order) gives.push_back("operands in the order of ranks");
  if (algorithm.guarantees.direct) gives.push_back("blocks that go straight to their destination");
  return {{"name", algorithm.name},
          {"summary", algorithm.summary},
          {"source", algorithm.source},
          {"when", algorithm.when},
          {"family", to_string(algorithm.family)},
          {"needs", unmet},
          {"gives", gives},
          {"rounds", algorithm.formula.rounds},
          {"sent", algorithm.formula.sent},
          {"reduced", algorithm.formula.reduced},
          {"time", time_formula(algorithm, collective)},
          {"params", params_of(algorithm)}};
}

}  // namespace

std::string ask_catalogue(Sessions& /*sessions*/, const json& /*question*/) {
  json collectives = json::array();
  for (const Collective collective : all_collectives) {
    const CollectiveTraits& traits = traits_of(collective);
    json algorithms = json::array();
    for (const Algorithm* algorithm : algorithms_of(collective))
      algorithms.push_back(described(*algorithm, collective));
    collectives.push_back({{"name", traits.name},
                           {"rooted", traits.rooted},
                           {"reducing", traits.reducing},
                           {"in_place", traits.in_place_schedule},
                           {"relabels", can_relabel(collective)},
                           {"algorithms", algorithms}});
  }
  return json{{"collectives", collectives}, {"machine", as_json(Machine{})}}.dump();
}

}  // namespace circoll::explorer
