#include "exec/mpi/call/call.hpp"

#include <string>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/schedule.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::mpi {
namespace {

/// The arguments about one buffer.
struct Arguments {
  std::string name;  ///< "send" or "receive"; empty where there is one datatype for both
  MPI_Datatype type;
  Count count;
  bool irregular;  ///< counts and, but for reductions, displacements in place of the count
  CountArray counts;
  bool needs_displs = true;
  CountArray displs{};
  bool has_types = false;  ///< a datatype for each block, in place of `type`
  const MPI_Datatype* types = nullptr;
};

std::string complaint_about_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return " is MPI_DATATYPE_NULL";
  return describe(type).valid ? "" : " is not committed";
}

std::string complaint_about_types(const Arguments& side, Rank size) {
  if (side.types == nullptr) return "datatypes are NULL";
  for (Rank i = 0; i < size; ++i) {
    const std::string text = complaint_about_type(type_of_block(side.types, i, side.counts[i]));
    if (!text.empty()) return "datatype of rank " + std::to_string(i) + text;
  }
  return {};
}

/// The complaint about wrong arguments; empty if they are right.
std::string complaint(const Arguments& side, Rank size) {
  const std::string of = side.name.empty() ? "the " : "the " + side.name + " ";
  if (const std::string text = side.has_types ? "" : complaint_about_type(side.type); !text.empty())
    return of + "datatype" + text;
  if (!side.irregular) {
    return side.count < 0 ? of + "count is " + std::to_string(side.count) + ", which is negative" : std::string();
  }
  if (!side.counts) return of + "counts are NULL";
  if (side.needs_displs && !side.displs) return of + "displacements are NULL";
  for (Rank i = 0; i < size; ++i) {
    if (side.counts[i] >= 0) continue;
    return of + "count of rank " + std::to_string(i) + " is " + std::to_string(side.counts[i]) + ", which is negative";
  }
  const std::string about_types = side.has_types ? complaint_about_types(side, size) : "";
  return about_types.empty() ? about_types : of + about_types;
}

std::string complaint_about_reduction(const Call& call, Rank size) {
  if (call.op == MPI_OP_NULL) return "the operator is MPI_OP_NULL";
  const bool block = call.collective == Collective::reduce_scatter_block;
  return complaint({.name = "",
                    .type = call.sendtype,
                    .count = block ? call.recvcount : call.sendcount,
                    .irregular = has_recvcounts(call.collective),
                    .counts = call.recvcounts,
                    .needs_displs = false},
                   size);
}

std::string complaint_about_movement(const Call& call, Rank rank, Rank size) {
  const Collective c = call.collective;
  const bool sends = is_significant(traits_of(c).send, rank, call.root);
  const bool receives = is_significant(traits_of(c).recv, rank, call.root);
  // The side with one block has one count in the irregular collectives, too.
  std::string text;
  if (sends && call.sendbuf != MPI_IN_PLACE) {
    text = complaint({.name = "send",
                      .type = call.sendtype,
                      .count = call.sendcount,
                      .irregular = has_sendcounts(c),
                      .counts = call.sendcounts,
                      .displs = call.senddispls,
                      .has_types = call.has_types,
                      .types = call.sendtypes},
                     size);
  }
  if (text.empty() && receives && call.recvbuf != MPI_IN_PLACE) {
    text = complaint({.name = traits_of(c).send.at == Significant::none ? "" : "receive",
                      .type = call.recvtype,
                      .count = call.recvcount,
                      .irregular = has_recvcounts(c),
                      .counts = call.recvcounts,
                      .displs = call.recvdispls,
                      .has_types = call.has_types,
                      .types = call.recvtypes},
                     size);
  }
  return text;
}

std::string complaint(const Call& call) {
  if (call.comm == MPI_COMM_NULL) return "the communicator is MPI_COMM_NULL";
  int rank = 0, size = 1;
  PMPI_Comm_rank(call.comm, &rank);
  PMPI_Comm_size(call.comm, &size);
  if (is_rooted(call.collective) && (call.root < 0 || call.root >= size)) {
    return "the root is " + std::to_string(call.root) + ", but ranks are 0 to " + std::to_string(size - 1);
  }
  std::string text =
      is_reducing(call.collective) ? complaint_about_reduction(call, size) : complaint_about_movement(call, rank, size);
  if (!text.empty()) return text;
  if (call.sendbuf == MPI_IN_PLACE || call.recvbuf == MPI_IN_PLACE) {
    return "MPI_IN_PLACE is not allowed for this buffer at this rank, or the other buffer is NULL";
  }
  return "a buffer is NULL, both buffers are the same, or this rank's block differs in size between them";
}

bool ends_the_job(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

}  // namespace

void refuse_arguments(const Call& call) { throw Error(ErrorCode::invalid_argument, complaint(call)); }

void require_valid(const Call& call) {
  if (call.comm == MPI_COMM_NULL) refuse_arguments(call);
  int inter = 0, rank = 0, size = 1;
  if (PMPI_Comm_test_inter(call.comm, &inter) != MPI_SUCCESS || inter != 0) return;
  PMPI_Comm_rank(call.comm, &rank);
  PMPI_Comm_size(call.comm, &size);
  if (CallerBuffers(call, rank, size).erroneous()) refuse_arguments(call);
}

ReturnedErrors::ReturnedErrors(MPI_Comm comm) : comm_(comm) {
  if (PMPI_Comm_get_errhandler(comm, &before_) != MPI_SUCCESS) return;
  changed_ = ends_the_job(before_) && PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

ReturnedErrors::~ReturnedErrors() {
  if (changed_) PMPI_Comm_set_errhandler(comm_, before_);
  if (before_ != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&before_);
}

}  // namespace circoll::mpi
