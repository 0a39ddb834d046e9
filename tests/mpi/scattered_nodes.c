/* Preloaded: ranks seem to lie on two nodes, in no order and not equally many. With THREE_NODES there are three, with
   1, 4 and 2 of 7 ranks. Tests the use of placements. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int PMPI_Get_processor_name(char* name, int* length) {
  const char* text = getenv("OMPI_COMM_WORLD_RANK");
  if (text == NULL) text = getenv("PMI_RANK");
  const int rank = text == NULL ? 0 : atoi(text);
  *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%d",
                     getenv("THREE_NODES") == NULL ? rank * rank % 3 : rank * rank % 7 % 3);
  return MPI_SUCCESS;
}
