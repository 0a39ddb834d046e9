// MPI libraries of which no algorithm is chosen while a program runs. SimGrid's own options choose before a simulation
// begins. Over the standard ABI the library is not known when this is compiled, and each has variables of its own.
#include "circoll/error.hpp"
#include "native/algorithms.hpp"
#include "native/library.hpp"

namespace circoll::bench::native {

namespace {

#ifdef CIRCOLL_SIMULATED
constexpr const char* id = "smpi";
constexpr const char* why = "SimGrid chooses algorithms at its start: --cfg=smpi/allreduce:NAME and the like";
#else
constexpr const char* id = "abi";
constexpr const char* why =
    "over the standard ABI algorithms of the library are not chosen; take circoll-bench.openmpi or "
    "circoll-bench.mpich";
#endif

}  // namespace

std::string_view library_id() { return id; }

void prepare_library() {}

Offer make_offer(Collective /*collective*/) { return {.algorithms = {}, .why_none = why}; }

std::vector<Setting> parameters(Collective /*collective*/, Count /*segment*/, int /*fanout*/) { return {}; }

bool chosen_at_creation() { return true; }

std::string forced_from_outside(Collective /*collective*/) { return ""; }

void prove_obedience() {}

Forced::Forced(std::vector<Setting> settings) : settings_(std::move(settings)) {
  throw Error(ErrorCode::unsupported, why);
}

void Forced::arm() const {}

void Forced::disarm() const {}

}  // namespace circoll::bench::native
