#!/bin/bash
# tools_test.sh MPI NP DROPIN YIELD TOOL CHAINED PROGRAM: tools of MPI's profiling interface before and after the
# drop-in. Results are right, and the counts are what the order of libraries says (docs/user/semantics.md).
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 tool=$5 chained=$6 program=$7
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

launch env LD_PRELOAD="$preload" "$program" >"$work/native" 2>"$work/err" || fail "the program fails: $(cat "$work/err")"
[ -s "$work/native" ] || fail "the program printed nothing"

# A tool sees the calls that the drop-in only looks at, wherever the tool is.
others="2 MPI_Pcontrol, 1 MPI_Init, 1 MPI_Finalize, 1 MPI_Comm_dup"
check() { # check NAME COUNTED SERVED LIBRARY...: "counted" of the tool's line; whether the drop-in serves allreduce
  local name=$1 counted=$2 serves=$3
  shift 3
  rm -f "$work"/counts*
  launch env LD_PRELOAD="$* $preload" TOOL_OUTPUT="$work/counts" CHAINED_OUTPUT="$work/counts_chained" CIRCOLL_REPORT="$work/report.json" "$program" >"$work/ours" 2>"$work/err" ||
    fail "$name: the program fails: $(cat "$work/err")"
  diff "$work/native" "$work/ours" || fail "$name: the output differs"
  local file="$work/counts"
  [[ " $* " == *" $tool "* ]] || file=$work/counts_chained
  [ "$(cat "$file")" = "$counted MPI_Allreduce, $others" ] || fail "$name: counted $(cat "$file")"
  [ -n "$serves" ] || return
  served bcast || fail "$name: the drop-in does not serve bcast"
  if [ "$serves" = yes ]; then
    served allreduce || fail "$name: the drop-in does not serve allreduce"
  else
    grep -q allreduce "$work/report" && fail "$name: the drop-in saw an allreduce"
  fi
}
served() {
  awk -v c="$1" '$2 == c && $3 != "native" && $4 > 0 { served = 1 } END { exit !served }' "$work/report"
}

check "the tool alone" 10 "" "$tool"
check "the tool before the drop-in" 10 no "$tool" "$dropin"
check "the tool after the drop-in" 0 yes "$dropin" "$tool"
check "a tool that hands on, before the drop-in" 10 yes "$chained" "$dropin"
check "a tool that hands on before the drop-in, and another one after it" 0 yes "$chained" "$dropin" "$tool"
[ "$(cat "$work/counts_chained")" = "10 MPI_Allreduce, $others" ] ||
  fail "the tool before the drop-in and another tool has counted $(cat "$work/counts_chained")"

# The drop-in defines no symbols of functions that it does not serve.
nm -D --defined-only "$dropin" | grep -E ' (MPI_Pcontrol|P?MPI_T_|PMPI_)' && fail "the drop-in defines what it must not"
nm -D --defined-only "$dropin" | grep -q ' MPI_Allreduce$' || fail "nm shows nothing"

[ $failed = 0 ] && echo PASS
exit $failed
