#!/bin/bash
# f08_descriptors_test.sh NP DROPIN PROGRAM DESCRIBED PLAIN: the library that stands behind mpi_f08 in Open MPI 6. Two
# directories have stand-ins for it: DESCRIBED has the name that says that buffers are descriptors, and PLAIN lacks it.
set -u
np=$1 dropin=$2 program=$3 described=$4 plain=$5
mpi=openmpi
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

# Without the drop-in, and where no name tells what a buffer is, all calls are the library's.
launch env LD_LIBRARY_PATH="$described" "$program" >"$work/native" 2>&1 ||
  fail "the program fails: $(cat "$work/native")"
[ "$(grep -c ': the library$' "$work/native")" = 34 ] || fail "not all are the library's: $(cat "$work/native")"
launch env LD_LIBRARY_PATH="$plain" LD_PRELOAD="$dropin" "$program" >"$work/plain" 2>&1 ||
  fail "it fails: $(cat "$work/plain")"
diff <(sort "$work/native") <(sort "$work/plain") || fail "buffers were taken for descriptors"

# With the drop-in only those calls go to the library that Circoll refuses for gaps in their buffers.
launch env LD_LIBRARY_PATH="$described" LD_PRELOAD="$dropin" CIRCOLL_REPORT="$work/report.json" \
  "$program" >"$work/ours" 2>&1 || fail "the program fails: $(cat "$work/ours")"
grep wrong "$work/ours" && fail "wrong results"
[ "$(grep -c ': right$' "$work/ours")" = 24 ] || fail "not all are served: $(cat "$work/ours")"
for what in 'a row' 'a block' 'a part of a column' 'more than a row' 'a gather into rows'; do
  [ "$(grep -c ", $what: the library$" "$work/ours")" = 2 ] || fail "$what: $(grep "$what" "$work/ours")"
done
for collective in allreduce alltoallv bcast gather scatterv; do
  awk -v c=$collective '$2 == c && $3 != "native" && $4 > 0 { n = 1 } END { exit !n }' "$work/report" ||
    fail "$collective is not served: $(cat "$work/report")"
done
[ $failed = 0 ] && echo PASS
exit $failed
