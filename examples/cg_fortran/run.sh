#!/bin/sh
# The same solver in Fortran, by `use mpi_f08`. The test compares the same numbers.
. "$(dirname "$0")/../common.sh"

command -v "mpif90.$mpi" >/dev/null || skip "no mpif90.$mpi (packages gfortran and lib$mpi-dev)"
program=$(built "cg_fortran_$mpi") || exit
conjugate_gradients cg_fortran "$program" pipelined
exit $status
