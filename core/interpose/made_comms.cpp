// The MPI functions that make communicators, for records (recorder.hpp, wrappers). All ranks of a communicator see it
// made, in one order, and give it the same id. Communicators that are made otherwise are counted by their first
// collective call.
#include <mpi.h>

#include "exec/mpi/library/library.hpp"
#include "interpose/serve.hpp"
#include "interpose/serving.hpp"
#include "interpose/state.hpp"

namespace {

int made(int error, const MPI_Comm* comm) {
  using circoll::interpose::Serving;
  using circoll::interpose::State;
  State* const state = State::known();
  if (error != MPI_SUCCESS || state == nullptr) return error;
  if (state->recorder() != nullptr) state->recorder()->made(*comm);
  if (Serving* const wrapper = Serving::first(); wrapper != nullptr) wrapper->made(*comm);
  return error;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): they come with the parameters and the arguments
#define CIRCOLL_MAKES(name, parameters, arguments) \
  CIRCOLL_EXPORT int MPI_##name parameters { return made(CIRCOLL_NEXT(name) arguments, result); }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

CIRCOLL_MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm* result), (comm, result))
CIRCOLL_MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* result), (comm, info, result))
CIRCOLL_MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* result), (comm, color, key, result))
CIRCOLL_MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* result),
              (comm, type, key, info, result))
CIRCOLL_MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* result), (comm, group, result))
CIRCOLL_MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* result),
              (comm, group, tag, result))
CIRCOLL_MAKES(Cart_create,
              (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder, MPI_Comm* result),
              (comm, dimensions, sizes, periods, reorder, result))
CIRCOLL_MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* result), (comm, remain, result))
CIRCOLL_MAKES(Graph_create,
              (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* result),
              (comm, nodes, index, edges, reorder, result))
CIRCOLL_MAKES(Dist_graph_create,
              (MPI_Comm comm, int count, const int sources[], const int degrees[], const int destinations[],
               const int weights[], MPI_Info info, int reorder, MPI_Comm* result),
              (comm, count, sources, degrees, destinations, weights, info, reorder, result))
CIRCOLL_MAKES(Dist_graph_create_adjacent,
              (MPI_Comm comm, int indegree, const int sources[], const int source_weights[], int outdegree,
               const int destinations[], const int destination_weights[], MPI_Info info, int reorder, MPI_Comm* result),
              (comm, indegree, sources, source_weights, outdegree, destinations, destination_weights, info, reorder,
               result))
CIRCOLL_MAKES(Intercomm_create,
              (MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm* result),
              (local, local_leader, peer, remote_leader, tag, result))
CIRCOLL_MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* result), (comm, high, result))

}  // extern "C"
