#!/bin/bash
# sanitizer_test.sh MPI NP DROPIN YIELD CIRCOLL PROGRAM: a program that is built with AddressSanitizer runs under the
# drop-in, by `circoll run` and as docs/user/diagnose.md says. Skipped (77) where it fails without the drop-in, as
# with Open MPI 6.0.0rc2 and g++ 16 (illegal instruction).
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 circoll=$5 program=$6
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

# MPI libraries keep memory to the end.
export ASAN_OPTIONS=detect_leaks=0
runtime=$(ldd "$program" | awk '$1 ~ /^libasan/ { print $3 }')
[ -n "$runtime" ] || fail "the program has no runtime of AddressSanitizer"
if ! launch env LD_PRELOAD="$runtime $preload" "$program" >"$work/native" 2>"$work/err"; then
  echo "skipped: the program fails without Circoll: $(tail -n 3 "$work/err")"
  exit 77
fi
[ -s "$work/native" ] || fail "the program printed nothing"
check() { # check NAME COMMAND...: runs the program, which the drop-in serves
  local name=$1
  shift
  rm -f "$work/report"
  launch env CIRCOLL_REPORT="$work/report.json" "$@" "$program" >"$work/ours" 2>"$work/err" ||
    fail "$name: the program fails: $(grep -v UCX "$work/err" | head -n 5)"
  diff "$work/native" "$work/ours" || fail "$name: the output differs"
  grep -q "circoll: allreduce" "$work/report" || fail "$name: the drop-in does not serve the program"
}
check "circoll run" env LD_PRELOAD="$preload" CIRCOLL_DROPIN_PATH="$dropin" "$circoll" run --
check "circoll run, with the runtime preloaded" env LD_PRELOAD="$runtime $preload" CIRCOLL_DROPIN_PATH="$dropin" "$circoll" run --
check "LD_PRELOAD" env LD_PRELOAD="$runtime $dropin $preload"
check "ASAN_OPTIONS" env LD_PRELOAD="$dropin $preload" ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
[ $failed = 0 ] && echo PASS
exit $failed
