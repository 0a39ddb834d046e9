#!/bin/bash
# mpirun.sh ARGUMENTS...: mpirun of Open MPI. At times Open MPI 4.1 hangs in PMIx_server_finalize, with and without
# Circoll, when a rank has aborted and all ranks have ended. The script kills it then, and its status is 137.
set -u
# True if all children of mpirun have ended, and it has not reaped them.
stuck() {
  local child some=no
  for child in $(cat "/proc/$1"/task/*/children); do
    grep -q '^State:.Z' "/proc/$child/status" || return 1
    some=yes
  done
  [ $some = yes ]
}
watch() {
  local seconds=0
  while sleep 1 && kill -0 "$1"; do
    if stuck "$1"; then seconds=$((seconds + 1)); else seconds=0; fi
    [ $seconds -lt 3 ] || kill -KILL "$1"
  done
}
(watch $$ &) </dev/null &>/dev/null
exec mpirun.openmpi "$@"
