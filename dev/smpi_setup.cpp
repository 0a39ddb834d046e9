// Preloaded into smpirun: how SimGrid's libraries find out which ranks share a node.
//
// The first two-level collective of a program gathers the leaders of all ranks around a ring, p (p - 1) messages before
// the first measured call: half an hour of simulation at 4800 ranks. The same gathering takes p log p messages by
// Bruck's algorithm. Nothing that is measured changes.
#include <dlfcn.h>
#include <cstdlib>
#include <unordered_set>

#include <simgrid/s4u/Actor.hpp>

namespace simgrid::smpi {

class Datatype;
class [[gnu::visibility("default")]] Comm {  // of SimGrid: what is replaced of it
 public:
  void init_smp();
};

int allgather__bruck(const void*, int, Datatype*, void*, int, Datatype*, Comm*);
[[gnu::visibility("default")]] int allgather__ring(const void*, int, Datatype*, void*, int, Datatype*, Comm*);

namespace {

/// Ranks that are in init_smp(). SimGrid runs them one at a time.
std::unordered_set<aid_t>& beginners() {
  static auto* const ranks = new std::unordered_set<aid_t>;
  return *ranks;
}

template <typename Function>
Function* original(const char* symbol) {
  void* const found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) std::abort();  // another SimGrid, whose functions have other names
  return reinterpret_cast<Function*>(found);
}

}  // namespace

void Comm::init_smp() {
  static auto* const init = original<void(Comm*)>("_ZN7simgrid4smpi4Comm8init_smpEv");
  const aid_t rank = s4u::this_actor::get_pid();
  beginners().insert(rank);
  init(this);
  beginners().erase(rank);
}

int allgather__ring(const void* sendbuf, int sendcount, Datatype* sendtype, void* recvbuf, int recvcount,
                    Datatype* recvtype, Comm* comm) {
  static auto* const ring =
      original<decltype(allgather__ring)>("_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
  auto* const algorithm = beginners().contains(s4u::this_actor::get_pid()) ? &allgather__bruck : ring;
  return algorithm(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

}  // namespace simgrid::smpi
