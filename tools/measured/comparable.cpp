#include "measured/comparable.hpp"

#include <map>
#include <set>
#include <string>

#include "circoll/error.hpp"

namespace circoll::measured {
namespace {

[[noreturn]] void fail(const Launch& one, const Launch& other) {
  throw Error(ErrorCode::invalid_argument, one.source + " has measured something else (" + one.setting + ") than " +
                                               other.source + " (" + other.setting + ")");
}

}  // namespace

void require_comparable(const std::vector<const Launch*>& launches) {
  require(!launches.empty(), "no launch is given");
  std::map<Rank, const Launch*> first_of;
  for (const Launch* const launch : launches) {
    const Launch& first = *launches.front();
    if (launch->type != first.type || launch->op != first.op || launch->root != first.root) fail(*launch, first);
    std::set<Rank> sizes;
    for (const Measurement& row : launch->rows) sizes.insert(row.p);
    for (const Rank p : sizes) {
      const Launch& like = *first_of.emplace(p, launch).first->second;
      if (launch->setting != like.setting) fail(*launch, like);
    }
  }
}

}  // namespace circoll::measured
