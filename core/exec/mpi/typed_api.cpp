// The typed API: from its description of a call to MPI's arguments; blocking, nonblocking and persistent calls.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll::mpi {
namespace {

/// A typed call as MPI's arguments. It has the arrays that MPI wants and the caller has not given: displacements of
/// blocks one after another, and counts of bytes where elements travel as bytes.
class TypedArguments {
 public:
  /// Throws Error(invalid_argument, unsupported, transport).
  TypedArguments(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm);
  TypedArguments(const TypedArguments&) = delete;
  TypedArguments& operator=(const TypedArguments&) = delete;

  [[nodiscard]] const Call& call() const { return call_; }

 private:
  /// `unit` is the factor of counts and displacements.
  void set_arrays(const CollectiveCall& typed, Count unit);

  Call call_;
  // Counts and displacements. For alltoallv there are also those of the blocks that are sent.
  std::array<CountArray, 4> arrays_{};
  std::array<std::vector<Count>, 4> wide_;
};

void TypedArguments::set_arrays(const CollectiveCall& typed, Count unit) {
  const std::array<std::span<const Count>, 4> given{typed.counts, typed.displs, typed.send_counts, typed.send_displs};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool displs = i % 2 == 1;
    const std::span<const Count> counts = given[displs ? i - 1 : i];
    if (counts.empty() || (displs && typed.collective == Collective::reduce_scatter)) continue;  // not significant
    const bool packed = displs && given[i].empty();
    arrays_[i] = CountArray(given[i]);
    if (unit == 1 && !packed) continue;
    wide_[i].assign(counts.begin(), counts.end());
    if (packed) {
      std::exclusive_scan(counts.begin(), counts.end(), wide_[i].begin(), Count{0});
    } else {
      std::ranges::copy(given[i], wide_[i].begin());
    }
    for (Count& number : wide_[i]) number *= unit;
    arrays_[i] = CountArray(wide_[i].data());
  }
}

TypedArguments::TypedArguments(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm) {
  const bool records = typed.record_bytes > 0;
  require(std::in_range<int>(typed.root), "the root must be in 0 .. p-1");
  const bool combined = records && is_reducing(typed.collective);  // an operator is called for whole elements
  MPI_Datatype type = combined ? record_type(typed.record_bytes) : records ? MPI_BYTE : datatype_of(typed.type);
  const Count unit = records && !combined ? typed.record_bytes : 1;
  const Count count = typed.count * unit;
  const bool scatters = typed.collective == Collective::scatter || typed.collective == Collective::scatterv;
  const void* const send = typed.in_place && !scatters ? MPI_IN_PLACE : typed.sendbuf;
  void* const recv = typed.in_place && scatters ? MPI_IN_PLACE : typed.recvbuf;
  const int root = is_rooted(typed.collective) ? static_cast<int>(typed.root) : 0;
  if (is_irregular(typed.collective)) set_arrays(typed, unit);
  const auto& [counts, displs, send_counts, send_displs] = arrays_;
  switch (typed.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::scan:
    case Collective::exscan:
      call_ = calls::reduction(typed.collective, send, recv, count, type, op, root, comm);
      break;
    case Collective::reduce_scatter_block:
      call_ = calls::reduce_scatter_block(send, recv, count, type, op, comm);
      break;
    case Collective::reduce_scatter:
      call_ = calls::reduce_scatter(send, recv, counts, type, op, comm);
      break;
    case Collective::allgather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:
      call_ = calls::counts_of_both(typed.collective, send, count, type, recv, count, type, root, comm);
      break;
    case Collective::allgatherv:
      call_ = calls::allgatherv(send, count, type, recv, counts, displs, type, comm);
      break;
    case Collective::gatherv:
      call_ = calls::gatherv(send, count, type, recv, counts, displs, type, root, comm);
      break;
    case Collective::scatterv:
      call_ = calls::scatterv(send, counts, displs, type, recv, count, type, root, comm);
      break;
    case Collective::bcast:
      call_ = calls::bcast(recv, count, type, root, comm);
      break;
    case Collective::barrier:
      call_ = calls::barrier(comm);
      break;
    case Collective::alltoallv:
      call_ = calls::alltoallv(send, send_counts, send_displs, type, recv, counts, displs, type, comm);
      break;
  }
}

