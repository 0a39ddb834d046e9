#!/usr/bin/env python3
"""learning_test.py MPI DROPIN YIELD PROGRAM: a program whose calls are learned from gets other algorithms, on all ranks alike, and the
same bits as without."""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program = sys.argv[1:5]
preload = launching.preloaded(mpi, dropin, shim)
CALLS = 24000
MOVING = ("bcast", "allgather", "gather", "scatter", "alltoall")


def run(np, *variables):
    command = launching.launcher(mpi) + launching.processes(
        mpi, np, ["env", f"LD_PRELOAD={preload}", *variables, program, str(CALLS)])
    done = subprocess.run(command, env=launching.environment(), capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"{np} ranks, {variables}: exit code {done.returncode}", done.stdout, done.stderr)
    return done.stdout


def algorithms(report, collective):
    """What has served the blocking calls of a collective."""
    rows = json.loads(report.read_text())["rows"]
    return {row["served_by"] for row in rows if row["collective"] == collective and row["mode"] == "blocking"}


with tempfile.TemporaryDirectory() as directory:
    for np in (2, 3, 4):
        report = pathlib.Path(directory) / f"{np}.json"
        unlearned = run(np, "CIRCOLL_POLICY=auto")
        learned = run(np, "CIRCOLL_POLICY=learn", f"CIRCOLL_REPORT={report}")
        expect(unlearned.count("rank ") == np, f"{np} ranks: all digests are printed", unlearned)
        expect(learned == unlearned, f"{np} ranks: the same bits", unlearned, learned)
        # How much is tried depends on the time that calls take, so that it is counted over all of them.
        served = {(collective, name) for collective in MOVING for name in algorithms(report, collective)}
        expect(any(name == "native" for _, name in served) and len(served) > len(MOVING),
               f"{np} ranks: several serve the calls, the library's own among them", report.read_text())
        # Sums of three that round are never the library's own, nor are any calls of communicators of one rank.
        rows = json.loads(report.read_text())["rows"]
        rounding = [row for row in rows if row["comm_size"] > 2 and row["collective"] in ("reduce", "scan", "reduce_scatter_block")]
        expect(np == 2 or rounding, f"{np} ranks: there are sums that round")
        expect(all(row["served_by"] != "native" for row in rounding), f"{np} ranks: sums keep their bits", report.read_text())
end()
