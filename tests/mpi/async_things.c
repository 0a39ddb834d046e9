/* LD_PRELOAD behind others: makes the MPICH of these tests look like one of version 4.3 or later over another device
 * than UCX. Its progress engine calls the functions given to MPIX_Async_start, also from within these, until they say
 * that they are done. MPI_Finalize waits for them. The process aborts if the drop-in or dev/yield_async.c uses that
 * wrongly, or not at all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned progress_function(void* worker);
typedef int poll_function(void* thing);

enum { most = 2 };
/* A function given to MPIX_Async_start: how many passes are inside of it, and how many there were. */
static struct Thing {
  poll_function* poll;
  void* state;
  int depth;
  long passes;
} things[most];
static int given;

static void give_up(const char* why) {
  fprintf(stderr, "async_things: %s\n", why);
  abort();
}

int PMPIX_Async_start(poll_function* poll, void* state, int stream);
int PMPIX_Async_start(poll_function* poll, void* state, int stream) {
  if (stream != 0x3c000000 || given == most) give_up("wrong arguments");
  things[given].state = state;
  things[given++].poll = poll;
  return MPI_SUCCESS;
}

int PMPI_Get_library_version(char* version, int* length) {
  strcpy(version, "MPICH Version:      4.3.0, stand-in, ch4:ofi");
  *length = (int)strlen(version);
  return MPI_SUCCESS;
}

unsigned ucp_worker_progress(void* worker);
unsigned ucp_worker_progress(void* worker) {
  static progress_function* real;
  struct Thing* thing;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
  for (thing = things; thing < things + given; ++thing) {
    if (thing->poll == NULL) continue;
    ++thing->depth;
    ++thing->passes;
    if (thing->poll(thing->state) != 0) {
      if (thing->depth > 1) give_up("done while a pass around this one still looks at it");
      thing->poll = NULL;
    }
    --thing->depth;
  }
  return real(worker);
}

static int is_preloaded(const char* name) {
  const char* const libraries = getenv("LD_PRELOAD");
  return libraries != NULL && strstr(libraries, name) != NULL;
}

static int waiting(void) {
  int i, waits = 0;
  for (i = 0; i < given; ++i) waits = waits || things[i].poll != NULL;
  return waits;
}

int MPI_Finalize(void) {
  const char* const progress = getenv("CIRCOLL_PROGRESS");
  const int threads = progress != NULL && strcmp(progress, "thread") == 0;
  int i, flag, expected = is_preloaded("circoll_yield_async") + (is_preloaded("libcircoll-mpi") && !threads);
  if (given != expected) give_up("not all have used it");
  for (i = 0; i < 1000 && waiting(); ++i) {
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  if (waiting()) give_up("MPI_Finalize waits forever");
  for (i = 0; i < given; ++i) {
    if (things[i].passes == 0) give_up("nothing was polled");
  }
  return PMPI_Finalize();
}
