#!/usr/bin/env python3
"""device_memory_test.py MPI DROPIN YIELD PROGRAM CUDA HIP LEVEL_ZERO: calls with memory of devices are native.

They are on all ranks alike, with a reason in the report, and all others are served. PROGRAM is device_memory, in which
device memory is protected but in native collectives; the last three are stand-ins for runtimes.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program, cuda, hip, level_zero = sys.argv[1:8]
IN_DEVICE = "a buffer is in device memory on some rank"
UNANSWERED = "ranks cannot agree in a nonblocking call whether its buffers are in device memory"
# Calls of each rank, by mode and collective: those with the program's buffers, and those with the host's.
BUFFERS = {("blocking", "allreduce"): 6, ("blocking", "reduce"): 3, ("blocking", "reduce_scatter"): 3,
           ("blocking", "gatherv"): 3, ("blocking", "alltoall"): 3, ("persistent", "scan"): 1}
NONBLOCKING = {("nonblocking", "allreduce"): 1}
ABSOLUTE = {("blocking", "allgather"): 1}
ALWAYS_SERVED = {("blocking", "bcast"): 3, ("blocking", "exscan"): 3, ("blocking", "barrier"): 3}
EVERYTHING = BUFFERS | NONBLOCKING | ABSOLUTE | ALWAYS_SERVED


def reasons(what, np, arguments, variables, work):
    """Why calls of each kind were native, and how many on all ranks together; what was written to stderr."""
    report = work / "report.json"
    report.unlink(missing_ok=True)
    settings = {"CIRCOLL_REPORT": report, "CIRCOLL_POLICY": "classic"} | variables
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}",
               *(f"{name}={value}" for name, value in settings.items()), program, *arguments]
    try:
        done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, np, command)),
                              env=launching.environment(), timeout=30, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        expect(False, f"{what}: it ends")
        return {}, ""
    expect(done.returncode == 0, f"{what}: all results are right", done.stdout, done.stderr)
    found = collections.Counter()
    if report.exists():
        for row in json.loads(report.read_text())["rows"]:
            key = row["mode"], row["collective"]
            if row["served_by"] == "native":
                found[*key, row["why_native"]] += row["calls"]
            else:
                found[*key, None] += row["calls"]
    return found, done.stderr


def check(what, np, arguments, native, variables=None):
    """`native` maps calls to their reasons; all others are served."""
    with tempfile.TemporaryDirectory() as name:
        found, errors = reasons(what, np, arguments, variables or {}, pathlib.Path(name))
    wanted = collections.Counter()
    for key, calls in EVERYTHING.items():
        wanted[*key, native.get(key)] += calls * np
    expect(found == wanted, f"{what}: native are {native} alone: {found}", errors)
    return errors


def because(reason, calls):
    return dict.fromkeys(calls, reason)


host = because(UNANSWERED, NONBLOCKING)
device = host | because(IN_DEVICE, BUFFERS) | because(IN_DEVICE, ABSOLUTE)
absolute = host | because(IN_DEVICE, ABSOLUTE)

check("no runtime", 3, [cuda, "never", "all", "none"], {})
check("device memory on all ranks", 3, [cuda, "before", "all", "all"], device)
check("HIP, on one rank", 3, [hip, "before", "all", "last", "/dev/kfd"], device)
check("Level Zero, which one rank has", 2, [level_zero, "before", "last", "last"], device)
check("a runtime, but no device memory", 3, [cuda, "before", "all", "none"], absolute)
for runtime, name in [(cuda, "CUDA"), (hip, "HIP"), (level_zero, "Level Zero")]:
    check(f"{name}, which nobody uses when MPI_Init ends", 2, [runtime, "before", "all", "none", "idle"], {})
check("none is to be looked for", 2, [cuda, "before", "all", "none"], {}, {"CIRCOLL_DEVICE_MEMORY": "off"})
check("a runtime after MPI_Init, of no use", 2, [cuda, "after", "last", "none"], {})
check("a runtime after MPI_Init, expected", 2, [cuda, "after", "last", "last"], device,
      {"CIRCOLL_DEVICE_MEMORY": "on"})
check("alone, at any time", 1, [cuda, "after", "all", "all"],
      because(IN_DEVICE, BUFFERS | NONBLOCKING | ABSOLUTE))
warning = check("failures are not survived", 2, [cuda, "before", "all", "all"], device, {"CIRCOLL_FAULTS": "finish"})
expect("CIRCOLL_FAULTS is off: a rank has loaded CUDA" in warning, "it is said", warning)
end()
