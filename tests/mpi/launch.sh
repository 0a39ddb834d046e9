# To be sourced where $mpi, $np and $yield are set. `launch COMMAND...` runs np ranks; $preload is what LD_PRELOAD must
# hold anyway; $btl: how Open MPI's ranks reach one another, if not by memory alone. `fail WHAT...` says what is wrong,
# and sets $failed; $work is a directory that is removed in the end.
# shellcheck shell=bash disable=SC2154,SC2034
launch() {
  case $mpi in
    openmpi)
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe --bind-to none \
        --mca mpi_yield_when_idle 1 --mca btl "${btl:-self,vader}" --mca op ^avx -np "$np" "$@"
      ;;
    mpich) mpiexec.mpich -n "$np" "$@" ;;
    *)
      fail "nothing is known to launch ranks of $mpi with"
      return 1
      ;;
  esac
}
preload=""
[ "$mpi" = mpich ] && preload=$yield
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
