// Every form of every collective, from the list of MPI's functions.
#include "calls.hpp"

#include <dlfcn.h>

#include <cctype>
#include <string>
#include <string_view>
#include <type_traits>

// Persistent collectives and large counts are two facts: Open MPI 4 has the first as an extension, version 5 has MPI's,
// and both come with version 6.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define TORTURE_INIT(name) MPIX_##name##_init
#define TORTURE_INIT_BEGINS "MPIX_"
#else
#define TORTURE_INIT(name) MPI_##name##_init
#define TORTURE_INIT_BEGINS "MPI_"
#endif
#define TORTURE_LARGE (MPI_VERSION >= 4)

#include "facts/mpi_functions.hpp"

namespace circoll::torture {
namespace {

template <typename C, typename Wide>
const C* array(const Numbers<Wide>* numbers) {
  if (numbers == nullptr) return nullptr;
  if constexpr (std::is_same_v<C, int>) {
    return numbers->narrow.data();
  } else {
    return numbers->wide.data();
  }
}

/// The arguments of a call, one member for each form in facts/mpi_functions.hpp. C is the type of counts, D that of
/// displacements, `f` the function, and `tail` are its arguments after the communicator.
template <typename C, typename D>
class Forms {
 public:
  explicit Forms(const Arguments& arguments)
      : a(arguments),
        sendcount(static_cast<C>(a.sendcount)),
        recvcount(static_cast<C>(a.recvcount)),
        sendcounts(array<C>(a.sendcounts)),
        recvcounts(array<C>(a.recvcounts)),
        sendplaces(array<D>(a.sendplaces)),
        recvplaces(array<D>(a.recvplaces)) {}

  int reduction(auto f, auto... tail) const {
    return f(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.comm, tail...);
  }
  int reduction_to_root(auto f, auto... tail) const {
    return f(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.root, a.comm, tail...);
  }
  int reduction_to_a_block(auto f, auto... tail) const { return reduction(f, tail...); }
  int reduction_to_blocks(auto f, auto... tail) const {
    return f(a.sendbuf, a.recvbuf, recvcounts, a.sendtype, a.op, a.comm, tail...);
  }
  int counts_of_both(auto f, auto... tail) const {
    return f(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.comm, tail...);
  }
  int counts_of_both_and_root(auto f, auto... tail) const {
    return f(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.root, a.comm, tail...);
  }
  int array_of_received(auto f, auto... tail) const {
    return f(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcounts, recvplaces, a.recvtype, a.comm, tail...);
  }
  int array_of_received_and_root(auto f, auto... tail) const {
    return f(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcounts, recvplaces, a.recvtype, a.root, a.comm, tail...);
  }
  int array_of_sent_and_root(auto f, auto... tail) const {
    return f(a.sendbuf, sendcounts, sendplaces, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.root, a.comm, tail...);
  }
  int arrays_of_both(auto f, auto... tail) const {
    return f(a.sendbuf, sendcounts, sendplaces, a.sendtype, a.recvbuf, recvcounts, recvplaces, a.recvtype, a.comm,
             tail...);
  }
  int buffer_and_root(auto f, auto... tail) const {
    return f(a.recvbuf, recvcount, a.recvtype, a.root, a.comm, tail...);
  }
  int nothing(auto f, auto... tail) const { return f(a.comm, tail...); }
  int arrays_and_types(auto f, auto... tail) const { return typed<D>(f, tail...); }
  /// Displacements of neighbours are never int.
  int addresses_and_types(auto f, auto... tail) const { return typed<MPI_Aint>(f, tail...); }

 private:
  template <typename Displacement>
  int typed(auto f, auto... tail) const {
    return f(a.sendbuf, sendcounts, array<Displacement>(a.sendbytes), a.sendtypes, a.recvbuf, recvcounts,
             array<Displacement>(a.recvbytes), a.recvtypes, a.comm, tail...);
  }

