#!/bin/sh
# Data-parallel training with mpi4py and numpy (Debian's, for Open MPI). The data are scattered. Gradients are summed
# over the ranks, layer by layer and overlapped with computation, or at once. The test compares the losses of all
# epochs, the norms of the parameters and the worst errors, all with 17 digits. Sums of integers have no order of
# additions, so all must be identical.
. "$(dirname "$0")/../common.sh"

[ "$mpi" = openmpi ] || skip "Debian builds mpi4py for Open MPI"
/usr/bin/python3 -c 'import mpi4py, numpy' 2>/dev/null ||
  skip "no mpi4py or no numpy (packages python3-mpi4py, python3-numpy)"

train() {
  variant=$1
  shift
  compare --program training --variant "$variant" --served "$collectives" "$@"
}
script="/usr/bin/python3 $here/train.py"
collectives=allreduce,bcast,scatterv,gather,allgather,barrier
train "sums of integers" -- $script integer blocking
train "sums of doubles, CIRCOLL_ALLREDUCE=ring" --env CIRCOLL_ALLREDUCE=ring --close '^(epoch|norms|worst)' 1e-12 0 -- \
  $script double blocking
collectives=$collectives,iallreduce
train "overlapped, sums of integers" -- $script integer overlapped
exit $status
