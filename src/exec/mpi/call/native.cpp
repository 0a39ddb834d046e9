#include <array>
#include <limits>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

bool fits_int(Count count) {
  return count >= std::numeric_limits<int>::min() && count <= std::numeric_limits<int>::max();
}

/// Counts and displacements as the functions of one width take them.
struct Classic {
  explicit Classic(const Call& c)
      : sendcount(static_cast<int>(c.sendcount)),
        recvcount(static_cast<int>(c.recvcount)),
        sendcounts(static_cast<const int*>(c.sendcounts.data())),
        recvcounts(static_cast<const int*>(c.recvcounts.data())),
        senddispls(static_cast<const int*>(c.senddispls.data())),
        recvdispls(static_cast<const int*>(c.recvdispls.data())) {}
  int sendcount, recvcount;
  const int *sendcounts, *recvcounts, *senddispls, *recvdispls;
};

#if CIRCOLL_HAS_LARGE_COUNTS
struct Large {
  explicit Large(const Call& c)
      : sendcount(static_cast<MPI_Count>(c.sendcount)),
        recvcount(static_cast<MPI_Count>(c.recvcount)),
        sendcounts(static_cast<const MPI_Count*>(c.sendcounts.data())),
        recvcounts(static_cast<const MPI_Count*>(c.recvcounts.data())),
        senddispls(static_cast<const MPI_Aint*>(c.senddispls.data())),
        recvdispls(static_cast<const MPI_Aint*>(c.recvdispls.data())) {}
  MPI_Count sendcount, recvcount;
  const MPI_Count *sendcounts, *recvcounts;
  const MPI_Aint *senddispls, *recvdispls;
};
#endif

/// Calls the one of `f`, functions of all collectives, that the call is about; `tail` are its last arguments.
template <typename Width, typename Functions, typename... Tail>
int apply(const Functions& f, const Call& c, Tail... tail) {
  const Width n(c);
  switch (c.collective) {
    case Collective::allreduce:
      return f.allreduce(c.sendbuf, c.recvbuf, n.sendcount, c.sendtype, c.op, c.comm, tail...);
    case Collective::reduce:
      return f.reduce(c.sendbuf, c.recvbuf, n.sendcount, c.sendtype, c.op, c.root, c.comm, tail...);
    case Collective::reduce_scatter_block:
      return f.reduce_scatter_block(c.sendbuf, c.recvbuf, n.recvcount, c.sendtype, c.op, c.comm, tail...);
    case Collective::reduce_scatter:
      return f.reduce_scatter(c.sendbuf, c.recvbuf, n.recvcounts, c.sendtype, c.op, c.comm, tail...);
    case Collective::allgather:
      return f.allgather(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.comm, tail...);
    case Collective::allgatherv:
      return f.allgatherv(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcounts, n.recvdispls, c.recvtype, c.comm,
                          tail...);
    case Collective::gather:
      return f.gather(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.root, c.comm, tail...);
    case Collective::gatherv:
      return f.gatherv(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcounts, n.recvdispls, c.recvtype, c.root,
                       c.comm, tail...);
    case Collective::scatter:
      return f.scatter(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.root, c.comm, tail...);
    case Collective::scatterv:
      return f.scatterv(c.sendbuf, n.sendcounts, n.senddispls, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.root,
                        c.comm, tail...);
    case Collective::bcast:
      return f.bcast(c.recvbuf, n.recvcount, c.recvtype, c.root, c.comm, tail...);
    case Collective::alltoall:
      return f.alltoall(c.sendbuf, n.sendcount, c.sendtype, c.recvbuf, n.recvcount, c.recvtype, c.comm, tail...);
    case Collective::alltoallv:
      return f.alltoallv(c.sendbuf, n.sendcounts, n.senddispls, c.sendtype, c.recvbuf, n.recvcounts, n.recvdispls,
                         c.recvtype, c.comm, tail...);
    case Collective::scan:
      return f.scan(c.sendbuf, c.recvbuf, n.sendcount, c.sendtype, c.op, c.comm, tail...);
    case Collective::exscan:
      return f.exscan(c.sendbuf, c.recvbuf, n.sendcount, c.sendtype, c.op, c.comm, tail...);
    case Collective::barrier:
      return f.barrier(c.comm, tail...);
  }
  return MPI_ERR_INTERN;
}

