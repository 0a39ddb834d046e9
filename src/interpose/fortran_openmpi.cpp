// Fortran under Open MPI: its Fortran entry points call PMPI_ functions, so that no C symbol in front sees them.
//
// One implementation, ompi_<name>_f, stands behind all bindings: mpif.h and `use mpi` reach it under the compiler's
// names for mpi_<name>, `use mpi_f08` reaches it directly. Arguments come as addresses, handles as integers; MPI_IN_PLACE
// and MPI_BOTTOM are the addresses of two common blocks. (MPICH's Fortran layer calls the C symbols: nothing to do.)
#include <mpi.h>

#include <type_traits>

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
void give(MPI_Fint* ierr, int code) {
  if (ierr != nullptr) *ierr = code;
}

}  // namespace

// ompi_<name>_f and the names that Fortran compilers have for mpi_<name>.
#define CIRCOLL_FORTRAN(lower, upper, parameters, arguments)                                               \
  extern "C" {                                                                                             \
  __attribute__((visibility("default"))) void ompi_##lower##_f parameters { give(ierr, upper arguments); } \
  __attribute__((visibility("default"), alias("ompi_" #lower "_f"))) void mpi_##lower parameters;          \
  __attribute__((visibility("default"), alias("ompi_" #lower "_f"))) void mpi_##lower##_ parameters;       \
  __attribute__((visibility("default"), alias("ompi_" #lower "_f"))) void mpi_##lower##__ parameters;      \
  }

using Int = const MPI_Fint*;

// So that the environment is read, and agreed upon, when the program starts.
CIRCOLL_FORTRAN(init, MPI_Init, (MPI_Fint * ierr), (nullptr, nullptr))
CIRCOLL_FORTRAN(init_thread, MPI_Init_thread, (Int required, MPI_Fint* provided, MPI_Fint* ierr),
                (nullptr, nullptr, *required, provided))
CIRCOLL_FORTRAN(allreduce, MPI_Allreduce,
                (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(reduce, MPI_Reduce,
                (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int root, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), *root, comm(c)))
CIRCOLL_FORTRAN(reduce_scatter_block, MPI_Reduce_scatter_block,
                (void* sendbuf, void* recvbuf, Int recvcount, Int datatype, Int o, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), buffer(recvbuf), *recvcount, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(reduce_scatter, MPI_Reduce_scatter,
                (void* sendbuf, void* recvbuf, Int recvcounts, Int datatype, Int o, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), buffer(recvbuf), recvcounts, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(allgather, MPI_Allgather,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int c,
                 MPI_Fint* ierr),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), comm(c)))
CIRCOLL_FORTRAN(allgatherv, MPI_Allgatherv,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcounts, Int displs, Int recvtype,
                 Int c, MPI_Fint* ierr),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), recvcounts, displs, type(recvtype),
                 comm(c)))
CIRCOLL_FORTRAN(gather, MPI_Gather,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int root,
                 Int c, MPI_Fint* ierr),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), *root,
                 comm(c)))
CIRCOLL_FORTRAN(gatherv, MPI_Gatherv,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcounts, Int displs, Int recvtype,
                 Int root, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), recvcounts, displs, type(recvtype),
                 *root, comm(c)))
CIRCOLL_FORTRAN(scatter, MPI_Scatter,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int root,
                 Int c, MPI_Fint* ierr),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), *root,
                 comm(c)))
CIRCOLL_FORTRAN(scatterv, MPI_Scatterv,
                (void* sendbuf, Int sendcounts, Int displs, Int sendtype, void* recvbuf, Int recvcount, Int recvtype,
                 Int root, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), sendcounts, displs, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype),
                 *root, comm(c)))
CIRCOLL_FORTRAN(bcast, MPI_Bcast, (void* data, Int count, Int datatype, Int root, Int c, MPI_Fint* ierr),
                (buffer(data), *count, type(datatype), *root, comm(c)))
CIRCOLL_FORTRAN(barrier, MPI_Barrier, (Int c, MPI_Fint* ierr), (comm(c)))
CIRCOLL_FORTRAN(alltoall, MPI_Alltoall,
                (void* sendbuf, Int sendcount, Int sendtype, void* recvbuf, Int recvcount, Int recvtype, Int c,
                 MPI_Fint* ierr),
                (buffer(sendbuf), *sendcount, type(sendtype), buffer(recvbuf), *recvcount, type(recvtype), comm(c)))
CIRCOLL_FORTRAN(alltoallv, MPI_Alltoallv,
                (void* sendbuf, Int sendcounts, Int sdispls, Int sendtype, void* recvbuf, Int recvcounts, Int rdispls,
                 Int recvtype, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), sendcounts, sdispls, type(sendtype), buffer(recvbuf), recvcounts, rdispls,
                 type(recvtype), comm(c)))
CIRCOLL_FORTRAN(scan, MPI_Scan, (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), comm(c)))
CIRCOLL_FORTRAN(exscan, MPI_Exscan,
                (void* sendbuf, void* recvbuf, Int count, Int datatype, Int o, Int c, MPI_Fint* ierr),
                (buffer(sendbuf), buffer(recvbuf), *count, type(datatype), op(o), comm(c)))
