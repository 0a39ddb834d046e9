#include "calls.hpp"

#include <dlfcn.h>

#include <cctype>
#include <string>
#include <string_view>

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

namespace circoll::torture {
namespace {

/// One form of all collectives: C is the type of counts, D that of displacements, Tail the arguments after the
/// communicator.
template <typename C, typename D, typename... Tail>
struct Functions {
  using Type = MPI_Datatype;
  int (*allreduce)(const void*, void*, C, Type, MPI_Op, MPI_Comm, Tail...);
  int (*reduce)(const void*, void*, C, Type, MPI_Op, int, MPI_Comm, Tail...);
  int (*reduce_scatter_block)(const void*, void*, C, Type, MPI_Op, MPI_Comm, Tail...);
  int (*reduce_scatter)(const void*, void*, const C*, Type, MPI_Op, MPI_Comm, Tail...);
  int (*allgather)(const void*, C, Type, void*, C, Type, MPI_Comm, Tail...);
  int (*allgatherv)(const void*, C, Type, void*, const C*, const D*, Type, MPI_Comm, Tail...);
  int (*gather)(const void*, C, Type, void*, C, Type, int, MPI_Comm, Tail...);
  int (*gatherv)(const void*, C, Type, void*, const C*, const D*, Type, int, MPI_Comm, Tail...);
  int (*scatter)(const void*, C, Type, void*, C, Type, int, MPI_Comm, Tail...);
  int (*scatterv)(const void*, const C*, const D*, Type, void*, C, Type, int, MPI_Comm, Tail...);
  int (*bcast)(void*, C, Type, int, MPI_Comm, Tail...);
  int (*barrier)(MPI_Comm, Tail...);
  int (*alltoall)(const void*, C, Type, void*, C, Type, MPI_Comm, Tail...);
  int (*alltoallv)(const void*, const C*, const D*, Type, void*, const C*, const D*, Type, MPI_Comm, Tail...);
  int (*scan)(const void*, void*, C, Type, MPI_Op, MPI_Comm, Tail...);
  int (*exscan)(const void*, void*, C, Type, MPI_Op, MPI_Comm, Tail...);
};

const Functions<int, int> blocking{MPI_Allreduce,      MPI_Reduce,    MPI_Reduce_scatter_block,
                                   MPI_Reduce_scatter, MPI_Allgather, MPI_Allgatherv,
                                   MPI_Gather,         MPI_Gatherv,   MPI_Scatter,
                                   MPI_Scatterv,       MPI_Bcast,     MPI_Barrier,
                                   MPI_Alltoall,       MPI_Alltoallv, MPI_Scan,
                                   MPI_Exscan};
const Functions<int, int> native{PMPI_Allreduce,      PMPI_Reduce,    PMPI_Reduce_scatter_block,
                                 PMPI_Reduce_scatter, PMPI_Allgather, PMPI_Allgatherv,
                                 PMPI_Gather,         PMPI_Gatherv,   PMPI_Scatter,
                                 PMPI_Scatterv,       PMPI_Bcast,     PMPI_Barrier,
                                 PMPI_Alltoall,       PMPI_Alltoallv, PMPI_Scan,
                                 PMPI_Exscan};
const Functions<int, int, MPI_Request*> nonblocking{MPI_Iallreduce,      MPI_Ireduce,    MPI_Ireduce_scatter_block,
                                                    MPI_Ireduce_scatter, MPI_Iallgather, MPI_Iallgatherv,
                                                    MPI_Igather,         MPI_Igatherv,   MPI_Iscatter,
                                                    MPI_Iscatterv,       MPI_Ibcast,     MPI_Ibarrier,
                                                    MPI_Ialltoall,       MPI_Ialltoallv, MPI_Iscan,
                                                    MPI_Iexscan};
const Functions<int, int, MPI_Info, MPI_Request*> persistent{
    TORTURE_INIT(Allreduce),      TORTURE_INIT(Reduce),    TORTURE_INIT(Reduce_scatter_block),
    TORTURE_INIT(Reduce_scatter), TORTURE_INIT(Allgather), TORTURE_INIT(Allgatherv),
    TORTURE_INIT(Gather),         TORTURE_INIT(Gatherv),   TORTURE_INIT(Scatter),
    TORTURE_INIT(Scatterv),       TORTURE_INIT(Bcast),     TORTURE_INIT(Barrier),
    TORTURE_INIT(Alltoall),       TORTURE_INIT(Alltoallv), TORTURE_INIT(Scan),
    TORTURE_INIT(Exscan)};
#if TORTURE_LARGE
const Functions<MPI_Count, MPI_Aint> blocking_large{MPI_Allreduce_c,      MPI_Reduce_c,    MPI_Reduce_scatter_block_c,
                                                    MPI_Reduce_scatter_c, MPI_Allgather_c, MPI_Allgatherv_c,
                                                    MPI_Gather_c,         MPI_Gatherv_c,   MPI_Scatter_c,
                                                    MPI_Scatterv_c,       MPI_Bcast_c,     MPI_Barrier,
                                                    MPI_Alltoall_c,       MPI_Alltoallv_c, MPI_Scan_c,
                                                    MPI_Exscan_c};
const Functions<MPI_Count, MPI_Aint, MPI_Request*> nonblocking_large{
    MPI_Iallreduce_c,      MPI_Ireduce_c,    MPI_Ireduce_scatter_block_c,
    MPI_Ireduce_scatter_c, MPI_Iallgather_c, MPI_Iallgatherv_c,
    MPI_Igather_c,         MPI_Igatherv_c,   MPI_Iscatter_c,
    MPI_Iscatterv_c,       MPI_Ibcast_c,     MPI_Ibarrier,
    MPI_Ialltoall_c,       MPI_Ialltoallv_c, MPI_Iscan_c,
    MPI_Iexscan_c};
const Functions<MPI_Count, MPI_Aint, MPI_Info, MPI_Request*> persistent_large{
    MPI_Allreduce_init_c,      MPI_Reduce_init_c,    MPI_Reduce_scatter_block_init_c,
    MPI_Reduce_scatter_init_c, MPI_Allgather_init_c, MPI_Allgatherv_init_c,
    MPI_Gather_init_c,         MPI_Gatherv_init_c,   MPI_Scatter_init_c,
    MPI_Scatterv_init_c,       MPI_Bcast_init_c,     MPI_Barrier_init,
    MPI_Alltoall_init_c,       MPI_Alltoallv_init_c, MPI_Scan_init_c,
    MPI_Exscan_init_c};
#endif

template <typename C, typename Wide>
const C* array(const Numbers<Wide>* numbers) {
  if (numbers == nullptr) return nullptr;
  if constexpr (std::is_same_v<C, int>) {
    return numbers->narrow.data();
  } else {
    return numbers->wide.data();
  }
}

template <typename C, typename D, typename... Tail>
int call(const Functions<C, D, Tail...>& f, Collective collective, const Arguments& a, Tail... tail) {
  const auto sendcount = static_cast<C>(a.sendcount), recvcount = static_cast<C>(a.recvcount);
  const C* const sendcounts = array<C>(a.sendcounts);
  const C* const recvcounts = array<C>(a.recvcounts);
  const D* const sendplaces = array<D>(a.sendplaces);
  const D* const recvplaces = array<D>(a.recvplaces);
  switch (collective) {
    case Collective::allreduce:
      return f.allreduce(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.comm, tail...);
    case Collective::reduce:
      return f.reduce(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.root, a.comm, tail...);
    case Collective::reduce_scatter_block:
      return f.reduce_scatter_block(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.comm, tail...);
    case Collective::reduce_scatter:
      return f.reduce_scatter(a.sendbuf, a.recvbuf, recvcounts, a.sendtype, a.op, a.comm, tail...);
    case Collective::allgather:
      return f.allgather(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.comm, tail...);
    case Collective::allgatherv:
      return f.allgatherv(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcounts, recvplaces, a.recvtype, a.comm,
                          tail...);
    case Collective::gather:
      return f.gather(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.root, a.comm, tail...);
    case Collective::gatherv:
      return f.gatherv(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcounts, recvplaces, a.recvtype, a.root, a.comm,
                       tail...);
    case Collective::scatter:
      return f.scatter(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.root, a.comm, tail...);
    case Collective::scatterv:
      return f.scatterv(a.sendbuf, sendcounts, sendplaces, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.root, a.comm,
                        tail...);
    case Collective::bcast:
      return f.bcast(a.recvbuf, recvcount, a.recvtype, a.root, a.comm, tail...);
    case Collective::barrier:
      return f.barrier(a.comm, tail...);
    case Collective::alltoall:
      return f.alltoall(a.sendbuf, sendcount, a.sendtype, a.recvbuf, recvcount, a.recvtype, a.comm, tail...);
    case Collective::alltoallv:
      return f.alltoallv(a.sendbuf, sendcounts, sendplaces, a.sendtype, a.recvbuf, recvcounts, recvplaces, a.recvtype,
                         a.comm, tail...);
    case Collective::scan:
      return f.scan(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.comm, tail...);
    case Collective::exscan:
      return f.exscan(a.sendbuf, a.recvbuf, sendcount, a.sendtype, a.op, a.comm, tail...);
  }
  return MPI_ERR_INTERN;
}

}  // namespace

int call_blocking(Collective collective, const Arguments& a, [[maybe_unused]] bool large) {
#if TORTURE_LARGE
  if (large) return call(blocking_large, collective, a);
#endif
  return call(blocking, collective, a);
}

int call_nonblocking(Collective collective, const Arguments& a, [[maybe_unused]] bool large, MPI_Request* request) {
#if TORTURE_LARGE
  if (large) return call(nonblocking_large, collective, a, request);
#endif
  return call(nonblocking, collective, a, request);
}

int call_init(Collective collective, const Arguments& a, [[maybe_unused]] bool large, MPI_Request* request) {
#if TORTURE_LARGE
  if (large) return call(persistent_large, collective, a, MPI_INFO_NULL, request);
#endif
  return call(persistent, collective, a, MPI_INFO_NULL, request);
}

int call_native(Collective collective, const Arguments& a) { return call(native, collective, a); }

bool is_native(Collective collective, Mode mode, bool large) {
  std::string name(to_string(collective));
  if (mode != Mode::nonblocking) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  name = (mode == Mode::nonblocking  ? "MPI_I"
          : mode == Mode::persistent ? TORTURE_INIT_BEGINS
                                     : "MPI_") +
         name + (mode == Mode::persistent ? "_init" : "");
  if (TORTURE_LARGE && large && collective != Collective::barrier) name += "_c";
  Dl_info served{}, library{};
  void* const symbol = dlsym(RTLD_DEFAULT, name.c_str());
  void* const barrier = dlsym(RTLD_DEFAULT, "PMPI_Pack");
  if (dladdr(symbol, &served) == 0 || dladdr(barrier, &library) == 0) return false;
  return std::string_view(served.dli_fname) == library.dli_fname;
}

}  // namespace circoll::torture