/// Of one form: blocking, nonblocking or persistent, with counts of one width.
template <typename F0, typename F1, typename F2, typename F3, typename F4, typename F5, typename F6, typename F7,
          typename F8, typename F9, typename F10, typename F11, typename F12, typename F13, typename F14, typename F15>
struct Functions {
  F0 allreduce;
  F1 reduce;
  F2 reduce_scatter_block;
  F3 reduce_scatter;
  F4 allgather;
  F5 allgatherv;
  F6 gather;
  F7 gatherv;
  F8 scatter;
  F9 scatterv;
  F10 bcast;
  F11 alltoall;
  F12 alltoallv;
  F13 scan;
  F14 exscan;
  F15 barrier;
};

template <typename... F>
Functions(F...) -> Functions<F...>;  // clang 14 does not find it by itself

constexpr Functions blocking{PMPI_Allreduce,      PMPI_Reduce,    PMPI_Reduce_scatter_block,
                             PMPI_Reduce_scatter, PMPI_Allgather, PMPI_Allgatherv,
                             PMPI_Gather,         PMPI_Gatherv,   PMPI_Scatter,
                             PMPI_Scatterv,       PMPI_Bcast,     PMPI_Alltoall,
                             PMPI_Alltoallv,      PMPI_Scan,      PMPI_Exscan,
                             PMPI_Barrier};
constexpr Functions nonblocking{PMPI_Iallreduce,      PMPI_Ireduce,    PMPI_Ireduce_scatter_block,
                                PMPI_Ireduce_scatter, PMPI_Iallgather, PMPI_Iallgatherv,
                                PMPI_Igather,         PMPI_Igatherv,   PMPI_Iscatter,
                                PMPI_Iscatterv,       PMPI_Ibcast,     PMPI_Ialltoall,
                                PMPI_Ialltoallv,      PMPI_Iscan,      PMPI_Iexscan,
                                PMPI_Ibarrier};
#if CIRCOLL_HAS_PERSISTENT
constexpr Functions persistent{
    CIRCOLL_INIT(P, Allreduce),      CIRCOLL_INIT(P, Reduce),    CIRCOLL_INIT(P, Reduce_scatter_block),
    CIRCOLL_INIT(P, Reduce_scatter), CIRCOLL_INIT(P, Allgather), CIRCOLL_INIT(P, Allgatherv),
    CIRCOLL_INIT(P, Gather),         CIRCOLL_INIT(P, Gatherv),   CIRCOLL_INIT(P, Scatter),
    CIRCOLL_INIT(P, Scatterv),       CIRCOLL_INIT(P, Bcast),     CIRCOLL_INIT(P, Alltoall),
    CIRCOLL_INIT(P, Alltoallv),      CIRCOLL_INIT(P, Scan),      CIRCOLL_INIT(P, Exscan),
    CIRCOLL_INIT(P, Barrier)};
#endif
#if CIRCOLL_HAS_LARGE_COUNTS
constexpr Functions blocking_large{PMPI_Allreduce_c,      PMPI_Reduce_c,    PMPI_Reduce_scatter_block_c,
                                   PMPI_Reduce_scatter_c, PMPI_Allgather_c, PMPI_Allgatherv_c,
                                   PMPI_Gather_c,         PMPI_Gatherv_c,   PMPI_Scatter_c,
                                   PMPI_Scatterv_c,       PMPI_Bcast_c,     PMPI_Alltoall_c,
                                   PMPI_Alltoallv_c,      PMPI_Scan_c,      PMPI_Exscan_c,
                                   PMPI_Barrier};
