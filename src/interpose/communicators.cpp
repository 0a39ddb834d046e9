// The functions that make communicators. A nonblocking collective must not wait for other ranks, but to prepare a
// communicator takes all of them, which come together here.
#include <mpi.h>

#include "interpose/next.hpp"
#include "interpose/serve.hpp"

using circoll::interpose::made;

#define CIRCOLL_MAKES(name, parameters, call) \
  CIRCOLL_EXPORT int MPI_##name parameters { return made(call, newcomm); }

extern "C" {

CIRCOLL_MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm* newcomm), CIRCOLL_NEXT(Comm_dup)(comm, newcomm))
CIRCOLL_MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Comm_dup_with_info)(comm, info, newcomm))
CIRCOLL_MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Comm_create)(comm, group, newcomm))
CIRCOLL_MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Comm_create_group)(comm, group, tag, newcomm))
CIRCOLL_MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Comm_split)(comm, color, key, newcomm))
CIRCOLL_MAKES(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Comm_split_type)(comm, split_type, key, info, newcomm))
CIRCOLL_MAKES(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Intercomm_merge)(intercomm, high, newcomm))
CIRCOLL_MAKES(Cart_create,
              (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Cart_create)(comm, ndims, dims, periods, reorder, newcomm))
CIRCOLL_MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* newcomm),
              CIRCOLL_NEXT(Cart_sub)(comm, remain, newcomm))
CIRCOLL_MAKES(Graph_create,
              (MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Graph_create)(comm, nnodes, index, edges, reorder, newcomm))
CIRCOLL_MAKES(Dist_graph_create,
              (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
               const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Dist_graph_create)(comm, n, sources, degrees, destinations, weights, info, reorder, newcomm))
CIRCOLL_MAKES(Dist_graph_create_adjacent,
              (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
               const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm* newcomm),
              CIRCOLL_NEXT(Dist_graph_create_adjacent)(comm, indegree, sources, sourceweights, outdegree, destinations,
                                                       destweights, info, reorder, newcomm))

}  // extern "C"
