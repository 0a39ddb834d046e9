/* Uses that tools and their users make: MPI_Pcontrol, MPI_T, and some collectives. Knows nothing of Circoll: its output
 * must be the same with and without the drop-in. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, i, sum = 0, provided, rc, numbers[3] = {-1, -1, -1};
  MPI_Comm comm;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_free(&comm);
  rc = MPI_Pcontrol(0);
  if (rc != MPI_SUCCESS) printf("MPI_Pcontrol: %d\n", rc);
  for (i = 0; i < 10; ++i) {
    int result = -1;
    MPI_Allreduce(&i, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&result, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    sum += result;
  }
  rc = MPI_Pcontrol(1);
  if (rc != MPI_SUCCESS) printf("MPI_Pcontrol: %d\n", rc);
  MPI_T_cvar_get_num(&numbers[0]);
  MPI_T_pvar_get_num(&numbers[1]);
  MPI_T_category_get_num(&numbers[2]);
  if (rank == 0) {
    printf("sum %d; thread level of MPI_T %d, variables %d %d, categories %d\n", sum, provided, numbers[0], numbers[1],
           numbers[2]);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
