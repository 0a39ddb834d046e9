#!/usr/bin/env python3
"""killed_test.py MPI DROPIN YIELD KILLED: a rank that is killed keeps nobody waiting in memory that they share.

Open MPI's launcher is told to let the others go on, and they say what they have learned. MPICH's ends the job whatever it is told.
Nothing is left behind of any process.
"""
import os
import pathlib
import subprocess
import sys

import launching
from launching import end, expect

mpi, dropin, shim, killed = sys.argv[1:5]
LAUNCHES = 3  # at most: MPICH 4.2's launcher now and then ends with 0 and without a word where a rank was killed
preload = launching.preloaded(mpi, dropin, shim)
go_on = {"openmpi": ["--enable-recovery"], "mpich": []}[mpi]


def run(np, count, variables):
    command = launching.launcher(mpi, *go_on) + launching.processes(
        mpi, np, ["env", f"LD_PRELOAD={preload}", *variables, killed, str(count)])
    for _ in range(LAUNCHES):
        try:
            done = subprocess.run(command, env=launching.environment(), timeout=40, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired as late:
            expect(False, f"a run ends: {' '.join(command)}", late.stdout, late.stderr)
            return
        if mpi != "mpich" or done.returncode != 0:
            break
    if mpi == "mpich":
        expect(done.returncode != 0, f"{np} ranks, {count} bytes, {variables}: the launcher says so", done.stdout, done.stderr)
        return
    told = sorted(line for line in done.stdout.splitlines() if line.startswith("rank"))
    expect(told == [f"rank {rank}: the call that a rank did not make has failed" for rank in range(np - 1)],
           f"{np} ranks, {count} bytes, {variables}: the survivors learn of it", done.stdout, done.stderr)


def of_program():
    """The processes of the program that are still there."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == os.path.realpath(killed):
                found.append(process.name)
        except OSError:
            pass
    return found


before = set(os.listdir("/dev/shm"))
for np, count, variables in [(2, 8, []), (3, 8, []), (3, 5000, ["CIRCOLL_NODE_COPY=segment"]), (3, 1000000, []),
                             (3, 1000000, ["CIRCOLL_NODE_COPY=segment"])]:
    run(np, count, variables)
expect(not of_program(), "no process is left", of_program())
ours = [name for name in set(os.listdir("/dev/shm")) - before if "circoll" in name]
expect(not ours, "nothing is left in /dev/shm", ours)
end()
