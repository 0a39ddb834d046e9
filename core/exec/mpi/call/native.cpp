#include <array>
#include <utility>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/library/library.hpp"
#include "facts/mpi_functions.hpp"

namespace circoll::mpi {
namespace {

/// Counts and displacements as the functions of one width take them.
template <typename Number, typename Displacement>
struct NativeNumbers {
  explicit NativeNumbers(const Call& c)
      : sendcount(static_cast<Number>(c.sendcount)),
        recvcount(static_cast<Number>(c.recvcount)),
        sendcounts(static_cast<const Number*>(c.sendcounts.data())),
        recvcounts(static_cast<const Number*>(c.recvcounts.data())),
        senddispls(static_cast<const Displacement*>(c.senddispls.data())),
        recvdispls(static_cast<const Displacement*>(c.recvdispls.data())) {}
  Number sendcount, recvcount;
  const Number *sendcounts, *recvcounts;
  const Displacement *senddispls, *recvdispls;
};
using ClassicNumbers = NativeNumbers<int, int>;
using LargeNumbers = NativeNumbers<MPI_Count, MPI_Aint>;

/// A call's arguments in the order of MPI's functions, one member for each form in core/mpi_functions.hpp. `f` is the
/// function, `tail` are its arguments after the communicator.
template <typename Width>
class Forms {
 public:
  explicit Forms(const Call& call) : c(call), n(call) {}

