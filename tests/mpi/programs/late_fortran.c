/* A program in C loads a library in Fortran (the last argument) for itself alone, as Python loads its modules. Nobody
 * else sees the libraries to which that library is linked, and MPI's Fortran is among them. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  void* library = NULL;
  int (*sum)(int) = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  *(void**)&sum = dlsym(library, "late_sum");
  for (int i = 0; i < 3; ++i) {
    const int found = sum(rank + 1 + i);
    if (rank == 0) printf("%d\n", found);
  }
  MPI_Finalize();
  return 0;
}
