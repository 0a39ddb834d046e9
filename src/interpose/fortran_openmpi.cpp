// Fortran under Open MPI: its Fortran entry points call PMPI_ functions, so that no C symbol in front sees them.
//
// One implementation, ompi_<name>_f, stands behind all bindings: mpif.h and `use mpi` reach it under the compiler's
// names for mpi_<name>, `use mpi_f08` reaches it directly. Arguments come as addresses, handles as integers; MPI_IN_PLACE
// and MPI_BOTTOM are the addresses of two common blocks. (MPICH's Fortran layer calls the C symbols: nothing to do.)
#include <mpi.h>

#include "interpose/fortran.hpp"
#include "interpose/serve.hpp"

#include <type_traits>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

static_assert(std::is_same_v<MPI_Fint, int>, "count arrays are passed on as they are");

extern "C" {
// Of the MPI library, or of the program; undefined where there is no Fortran at all.
extern char mpi_fortran_in_place_ __attribute__((weak));
extern char mpi_fortran_bottom_ __attribute__((weak));
}

namespace {

void* buffer(void* address) {
  if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return address;
}
MPI_Datatype type(const MPI_Fint* handle) { return PMPI_Type_f2c(*handle); }
MPI_Op op(const MPI_Fint* handle) { return PMPI_Op_f2c(*handle); }
MPI_Comm comm(const MPI_Fint* handle) { return PMPI_Comm_f2c(*handle); }
}  // namespace

using circoll::interpose::fortran::free_op;
using circoll::interpose::fortran::give;
using circoll::interpose::fortran::start_all;
using circoll::interpose::fortran::with;
using Int = const MPI_Fint*;

