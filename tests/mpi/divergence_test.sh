#!/bin/bash
# divergence_test.sh MPI NP DROPIN YIELD PROGRAM: an allreduce of floating-point numbers by an algorithm that may give
# ranks different bits is native, with the reason in the report, unless CIRCOLL_ALLOW_RANK_DIVERGENCE=1.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 program=$5
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

run() { # run VARIABLE=VALUE...: the program, its report in $work/report
  launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report.json" CIRCOLL_ALLREDUCE=circulant "$@" "$program" \
    >"$work/out" 2>"$work/err" || fail "the program fails with $*: $(cat "$work/err")"
  cat "$work/report"
}

run CIRCOLL_ALLOW_RANK_DIVERGENCE=0
grep -A2 -E "allreduce +native " "$work/report" | grep -q "may give ranks different bits" || fail "no sum is native, or without a reason"
grep -q -E "allreduce +circulant" "$work/report" || fail "sums of integers are not served"
run CIRCOLL_ALLOW_RANK_DIVERGENCE=1
grep -q "may give ranks different bits" "$work/report" && fail "a sum is native although it may diverge"
grep -q -E "allreduce +circulant" "$work/report" || fail "nothing is served"
run CIRCOLL_ALLOW_RANK_DIVERGENCE=perhaps
[ "$(grep -c "CIRCOLL_ALLOW_RANK_DIVERGENCE: 'perhaps'" "$work/err")" = 1 ] || fail "a wrong value is not exactly one warning"

[ $failed = 0 ] && echo PASS
exit $failed
