#!/bin/bash
# calibrate_test.sh CIRCOLL BENCH LAUNCH...: circoll-bench measures, circoll calibrate fits and compares, and the model
# reads the machine. LAUNCH is followed by a number of ranks and the program.
set -u
circoll=$1 bench=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# Two pairs of ranks; more ranks than cores may be too noisy to fit.
"$@" 3 "$bench" --calibrate "$work/measured.json" --name here || fail "circoll-bench --calibrate"
[ "$(grep -c '"kind": "exchange"' "$work/measured.json")" = 34 ] || fail "there are not 17 sizes of two pairs of ranks"
# Two nodes of two ranks have both levels. Measurements of four ranks on two cores are not fitted.
CIRCOLL_CORES=2 "$@" 4 "$bench" --calibrate "$work/levels.json" --name levels || fail "circoll-bench --calibrate on nodes"
[ "$(grep -c '"kind": "exchange"' "$work/levels.json")" = 34 ] || fail "there are not 17 sizes of two pairs of ranks between nodes"
[ "$(grep -c '"kind": "node_exchange"' "$work/levels.json")" = 17 ] || fail "there are not 17 sizes of a pair of ranks inside a node"
# Three hosts and more are timed.
CIRCOLL_CORES=1 "$@" 4 "$bench" --calibrate "$work/hosts.json" --name many || fail "circoll-bench --calibrate on hosts"
[ "$(grep -A99 '"hosts"' "$work/hosts.json" | grep -B99 '"samples"' | grep -c '"name"')" = 4 ] || fail "there are not four hosts"
grep -q '"hosts"' "$work/levels.json" && fail "two hosts are compared"
"$@" 2 "$bench" --calibrate "$work/measured.json" --name here || fail "circoll-bench --calibrate"
"$circoll" calibrate "$work/measured.json" -o "$work/machine.json" || fail "circoll calibrate"
# The ranks share memory: its ways are measured, fitted, and priced.
for kind in memory_exchange memory_reduction memory_burst; do
  grep -q "\"kind\": \"$kind\"" "$work/measured.json" || fail "there are no samples of $kind"
done
grep -q '"name": "stored"' "$work/machine.json" || fail "the machine has no way of memory"
"$circoll" explain allreduce -p 2 --cores 2 --bytes 64 --machine "$work/machine.json" | grep "stored" || fail "the way is not priced"
CIRCOLL_NODE=off "$@" 2 "$bench" --calibrate "$work/off.json" --name off || fail "circoll-bench --calibrate without memory"
grep -q memory "$work/off.json" && fail "memory is measured where it is switched off"
"$circoll" explain bcast -p 16 --bytes 1Mi --machine "$work/machine.json" | grep "least predicted time .* machine 'here'" ||
  fail "the model does not read the machine"
"$@" 2 "$bench" --collective bcast,allgather --algorithm all,auto --bytes 8,4Ki --reps 5 --sync barrier --machine "$work/machine.json" \
  --json "$work/bench.json" >/dev/null || fail "circoll-bench --json"
"$circoll" calibrate --compare "$work/bench.json" --machine "$work/machine.json" | tail -3 >"$work/report"
cat "$work/report"
grep -q "auto, as measured: .* of 4 cells" "$work/report" || fail "the comparison has not four cells"
"$@" 2 "$bench" --collective bcast --algorithm auto --bytes 8 --reps 3 --policy classic | grep "auto (binomial)" || fail "--policy is not used"
[ $failed = 0 ] && echo PASS
exit $failed