  template <typename F, typename... Tail>
  int reduction(F f, Tail... tail) const {
    return f(c.sendbuf, c.recvbuf, n.sendcount, c.sendtype, c.op, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int reduction_to_root(F f, Tail... tail) const {
    return f(c.sendbuf, c.recvbuf, n.sendcount, c.sendtype, c.op, c.root, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int reduction_to_a_block(F f, Tail... tail) const {
    return f(c.sendbuf, c.recvbuf, n.recvcount, c.sendtype, c.op, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int reduction_to_blocks(F f, Tail... tail) const {
    return f(c.sendbuf, c.recvbuf, n.recvcounts, c.sendtype, c.op, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int counts_of_both(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int counts_of_both_and_root(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.root, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int array_of_received(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcounts, n.recvdispls, c.recvtype, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int array_of_received_and_root(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcounts, n.recvdispls, c.recvtype, c.root, c.comm,
             tail...);
  }
  template <typename F, typename... Tail>
  int array_of_sent_and_root(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcounts, n.senddispls, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.root, c.comm,
             tail...);
  }
  template <typename F, typename... Tail>
  int arrays_of_both(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcounts, n.senddispls, c.sendtype, c.recvbuf, n.recvcounts, n.recvdispls, c.recvtype,
             c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int arrays_and_types(F f, Tail... tail) const {
    return f(c.sendbuf, n.sendcounts, n.senddispls, c.sendtypes, c.recvbuf, n.recvcounts, n.recvdispls, c.recvtypes,
             c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int buffer_and_root(F f, Tail... tail) const {
    return f(c.recvbuf, n.recvcount, c.recvtype, c.root, c.comm, tail...);
  }
  template <typename F, typename... Tail>
  int nothing(F f, Tail... tail) const {
    return f(c.comm, tail...);
  }

 private:
  const Call& c;
  Width n;
};

/// Defines `name`, which calls the collective's function; FUNCTION makes its name from the two in the list. `typed` is
/// the alltoallw. A barrier has no counts, and so no function with large ones.
#define CIRCOLL_CLASSIC_CALLS(name, FUNCTION, typed)                       \
  template <typename... Tail>                                              \
  int name(const Call& call, Tail... tail) {                               \
    const Forms<ClassicNumbers> arguments(call);                           \
    if (call.has_types) return arguments.arrays_and_types(typed, tail...); \
    switch (call.collective) { CIRCOLL_MPI_FUNCTIONS(FUNCTION) }           \
    return MPI_ERR_INTERN;                                                 \
  }
#define CIRCOLL_LARGE_CALLS(name, FUNCTION, typed)                         \
  template <typename... Tail>                                              \
  int name(const Call& call, Tail... tail) {                               \
    const Forms<LargeNumbers> arguments(call);                             \
    if (call.has_types) return arguments.arrays_and_types(typed, tail...); \
    switch (call.collective) {                                             \
      CIRCOLL_MPI_FUNCTIONS_WITH_COUNTS(FUNCTION)                          \
      case Collective::barrier:                                            \
        break;                                                             \
    }                                                                      \
    return MPI_ERR_INTERN;                                                 \
  }
#define CIRCOLL_CASE(collective, form, function) \
  case Collective::collective:                   \
    return arguments.form(function, tail...);

#define CIRCOLL_BLOCKING(lower, Name, form) CIRCOLL_CASE(lower, form, PMPI_##Name)
#define CIRCOLL_NONBLOCKING(lower, Name, form) CIRCOLL_CASE(lower, form, PMPI_I##lower)
CIRCOLL_CLASSIC_CALLS(call_classic, CIRCOLL_BLOCKING, PMPI_Alltoallw)
CIRCOLL_CLASSIC_CALLS(start_classic, CIRCOLL_NONBLOCKING, PMPI_Ialltoallw)
#if CIRCOLL_HAS_PERSISTENT
#define CIRCOLL_PERSISTENT(lower, Name, form) CIRCOLL_CASE(lower, form, CIRCOLL_INIT(P, Name))
CIRCOLL_CLASSIC_CALLS(init_classic, CIRCOLL_PERSISTENT, CIRCOLL_INIT(P, Alltoallw))
#endif
#if CIRCOLL_HAS_LARGE_COUNTS
#define CIRCOLL_BLOCKING_C(lower, Name, form) CIRCOLL_CASE(lower, form, PMPI_##Name##_c)
#define CIRCOLL_NONBLOCKING_C(lower, Name, form) CIRCOLL_CASE(lower, form, PMPI_I##lower##_c)
#define CIRCOLL_PERSISTENT_C(lower, Name, form) CIRCOLL_CASE(lower, form, PMPI_##Name##_init_c)
CIRCOLL_LARGE_CALLS(call_large, CIRCOLL_BLOCKING_C, PMPI_Alltoallw_c)
CIRCOLL_LARGE_CALLS(start_large, CIRCOLL_NONBLOCKING_C, PMPI_Ialltoallw_c)
CIRCOLL_LARGE_CALLS(init_large, CIRCOLL_PERSISTENT_C, PMPI_Alltoallw_init_c)
#endif

// Sources are compiled together.
#undef CIRCOLL_CLASSIC_CALLS
#undef CIRCOLL_LARGE_CALLS
#undef CIRCOLL_CASE
#undef CIRCOLL_BLOCKING
#undef CIRCOLL_NONBLOCKING
#undef CIRCOLL_PERSISTENT
#undef CIRCOLL_BLOCKING_C
#undef CIRCOLL_NONBLOCKING_C
#undef CIRCOLL_PERSISTENT_C

/// 64-bit counts as int, for an MPI without large-count bindings; false if one does not fit.
bool narrow(const CountArray& wide, std::vector<int>& values, Rank size) {
  if (!wide) return true;
  values.resize(static_cast<std::size_t>(size));
  for (Rank i = 0; i < size; ++i) {
    if (!std::in_range<int>(wide[i])) return false;
    values[static_cast<std::size_t>(i)] = static_cast<int>(wide[i]);
  }
  return true;
}

/// The arrays of a call.
constexpr std::array arrays{&Call::sendcounts, &Call::recvcounts, &Call::senddispls, &Call::recvdispls};

int call_narrowed(const Call& call) {
  int size = 0, inter = 0;
  int rc = PMPI_Comm_test_inter(call.comm, &inter);
  if (rc == MPI_SUCCESS) rc = inter != 0 ? PMPI_Comm_remote_size(call.comm, &size) : PMPI_Comm_size(call.comm, &size);
  if (rc != MPI_SUCCESS) return rc;
  if (!std::in_range<int>(call.sendcount) || !std::in_range<int>(call.recvcount)) return MPI_ERR_COUNT;
  Call classic = call;
  std::array<std::vector<int>, arrays.size()> narrowed;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!narrow(call.*arrays[i], narrowed[i], size)) return MPI_ERR_COUNT;
    if (call.*arrays[i]) classic.*arrays[i] = narrowed[i].data();
  }
  return call_classic(classic);
}

/// The functions that can take a call as it is.
enum class Width { classic, large, mixed };

Width width_of(const Call& c) {
  const bool counts_fit = std::in_range<int>(c.sendcount) && std::in_range<int>(c.recvcount);
  bool wide = false, narrow_array = false;
  for (const auto& array : arrays) {
    wide = wide || (c.*array).is_wide();
    narrow_array = narrow_array || ((c.*array) && !(c.*array).is_wide());
  }
  if (!wide && counts_fit) return Width::classic;
  return narrow_array ? Width::mixed : Width::large;  // the arrays of one call must have one width
}

int call_as_it_is(const Call& c) {
  const Width width = width_of(c);
  if (width == Width::classic) return call_classic(c);
#if CIRCOLL_HAS_LARGE_COUNTS
  if (width == Width::large) return call_large(c);
#endif
  return call_narrowed(c);
}

}  // namespace

int call_native(const Call& call) {
  if (call.collective != Collective::alltoallv || call.sendbuf != MPI_IN_PLACE) return call_as_it_is(call);
  // MPI_IN_PLACE makes these arrays insignificant. So they are not read, not even to narrow them.
  Call significant = call;
  significant.sendcounts = {};
  significant.senddispls = {};
  return call_as_it_is(significant);
}

int start_native(const Call& call, MPI_Request* request) {
  const Width width = width_of(call);
  if (width == Width::classic) return start_classic(call, request);
#if CIRCOLL_HAS_LARGE_COUNTS
  if (width == Width::large) return start_large(call, request);
#endif
  return MPI_ERR_COUNT;
}

int init_native([[maybe_unused]] const Call& call, [[maybe_unused]] MPI_Info info,
                [[maybe_unused]] MPI_Request* request) {
#if CIRCOLL_HAS_PERSISTENT
  const Width width = width_of(call);
  if (width == Width::classic) return init_classic(call, info, request);
#if CIRCOLL_HAS_LARGE_COUNTS
  if (width == Width::large) return init_large(call, info, request);
#endif
  return MPI_ERR_COUNT;
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

}  // namespace circoll::mpi
