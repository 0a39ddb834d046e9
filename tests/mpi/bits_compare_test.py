#!/usr/bin/env python3
"""bits_compare_test.py MPI NP CIRCOLL YIELD PROGRAM: circoll bits-compare finds the calls whose bits depend on the algorithm.

PROGRAM is bits, whose first call on each communicator is a sum of integers.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, np, circoll, shim, program = sys.argv[1:6]
LAUNCHER = f"{launching.LAUNCH} test {mpi} -np {{np}} env LD_PRELOAD={shim if launching.SPINS[mpi] else ''}"


def run(*arguments, code=0, **variables):
    done = subprocess.run([circoll, "bits-compare", *map(str, arguments)], env=launching.environment() | variables, timeout=280,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == code, f"bits-compare {arguments} ends with {code}, not {done.returncode}", done.stdout, done.stderr)
    return done


def compared(work, name, what, *arguments, code=0, **variables):
    """The comparison of runs of the program, whose records are left in work/name."""
    done = run("--np", np, "--mpi", mpi, "--launcher", LAUNCHER, "--records", work / name, "--json", *arguments, "--", program, what,
               code=code, **variables)
    return json.loads(done.stdout) if done.stdout else {}


def check_floats(work):
    found = compared(work, "floats", "floats", code=1)
    expect(found["changes_bits"] and not found["differs_by_itself"], "sums of floats change bits", found)
    expect("MPI_Allreduce (sum of float64) changes bits, from call 7 on the first communicator of ranks 0 to" in found["verdict"],
           "the verdict names the first call that does", found["verdict"])
    changing = {kind["collective"] for kind in found["kinds"] if kind["changed"]}
    # On three ranks the algorithms of a scan have the same bits.
    summing = {"allreduce", "reduce", "reduce_scatter_block"} | ({"scan"} if int(np) > 3 else set())
    expect(changing == summing, "all sums of floats change bits", found["kinds"])
    expect(all(kind["type"] == "float64" and kind["op"] == "sum" for kind in found["kinds"] if kind["changed"]),
           "nothing else does", found["kinds"])
    runs = {one["name"]: one for one in found["runs"]}
    expect(set(runs) == {"again", "native", "linear", "ring", "tree", "two-nodes"}, "the usual runs", runs)
    expect(runs["again"]["changed"] == runs["again"]["contributions_differ"] == 0, "the same algorithms give the same bits", runs)
    expect(sum(one["changed"] > 0 for one in runs.values()) >= 2, "several runs have other bits", runs)
    expect(any(one["contributions_differ"] > 0 and one["first_other"]["call"] == 8 for one in runs.values()),
           "the bcast of such a sum has another contribution, and is not to blame", runs)
    expect(found["unseen"] == 0, "all calls are recorded, nonblocking ones too", found["unseen"])
    text = run(work / "floats/run-1", work / "floats/run-2", work / "floats/run-5", code=1).stdout
    expect(text.startswith("Verdict: MPI_Allreduce (sum of float64) changes bits") and f"{pathlib.Path(program).name}+0x" in text
           and "Next: CIRCOLL_SUM=exact" in text, "records are compared again, and places are named", text)


def check_no_difference(work):
    found = compared(work, "integers", "integers")
    expect(not found["changes_bits"] and not found["differs_by_itself"] and found["calls"] >= 36,
           "integers, elements with gaps and moved data never differ", found)
    expect(len({name for kind in found["kinds"] for name in kind["served_by"]}) > 2, "and Circoll served them", found["kinds"])
    found = compared(work, "exact", "floats", CIRCOLL_SUM="exact")
    expect(not found["changes_bits"] and not found["differs_by_itself"], "exact sums never differ", found)
    found = compared(work, "named", "floats", "--runs", "linear,tree", "--with", "CIRCOLL_ALLREDUCE=linear CIRCOLL_REDUCE=linear",
                     code=1)
    expect(found["first_run"] == "linear" and len(found["runs"]) == 2, "runs are chosen, and added", found)


def check_mistakes(work):
    found = compared(work, "clock", "clock", "--runs", "auto,again")
    expect(not found["changes_bits"] and found["differs_by_itself"], "a clock is the program's own difference", found)
    record = work / "clock/run-1/rank-1.bits"
    record.write_text(record.read_text()[:-20])
    told = run(work / "clock/run-1", work / "clock/run-2", code=2).stderr
    expect(told.count("\n") == 1 and str(record) in told, "a damaged record is refused in one sentence", told)
    told = run(work / "clock/run-2", code=2).stderr
    expect("bits are compared among two runs or more" in told, "one run is not enough", told)
    told = run("--np", 2, "--launcher", LAUNCHER, "--mpi", mpi, "--records", work / "failing", "--", "false", code=2).stderr
    expect("the run auto ended with exit code 1" in told, "a program that fails is said to fail", told)
    told = run("--runs", "atuo", "--", program, code=2).stderr
    expect("'atuo' is no run (did you mean auto?)" in told, "a wrong name is refused", told)
    command = [circoll, "run", "--mpi", mpi, "--", program, "integers"]
    done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, 2, command)), timeout=100, capture_output=True, text=True,
                          check=False, env=launching.environment() | {"CIRCOLL_BITS_RECORD": "/proc/none",
                                                                      "LD_PRELOAD": shim if launching.SPINS[mpi] else ""})
    expect(done.returncode == 0 and "/proc/none/rank-1.bits cannot be written; rank 1 is not recorded" in done.stderr,
           "a directory that cannot be written stops no program", done.stdout, done.stderr)


with tempfile.TemporaryDirectory() as directory:
    check_floats(pathlib.Path(directory))
    check_no_difference(pathlib.Path(directory))
    check_mistakes(pathlib.Path(directory))
end()
