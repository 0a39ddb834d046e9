#!/bin/bash
# torture_test.sh FAULTY YIELD TORTURE LAUNCH...: tests circoll-torture itself, with a library in front of MPI that is
# wrong on purpose. circoll-torture fails, names the case, and shrinks it to the operation that is wrong. That case
# fails when it is run again, and passes without the library.
set -u
faulty=$1 yield=$2 torture=$3
shift 3
launch=("$@")
output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0
fail() { echo "FAILED: $*"; cat "$output"; failed=1; }

run() { timeout -k 5 60 "${launch[@]}" env LD_PRELOAD="$1" "$torture" "${@:2}" >"$output" 2>&1; }

run "$yield" --seed 11 --cases 12 || fail "it fails without the faulty library"
grep -q "12 cases, .*: all right" "$output" || fail "it does not say that all is right"

# Everything that a case may have occurs, and can be left out.
run "$yield" --seed 11 --cases 60 --list || fail "the cases cannot be listed"
for step in "mistake e" "arrays overwritten" "arrays unmapped" "freed early" "make comm"; do
  grep -q "$step" "$output" || fail "no case has: $step"
done
run "$yield" --seed 11 --cases 60 --threads multiple --list || fail "the cases of two threads cannot be listed"
grep -q "  [0-9]* make comm [0-9]*: group" "$output" || fail "no thread makes a group"
run "$yield" --seed 11 --only 0 --many-communicators --list || fail "the case of many communicators cannot be listed"
[ "$(grep -c "make comm" "$output")" -ge 200 ] || fail "it has not many communicators"
run "$yield" --seed 11 --only 0 --many-communicators --edits "e-0 k-5 unused" --list || fail "it cannot be made smaller"
grep -Eq "comm 5( |:|$)|mistake e0:" "$output" && fail "what was left out is there"

# Every seventh call is wrong, so that seven attempts are enough, even for a case of one call.
run "$faulty $yield" --seed 11 --cases 100 --modes blocking --shrink --attempts 8
[ $? = 1 ] || fail "the faulty library is not exit code 1"
grep -q "FAILED: case [0-9]*; again: " "$output" || fail "the case is not named"
grep -q "rank [0-9]*: #[0-9]* blocking allreduce .* instead of " "$output" || fail "the operation is not named"
last=$(grep "FAILED: case" "$output" | tail -n 1)
only=$(sed -n 's/.*--only \([0-9]*\).*/\1/p' <<<"$last")
edits=$(sed -n "s/.*--edits '\(.*\)'.*/\1/p" <<<"$last")
[ -n "$only" ] && [ -n "$edits" ] || fail "the shrunk case is not named"
again=$(sed 's/.*; again: //' <<<"$last")
[[ $again == *"mpirun -np "*" env LD_PRELOAD='$faulty $yield' $torture --seed 11 "* ]] || fail "'$again' starts something else"

run "$yield" --seed 11 --modes blocking --only "$only" --edits "$edits" --list || fail "the shrunk case cannot be listed"
[ "$(grep -c " start #" "$output")" = 1 ] || fail "the shrunk case has more than one operation"
grep -q "start #[0-9]* blocking allreduce on comm 0 (world) count 1 " "$output" || fail "the operation is not the smallest"
grep -Eq "make comm|message" "$output" && fail "the shrunk case has more than the operation"
run "$yield" --seed 11 --modes blocking --only "$only" --edits "$edits" || fail "the shrunk case fails without the library"

[ $failed = 0 ] && echo PASS
exit $failed
