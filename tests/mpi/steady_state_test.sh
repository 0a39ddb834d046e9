#!/bin/bash
# steady_state_test.sh MPI DROPIN YIELD PROGRAM: allreduces that the drop-in serves allocate nothing when repeated, with
# and without a report.
set -u
mpi=$1 np=2 dropin=$2 yield=$3 program=$4
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report.json" "$program" || fail "with a report"
cat "$work/report"
awk '$2 == "allreduce" && $3 != "native" && $4 >= 22000 { served = 1 } END { exit !served }' "$work/report" ||
  fail "the allreduces were not served"
launch env LD_PRELOAD="$dropin $preload" "$program" || fail "without a report"
[ $failed = 0 ] && echo PASS
exit $failed
