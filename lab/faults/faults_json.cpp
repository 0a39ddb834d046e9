#include "faults/faults_json.hpp"

#include "show/values_json.hpp"

namespace circoll {

using nlohmann::ordered_json;

ordered_json as_json(const FailureOutcome& outcome) {
  const auto or_null = [](int number) { return number >= 0 ? ordered_json(number) : ordered_json(nullptr); };
  return {{"class", to_string(outcome.what)},   {"pieces", or_null(outcome.pieces)},
          {"copies", or_null(outcome.copies)},  {"lost", outcome.lost},
          {"contributed", outcome.contributed}, {"needed", outcome.needed}};
}

ordered_json as_json(const Repair& repair) {
  if (repair.goal == FailureClass::none) return {{"why_not", repair.why}};
  ordered_json json{{"pieces", repair.pieces}, {"missing", repair.missing}};
  json.update(as_json(repair.cost));
  json.update({{"same_bits", repair.guarantees.same_bits}, {"rank_order", repair.guarantees.rank_order}});
  return json;
}

}  // namespace circoll
