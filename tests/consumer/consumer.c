/* The C interface, without MPI. */
#include <stdio.h>

#include "circoll/circoll.h"

int main(void) {
  if (circoll_check_id("allreduce/circulant_optimal") != CIRCOLL_OK) {
    fprintf(stderr, "%s\n", circoll_last_error());
    return 1;
  }
  printf("version %s algorithms %zu\n", circoll_version(), circoll_algorithm_count());
  return circoll_check_id("allreduce/no_such_thing") == CIRCOLL_UNKNOWN_NAME ? 0 : 1;
}
