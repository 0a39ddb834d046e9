#!/usr/bin/env python3
"""torture_killed_test.py MPI DROPIN YIELD TORTURE: whenever a rank of a program is killed, in whatever call, the job ends as it does
without the drop-in, and nothing is left of any process."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import launching
from launching import end, expect

mpi, dropin, shim, torture = sys.argv[1:5]
preload = launching.preloaded(mpi, dropin, shim)
RUNS, PATIENCE_S = 9, 30
chance = random.Random(2026)


def ranks():
    """The processes of the program."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == os.path.realpath(torture):
                found.append(int(process.name))
        except OSError:
            pass
    return sorted(found)


def begun(job, np):
    """Waits until all ranks are there."""
    deadline = time.monotonic() + PATIENCE_S
    while len(ranks()) < np and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    return len(ranks()) == np


def run(number):
    np = chance.choice([2, 3, 4])
    variable = ["CIRCOLL_NODE_COPY=auto", "CIRCOLL_NODE_COPY=segment", "CIRCOLL_NODE_COPY=direct"][number % 3]
    wait_s = chance.uniform(0, 2.5)
    what = f"{np} ranks, {variable}, killed after {wait_s:.2f} s"
    command = launching.launcher(mpi) + launching.processes(
        mpi, np, ["env", f"LD_PRELOAD={preload}", variable, torture, "--seconds", "120", "--seed", str(number + 1)])
    with subprocess.Popen(command, env=launching.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as job:
        there = begun(job, np)
        expect(there, f"{what}: all ranks begin")
        time.sleep(wait_s)
        running = ranks()
        if running:
            os.kill(chance.choice(running), signal.SIGKILL)
        try:
            output, _ = job.communicate(timeout=PATIENCE_S)
            expect(not there or job.returncode != 0, f"{what}: the launcher says so", output)
        except subprocess.TimeoutExpired:
            job.kill()
            expect(False, f"{what}: the job ends", job.communicate()[0])
    deadline = time.monotonic() + 5
    while ranks() and time.monotonic() < deadline:
        time.sleep(0.05)
    left = ranks()
    expect(not left, f"{what}: no process is left", left)
    for process in left:
        os.kill(process, signal.SIGKILL)


before = set(os.listdir("/dev/shm"))
for turn in range(RUNS):
    run(turn)
ours = [name for name in set(os.listdir("/dev/shm")) - before if "circoll" in name]
expect(not ours, "nothing is left in /dev/shm", ours)
end()
