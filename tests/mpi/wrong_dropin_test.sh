#!/bin/bash
# wrong_dropin_test.sh MPI NP DROPIN OTHER YIELD CIRCOLL PROGRAM...: runs a program under OTHER, the drop-in of another
# MPI, alone or beside DROPIN. The program prints the same as natively, after one sentence that says which MPI it uses
# and which file to preload. `circoll run` preloads no other than DROPIN. A program that is not linked to an MPI is an
# interpreter here.
set -u
mpi=$1 np=$2 dropin=$3 other=$4 yield=$5 circoll=$6
shift 6
program=("$@")
# shellcheck source=launch.sh
. "$(dirname "$0")/launch.sh"
# A drop-in lies in a directory with the name of its MPI.
case $(basename "$(dirname "$dropin")") in
  abi) title="the standard ABI of MPI" ;;
  mpich) title=MPICH ;;
  *) title="Open MPI" ;;
esac
wrong=$(basename "$(dirname "$other")")
linked=no
ldd "$1" 2>/dev/null | grep -q libmpi && linked=yes

sentences() { grep -c '^circoll: ' "$work/err"; }
# run NAME COMMAND...: checks that the command prints the native output of the program.
run() {
  local name=$1
  shift
  "$@" >"$work/out" 2>"$work/err" || fail "$name: ended with $?: $(cat "$work/err")"
  diff "$work/native" "$work/out" >"$work/diff" || fail "$name: the output differs: $(cat "$work/diff")"
}
# one_sentence NAME: checks that there is one sentence, which names the MPI and the file.
one_sentence() {
  [ "$(sentences)" = 1 ] || fail "$1: not exactly one sentence: $(cat "$work/err")"
  grep -q "$title.*, but $other is the drop-in for .*$dropin" "$work/err" || fail "$1: the sentence: $(cat "$work/err")"
}
served() { grep -qE 'allreduce +[a-z_]+ ' "$work/report" && ! grep -qE 'allreduce +native ' "$work/report"; }
launch_under() ( # launch_under PRELOAD COMMAND...: the launcher has it, too
  export LD_PRELOAD=$1
  shift
  launch "$@"
)

launch env LD_PRELOAD="$preload" "${program[@]}" >"$work/native" 2>"$work/err" ||
  fail "the program fails without a drop-in"
[ -s "$work/native" ] || fail "the program printed nothing"

run alone launch env LD_PRELOAD="$other $preload" CIRCOLL_REPORT="$work/unwritten" "${program[@]}"
one_sentence alone
[ ! -e "$work/unwritten" ] || fail "alone: Circoll served the program"
for both in "$dropin:$other" "$other:$dropin" "$dropin $preload $other"; do
  rm -f "$work/report"
  run "$both" launch env LD_PRELOAD="$both:$preload" CIRCOLL_REPORT="$work/report.json" "${program[@]}"
  one_sentence "$both"
  served || fail "$both: the right drop-in did not serve the program"
done
# The launcher is no program of the MPI, and hands the drop-in on.
run launcher launch_under "$other:$preload" "${program[@]}"
one_sentence launcher
# A shell in between is none either. The right drop-in stays in it, and says nothing.
# shellcheck disable=SC2016
run shell launch env LD_PRELOAD="$other:$preload" sh -c '"$@"; exit' sh "${program[@]}"
one_sentence shell
rm -f "$work/report"
# shellcheck disable=SC2016
run "right shell" launch env LD_PRELOAD="$dropin:$preload" CIRCOLL_REPORT="$work/report.json" sh -c '"$@"; exit' sh \
  "${program[@]}"
[ "$(sentences)" = 0 ] || fail "right shell: $(cat "$work/err")"
served || fail "right shell: the program was not served"
for file in "$dropin" "$other" "$dropin:$other"; do
  # shellcheck disable=SC2016
  said=$(LD_PRELOAD=$file sh -c 'echo "$LD_PRELOAD"' 2>&1)
  [ "$said" = "$file" ] || fail "a program without MPI under $file: $said"
done

if [ $linked = yes ]; then
  # The loader starts the program, and its arguments are not the program's.
  if [ "$np" = 1 ]; then
    run loader launch env LD_PRELOAD="$other:$preload" /lib64/ld-linux-x86-64.so.2 "${program[@]}"
    one_sentence loader
  fi
  # circoll run refuses a wrong drop-in, and finds the right one by itself.
  refused() { # refused NAME WHAT COMMAND...
    local name=$1 what=$2
    shift 2
    timeout 60 "$@" >"$work/out" 2>"$work/err" && fail "$name: did not fail"
    [ "$(sentences)" = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] || fail "$name: not exactly one line: $(cat "$work/err")"
    grep -q "$what" "$work/err" || fail "$name: $(cat "$work/err")"
    [ ! -s "$work/out" ] || fail "$name: the program ran"
  }
  refused --mpi "uses $title.*, not " "$circoll" run --mpi "$wrong" -- "${program[@]}"
  refused CIRCOLL_DROPIN_PATH "but the program uses $title" env CIRCOLL_DROPIN_PATH="$other" "$circoll" run -- \
    "${program[@]}"
  refused "no such file" "does not exist" env CIRCOLL_DROPIN_PATH="$work/none.so" "$circoll" run -- "${program[@]}"
  refused "no drop-in" "no drop-in" env CIRCOLL_DROPIN_PATH="$yield" "$circoll" run -- "${program[@]}"
  rm -f "$work/report"
  run "circoll run" launch env LD_PRELOAD="$preload" CIRCOLL_REPORT="$work/report.json" "$circoll" run -- "${program[@]}"
  [ "$(sentences)" = 0 ] || fail "circoll run: $(cat "$work/err")"
  served || fail "circoll run: the program was not served"
  rm -f "$work/report"
  run "circoll run, with the wrong one preloaded" launch env LD_PRELOAD="$other:$preload" \
    CIRCOLL_REPORT="$work/report.json" "$circoll" run -- "${program[@]}"
  served || fail "circoll run, with the wrong one preloaded: the program was not served"
else
  # If nothing says which MPI an interpreter will load, it ends in MPI_Init, whichever drop-in comes first.
  for preloads in "$other" "$other:$dropin" "$dropin:$other"; do
    LD_PRELOAD=$preloads timeout 60 "${program[@]}" >"$work/out" 2>"$work/err"
    ended=$?
    [ $ended = 1 ] || fail "interpreter alone under $preloads: ended with $ended"
    one_sentence "interpreter alone under $preloads"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "interpreter alone: $(cat "$work/err")"
  done
fi
[ $failed = 0 ] && echo PASS
exit $failed
