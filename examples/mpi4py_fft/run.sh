#!/bin/sh
# Fourier transforms by mpi4py-fft (Debian's, for Open MPI), which redistributes arrays by MPI_Alltoallw. Arrays of
# three dimensions, divided into slabs and pencils, are transformed and back, in real and complex numbers. The test
# compares samples and norms of the transforms, with 17 digits. The norms add over the ranks.
. "$(dirname "$0")/../common.sh"

[ "$mpi" = openmpi ] || skip "Debian builds mpi4py for Open MPI"
/usr/bin/python3 -c 'import mpi4py_fft' 2>/dev/null || skip "no mpi4py-fft (package python3-mpi4py-fft)"

for division in slabs pencils; do
  compare --program mpi4py_fft --variant "$division" --served alltoallw,allreduce --close '^norm ' 1e-13 0 -- \
    /usr/bin/python3 "$here/transforms.py" "$division"
done
exit $status
