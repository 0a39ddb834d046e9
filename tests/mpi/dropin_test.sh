#!/bin/bash
# dropin_test.sh MPI NP DROPIN YIELD CIRCOLL PROGRAM...: a program prints the same with and without the drop-in. The
# report shows that the drop-in served every collective. A wrong name in the environment is one warning.
set -u
mpi=$1 np=$2 dropin=$3 yield=$4 circoll=$5
shift 5
program=("$@")
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"

launch env LD_PRELOAD="$preload" "$@" >"$work/native" 2>"$work/native.err" || fail "the program fails without the drop-in"
launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report.json" "$@" >"$work/ours" 2>"$work/ours.err" ||
  fail "the program fails with the drop-in: $(cat "$work/ours.err")"
diff "$work/native" "$work/ours" || fail "the output differs"
[ -s "$work/native" ] || fail "the program printed nothing"
cat "$work/report"
collectives=$("$circoll" list --collectives) || fail "circoll does not name the collectives"
for collective in $collectives; do
  awk -v c="$collective" '$2 == c && $3 != "native" && $4 > 0 { served = 1 } END { exit !served }' "$work/report" ||
    fail "$collective was not served"
done

# The algorithm is named, native, or has a wrong name.
launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report.json" CIRCOLL_ALLREDUCE=circulant_rsag CIRCOLL_BARRIER=native \
  CIRCOLL_ALLTOALL=pairwise CIRCOLL_ALLTOALLV=circulant CIRCOLL_SCAN=linear CIRCOLL_EXSCAN=recursive_doubling \
  CIRCOLL_BCAST=no_such_algorithm "$@" >"$work/ours" 2>"$work/err" || fail "the program fails with chosen algorithms"
diff "$work/native" "$work/ours" || fail "the output differs with chosen algorithms"
[ "$(grep -c no_such_algorithm "$work/err")" = 1 ] || fail "a wrong name is not exactly one warning"
grep -q "circoll: allreduce *circulant_rsag" "$work/report" || fail "the chosen algorithm was not used"
for chosen in "alltoall *pairwise" "alltoallv *circulant" "scan *linear" "exscan *recursive_doubling"; do
  grep -q "circoll: $chosen" "$work/report" || fail "the chosen algorithm was not used: $chosen"
done
grep -q "circoll: barrier *native" "$work/report" || fail "native was not used for the barrier"
grep -q "circoll: bcast *native" "$work/report" || fail "native was not used for a wrong name"
# The drop-in is quiet unless a variable asks it.
launch env LD_PRELOAD="$dropin $preload" "$@" >/dev/null 2>"$work/err"
grep circoll "$work/err" && fail "the drop-in printed something unasked"
# `circoll run` sets the preload by itself.
launch env LD_PRELOAD="$preload" CIRCOLL_REPORT="$work/report.json" CIRCOLL_DROPIN_PATH="$dropin" "$circoll" run -- "$@" >"$work/ours" \
  2>"$work/err" || fail "circoll run fails: $(cat "$work/err")"
diff "$work/native" "$work/ours" || fail "the output differs under circoll run"
grep -q "circoll: allreduce" "$work/report" || fail "circoll run did not preload the drop-in"
launch env LD_PRELOAD="$preload" CIRCOLL_REPORT="$work/report.json" "$circoll" run -- "$@" >"$work/ours" 2>"$work/err" ||
  fail "circoll run fails to find the drop-in: $(cat "$work/err")"
grep -q "circoll: allreduce" "$work/report" || fail "circoll run did not find the drop-in of $mpi"

# With each policy the output is the same, and the report names the policy.
policy() { # policy VALUE [VARIABLE=VALUE...]: the program under a policy, with its standard error in $work/err
  local value=$1
  shift
  launch env LD_PRELOAD="$dropin $preload" CIRCOLL_REPORT="$work/report.json" CIRCOLL_POLICY="$value" "$@" "${program[@]}" >"$work/ours" \
    2>"$work/err" || fail "the program fails under CIRCOLL_POLICY=$value: $(cat "$work/err")"
  diff "$work/native" "$work/ours" || fail "the output differs under CIRCOLL_POLICY=$value $*"
}
why() { # why COLLECTIVE REASON: the report says that the collective was native for that reason
  awk -v c="$1" -v r="$2" '$2 == c { native = $3 == "native" } $2 == "why" && native && index($0, r) { found = 1 }
                           $2 == "why" { native = 0 } END { exit !found }' "$work/report"
}
for value in auto model classic openmpi_fixed; do
  policy $value
  grep -q "circoll: allreduce *native" "$work/report" && fail "allreduce was native under $value"
  grep -q "circoll: allreduce" "$work/report" || fail "allreduce was not served under $value"
done
policy native
grep -E "circoll: (allreduce|bcast) " "$work/report" | grep -vq " native " && fail "not everything was native under native"
why allreduce chosen || fail "the policy native gives no reason"
policy native CIRCOLL_ALLREDUCE=ring
grep -q "circoll: allreduce *ring" "$work/report" || fail "a collective's own variable does not come before the policy"
printf '{"circoll_rules": 1,\n"bcast": [{"use": "linear"}],\n"allreduce": [{"otherwise": "native"}]}\n' >"$work/rules"
policy "file:$work/rules"
grep -q "circoll: bcast *linear" "$work/report" || fail "the rules were not followed"
why allreduce "rules:3: native" || fail "the rule is not named: $(cat "$work/report")"
printf '{"circoll_rules": 1,\n"bcast": [{"use": "no_such_algorithm"}]}\n' >"$work/rules"
policy "file:$work/rules"
[ "$(grep -c "rules:2: .*no_such_algorithm" "$work/err")" = 1 ] || fail "wrong rules are not exactly one warning"
grep -q "circoll: allreduce *native" "$work/report" || fail "native was not used for wrong rules"
policy auto CIRCOLL_MACHINE=/no/such/file
[ "$(grep -c "CIRCOLL_MACHINE: the file /no/such/file" "$work/err")" = 1 ] || fail "a missing machine is not one warning"

# Ranks must agree about the policy.
if [ "$np" -gt 1 ]; then
  # shellcheck disable=SC2016
  one_differs='if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then export CIRCOLL_POLICY=classic; fi; exec "$@"'
  launch env CIRCOLL_REPORT="$work/report.json" sh -c "LD_PRELOAD='$dropin $preload'; export LD_PRELOAD; $one_differs" sh "${program[@]}" \
    >"$work/ours" 2>"$work/err" || fail "the program fails if one rank has another policy: $(cat "$work/err")"
  diff "$work/native" "$work/ours" || fail "the output differs if one rank has another policy"
  [ "$(grep -c "differ among the ranks" "$work/err")" = 1 ] || fail "a difference is not exactly one warning"
  grep -E "circoll: (allreduce|bcast|barrier) " "$work/report" | grep -vq " native " &&
    fail "not everything was native although ranks differ: $(cat "$work/report")"
fi

[ $failed = 0 ] && echo PASS
exit $failed
