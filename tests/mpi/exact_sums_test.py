#!/usr/bin/env python3
"""exact_sums_test.py MPI NP DROPIN YIELD PROGRAM: CIRCOLL_SUM gives sums their bits, whatever else is chosen.

PROGRAM is exact_sums, which compares every sum with integers of any length, or with a loop in the order of ranks.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, np, dropin, shim, program = sys.argv[1:6]
SUMMING = ["allreduce", "reduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"]


def run(work, wanted, **variables):
    """The ended process, the reasons why calls that sum were native, and the algorithms that served them."""
    report = pathlib.Path(work) / "report.json"
    report.unlink(missing_ok=True)
    variables.setdefault("CIRCOLL_REPORT", report)
    settings = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", *settings, program, wanted]
    done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, np, command)), env=launching.environment(), timeout=250,
                          capture_output=True, text=True, check=False)
    rows = json.loads(report.read_text())["rows"] if report.exists() else []
    rows = [row for row in rows if row["collective"] in SUMMING]
    return done, {row["why_native"] for row in rows if row["why_native"]}, {row["served_by"] for row in rows}


def check(work, wanted, **variables):
    done, native, served = run(work, wanted, CIRCOLL_SUM=wanted, **variables)
    expect(done.returncode == 0 and "all sums are right" in done.stdout, f"{wanted} sums are right with {variables}", done.stdout, done.stderr)
    if int(np) == 2 and wanted == "ordered":
        native -= {"among the first calls on its communicator"}  # two operands have one order
    expect(not native, f"no {wanted} sum is native with {variables}", native)
    if int(np) > 2:
        moved = {name.split("/")[0] for name in served}
        expect(moved == {"allgather", "alltoall", "alltoallv", "gather"}, f"operands travel with {variables}", served)


with tempfile.TemporaryDirectory() as work:
    check(work, "exact")
    check(work, "ordered", CIRCOLL_NODE="off")
    check(work, "exact", CIRCOLL_POLICY="native", CIRCOLL_ALLREDUCE="native", CIRCOLL_SCAN="linear", CIRCOLL_NODE="off")
    if int(np) > 2:
        # Stages have the algorithms that the user has chosen for calls of their collectives.
        rules = pathlib.Path(work) / "rules.json"
        rules.write_text(json.dumps({"circoll_rules": 1, "allgather": [{"otherwise": "bruck"}], "alltoall": [{"otherwise": "linear"}],
                                     "gather": [{"otherwise": "linear"}]}))
        _, _, served = run(work, "exact", CIRCOLL_SUM="exact", CIRCOLL_POLICY=f"file:{rules}")
        expect({"allgather/bruck", "alltoall/linear", "gather/linear"} <= served and
               all(one.startswith("alltoallv/") or one in ("allgather/bruck", "alltoall/linear", "gather/linear") for one in served),
               "stages follow rules", served)
        _, _, served = run(work, "exact", CIRCOLL_SUM="exact", CIRCOLL_ALLGATHER="ring")
        expect({one for one in served if one.startswith("allgather/")} == {"allgather/ring"}, "stages follow a variable", served)
        done, _, _ = run(work, "exact")
        expect("sums are wrong" in done.stdout, "plain sums are others", done.stdout, done.stderr)
        done, _, _ = run(work, "exact", CIRCOLL_SUM="exact", CIRCOLL_PROGRESS="off")
        expect("is left to the MPI library" in done.stderr, "a sum that is native is announced", done.stderr)
    # Without a report nobody looks at calls on a communicator that is known as unusable.
    done, _, _ = run(work, "between", CIRCOLL_SUM="exact", CIRCOLL_REPORT="0")
    expect("is left to the MPI library: an intercommunicator" in done.stderr, "a sum between groups is announced", done.stderr)
    if int(np) > 2:
        trace = pathlib.Path(work) / "trace.json"
        run(work, "between", CIRCOLL_SUM="exact", CIRCOLL_TRACE=trace)
        names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
        expect(any(name.startswith("allreduce allgather/") for name in names), "the trace names the collective that serves", names)
    done, _, _ = run(work, "exact", CIRCOLL_SUM="some")
    expect("'some' is none of plain, exact and ordered" in done.stderr, "a wrong value is refused", done.stderr)
    for like in ("like:4", "like:ring", "like:"):
        done, _, _ = run(work, "exact", CIRCOLL_SUM=like)
        expect(done.stderr.count(f"CIRCOLL_SUM: '{like}' cannot be had, because the contributions of a run on other ranks") == 1,
               "sums like those of another run are refused once, with the reason", done.stderr)
    done, _, _ = run(work, "exact", CIRCOLL_SUM="exact", CIRCOLL_FAULTS="report")
    expect("sums are plain while CIRCOLL_FAULTS is on" in done.stderr, "nothing is exact while failures are survived", done.stderr)
end()
