#include "verify/order.hpp"

#include <string>

#include "verify/aliasing.hpp"
#include "verify/races.hpp"
#include "verify/structure.hpp"

namespace circoll::verify {

void prove_order_of(const Schedule& s, const Dependencies& dependencies) {
  const Rank r = s.shape.rank;
  check_rounds(s, dependencies);
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    if (const auto aliasing = find_aliasing(s, s.steps[i])) {
      throw Refuted{Claim::no_race, r, i, aliasing->block, aliasing->what};
    }
  }
  if (const auto race = find_race(s, dependencies)) {
    throw Refuted{Claim::no_race, r, race->later, s.block_of(race->buffer, race->slot),
                  "it may run before step " + std::to_string(race->earlier) + " has ended, and they share slot " +
                      std::to_string(race->slot) + " of buffer " + std::to_string(race->buffer)};
  }
}

std::vector<Dependencies> prove_order(const Subject& subject, std::span<const Dependencies> given) {
  std::vector<Dependencies> dependencies;
  dependencies.reserve(subject.ranks.size());
  for (Rank r = 0; r < subject.size(); ++r) {
    dependencies.push_back(given.empty() ? derive_dependencies(subject.of(r)) : given[static_cast<std::size_t>(r)]);
    prove_order_of(subject.of(r), dependencies.back());
  }
  return dependencies;
}

}  // namespace circoll::verify
