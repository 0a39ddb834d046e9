#!/bin/bash
# failing_allocations_test.sh MPI NP DROPIN YIELD PROGRAM KIND: the drop-in runs out of memory inside a call.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 program=$5 kind=$6
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"
output=$work/output
# Now and then Open MPI's mpirun loses the last words of a program that is aborted, and says so. MPICH's mpiexec loses
# its exit code (4.2.1: in one of 4 runs). The program is run again then.
for _ in 1 2 3 4 5; do
  launch timeout -k 5 90 env LD_PRELOAD="$dropin $preload" "$program" "$kind" >"$output" 2>&1
  ended=$?
  grep -q "ORTE_ERROR_LOG.*show_help" "$output" && continue
  if [ "$ended" = 0 ] && grep -q "^Abort(" "$output"; then continue; fi
  break
done
cat "$output"
if [ "$kind" = fatal ]; then
  # One rank has failed and the others wait for it, so that MPI's error handler ends them all.
  grep -q "the call has returned" "$output" && { echo "FAILED: a rank went on"; exit 1; }
  if [ "$ended" = 0 ] || [ "$ended" = 124 ]; then echo "FAILED: it ended with $ended"; exit 1; fi
  grep -qiE "MPI_ERR_NO_MEM|allocate memory" "$output" || { echo "FAILED: memory is not what it names"; exit 1; }
  exit 0
fi
# A run that leaves messages behind ends without MPI_Finalize, which mpirun takes for a failure.
grep -qx "all right" "$output"