  const Arguments& a;
  C sendcount, recvcount;
  const C *sendcounts, *recvcounts;
  const D *sendplaces, *recvplaces;
};

/// NEIGHBOR(name, form): the functions among neighbours, of the forms above.
#define CIRCOLL_NEIGHBOR_FUNCTIONS(NEIGHBOR) \
  NEIGHBOR(allgather, counts_of_both)        \
  NEIGHBOR(allgatherv, array_of_received)    \
  NEIGHBOR(alltoall, counts_of_both)         \
  NEIGHBOR(alltoallv, arrays_of_both)        \
  NEIGHBOR(alltoallw, addresses_and_types)

/// Defines `name`, which calls the collective's function. FUNCTION makes its name from the two in the list. NEIGHBOR
/// does so for functions among neighbours, and TYPED is the alltoallw.
#define CIRCOLL_CALL(name, FUNCTION, NEIGHBOR, TYPED, C, D, BARRIER)         \
  template <typename... Tail>                                                \
  int name(CalledCollective called, const Arguments& a, Tail... tail) {      \
    const Forms<C, D> arguments(a);                                          \
    if (called.has_types) return arguments.arrays_and_types(TYPED, tail...); \
    if (called.neighbor) {                                                   \
      switch (*called.neighbor) { CIRCOLL_NEIGHBOR_FUNCTIONS(NEIGHBOR) }     \
    }                                                                        \
    switch (called.collective) {                                             \
      CIRCOLL_MPI_FUNCTIONS_WITH_COUNTS(FUNCTION)                            \
      case Collective::barrier:                                              \
        return arguments.nothing(BARRIER, tail...);                          \
    }                                                                        \
    return MPI_ERR_INTERN;                                                   \
  }
#define CIRCOLL_CASE(collective, form, function) \
  case Collective::collective:                   \
    return arguments.form(function, tail...);
#define CIRCOLL_NEIGHBOR_CASE(neighbor, form, function) \
  case NeighborFunction::neighbor:                      \
    return arguments.form(function, tail...);

#define CIRCOLL_BLOCKING(lower, Name, form) CIRCOLL_CASE(lower, form, MPI_##Name)
#define CIRCOLL_NATIVE(lower, Name, form) CIRCOLL_CASE(lower, form, PMPI_##Name)
#define CIRCOLL_NONBLOCKING(lower, Name, form) CIRCOLL_CASE(lower, form, MPI_I##lower)
#define CIRCOLL_NEIGHBOR_BLOCKING(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, MPI_Neighbor_##lower)
#define CIRCOLL_NEIGHBOR_NATIVE(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, PMPI_Neighbor_##lower)
#define CIRCOLL_NEIGHBOR_NONBLOCKING(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, MPI_Ineighbor_##lower)
CIRCOLL_CALL(blocking, CIRCOLL_BLOCKING, CIRCOLL_NEIGHBOR_BLOCKING, MPI_Alltoallw, int, int, MPI_Barrier)
CIRCOLL_CALL(native, CIRCOLL_NATIVE, CIRCOLL_NEIGHBOR_NATIVE, PMPI_Alltoallw, int, int, PMPI_Barrier)
CIRCOLL_CALL(nonblocking, CIRCOLL_NONBLOCKING, CIRCOLL_NEIGHBOR_NONBLOCKING, MPI_Ialltoallw, int, int, MPI_Ibarrier)
#define CIRCOLL_PERSISTENT(lower, Name, form) CIRCOLL_CASE(lower, form, TORTURE_INIT(Name))
#define CIRCOLL_NEIGHBOR_PERSISTENT(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, TORTURE_INIT(Neighbor_##lower))
CIRCOLL_CALL(persistent, CIRCOLL_PERSISTENT, CIRCOLL_NEIGHBOR_PERSISTENT, TORTURE_INIT(Alltoallw), int, int,
             TORTURE_INIT(Barrier))
#if TORTURE_LARGE
#define CIRCOLL_BLOCKING_C(lower, Name, form) CIRCOLL_CASE(lower, form, MPI_##Name##_c)
#define CIRCOLL_NONBLOCKING_C(lower, Name, form) CIRCOLL_CASE(lower, form, MPI_I##lower##_c)
#define CIRCOLL_PERSISTENT_C(lower, Name, form) CIRCOLL_CASE(lower, form, MPI_##Name##_init_c)
#define CIRCOLL_NEIGHBOR_BLOCKING_C(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, MPI_Neighbor_##lower##_c)
#define CIRCOLL_NEIGHBOR_NONBLOCKING_C(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, MPI_Ineighbor_##lower##_c)
#define CIRCOLL_NEIGHBOR_PERSISTENT_C(lower, form) CIRCOLL_NEIGHBOR_CASE(lower, form, MPI_Neighbor_##lower##_init_c)
CIRCOLL_CALL(blocking_large, CIRCOLL_BLOCKING_C, CIRCOLL_NEIGHBOR_BLOCKING_C, MPI_Alltoallw_c, MPI_Count, MPI_Aint,
             MPI_Barrier)
CIRCOLL_CALL(nonblocking_large, CIRCOLL_NONBLOCKING_C, CIRCOLL_NEIGHBOR_NONBLOCKING_C, MPI_Ialltoallw_c, MPI_Count,
             MPI_Aint, MPI_Ibarrier)
CIRCOLL_CALL(persistent_large, CIRCOLL_PERSISTENT_C, CIRCOLL_NEIGHBOR_PERSISTENT_C, MPI_Alltoallw_init_c, MPI_Count,
             MPI_Aint, MPI_Barrier_init)
#endif

// Sources are compiled together.
#undef CIRCOLL_CALL
#undef CIRCOLL_CASE
#undef CIRCOLL_BLOCKING
#undef CIRCOLL_NATIVE
#undef CIRCOLL_NONBLOCKING
#undef CIRCOLL_PERSISTENT
#undef CIRCOLL_BLOCKING_C
#undef CIRCOLL_NONBLOCKING_C
#undef CIRCOLL_PERSISTENT_C
#undef CIRCOLL_NEIGHBOR_FUNCTIONS
#undef CIRCOLL_NEIGHBOR_CASE
#undef CIRCOLL_NEIGHBOR_BLOCKING
#undef CIRCOLL_NEIGHBOR_NATIVE
#undef CIRCOLL_NEIGHBOR_NONBLOCKING
#undef CIRCOLL_NEIGHBOR_PERSISTENT
#undef CIRCOLL_NEIGHBOR_BLOCKING_C
#undef CIRCOLL_NEIGHBOR_NONBLOCKING_C
#undef CIRCOLL_NEIGHBOR_PERSISTENT_C

}  // namespace

int call(CalledCollective called, Mode mode, const Arguments& a, [[maybe_unused]] bool large, MPI_Request* request) {
#if TORTURE_LARGE
  if (large) {
    return mode == Mode::blocking      ? blocking_large(called, a)
           : mode == Mode::nonblocking ? nonblocking_large(called, a, request)
                                       : persistent_large(called, a, MPI_INFO_NULL, request);
  }
#endif
  return mode == Mode::blocking      ? blocking(called, a)
         : mode == Mode::nonblocking ? nonblocking(called, a, request)
                                     : persistent(called, a, MPI_INFO_NULL, request);
}

int call_native(Collective collective, const Arguments& a) { return native(collective, a); }

bool is_native(CalledCollective called, Mode mode, bool large) {
  std::string name(to_string(called));
  if (mode != Mode::nonblocking) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  name = (mode == Mode::nonblocking  ? "MPI_I"
          : mode == Mode::persistent ? TORTURE_INIT_BEGINS
                                     : "MPI_") +
         name + (mode == Mode::persistent ? "_init" : "");
  if (TORTURE_LARGE && large && called != Collective::barrier) name += "_c";
  Dl_info served{}, library{};
  void* const symbol = dlsym(RTLD_DEFAULT, name.c_str());
  void* const barrier = dlsym(RTLD_DEFAULT, "PMPI_Pack");
  if (dladdr(symbol, &served) == 0 || dladdr(barrier, &library) == 0) return false;
  return std::string_view(served.dli_fname) == library.dli_fname;
}

}  // namespace circoll::torture
