// The collectives of the C ABI.
#include <mpi.h>

#include "api/c_errors.hpp"
#include "circoll/circoll.h"
#include "circoll/mpi.hpp"

namespace {

using circoll::Choice;
using circoll::mpi::Counts;

/// Calls a function of the C++ API, whose last parameter is the choice. Returns the code of its error.
template <typename Function, typename... Arguments>
int call(Function* function, const char* choice, const Arguments&... arguments) noexcept {
  try {
    function(arguments..., choice == nullptr ? Choice() : Choice(choice));
    return CIRCOLL_OK;
  } catch (const circoll::MpiError& e) {
    return circoll::api::record(e.code(), e.what(), e.mpi_code());
  } catch (...) {
    return circoll::api::error_code_of([] { throw; });
  }
}

Counts counts_of(const int64_t* counts) { return counts == nullptr ? Counts() : Counts::wide(counts); }

}  // namespace

extern "C" {

int circoll_mpi_allreduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::allreduce, choice, sendbuf, recvbuf, count, datatype, op, comm);
}

int circoll_mpi_reduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, int root,
                       MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::reduce, choice, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int circoll_mpi_reduce_scatter_block(const void* sendbuf, void* recvbuf, int64_t recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::reduce_scatter_block, choice, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int circoll_mpi_reduce_scatter(const void* sendbuf, void* recvbuf, const int64_t* recvcounts, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::reduce_scatter, choice, sendbuf, recvbuf, counts_of(recvcounts), datatype, op, comm);
}

int circoll_mpi_allgather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::allgather, choice, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int circoll_mpi_allgatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm,
                           const char* choice) {
  return call(circoll::mpi::allgatherv, choice, sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts),
              counts_of(displs), recvtype, comm);
}

int circoll_mpi_gather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::gather, choice, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int circoll_mpi_gatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::gatherv, choice, sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts),
              counts_of(displs), recvtype, root, comm);
}

int circoll_mpi_scatter(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::scatter, choice, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int circoll_mpi_scatterv(const void* sendbuf, const int64_t* sendcounts, const int64_t* displs, MPI_Datatype sendtype,
                         void* recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         const char* choice) {
  return call(circoll::mpi::scatterv, choice, sendbuf, counts_of(sendcounts), counts_of(displs), sendtype, recvbuf,
              recvcount, recvtype, root, comm);
}

int circoll_mpi_alltoall(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::alltoall, choice, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int circoll_mpi_alltoallv(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls, MPI_Datatype sendtype,
                          void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls, MPI_Datatype recvtype,
                          MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::alltoallv, choice, sendbuf, counts_of(sendcounts), counts_of(sdispls), sendtype, recvbuf,
              counts_of(recvcounts), counts_of(rdispls), recvtype, comm);
}

int circoll_mpi_scan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                     const char* choice) {
  return call(circoll::mpi::scan, choice, sendbuf, recvbuf, count, datatype, op, comm);
}

int circoll_mpi_exscan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::exscan, choice, sendbuf, recvbuf, count, datatype, op, comm);
}

int circoll_mpi_bcast(void* buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm, const char* choice) {
  return call(circoll::mpi::bcast, choice, buffer, count, datatype, root, comm);
}

int circoll_mpi_barrier(MPI_Comm comm, const char* choice) { return call(circoll::mpi::barrier, choice, comm); }

}  // extern "C"
