#!/bin/bash
# dropin_test.sh MPI NP DROPIN YIELD CIRCOLL PROGRAM...: a program prints the same with and without the drop-in, the
# report shows that the drop-in served every collective, and a wrong name in the environment is one warning.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 circoll=$5
shift 5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

launch() {
  if [ "$mpi" = openmpi ]; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe --bind-to none \
      --mca mpi_yield_when_idle 1 --mca btl self,vader --mca op ^avx -np "$np" "$@"
  else
    mpiexec.mpich -n "$np" "$@"
  fi
}
preload=""
[ "$mpi" = mpich ] && preload=$yield

launch env LD_PRELOAD="$preload" "$@" >"$work/native" 2>"$work/native.err" || fail "the program fails without the drop-in"
launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report" "$@" >"$work/ours" 2>"$work/ours.err" ||
  fail "the program fails with the drop-in: $(cat "$work/ours.err")"
diff "$work/native" "$work/ours" || fail "the output differs"
[ -s "$work/native" ] || fail "the program printed nothing"
cat "$work/report"
for collective in allreduce reduce reduce_scatter_block reduce_scatter allgather allgatherv gather gatherv scatter \
  scatterv alltoall alltoallv scan exscan bcast barrier; do
  awk -v c="$collective" '$2 == c && $3 != "native" && $4 > 0 { served = 1 } END { exit !served }' "$work/report" ||
    fail "$collective was not served"
done

# By name, native, and with a wrong name.
launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT=1 CIRCOLL_ALLREDUCE=circulant_rsag CIRCOLL_BARRIER=native \
  CIRCOLL_ALLTOALL=pairwise CIRCOLL_ALLTOALLV=circulant CIRCOLL_SCAN=linear CIRCOLL_EXSCAN=recursive_doubling \
  CIRCOLL_BCAST=no_such_algorithm "$@" >"$work/ours" 2>"$work/err" || fail "the program fails with chosen algorithms"
diff "$work/native" "$work/ours" || fail "the output differs with chosen algorithms"
[ "$(grep -c no_such_algorithm "$work/err")" = 1 ] || fail "a wrong name is not exactly one warning"
grep -q "circoll: allreduce *circulant_rsag" "$work/err" || fail "the chosen algorithm was not used"
for chosen in "alltoall *pairwise" "alltoallv *circulant" "scan *linear" "exscan *recursive_doubling"; do
  grep -q "circoll: $chosen" "$work/err" || fail "the chosen algorithm was not used: $chosen"
done
grep -q "circoll: barrier *native" "$work/err" || fail "native was not used for the barrier"
grep -q "circoll: bcast *native" "$work/err" || fail "native was not used for a wrong name"
# Quiet unless asked.
launch env LD_PRELOAD="$dropin $preload" "$@" >/dev/null 2>"$work/err"
grep circoll "$work/err" && fail "the drop-in printed something unasked"
# The command that sets the preload by itself.
launch env LD_PRELOAD="$preload" CIRCOLL_REPORT=1 CIRCOLL_DROPIN_PATH="$dropin" "$circoll" run -- "$@" >"$work/ours" \
  2>"$work/err" || fail "circoll run fails: $(cat "$work/err")"
diff "$work/native" "$work/ours" || fail "the output differs under circoll run"
grep -q "circoll: allreduce" "$work/err" || fail "circoll run did not preload the drop-in"
launch env LD_PRELOAD="$preload" CIRCOLL_REPORT=1 "$circoll" run -- "$@" >"$work/ours" 2>"$work/err" ||
  fail "circoll run fails to find the drop-in: $(cat "$work/err")"
grep -q "circoll: allreduce" "$work/err" || fail "circoll run did not find the drop-in of $mpi"
[ $failed = 0 ] && echo PASS
exit $failed
