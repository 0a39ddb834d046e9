#!/bin/bash
# eztrace_test.sh MPI NP DROPIN YIELD CORE PROGRAM: EZTrace, whose libeztrace-core.so is CORE, before and after the
# drop-in. The output is right, and its trace has the calls that the order of libraries says (docs/user/semantics.md).
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 core=$5 program=$6
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

libraries=$(dirname "$core")
eztrace="$core $libraries/libeztrace-lib.so $libraries/libeztrace-$mpi.so"
launch env LD_PRELOAD="$preload" "$program" >"$work/native" 2>"$work/err" || fail "the program fails: $(cat "$work/err")"
[ -s "$work/native" ] || fail "the program printed nothing"

check() { # check NAME ALLREDUCES LIBRARIES: the calls of all ranks in the trace; the drop-in serves them if it is there
  local name=$1 wanted=$2 libraries=$3 traced
  rm -rf "$work/trace" "$work/report"
  launch timeout 60 env EZTRACE_MPI_MODE=1 EZTRACE_TRACE="$mpi" EZTRACE_TRACE_DIR="$work/trace" CIRCOLL_REPORT="$work/report.json" \
    LD_PRELOAD="$libraries $preload" "$program" >"$work/ours" 2>"$work/err" ||
    fail "$name: the program fails: $(cat "$work/err")"
  sed -i "\\|^dir: $work/trace|d" "$work/ours" # EZTrace 2.2 prints it
  diff "$work/native" "$work/ours" || fail "$name: the output differs"
  otf2-print "$(find "$work/trace" -name '*.otf2')" >"$work/events" 2>/dev/null || fail "$name: the trace cannot be read"
  traced=$(grep -c '^ENTER.*"MPI_Allreduce"' "$work/events")
  [ "$traced" = "$wanted" ] || fail "$name: $traced calls of MPI_Allreduce are in the trace"
  grep -q '^ENTER.*"MPI_Comm_dup"' "$work/events" || fail "$name: no MPI_Comm_dup is in the trace"
  [[ "$libraries" == *"$dropin"* ]] || return
  awk '$2 == "allreduce" && $3 != "native" { calls += $4 } END { exit calls < '$((10 * np))' }' "$work/report" ||
    fail "$name: the drop-in does not serve all calls of allreduce: $(grep allreduce "$work/report")"
}
check "EZTrace alone" $((10 * np)) "$eztrace"
check "EZTrace before the drop-in" $((10 * np)) "$eztrace $dropin"
check "EZTrace after the drop-in" 0 "$dropin $eztrace"
[ $failed = 0 ] && echo PASS
exit $failed
