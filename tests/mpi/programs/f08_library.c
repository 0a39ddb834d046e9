/* The parts of the mpi_f08 of Open MPI 6 that the drop-in uses: functions behind its procedures, which answer 77. With
 * DESCRIBED it also has the name that says that their buffers are descriptors. */
#ifdef DESCRIBED
void mpi_allreduce_f08ts_(void);
void mpi_allreduce_f08ts_(void) {}
#endif

#define LIBRARY(name, parameters)            \
  void ompi_##name##_wrapper_f08 parameters; \
  void ompi_##name##_wrapper_f08 parameters { *ierror = 77; }

LIBRARY(allreduce, (void* s, void* r, int* count, int* type, int* op, int* comm, int* ierror))
LIBRARY(iallreduce, (void* s, void* r, int* count, int* type, int* op, int* comm, int* request, int* ierror))
LIBRARY(bcast, (void* b, int* count, int* type, int* root, int* comm, int* ierror))
LIBRARY(gather, (void* s, int* scount, int* stype, void* r, int* rcount, int* rtype, int* root, int* comm, int* ierror))
LIBRARY(iscatterv, (void* s, int* scounts, int* displs, int* stype, void* r, int* rcount, int* rtype, int* root,
                    int* comm, int* request, int* ierror))
LIBRARY(allreduce_init,
        (void* s, void* r, int* count, int* type, int* op, int* comm, int* info, int* request, int* ierror))
LIBRARY(alltoallv, (void* s, int* scounts, int* sdispls, int* stype, void* r, int* rcounts, int* rdispls, int* rtype,
                    int* comm, int* ierror))
