# To be sourced where $mpi, $np and $yield are set. `launch COMMAND...` runs np ranks. $preload is the part of
# LD_PRELOAD that every run needs. If the ranks do not reach one another by memory alone, $btl says how (dev/launch).
# `fail WHAT...` says what is wrong, and sets $failed. $work is a directory that is removed in the end. If the ranks
# write a report to $work/report.json, its rows are lines of $work/report (report_rows.py).
# shellcheck shell=bash disable=SC2154,SC2034
launch() {
  rm -f "$work/report" "$work/report.json"
  local ended=0
  launch_ranks "$@" || ended=$?
  [ ! -f "$work/report.json" ] ||
    python3 "$(dirname "${BASH_SOURCE[0]}")/report_rows.py" <"$work/report.json" >"$work/report"
  return $ended
}
launch_ranks() {
  case $mpi in
    openmpi)
      # From Open MPI 5 on mpirun loses and mixes the output of ranks. If the output goes to files, ranks append it
      # themselves.
      local me=$BASHPID out err ranks=("$@")
      out=$(readlink "/proc/$me/fd/1") err=$(readlink "/proc/$me/fd/2")
      (
        if { [ -f "$out" ] || [ "$out" = /dev/null ]; } && [ -f "$err" ]; then
          exec >>"$out" 2>>"$err"
          # shellcheck disable=SC2016  # expanded by the ranks' shells
          ranks=(sh -c 'exec >>"$0" 2>>"$1"; shift; exec "$@"' "$out" "$err" "$@")
        fi
        exec "$(dirname "${BASH_SOURCE[0]}")/../../dev/launch" test openmpi -np "$np" "${ranks[@]}"
      )
      ;;
    mpich) "$(dirname "${BASH_SOURCE[0]}")/../../dev/launch" test mpich -np "$np" "$@" ;;
    *)
      fail "nothing is known to launch ranks of $mpi with"
      return 1
      ;;
  esac
}
preload=""
[ "$mpi" = mpich ] && preload=$yield
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
