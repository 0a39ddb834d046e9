#!/bin/sh
# Conjugate gradients on a 2D grid, in C++, with halo exchange. The inner products are made by MPI_Allreduce, or
# overlapped by MPI_Iallreduce or a persistent request. The test compares the residuals of every fifth iteration, the
# number of iterations and samples of the solution, with 17 digits. Sums of integers have no order of additions, so
# all must be identical. With sums of doubles the solver amplifies their rounding as it converges.
. "$(dirname "$0")/../common.sh"

program=$(built "cg_$mpi") || exit
conjugate_gradients cg "$program" pipelined persistent
exit $status
