#!/usr/bin/env python3
"""equal_blocks_test.py MPI DROPIN YIELD PROGRAM: an alltoallv whose blocks are all equal is served as an alltoall, and is right when they are not."""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program = sys.argv[1:5]
CALLS = 500


def launch(np, cores, seed, *variables, kind=()):
    """The numbers of calls by collective and reason."""
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        command = ["env", f"CIRCOLL_REPORT={report}", f"CIRCOLL_CORES={cores}", "CIRCOLL_MEASURE=off", "CIRCOLL_LEARN=off", "CIRCOLL_SERVE_AFTER=0",
                   *variables, f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", program, str(CALLS), str(seed), *kind]
        done = subprocess.run(launching.launcher(mpi) + launching.processes(mpi, np, command), env=launching.environment(), capture_output=True,
                              text=True, timeout=100, check=False)
        expect(done.returncode == 0 and done.stdout == f"{CALLS} calls, 0 numbers are wrong\n", f"{np} ranks, seed {seed}, {variables}", done.stdout,
               done.stderr)
        counted = {}
        for row in json.loads(report.read_text())["rows"] if report.exists() else []:
            if row["collective"] in ("alltoallv", "alltoallw"):
                for size in row["histogram"]:
                    why = row["served_by"] if row["mode"] == "persistent" else size.get("why") or row.get("why_native") or "native"
                    counted[row["collective"], why] = counted.get((row["collective"], why), 0) + size["calls"]
        if kind != ("persistent",):  # there a call is started twice
            expect(sum(counted.values()) == np * CALLS, f"all calls of {np} ranks are in the report, {variables}", counted)
        return counted


def as_alltoall(counted, collectives=("alltoallv", "alltoallw")):
    return sum(calls for (collective, why), calls in counted.items() if collective in collectives and "so that it is an alltoall" in why)


typed = 0
for np, cores, variables in ((8, 1, ()), (8, 2, ()), (5, 1, ()), (8, 1, ("CIRCOLL_SERVE_AFTER=100",))):
    for seed in (1, 2):
        whys = launch(np, cores, seed, *variables)
        typed += as_alltoall(whys, ("alltoallw",))
        if np == 8:
            expect(0 < as_alltoall(whys) < np * CALLS, f"{np} ranks, {cores} on a node: some calls are alltoalls", whys)
expect(typed > 0, "so are some alltoallw")
whys = launch(8, 1, 1, kind=("strided",))
expect(as_alltoall(whys) == 8 * (CALLS - 1), "all calls but the first one, with gaps at every second rank", whys)
expect(as_alltoall(launch(3, 3, 1, kind=("strided",))) == 0, "on one node the same calls stay what they are")
starts = launch(8, 1, 1, kind=("persistent",))
names = {name for (collective, name), _ in starts.items() if collective == "alltoallv"}
expect(names & {"circulant", "bruck", "pairwise"}, "persistent requests with equal blocks have an algorithm of an alltoall", starts)
launch(8, 1, 4, "CIRCOLL_LEARN=")  # what ranks learn across nodes changes the algorithm from call to call
for np, cores, setting in ((8, 8, "CIRCOLL_POLICY=auto"), (3, 1, "CIRCOLL_POLICY=auto"), (8, 1, "CIRCOLL_ALLTOALLV=linear")):
    whys = launch(np, cores, 3, setting)
    expect(as_alltoall(whys) == 0, f"not on one node, on few ranks, or by name: {np}, {cores}, {setting}", whys)
end()
