/* Stands in front of the MPI library, behind the drop-in, and refuses Fortran's types as an MPI without Fortran may. A
 * question about such a type is an error for the handler of the communicator in the question, or of MPI_COMM_WORLD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int is_refused(MPI_Datatype type) {
  return type == MPI_CHARACTER || type == MPI_INTEGER || type == MPI_REAL || type == MPI_DOUBLE_PRECISION ||
         type == MPI_COMPLEX || type == MPI_DOUBLE_COMPLEX || type == MPI_LOGICAL || type == MPI_2INTEGER ||
         type == MPI_2REAL || type == MPI_2DOUBLE_PRECISION;
}

static int refuse(MPI_Comm comm) {
  static int said;
  if (!said) fputs("refused\n", stderr); /* so that a test can see that somebody asks */
  said = 1;
  PMPI_Comm_call_errhandler(comm, MPI_ERR_TYPE);
  return MPI_ERR_TYPE;
}

/* A question about a type, which the next library answers. */
#define QUESTION(name, comm, parameters, arguments)                     \
  int PMPI_##name parameters {                                          \
    static int(*next) parameters;                                       \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_" #name); \
    return is_refused(type) ? refuse(comm) : next arguments;            \
  }

QUESTION(Type_size, MPI_COMM_WORLD, (MPI_Datatype type, int* size), (type, size))
QUESTION(Type_size_x, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Count* size), (type, size))
QUESTION(Type_get_extent, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent), (type, lb, extent))
QUESTION(Type_get_extent_x, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Count* lb, MPI_Count* extent), (type, lb, extent))
QUESTION(Type_get_true_extent_x, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Count* lb, MPI_Count* extent),
         (type, lb, extent))
QUESTION(Type_get_envelope, MPI_COMM_WORLD, (MPI_Datatype type, int* ints, int* addresses, int* types, int* combiner),
         (type, ints, addresses, types, combiner))
QUESTION(Type_get_attr, MPI_COMM_WORLD, (MPI_Datatype type, int key, void* value, int* found),
         (type, key, value, found))
QUESTION(Pack, comm,
         (const void* from, int count, MPI_Datatype type, void* to, int bytes, int* position, MPI_Comm comm),
         (from, count, type, to, bytes, position, comm))
QUESTION(Pack_size, comm, (int count, MPI_Datatype type, MPI_Comm comm, int* bytes), (count, type, comm, bytes))
#if MPI_VERSION >= 4
QUESTION(Type_size_c, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Count* size), (type, size))
QUESTION(Type_get_extent_c, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Count* lb, MPI_Count* extent), (type, lb, extent))
QUESTION(Type_get_true_extent_c, MPI_COMM_WORLD, (MPI_Datatype type, MPI_Count* lb, MPI_Count* extent),
         (type, lb, extent))
QUESTION(Type_get_envelope_c, MPI_COMM_WORLD,
         (MPI_Datatype type, MPI_Count* ints, MPI_Count* addresses, MPI_Count* counts, MPI_Count* types, int* combiner),
         (type, ints, addresses, counts, types, combiner))
#endif
