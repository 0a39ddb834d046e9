#!/usr/bin/env python3
"""few_calls_test.py MPI DROPIN YIELD PROGRAM: the first calls on a communicator are native (CIRCOLL_SERVE_AFTER).

PROGRAM is few_calls, on 4 ranks: each of its communicators has another number of ranks.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program = sys.argv[1:5]
FIRST = "among the first calls on its communicator"
ALONE = "a communicator of one rank"


def run(work, **variables):
    """The calls of each kind (ranks, collective, served or the reason why not), and standard error."""
    report = pathlib.Path(work) / "report.json"
    report.unlink(missing_ok=True)
    settings = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", f"CIRCOLL_REPORT={report}", *settings, program]
    done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, 4, command)), env=launching.environment(), timeout=60,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and done.stdout.strip() == "done", f"the program succeeds with {variables}", done.stdout, done.stderr)
    counts = collections.Counter()
    for row in json.loads(report.read_text())["rows"]:
        counts[row["comm_size"], row["collective"], row["why_native"] or "served"] += row["calls"]
    return counts, done.stderr


with tempfile.TemporaryDirectory() as work:
    counts, _ = run(work, CIRCOLL_SERVE_AFTER=4)
    expect(counts[4, "allreduce", "served"] == 3 * 4, "MPI_COMM_WORLD is served at once", counts)
    expect(counts[3, "allreduce", FIRST] == 4 * 3 and counts[3, "allreduce", "served"] == 2 * 3, "4 calls are native, then served", counts)
    expect(counts[None, "allreduce", "the native collective returned an error"] == 2, "wrong calls of one rank are not counted", counts)
    expect(counts[3, "bcast", FIRST] == 2 * 3, "each collective is counted by itself, whatever the root is", counts)
    expect(counts[2, "allreduce", "served"] == 5 * 2, "nonblocking calls are served at once", counts)
    expect(counts[1, "allreduce", ALONE] == 3 * 4, "one rank is native", counts)
    counts, _ = run(work)
    expect(counts[3, "allreduce", FIRST] == 6 * 3 and counts[4, "allreduce", "served"] == 3 * 4, "without the variable: 1024", counts)
    counts, _ = run(work, CIRCOLL_SERVE_AFTER=0)
    expect(all(key[2] == "served" for key in counts if key[0] in (1, 3)), "0: all are served", counts)
    for wrong in ("-1", "some", "65536"):
        counts, said = run(work, CIRCOLL_SERVE_AFTER=wrong)
        expect(f"'{wrong}' is not a number of calls" in said and counts[3, "allreduce", FIRST] == 6 * 3, f"{wrong} is refused", said)
end()
