// The standard ABI. The library behind it is not known when this is compiled, and each has variables of its own.
#include "circoll/error.hpp"
#include "native/algorithms.hpp"
#include "native/library.hpp"

namespace circoll::bench::native {

std::string_view library_id() { return "abi"; }

void prepare_library() {}

const Offer& offer(Collective /*collective*/) {
  static const Offer none{
      .algorithms = {},
      .why_none =
          "over the standard ABI algorithms of the library are not chosen; take circoll-bench.openmpi or "
          "circoll-bench.mpich"};
  return none;
}

std::vector<Setting> parameters(Collective /*collective*/, Count /*segment*/, int /*fanout*/) { return {}; }

bool chosen_at_creation() { return true; }

std::string forced_from_outside(Collective /*collective*/) { return ""; }

void prove_obedience() {}

Forced::Forced(std::vector<Setting> settings) : settings_(std::move(settings)) {
  throw Error(ErrorCode::unsupported, offer(Collective::barrier).why_none);
}

void Forced::arm() const {}

void Forced::disarm() const {}

}  // namespace circoll::bench::native
