#!/bin/sh
# ScaLAPACK (Debian's, one for each MPI) through a driver in C: LU factorisation with partial pivoting, and solution.
# The test compares the grid of processes, all pivots, the whole solution and the residual, with 17 digits.
. "$(dirname "$0")/../common.sh"

[ "$(cc -print-file-name="libscalapack-$mpi.so")" != "libscalapack-$mpi.so" ] ||
  skip "no libscalapack-$mpi.so (package libscalapack-$mpi-dev)"
program=$(built "lu_$mpi") || exit

lu() {
  compare --program scalapack --variant "n = $1, blocks of $2" --close '^(x|scaled residual)' 1e-9 0 \
    --served bcast,reduce,allreduce -- "$program" "$1" "$2"
}
lu 96 8
lu 211 16
exit $status