// A Fortran entry point `symbol`, and under the names that compilers have for the procedure `name`.
#define CIRCOLL_PROCEDURE(symbol, name, parameters, body)                          \
  extern "C" {                                                                     \
  CIRCOLL_EXPORT void symbol parameters { body; }                                  \
  __attribute__((visibility("default"), alias(#symbol))) void name parameters;     \
  __attribute__((visibility("default"), alias(#symbol))) void name##_ parameters;  \
  __attribute__((visibility("default"), alias(#symbol))) void name##__ parameters; \
  }
#define CIRCOLL_LIST(...) __VA_ARGS__

// A collective in its three forms. Persistent ones are extensions of Open MPI 4: mpix_.
#define CIRCOLL_FORTRAN(lower, upper, iupper, parameters, arguments)                                      \
  CIRCOLL_PROCEDURE(ompi_##lower##_f, mpi_##lower, (CIRCOLL_LIST parameters, MPI_Fint * ierr),            \
                    give(ierr, MPI_##upper arguments))                                                    \
  CIRCOLL_PROCEDURE(                                                                                      \
      ompi_i##lower##_f, mpi_i##lower, (CIRCOLL_LIST parameters, MPI_Fint * request, MPI_Fint * ierr),    \
      give(ierr, request, [&](MPI_Request* made) { return MPI_##iupper(CIRCOLL_LIST arguments, made); })) \
  CIRCOLL_PROCEDURE(ompix_##lower##_init_f, mpix_##lower##_init,                                          \
                    (CIRCOLL_LIST parameters, Int info, MPI_Fint * request, MPI_Fint * ierr),             \
                    give(ierr, request, [&](MPI_Request* made) {                                          \
                      return MPIX_##upper##_init(CIRCOLL_LIST arguments, PMPI_Info_f2c(*info), made);     \
                    }))

// So that the environment is read, and agreed upon, when the program starts; and the end.
CIRCOLL_PROCEDURE(ompi_init_f, mpi_init, (MPI_Fint * ierr), give(ierr, MPI_Init(nullptr, nullptr)))
CIRCOLL_PROCEDURE(ompi_init_thread_f, mpi_init_thread, (Int required, MPI_Fint* provided, MPI_Fint* ierr),
                  give(ierr, MPI_Init_thread(nullptr, nullptr, *required, provided)))
CIRCOLL_PROCEDURE(ompi_finalize_f, mpi_finalize, (MPI_Fint * ierr), give(ierr, MPI_Finalize()))

// What requests.cpp says.
CIRCOLL_PROCEDURE(ompi_start_f, mpi_start, (MPI_Fint * request, MPI_Fint* ierr), give(ierr, with(request, MPI_Start)))
CIRCOLL_PROCEDURE(ompi_startall_f, mpi_startall, (Int count, MPI_Fint* requests, MPI_Fint* ierr),
                  give(ierr, start_all(*count, requests)))
CIRCOLL_PROCEDURE(ompi_request_free_f, mpi_request_free, (MPI_Fint * request, MPI_Fint* ierr),
                  give(ierr, with(request, MPI_Request_free)))
CIRCOLL_PROCEDURE(ompi_cancel_f, mpi_cancel, (MPI_Fint * request, MPI_Fint* ierr),
                  give(ierr, with(request, MPI_Cancel)))
CIRCOLL_PROCEDURE(ompi_op_free_f, mpi_op_free, (MPI_Fint * handle, MPI_Fint* ierr), give(ierr, free_op(handle)))

CIRCOLL_FORTRAN(allreduce, Allreduce, Iallreduce, (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int c),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(reduce, Reduce, Ireduce,
                (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int root, Int c),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), *root, comm(c)))
CIRCOLL_FORTRAN(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block,
                (void* sendbuf, void* recvbuf, Int recvcount, Int datatype, Int o, Int c),
                (buffer(sendbuf), buffer(recvbuf), *recvcount, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(reduce_scatter, Reduce_scatter, Ireduce_scatter,
                (void* sendbuf, void* recvbuf, Int recvcounts, Int datatype, Int o, Int c),
                (buffer(sendbuf), buffer(recvbuf), recvcounts, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(allgather, Allgather, Iallgather,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int c),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), comm(c)))
CIRCOLL_FORTRAN(allgatherv, Allgatherv, Iallgatherv,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcounts, Int displs, Int recvtype,
                 Int c),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), recvcounts, displs, type(recvtype),
                 comm(c)))
CIRCOLL_FORTRAN(gather, Gather, Igather,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int root,
                 Int c),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), *root,
                 comm(c)))
CIRCOLL_FORTRAN(gatherv, Gatherv, Igatherv,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcounts, Int displs, Int recvtype,
                 Int root, Int c),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), recvcounts, displs, type(recvtype),
                 *root, comm(c)))
CIRCOLL_FORTRAN(scatter, Scatter, Iscatter,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int root,
                 Int c),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), *root,
                 comm(c)))
CIRCOLL_FORTRAN(scatterv, Scatterv, Iscatterv,
                (void* sendbuf, Int sendcounts, Int displs, Int sendtype, void* recvbuf, Int recvcount, Int recvtype,
                 Int root, Int c),
                (buffer(sendbuf), sendcounts, displs, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype),
                 *root, comm(c)))
CIRCOLL_FORTRAN(bcast, Bcast, Ibcast, (void* data, Int count, Int datatype, Int root, Int c),
                (buffer(data), *count, type(datatype), *root, comm(c)))
CIRCOLL_FORTRAN(barrier, Barrier, Ibarrier, (Int c), (comm(c)))
CIRCOLL_FORTRAN(alltoall, Alltoall, Ialltoall,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int c),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), comm(c)))
CIRCOLL_FORTRAN(alltoallv, Alltoallv, Ialltoallv,
                (void* sendbuf, Int sendcounts, Int sdispls, Int sendtype, void* recvbuf, Int recvcounts, Int rdispls,
                 Int recvtype, Int c),
                (buffer(sendbuf), sendcounts, sdispls, type(sendtype), buffer(recvbuf), recvcounts, rdispls,
                 type(recvtype), comm(c)))
CIRCOLL_FORTRAN(scan, Scan, Iscan, (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int c),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(exscan, Exscan, Iexscan, (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int c),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), comm(c)))
