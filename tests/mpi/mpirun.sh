#!/bin/bash
# mpirun.sh ARGUMENTS...: mpirun of Open MPI. That of 4.1 hangs at times in PMIx_server_finalize, with and without
# Circoll, when a rank has aborted and all ranks have ended. It is killed then, and its status is 137.
set -u
watch() {
  local states stuck=0
  while sleep 1 && kill -0 "$1"; do
    if states=$(ps -o stat= --ppid "$1") && ! grep -qv '^Z' <<<"$states"; then
      stuck=$((stuck + 1))
    else
      stuck=0
    fi
    [ $stuck -lt 3 ] || kill -KILL "$1"
  done
}
(watch $$ &) </dev/null &>/dev/null
exec mpirun.openmpi "$@"
