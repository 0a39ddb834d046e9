// SimGrid: its algorithms are chosen by its own options, before a simulation begins.
#include "circoll/error.hpp"
#include "native/algorithms.hpp"
#include "native/library.hpp"

namespace circoll::bench::native {

std::string_view library_id() { return "smpi"; }

void prepare_library() {}

const Offer& offer(Collective /*collective*/) {
  static const Offer none{
      .algorithms = {}, .why_none = "SimGrid chooses algorithms at its start: --cfg=smpi/allreduce:NAME and the like"};
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
