#!/bin/sh
# Conjugate gradients on a 2D grid, in C++: halo exchange, inner products by MPI_Allreduce, or overlapped by
# MPI_Iallreduce or a persistent request. Compared are the residuals of every fifth iteration, the number of iterations
# and samples of the solution, with 17 digits. With sums of integers there is no order of additions, and all must be
# identical; with sums of doubles the solver amplifies their rounding as it converges.
. "$(dirname "$0")/../common.sh"

program=$(built "cg_$mpi") || exit
conjugate_gradients cg "$program" pipelined persistent
exit $status
