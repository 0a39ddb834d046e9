// The functions that make communicators. A nonblocking collective must not wait for other ranks, but to prepare a
// communicator takes all of them, which come together here.
#include <mpi.h>

#include "interpose/next.hpp"
#include "interpose/serve.hpp"

using circoll::interpose::made;

#define CIRCOLL_MAKES(name, parameters, arguments, comm) \
  CIRCOLL_EXPORT int MPI_##name parameters { return made(CIRCOLL_NEXT(name) arguments, comm); }

extern "C" {

CIRCOLL_MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm* newcomm), (comm, newcomm), newcomm)
CIRCOLL_MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm), (comm, info, newcomm), newcomm)
CIRCOLL_MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm), (comm, group, newcomm), newcomm)
CIRCOLL_MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm),
              (comm, group, tag, newcomm), newcomm)
CIRCOLL_MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm), (comm, color, key, newcomm), newcomm)
CIRCOLL_MAKES(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm),
              (comm, split_type, key, info, newcomm), newcomm)
CIRCOLL_MAKES(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newcomm), (intercomm, high, newcomm), newcomm)
CIRCOLL_MAKES(Cart_create,
              (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm),
              (comm, ndims, dims, periods, reorder, newcomm), newcomm)
CIRCOLL_MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* newcomm), (comm, remain, newcomm), newcomm)
CIRCOLL_MAKES(Graph_create,
              (MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* newcomm),
              (comm, nnodes, index, edges, reorder, newcomm), newcomm)
CIRCOLL_MAKES(Dist_graph_create,
              (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
               const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm),
              (comm, n, sources, degrees, destinations, weights, info, reorder, newcomm), newcomm)
CIRCOLL_MAKES(Dist_graph_create_adjacent,
              (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
               const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm* newcomm),
              (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder, newcomm),
              newcomm)

}  // extern "C"
