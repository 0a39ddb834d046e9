#!/bin/bash
# amounts_test.sh MPI NP DROPIN YIELD PROGRAM: ranks describe different amounts and have the same algorithm. No rank
# waits forever, some rank gets an error, and the communicator can be used on.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 program=$5
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

check() { # check COLLECTIVE VARIABLE=VALUE
  launch timeout 30 env LD_PRELOAD="$dropin $preload" "$2" "$program" "$1" >"$work/out" 2>"$work/err" ||
    fail "$1 with $2 ends with $?: $(tail -n 3 "$work/out") $(grep -v UCX "$work/err" | tail -n 3)"
  grep "no error" "$work/out" && fail "no rank has seen an error in $1 with $2"
  [ "$(grep -c ": errors" "$work/out")" = 12 ] || fail "$1 with $2 is not over: $(cat "$work/out")"
}
for algorithm in binomial linear knomial circulant_pipelined:segments=5; do
  for collective in bcast ibcast; do check $collective CIRCOLL_BCAST=$algorithm; done
done
for algorithm in linear binomial circulant; do
  check gather CIRCOLL_GATHER=$algorithm
  check scatter CIRCOLL_SCATTER=$algorithm
done
for algorithm in linear binomial; do
  check gatherv CIRCOLL_GATHERV=$algorithm
  check scatterv CIRCOLL_SCATTERV=$algorithm
done
[ $failed = 0 ] && echo PASS
exit $failed