const UserOperator* callers_operator(const CollectiveCall& call) {
  return is_reducing(call.collective) ? call.op.user() : nullptr;
}

Request request(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice, RequestKind kind) {
  if (call.neighbor) {
    const TypedArguments arguments(call, MPI_OP_NULL, comm);
    return make_request(calls::among_neighbors(*call.neighbor, arguments.call()), choice, kind);
  }
  CallersOperator callers(callers_operator(call));
  const TypedArguments arguments(call, callers.handle_or(op), comm);
  return make_request(arguments.call(), choice, kind, std::move(callers));
}

}  // namespace

MPI_Op op_of(Op op) { return predefined_ops()[static_cast<std::size_t>(op)]; }

MPI_Datatype datatype_of(Type type) {
#ifdef MPIX_C_FLOAT16
  MPI_Datatype float16 = MPIX_C_FLOAT16;
#else
  MPI_Datatype float16 = MPI_DATATYPE_NULL;
#endif
  // In the order of the enumerators.
  static const std::array<MPI_Datatype, type_count> datatypes{MPI_BYTE,
                                                              MPI_INT8_T,
                                                              MPI_INT16_T,
                                                              MPI_INT32_T,
                                                              MPI_INT64_T,
                                                              MPI_UINT8_T,
                                                              MPI_UINT16_T,
                                                              MPI_UINT32_T,
                                                              MPI_UINT64_T,
                                                              float16,
                                                              MPI_FLOAT,
                                                              MPI_DOUBLE,
                                                              MPI_LONG_DOUBLE,
                                                              MPI_C_FLOAT_COMPLEX,
                                                              MPI_C_DOUBLE_COMPLEX,
                                                              MPI_C_LONG_DOUBLE_COMPLEX,
                                                              MPI_C_BOOL,
                                                              MPI_FLOAT_INT,
                                                              MPI_DOUBLE_INT,
                                                              MPI_LONG_INT,
                                                              MPI_2INT,
                                                              MPI_SHORT_INT,
                                                              MPI_LONG_DOUBLE_INT,
                                                              MPI_2REAL,
                                                              MPI_2DOUBLE_PRECISION,
                                                              MPI_LOGICAL};
  MPI_Datatype datatype = datatypes[static_cast<std::size_t>(type)];
  if (datatype == MPI_DATATYPE_NULL)
    throw Error(ErrorCode::unsupported, "this MPI has no datatype for " + std::string(to_string(type)));
  return datatype;
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

NeighborCounts neighbors_of(MPI_Comm comm) {
  require(comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  int topology = MPI_UNDEFINED;
  if (const int rc = PMPI_Topo_test(comm, &topology); rc != MPI_SUCCESS) throw MpiError(rc);
  require(topology != MPI_UNDEFINED, "the communicator has no topology");
  return {.sent = neighbor_blocks(comm, true),
          .received = neighbor_blocks(comm, false),
          .symmetric = topology != MPI_DIST_GRAPH};
}

void execute(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  if (call.neighbor) {
    const TypedArguments arguments(call, MPI_OP_NULL, comm);
    return execute_owned(calls::among_neighbors(*call.neighbor, arguments.call()), choice);
  }
  CallersOperator callers(callers_operator(call));
  const TypedArguments arguments(call, callers.handle_or(op), comm);
  execute_owned(arguments.call(), *intern(call.collective, choice));
  callers.rethrow();
}

Request begin(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  return request(call, op, comm, choice, RequestKind::nonblocking);
}

Request init(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  return request(call, op, comm, choice, RequestKind::persistent);
}

}  // namespace circoll::mpi
