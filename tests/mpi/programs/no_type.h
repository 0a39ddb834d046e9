/* Reductions without a type: MPICH 5.0.2 fails an assertion there instead of returning an error (library_faults). */
#ifndef NO_TYPE_H
#define NO_TYPE_H

#include <mpi.h>

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
enum { reductions_need_types = 1 };
#else
enum { reductions_need_types = 0 };
#endif

#endif
