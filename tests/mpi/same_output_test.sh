#!/bin/bash
# same_output_test.sh MPI NP DROPIN YIELD SERVED PROGRAM...: a program prints the same, and ends with the same status,
# with and without the drop-in.
#   SERVED  the collectives that the drop-in serves, with commas; - for none; a comma at the end: no call is native
#   $below  a library to be preloaded behind the drop-in
#   $said   a text that this library prints on standard error with the drop-in, and only then
#   $forms  the forms (blocking, nonblocking, persistent) in which each of SERVED is served
#   QUIET=1 the drop-in prints nothing
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 served=$5
shift 5
program=("$@")
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"
preload+=${below:+ $below}

# Filters lines that come with every abort, name processes and communicators, or warn of messages that an erroneous call
# left.
essence() { grep -v -E 'UCX +WARN|PID|^\[vm|mpirun|^=|^-|^ *$' "$1" | sed -E 's/\[[0-9.]+\]|0x[0-9a-f]+|comm [0-9]+|\([0-9]+\)//g'; }

# run NAME ENVIRONMENT...: writes the program's output to NAME and NAME.err, and its status to $ended. Now and then Open
# MPI's mpirun loses the last words of a program that is aborted, MPICH's mpiexec loses its status, and Open MPI's
# mpirun itself hangs (mpirun.sh). The program is run again then.
run() {
  local name=$1 attempt
  shift
  for attempt in 1 2 3 4 5; do
    launch env "$@" >"$work/$name" 2>"$work/$name.err"
    ended=$?
    case $ended in
      137) ;; # mpirun.sh
      0) grep -q "^Abort(" "$work/$name.err" || return ;;
      *) [ -z "$(complaints "$work/$name.err")" ] || return ;;
    esac
    echo "attempt $attempt: ended with $ended, and what it said does not fit"
  done
  [ $ended != 137 ] || fail "it was killed each time"
}
# The first rank to abort is chance, but its words are not.
complaints() { grep -oE 'occurred in MPI_[A-Za-z_]+|MPI_ERR_[A-Z]+|internal_[A-Z][a-z_]+\(|Invalid [a-z]+' "$1" | sort -u; }

run native LD_PRELOAD="$preload" "${program[@]}"
expected=$ended
run ours LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report.json" "${program[@]}"
status=$ended
[ $status = $expected ] || fail "the program ends with $status, without the drop-in with $expected: $(cat "$work/ours.err")"
for output in native ours; do essence "$work/$output" >"$work/$output.essence"; done
[ -s "$work/native.essence" ] || fail "the program printed nothing: $(cat "$work/native.err")"
diff "$work/native.essence" "$work/ours.essence" || fail "the output differs"
diff <(complaints "$work/native.err") <(complaints "$work/ours.err") || fail "the error messages differ"
if [ -n "${said:-}" ]; then
  grep -q "$said" "$work/native.err" && fail "'$said' was said without the drop-in"
  grep -q "$said" "$work/ours.err" || fail "'$said' was not said"
fi
[ "${QUIET:-0}" = 1 ] && grep circoll: "$work/ours.err" && fail "the drop-in printed something"
if [ "$served" != - ]; then
  cat "$work/report"
  if [ "${served%,}" != "$served" ]; then
    grep -E " native +[0-9]" "$work/report" && fail "a call was native"
  fi
  for collective in ${served//,/ }; do
    awk -v c="$collective" '$2 == c && $3 != "native" && $4 > 0 { served = 1 } END { exit !served }' "$work/report" ||
      fail "$collective was not served"
    for form in ${forms:-}; do
      awk -v c="$collective" -v f="$form" '/communicators? of/ { now = index($0, ", " f " calls") }
          now && $2 == c && $3 != "native" && $4 > 0 { served = 1 } END { exit !served }' "$work/report" ||
        fail "$collective was not served in its $form form"
    done
  done
fi
[ $failed = 0 ] && echo PASS
exit $failed
