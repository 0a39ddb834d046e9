#!/bin/sh
# LAMMPS (Debian's, for Open MPI): a melting crystal, and a molten salt with long-range forces. The salt's Fourier
# transforms use collectives, and it is balanced as it runs. The test compares everything that is printed except
# times, the thermodynamic output with 17 digits. The last digits may differ where sums are added in another order.
# The motion is chaotic and amplifies that.
. "$(dirname "$0")/../common.sh"

[ "$mpi" = openmpi ] || skip "Debian builds LAMMPS for Open MPI"
command -v lmp >/dev/null || skip "no lmp (package lammps)"

# Energies are sums of cancelling terms of order 1, hence the absolute bounds.
times='CPU|Loop time|Performance|wall time|^Section|^(Pair|Kspace|Neigh|Comm|Output|Modify|Other) *\||Per MPI rank memory'
lammps() {
  variant=$1
  shift
  compare --program lammps --variant "$variant" --ignore "$times" \
    --close '^ *(0|10|20) ' 1e-13 1e-13 --close '^ *[0-9]+ ' 1e-11 1e-11 "$@"
}
lammps "melt" --served allreduce,bcast,reduce,scan,barrier -- lmp -in "$here/melt.in" -log none -nocite
lammps "salt" --served allreduce,allgather,alltoallv,bcast -- lmp -in "$here/salt.in" -log none -nocite
if [ "$np" -gt 2 ]; then
  lammps "salt, CIRCOLL_ALLREDUCE=ring" --env CIRCOLL_ALLREDUCE=ring --served allreduce -- \
    lmp -in "$here/salt.in" -log none -nocite
  # In a tiled layout LAMMPS adds messages of neighbours as they arrive, so that it differs from itself. An atom at a
  # cut may go to either side. The shares of the ranks are left out for that reason.
  lammps "salt, tiled" --unsteady --ignore '^(Nlocal|Nghost|Neighs|Histogram)' --why "LAMMPS adds in order of arrival" --served allreduce,alltoallv,reduce_scatter -- \
    lmp -in "$here/salt.in" -var layout tiled -log none -nocite
fi
exit $status
