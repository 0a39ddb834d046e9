// The untyped C++ API.
#include <array>
#include <string>

#include "circoll/mpi.hpp"
#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll {
namespace {

std::string describe_error(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  if (PMPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "MPI reported error " + std::to_string(code);
  return "MPI reported: " + std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace

MpiError::MpiError(int mpi_code) : Error(ErrorCode::transport, describe_error(mpi_code)), mpi_code_(mpi_code) {}

}  // namespace circoll

namespace circoll::mpi {
namespace {

void serve(const Call& call, const Choice& choice) { execute_owned(call, *intern(call.collective, choice)); }
void serve_among_neighbors(NeighborFunction function, const Call& call, const Choice& choice) {
  execute_owned(calls::among_neighbors(function, call), choice);
}

}  // namespace

void allreduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
               const Choice& choice) {
  serve(calls::allreduce(sendbuf, recvbuf, count, datatype, op, comm), choice);
}

void reduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
            const Choice& choice) {
  serve(calls::reduce(sendbuf, recvbuf, count, datatype, op, root, comm), choice);
}

void reduce_scatter_block(const void* sendbuf, void* recvbuf, Count recvcount, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, const Choice& choice) {
  serve(calls::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), choice);
}

void reduce_scatter(const void* sendbuf, void* recvbuf, const Counts& recvcounts, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, const Choice& choice) {
  serve(calls::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm), choice);
}

void scan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
          const Choice& choice) {
  serve(calls::scan(sendbuf, recvbuf, count, datatype, op, comm), choice);
}

void exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            const Choice& choice) {
  serve(calls::exscan(sendbuf, recvbuf, count, datatype, op, comm), choice);
}

void allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
               MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice) {
  serve(calls::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), choice);
}

void allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Counts& recvcounts,
                const Counts& displs, MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice) {
  serve(calls::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), choice);
}

void gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice) {
  serve(calls::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), choice);
}

void gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Counts& recvcounts,
             const Counts& displs, MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice) {
  serve(calls::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm), choice);
}

void scatter(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
             MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice) {
  serve(calls::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), choice);
}

void scatterv(const void* sendbuf, const Counts& sendcounts, const Counts& displs, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice) {
  serve(calls::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm), choice);
}

void alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice) {
  serve(calls::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), choice);
}

void alltoallv(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls, MPI_Datatype sendtype,
               void* recvbuf, const Counts& recvcounts, const Counts& rdispls, MPI_Datatype recvtype, MPI_Comm comm,
               const Choice& choice) {
  serve(calls::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), choice);
}

void alltoallw(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls, const MPI_Datatype* sendtypes,
               void* recvbuf, const Counts& recvcounts, const Counts& rdispls, const MPI_Datatype* recvtypes,
               MPI_Comm comm, const Choice& choice) {
  serve(calls::alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
        choice);
}

void bcast(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm, const Choice& choice) {
  serve(calls::bcast(buffer, count, datatype, root, comm), choice);
}

void barrier(MPI_Comm comm, const Choice& choice) { serve(calls::barrier(comm), choice); }

void neighbor_allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice) {
  serve_among_neighbors(NeighborFunction::allgather,
                        calls::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), choice);
}

void neighbor_allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const Counts& recvcounts, const Counts& displs, MPI_Datatype recvtype, MPI_Comm comm,
                         const Choice& choice) {
  serve_among_neighbors(NeighborFunction::allgatherv,
                        calls::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                        choice);
}

void neighbor_alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice) {
  serve_among_neighbors(NeighborFunction::alltoall,
                        calls::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), choice);
}

void neighbor_alltoallv(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const Counts& recvcounts, const Counts& rdispls, MPI_Datatype recvtype,
                        MPI_Comm comm, const Choice& choice) {
  serve_among_neighbors(
      NeighborFunction::alltoallv,
      calls::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), choice);
}

void neighbor_alltoallw(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls,
                        const MPI_Datatype* sendtypes, void* recvbuf, const Counts& recvcounts, const Counts& rdispls,
                        const MPI_Datatype* recvtypes, MPI_Comm comm, const Choice& choice) {
  serve_among_neighbors(
      NeighborFunction::alltoallw,
      calls::alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), choice);
}

}  // namespace circoll::mpi
