#!/bin/bash
# mismatched_test.sh MPI NP DROPIN YIELD PROGRAM: collectives whose ranks disagree end on all ranks. They end with an
# error where a rank can see one, and with a message where a rank would wait forever. A rank that is late is no error.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 program=$5
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

run() { # run CASE VARIABLE=VALUE...: its output is $work/out, its messages are $work/err
  local case=$1
  shift
  launch timeout 60 env LD_PRELOAD="$dropin $preload" CIRCOLL_PATIENCE=1 "$@" "$program" "$case" >"$work/out" 2>"$work/err" ||
    fail "$case $*: ends with $?: $(grep -v UCX "$work/err" | tail -n 5)"
  [ "$(grep -c 'rank [0-9]*: ' "$work/out")" = "$np" ] || fail "$case $*: not all ranks have returned: $(cat "$work/out")"
}
errors() { grep -c ": error" "$work/out"; }
somebody() { # somebody gets an error, as the amounts are seen to differ or the wait is ended
  run "$@"
  [ "$(errors)" -ge 1 ] || fail "$*: no rank has seen an error"
}
all_wait() { # all of RANKS ranks would wait forever
  local ranks=$1
  shift
  run "$@"
  [ "$(errors)" = "$ranks" ] || fail "$*: $(cat "$work/out")"
  grep -q "^circoll: rank.* of MPI_COMM_WORLD" "$work/err" || fail "$*: nothing is said: $(cat "$work/err")"
}

# More data arrives than there is room for.
for call in bcast scatter allgather alltoall allreduce; do
  somebody $call
  somebody i$call
done
for call in gather allgather alltoall allreduce; do
  somebody $call+
  somebody i$call+
done
# Less data arrives. MPICH checks that in a broadcast only.
for case in gather igather scatter+ iscatter+; do run $case; done
for case in bcast+ ibcast+; do
  if [ "$mpi" = mpich ]; then somebody $case; else run $case; fi
done
# The amounts make the ranks choose different algorithms, some of which wait for messages that nobody sends.
somebody bcast CIRCOLL_POLICY=classic
somebody allreduce+ CIRCOLL_POLICY=classic
somebody iallgather CIRCOLL_POLICY=classic

for node in auto off; do
  all_wait "$np" root CIRCOLL_NODE=$node
  grep -q "MPI_Bcast of 12000 bytes, root 0" "$work/err" || fail "root: the call is not named: $(cat "$work/err")"
  all_wait $((np - 1)) typed CIRCOLL_NODE=$node
  grep -q "MPI_Alltoallw" "$work/err" || fail "typed: the call is not named: $(cat "$work/err")"
  all_wait "$np" other CIRCOLL_NODE=$node
  grep -q "MPI_Barrier" "$work/err" || fail "other: the call is not named: $(cat "$work/err")"
  all_wait $((np - 1)) absent CIRCOLL_NODE=$node
  grep -q "which is in MPI_Finalize" "$work/err" || fail "absent: $(cat "$work/err")"
  # The last rank is 4 times as late as the others' patience.
  run late CIRCOLL_NODE=$node
  [ "$(errors)" = 0 ] || fail "late: $(cat "$work/out")"
  grep "^circoll" "$work/err" && fail "late: something is said"
  grep "was not matched" "$work/out" "$work/err" && fail "late: messages are left behind"
done

# Equal buffers give the native error on all ranks. First lines of errors are compared, since mpiexec cuts and mixes the
# others.
for case in exscan_alias iexscan_alias alltoallw_alias ialltoallw_alias; do
  run $case
  grep -o 'rank [0-9]*: .*' "$work/out" | sort >"$work/ours"
  launch env LD_PRELOAD="$preload" "$program" $case 2>/dev/null | grep -o 'rank [0-9]*: .*' | sort >"$work/native"
  diff "$work/native" "$work/ours" || fail "$case: not as natively"
done
[ $failed = 0 ] && echo PASS
exit $failed
