#!/usr/bin/env python3
"""neighbors_test.py MPI NP DROPIN YIELD PROGRAM [SEED ROUNDS]: neighbourhood collectives of random graphs, and MPI_Alltoallw,
are right and served.

PROGRAM is neighbors, which compares every call with the definition and with the library's own.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, np, dropin, shim, program = sys.argv[1:6]
seed, rounds = sys.argv[6:8] or ["1", "24"]
FUNCTIONS = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]


def run(work, rounds, *words, **variables):
    """The calls by (function, mode, served or the reason why not), and standard error."""
    report = pathlib.Path(work) / "report.json"
    report.unlink(missing_ok=True)
    settings = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", f"CIRCOLL_REPORT={report}", "CIRCOLL_SERVE_AFTER=0", *settings, program, seed, rounds, *words]
    done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, np, command)), env=launching.environment(), timeout=100,
                          capture_output=True, text=True, check=False)
    counts = collections.Counter()
    if report.exists():
        for row in json.loads(report.read_text())["rows"]:
            if row["collective"].startswith("neighbor_"):
                counts[row["collective"], row["mode"], row["why_native"] or row["served_by"]] += row["calls"]
            elif row["collective"] == "alltoallw":
                counts[row["collective"], row["mode"], "native" if row["why_native"] else "served"] += row["calls"]
    return done, counts


with tempfile.TemporaryDirectory() as work:
    for way in ({}, {"CIRCOLL_NODE": "off"}, {"CIRCOLL_NODE_COPY": "segment"}):
        done, counts = run(work, rounds, "overwrite", **way)
        expect(done.returncode == 0 and "are right" in done.stdout, f"all calls are right with {way}", done.stdout, done.stderr)
        for function in FUNCTIONS:
            for mode in ("blocking", "nonblocking", "persistent"):
                of_it = {key[2]: calls for key, calls in counts.items() if key[:2] == (f"neighbor_{function}", mode)}
                # Each start of a persistent request counts.
                calls = int(rounds) * int(np) * (2 if mode == "persistent" else 1)
                expect(of_it == {"direct": calls}, f"{mode} {function} is served with {way}", of_it, calls)
        for mode in ("blocking", "nonblocking", "persistent"):
            calls = int(rounds) * int(np) * (2 if mode == "persistent" else 1)
            expect(counts["alltoallw", mode, "served"] == calls and counts["alltoallw", mode, "native"] == 0,
                   f"{mode} alltoallw is served with {way}", counts, calls)
    # Messages are joined between nodes once sizes have been agreed on, and stay right where some change.
    nodes = {"CIRCOLL_CORES": "1" if np == "2" else "2"}
    for choice in ("node_aware", "auto"):
        done, counts = run(work, "8", "again", CIRCOLL_NEIGHBOR=choice, **nodes)
        expect(done.returncode == 0 and "are right" in done.stdout, f"calls across nodes are right with {choice}", done.stdout, done.stderr)
        served = {(key[1], key[2]) for key in counts if key[0] != "alltoallw"}
        known = {(mode, way) for mode in ("blocking", "nonblocking", "persistent") for way in ("direct", "node_aware")}
        expect(served <= known, "calls across nodes are served", counts)
        for function in FUNCTIONS if choice == "node_aware" else []:
            joined = [counts[f"neighbor_{function}", mode, "node_aware"] for mode in ("blocking", "persistent")]
            several = 0 if np == "2" else int(np)  # with one rank on each node there is nothing to join
            expect(joined == [8 * 40 * several, 8 * 2 * several], f"{function} joins messages from the second call on", counts)
    # On two ranks some rounds have no graph that a library does right.
    done, counts = run(work, rounds, "library", CIRCOLL_NEIGHBOR="native")
    chosen = {key[2] for key in counts if key[0] != "alltoallw"}
    expect(chosen == {"chosen"} and done.returncode == 0, "CIRCOLL_NEIGHBOR=native leaves all calls to the library", counts, done.stderr)
    done, counts = run(work, "2", CIRCOLL_ALLTOALLV="native")
    expect({key[2] for key in counts if key[0] == "alltoallw"} == {"native"}, "CIRCOLL_ALLTOALLV=native holds for alltoallw", counts)
    done, counts = run(work, rounds, "library", CIRCOLL_NEIGHBOR="some")
    expect("'some' is none of" in done.stderr and {key[2] for key in counts if key[0] != "alltoallw"} == {"chosen"}, "a wrong value is refused", done.stderr)
    done, counts = run(work, rounds, "library", CIRCOLL_PROGRESS="off")
    native = {key[2] in ("direct", "served") for key in counts if key[1] != "blocking"}
    expect(native == {False} and done.returncode == 0, "without progress calls that do not block are native", counts, done.stderr)
    done, counts = run(work, rounds, "library", CIRCOLL_FAULTS="report")
    left = {key[2] == "native" or key[2].startswith("CIRCOLL_FAULTS is on") for key in counts}
    expect(left == {True}, "failures leave them to the library", counts)
end()
