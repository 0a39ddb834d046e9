#!/bin/sh
# Four programs that users wrote to try Circoll: conjugate gradients, k-means and a Fourier transform in C, and gradient
# descent with mpi4py (Debian's, for Open MPI). The test compares all that is printed except times, with 17 digits.
# The Fourier transform adds nothing across ranks, so only the norm of its result may differ. The others add doubles in
# another order on more than two ranks, and their iterations amplify the rounding.
. "$(dirname "$0")/../common.sh"

users() {
  variant=$1
  served=$2
  shift 2
  compare --program users --variant "$variant" --served "$served" --ignore '^seconds ' "$@"
}
poisson=$(built "poisson_$mpi") && kmeans=$(built "kmeans_$mpi") && fft=$(built "fft_$mpi") || exit
users "conjugate gradients" allreduce,reduce --close '^residual ' 1e-9 0 --close '^solution ' 1e-11 0 -- "$poisson" 128 32 150
users "k-means" allreduce,bcast --close '^distance ' 1e-12 0 -- "$kmeans" 60 4
# A row has a power of two of numbers, so that the ranks are one, too.
case $np in
  1 | 2 | 4 | 8) users "Fourier transform" alltoall,reduce --close '^norm ' 1e-13 0 -- "$fft" 128 10 ;;
esac
if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py, numpy' 2>/dev/null; then
  users "gradient descent, mpi4py" allreduce,bcast,gather --close '^(loss|weights) ' 1e-11 0 -- /usr/bin/python3 "$here/sgd.py" 20
else
  echo "without sgd.py: it needs Open MPI, mpi4py and numpy (packages python3-mpi4py, python3-numpy)"
fi
exit $status
