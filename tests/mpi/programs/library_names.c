/* Stands in for MPI libraries under names that this machine lacks, and for a program that is linked to them. The
 * library is compiled with -DLIBRARY, and with -DNAMED=symbol for the symbol that tells which MPI it is. */
#ifdef LIBRARY
int MPI_Init(int* argc, char*** argv);
int MPI_Init(int* argc, char*** argv) { return argc == 0 && argv == 0; }
#ifdef NAMED
int NAMED(void);
int NAMED(void) { return 0; }
#endif
#else
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const char* preload = getenv("LD_PRELOAD");
  printf("preloaded: %s\n", preload != NULL ? preload : "nothing");
  return 0;
}
#endif
