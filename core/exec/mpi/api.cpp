// The untyped C++ API.
#include <array>
#include <string>

#include "circoll/mpi.hpp"
#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "exec/mpi/typed_arguments.hpp"

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

void serve(const Call& call, const Choice& choice) {
  finish_owned_calls(call.comm);
  const Outcome outcome = perform(call, *intern(call.collective, choice), Unserved::refuse);
  if (outcome.error != MPI_SUCCESS) throw MpiError(outcome.error);
}

}  // namespace

void execute(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  const TypedArguments arguments(call, op, comm, TypedArguments::Arrays::callers);
  serve(arguments.call(), choice);
}

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
  serve(calls::prefix(Collective::scan, sendbuf, recvbuf, count, datatype, op, comm), choice);
}

void exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            const Choice& choice) {
  serve(calls::prefix(Collective::exscan, sendbuf, recvbuf, count, datatype, op, comm), choice);
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

void bcast(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm, const Choice& choice) {
  serve(calls::bcast(buffer, count, datatype, root, comm), choice);
}

void barrier(MPI_Comm comm, const Choice& choice) { serve(calls::barrier(comm), choice); }

MPI_Op op_of(Op op) {
  switch (op) {
    case Op::sum:
      return MPI_SUM;
    case Op::prod:
      return MPI_PROD;
    case Op::min:
      return MPI_MIN;
    case Op::max:
      return MPI_MAX;
    case Op::land:
      return MPI_LAND;
    case Op::lor:
      return MPI_LOR;
    case Op::lxor:
      return MPI_LXOR;
    case Op::band:
      return MPI_BAND;
    case Op::bor:
      return MPI_BOR;
    case Op::bxor:
      return MPI_BXOR;
    case Op::minloc:
      return MPI_MINLOC;
    case Op::maxloc:
      return MPI_MAXLOC;
    case Op::replace:
      return MPI_REPLACE;
    case Op::no_op:
      return MPI_NO_OP;
  }
  return MPI_OP_NULL;
}

MPI_Datatype datatype_of(Type type) {
  switch (type) {
    case Type::byte:
      return MPI_BYTE;
    case Type::int8:
      return MPI_INT8_T;
    case Type::int16:
      return MPI_INT16_T;
    case Type::int32:
      return MPI_INT32_T;
    case Type::int64:
      return MPI_INT64_T;
    case Type::uint8:
      return MPI_UINT8_T;
    case Type::uint16:
      return MPI_UINT16_T;
    case Type::uint32:
      return MPI_UINT32_T;
    case Type::uint64:
      return MPI_UINT64_T;
#ifdef MPIX_C_FLOAT16
    case Type::float16:
      return MPIX_C_FLOAT16;
#else
    case Type::float16:
      break;
#endif
    case Type::float32:
      return MPI_FLOAT;
    case Type::float64:
      return MPI_DOUBLE;
    case Type::float_long:
      return MPI_LONG_DOUBLE;
    case Type::complex64:
      return MPI_C_FLOAT_COMPLEX;
    case Type::complex128:
      return MPI_C_DOUBLE_COMPLEX;
    case Type::complex_long:
      return MPI_C_LONG_DOUBLE_COMPLEX;
    case Type::boolean:
      return MPI_C_BOOL;
    case Type::pair_float_int:
      return MPI_FLOAT_INT;
    case Type::pair_double_int:
      return MPI_DOUBLE_INT;
    case Type::pair_long_int:
      return MPI_LONG_INT;
    case Type::pair_int_int:
      return MPI_2INT;
    case Type::pair_short_int:
      return MPI_SHORT_INT;
    case Type::pair_long_double_int:
      return MPI_LONG_DOUBLE_INT;
    case Type::pair_float_float:
      return MPI_2REAL;
    case Type::pair_double_double:
      return MPI_2DOUBLE_PRECISION;
    case Type::logical:
      return MPI_LOGICAL;
  }
  throw Error(ErrorCode::unsupported, "this MPI has no datatype for " + std::string(to_string(type)));
}

Rank size_of(MPI_Comm comm) {
  require(comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  int size = 0;
  if (const int rc = PMPI_Comm_size(comm, &size); rc != MPI_SUCCESS) throw MpiError(rc);
  return size;
}

Rank rank_of(MPI_Comm comm) {
  require(comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  int rank = 0;
  if (const int rc = PMPI_Comm_rank(comm, &rank); rc != MPI_SUCCESS) throw MpiError(rc);
  return rank;
}

}  // namespace circoll::mpi
