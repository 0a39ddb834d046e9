/* LD_PRELOAD for MPICH from 4.3 on, over any device, where ranks outnumber cores. It gives the core away in every pass
 * of the progress engine, which calls the function given to MPIX_Async_start. For tests and measurements only. MPICH
 * over UCX before 4.3 needs yield.c. This library knows nothing of programs that call PMPI_Init. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stddef.h>

typedef int poll_function(void* thing);
typedef int start_function(poll_function* poll, void* state, int stream);

enum { no_progress = 0, done = 1, stream_null = 0x3c000000 };

static volatile int ending;

static int poll(void* thing) {
  (void)thing;
  if (ending) return done;
  sched_yield();
  return no_progress;
}

/* A function of MPI behind this one. Where the library came in through dlopen (Python) it is not in the global scope,
 * but the caller can find it. */
static void* next(const char* name, const char* own_name, const void* caller) {
  struct link_map* object;
  Dl_info info;
  void* handle;
  void* found = dlsym(RTLD_NEXT, name);
  if (found != NULL || dladdr1(caller, &info, (void**)&object, RTLD_DL_LINKMAP) == 0) return found;
  handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
  return handle == NULL ? NULL : dlsym(handle, own_name);
}

static int begun(int error, const void* caller) {
  start_function* start;
  *(void**)&start = next("PMPIX_Async_start", "PMPIX_Async_start", caller);
  if (error == 0 && start != NULL) start(poll, NULL, stream_null);
  return error;
}

int MPI_Init(int* argc, char*** argv);
int MPI_Init(int* argc, char*** argv) {
  const void* const caller = __builtin_return_address(0);
  int (*real)(int*, char***);
  *(void**)&real = next("MPI_Init", "PMPI_Init", caller);
  return begun(real(argc, argv), caller);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const void* const caller = __builtin_return_address(0);
  int (*real)(int*, char***, int, int*);
  *(void**)&real = next("MPI_Init_thread", "PMPI_Init_thread", caller);
  return begun(real(argc, argv, required, provided), caller);
}

int MPI_Finalize(void);
int MPI_Finalize(void) {
  int (*real)(void);
  *(void**)&real = next("MPI_Finalize", "PMPI_Finalize", __builtin_return_address(0));
  ending = 1; /* MPI_Finalize waits for it */
  return real();
}
