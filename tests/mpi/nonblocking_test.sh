#!/bin/bash
# nonblocking_test.sh MPI NP DROPIN YIELD CIRCOLL PROGRAM: nonblocking and persistent collectives give the results of
# the blocking ones, in all ways to advance them. The report shows that the drop-in served them.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 circoll=$5 program=$6
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"
collectives=$("$circoll" list --collectives) || fail "circoll does not name the collectives"

launch env LD_PRELOAD="$preload" "$program" blocking >"$work/native" 2>"$work/err" ||
  fail "the program fails without the drop-in: $(cat "$work/err")"
[ "$(wc -l <"$work/native")" -gt 250 ] || fail "the program printed too little"
for progress in hook thread; do
  launch env LD_PRELOAD="$dropin $preload" CIRCOLL_PROGRESS=$progress CIRCOLL_REPORT="$work/report.json" "$program" \
    >"$work/ours" 2>"$work/err" || fail "the program fails with CIRCOLL_PROGRESS=$progress: $(cat "$work/err")"
  diff "$work/native" "$work/ours" || fail "the output differs with CIRCOLL_PROGRESS=$progress"
  grep circoll "$work/err" && fail "the drop-in printed something unasked"
  cat "$work/report"
  for collective in $collectives; do
    grep -q "$collective .*native" "$work/report" && fail "$collective was native"
    grep -q "$collective " "$work/report" || fail "$collective was not served"
  done
done
# Named algorithms have several messages in one direction, many segments, or a prologue.
launch env LD_PRELOAD="$dropin $preload" CIRCOLL_ALLREDUCE=segmented_ring:segments=5 CIRCOLL_ALLTOALLV=bruck \
  CIRCOLL_GATHERV=binomial CIRCOLL_BCAST=pipeline:segments=7 "$program" >"$work/ours" 2>"$work/err" ||
  fail "the program fails with chosen algorithms: $(cat "$work/err")"
diff "$work/native" "$work/ours" || fail "the output differs with chosen algorithms"

[ $failed = 0 ] && echo PASS
exit $failed
