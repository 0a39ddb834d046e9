# To be sourced where $mpi, $np and $yield are set. `launch COMMAND...` runs np ranks; $preload is what
# LD_PRELOAD must hold anyway; $btl: how Open MPI's ranks reach one another, if not by memory alone.
# shellcheck shell=bash disable=SC2154
launch() {
  if [ "$mpi" = openmpi ]; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe --bind-to none \
      --mca mpi_yield_when_idle 1 --mca btl "${btl:-self,vader}" --mca op ^avx -np "$np" "$@"
  else
    mpiexec.mpich -n "$np" "$@"
  fi
}
# shellcheck disable=SC2034
preload=""
[ "$mpi" = mpich ] && preload=$yield
