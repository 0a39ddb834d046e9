// The collectives of the C ABI.
#include <mpi.h>

#include "api/c_errors.hpp"
#include "circoll/circoll.h"
#include "circoll/mpi.hpp"

namespace {

using circoll::Choice;
using circoll::mpi::Counts;

template <typename Function>
int error_code_of(Function&& function) noexcept {
  try {
    function();
    return CIRCOLL_OK;
  } catch (const circoll::MpiError& e) {
    return circoll::api::record(e.code(), e.what(), e.mpi_code());
  } catch (...) {
    return circoll::api::error_code_of([] { throw; });
  }
}

Choice choice_of(const char* text) { return text == nullptr ? Choice() : Choice(text); }
Counts counts_of(const int64_t* counts) { return counts == nullptr ? Counts() : Counts::wide(counts); }

}  // namespace

extern "C" {

int circoll_mpi_allreduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, const char* choice) {
  return error_code_of(
      [&] { circoll::mpi::allreduce(sendbuf, recvbuf, count, datatype, op, comm, choice_of(choice)); });
}

int circoll_mpi_reduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, int root,
                       MPI_Comm comm, const char* choice) {
  return error_code_of(
      [&] { circoll::mpi::reduce(sendbuf, recvbuf, count, datatype, op, root, comm, choice_of(choice)); });
}

int circoll_mpi_reduce_scatter_block(const void* sendbuf, void* recvbuf, int64_t recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, const char* choice) {
  return error_code_of(
      [&] { circoll::mpi::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, choice_of(choice)); });
}

int circoll_mpi_reduce_scatter(const void* sendbuf, void* recvbuf, const int64_t* recvcounts, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::reduce_scatter(sendbuf, recvbuf, counts_of(recvcounts), datatype, op, comm, choice_of(choice));
  });
}

int circoll_mpi_allgather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, choice_of(choice));
  });
}

int circoll_mpi_allgatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm,
                           const char* choice) {
  return error_code_of([&] {
    circoll::mpi::allgatherv(sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts), counts_of(displs), recvtype,
                             comm, choice_of(choice));
  });
}

int circoll_mpi_gather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, choice_of(choice));
  });
}

int circoll_mpi_gatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::gatherv(sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts), counts_of(displs), recvtype,
                          root, comm, choice_of(choice));
  });
}

int circoll_mpi_scatter(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, choice_of(choice));
  });
}

int circoll_mpi_scatterv(const void* sendbuf, const int64_t* sendcounts, const int64_t* displs, MPI_Datatype sendtype,
                         void* recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         const char* choice) {
  return error_code_of([&] {
    circoll::mpi::scatterv(sendbuf, counts_of(sendcounts), counts_of(displs), sendtype, recvbuf, recvcount, recvtype,
                           root, comm, choice_of(choice));
  });
}

int circoll_mpi_alltoall(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, choice_of(choice));
  });
}

int circoll_mpi_alltoallv(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls, MPI_Datatype sendtype,
                          void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls, MPI_Datatype recvtype,
                          MPI_Comm comm, const char* choice) {
  return error_code_of([&] {
    circoll::mpi::alltoallv(sendbuf, counts_of(sendcounts), counts_of(sdispls), sendtype, recvbuf,
                            counts_of(recvcounts), counts_of(rdispls), recvtype, comm, choice_of(choice));
  });
}

int circoll_mpi_scan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                     const char* choice) {
  return error_code_of([&] { circoll::mpi::scan(sendbuf, recvbuf, count, datatype, op, comm, choice_of(choice)); });
}

int circoll_mpi_exscan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm, const char* choice) {
  return error_code_of([&] { circoll::mpi::exscan(sendbuf, recvbuf, count, datatype, op, comm, choice_of(choice)); });
}

int circoll_mpi_bcast(void* buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm, const char* choice) {
  return error_code_of([&] { circoll::mpi::bcast(buffer, count, datatype, root, comm, choice_of(choice)); });
}

int circoll_mpi_barrier(MPI_Comm comm, const char* choice) {
  return error_code_of([&] { circoll::mpi::barrier(comm, choice_of(choice)); });
}

}  // extern "C"
