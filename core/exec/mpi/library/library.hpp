// Facts about the MPI library that this is compiled for, beyond the standard.
//
// Each library has a file of its own with all of these names, so that one more library is one more file and two lines
// here. The macros are for names that not every header declares; everything else is a constant or a function:
//
//   CIRCOLL_THREAD_LOCAL        a variable of each thread, quick to find
//   CIRCOLL_HAS_PERSISTENT      1 if there are persistent collectives; CIRCOLL_INIT(P, Bcast) is then PMPI_Bcast_init,
//                               or PMPIX_Bcast_init where they are an extension; CIRCOLL_INIT(, Bcast) is without P
//   CIRCOLL_HAS_LARGE_COUNTS    1 if functions ending in _c take 64-bit counts
//   CIRCOLL_HAS_CXX_COMPLEX     1 if the complex types of C++ are declared
//
// Persistent collectives and large counts are two facts: Open MPI 5 has the first without the second.
#pragma once

#include <mpi.h>

#if defined(CIRCOLL_SIMULATED)
#include "exec/mpi/library/smpi.hpp"
#elif defined(OPEN_MPI)
#include "exec/mpi/library/openmpi.hpp"
#elif defined(MPICH_VERSION)
#include "exec/mpi/library/mpich.hpp"
#elif defined(MPI_ABI_VERSION)  // which the headers of implementations may define, too
#include "exec/mpi/library/abi.hpp"
#else
#error "Circoll does not know this MPI library: write a file like exec/mpi/library/mpich.hpp for it, and name it here"
#endif