constexpr Functions nonblocking_large{PMPI_Iallreduce_c,      PMPI_Ireduce_c,    PMPI_Ireduce_scatter_block_c,
                                      PMPI_Ireduce_scatter_c, PMPI_Iallgather_c, PMPI_Iallgatherv_c,
                                      PMPI_Igather_c,         PMPI_Igatherv_c,   PMPI_Iscatter_c,
                                      PMPI_Iscatterv_c,       PMPI_Ibcast_c,     PMPI_Ialltoall_c,
                                      PMPI_Ialltoallv_c,      PMPI_Iscan_c,      PMPI_Iexscan_c,
                                      PMPI_Ibarrier};
constexpr Functions persistent_large{
    PMPI_Allreduce_init_c,      PMPI_Reduce_init_c,    PMPI_Reduce_scatter_block_init_c,
    PMPI_Reduce_scatter_init_c, PMPI_Allgather_init_c, PMPI_Allgatherv_init_c,
    PMPI_Gather_init_c,         PMPI_Gatherv_init_c,   PMPI_Scatter_init_c,
    PMPI_Scatterv_init_c,       PMPI_Bcast_init_c,     PMPI_Alltoall_init_c,
    PMPI_Alltoallv_init_c,      PMPI_Scan_init_c,      PMPI_Exscan_init_c,
    PMPI_Barrier_init};
#endif

/// 64-bit counts as int, for an MPI without large-count bindings; false if one does not fit.
bool narrow(const CountArray& wide, std::vector<int>& values, Rank size) {
  if (!wide) return true;
  values.resize(static_cast<std::size_t>(size));
  for (Rank i = 0; i < size; ++i) {
    if (!fits_int(wide[i])) return false;
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
  if (!fits_int(call.sendcount) || !fits_int(call.recvcount)) return MPI_ERR_COUNT;
  Call classic = call;
  std::array<std::vector<int>, arrays.size()> narrowed;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!narrow(call.*arrays[i], narrowed[i], size)) return MPI_ERR_COUNT;
    if (call.*arrays[i]) classic.*arrays[i] = narrowed[i].data();
  }
  return apply<Classic>(blocking, classic);
}

/// Which functions can take a call as it is.
enum class Width { classic, large, mixed };

Width width_of(const Call& c) {
  const bool counts_fit = fits_int(c.sendcount) && fits_int(c.recvcount);
  if (!is_irregular(c.collective)) return counts_fit ? Width::classic : Width::large;
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
  if (width == Width::classic) return apply<Classic>(blocking, c);
#if CIRCOLL_HAS_LARGE_COUNTS
  if (width == Width::large) return apply<Large>(blocking_large, c);
#endif
  return call_narrowed(c);
}

}  // namespace

int call_native(const Call& call) {
  if (call.collective != Collective::alltoallv || call.sendbuf != MPI_IN_PLACE) return call_as_it_is(call);
  // What MPI_IN_PLACE makes insignificant is not read, not even to narrow it.
  Call significant = call;
  significant.sendcounts = {};
  significant.senddispls = {};
  return call_as_it_is(significant);
}

int start_native(const Call& call, MPI_Request* request) {
  const Width width = width_of(call);
  if (width == Width::classic) return apply<Classic>(nonblocking, call, request);
#if CIRCOLL_HAS_LARGE_COUNTS
  if (width == Width::large) return apply<Large>(nonblocking_large, call, request);
#endif
  return MPI_ERR_COUNT;
}

int init_native([[maybe_unused]] const Call& call, [[maybe_unused]] MPI_Info info,
                [[maybe_unused]] MPI_Request* request) {
#if CIRCOLL_HAS_PERSISTENT
  const Width width = width_of(call);
  if (width == Width::classic) return apply<Classic>(persistent, call, info, request);
#if CIRCOLL_HAS_LARGE_COUNTS
  if (width == Width::large) return apply<Large>(persistent_large, call, info, request);
#endif
  return MPI_ERR_COUNT;
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

}  // namespace circoll::mpi
