#!/usr/bin/env python3
"""survive_test.py MPI DROPIN YIELD SURVIVE KILLS: ranks die at random moments, by a seed, and the others go on.

KILLS runs of a program that checks all of its results (programs/survive.c). Open MPI's launcher lets survivors of a killed rank live on.
MPICH's does so if a process exits, and ends the job if one is killed.
"""
import re
import subprocess
import sys

import launching
from launching import end, expect

mpi, dropin, shim, program, kills = sys.argv[1:6]
preload = launching.preloaded(mpi, dropin, shim)
live_on = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}[mpi]
way_to_die = {"openmpi": [], "mpich": ["exit"]}[mpi]
patience_s = 60
results = {"committed": 0, "full": 0, "survivors": 0, "again": 0, "failed": 0}


def launch(np, arguments, variables, options=None):
    """Returns how a run ended, None if it hung, and what it said."""
    command = launching.launcher(mpi, *(live_on if options is None else options)) + launching.processes(
        mpi, np, ["env", f"LD_PRELOAD={preload}", *variables, program, *map(str, arguments)])
    try:
        done = subprocess.run(command, env=launching.environment() | {"CIRCOLL_PROFILE": "off"}, timeout=patience_s,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired as late:
        subprocess.run(["pkill", "-9", "-x", "-f", program], check=False)
        return None, f"{late.stdout}\n{late.stderr}"
    return done.returncode, done.stdout + done.stderr


def survive(np, iterations, count, seed, failures, collectives, within_us, *variables):
    """One run, in which `failures` ranks die, or fewer, as one may be drawn twice."""
    what = f"{np} ranks, {count} elements, seed {seed}, {failures} die, {collectives}, {' '.join(variables)}"
    for _ in range(3):
        code, said = launch(np, [iterations, count, seed, failures, collectives, within_us, *way_to_die], variables)
        # When a rank dies while MPICH's launcher answers it, the launcher may break, and the job with it.
        if code is None or "process manager error waiting for completion" not in said:
            break
    if code is None:
        expect(False, f"{what}: the run ends", said)
        return
    dead = set(re.findall(r"rank (\d+): killed at", said))
    ends = re.findall(r"rank (\d+): (\d+) iterations in [\d.]+ s, wrong (\d+)", said)
    expect(len(ends) == np - len(dead) and all(rank not in dead for rank, _, _ in ends),
           f"{what}: all survivors reach their end", said)
    expect(all(int(done) == iterations and wrong == "0" for _, done, wrong in ends) and "WRONG" not in said,
           f"{what}: nothing is wrong", said)
    told = re.search(r"circoll: ranks? ([\d, ]+) of MPI_COMM_WORLD failed; .* hit, (\d+) had their results, (\d+) got those "
                     r"of all ranks, (\d+) those of the survivors, (\d+) were made again, (\d+) failed", said)
    expect(told is not None and {rank.strip() for rank in told[1].split(",")} == dead, f"{what}: it is said who failed", said)
    if told:
        for name, number in zip(results, told.groups()[1:]):
            results[name] += int(number)


TESTBEDS = [  # ranks, iterations, elements, failures, collectives, within, variables
    (4, 300, 100, 1, "a", 20000, "CIRCOLL_FAULTS=finish"),
    (4, 100, 100, 1, "aibgrsvtncxj", 60000, "CIRCOLL_FAULTS=finish"),
    (4, 60, 20000, 1, "aigs", 100000, "CIRCOLL_FAULTS=finish"),
    (7, 100, 1, 1, "abgrx", 60000, "CIRCOLL_FAULTS=finish"),
    (5, 200, 100, 2, "ai", 60000, "CIRCOLL_FAULTS=finish"),
    (4, 200, 1000, 1, "ais", 60000, "CIRCOLL_FAULTS=finish", "CIRCOLL_NODE=off"),
    (4, 100, 1000, 1, "aibgrs", 60000, "CIRCOLL_FAULTS=finish", "CIRCOLL_CORES=1", "CIRCOLL_PARTS=1000"),
    (4, 200, 100, 1, "aibgrs", 60000, "CIRCOLL_FAULTS=report"),
    (3, 200, 100, 1, "ab", 30000, "CIRCOLL_FAULTS=finish", "CIRCOLL_ALLREDUCE=ring"),
]
if mpi == "mpich":  # a process that ends within its library may leave the library's shared memory broken
    TESTBEDS = [testbed for testbed in TESTBEDS if not {"CIRCOLL_NODE=off", "CIRCOLL_CORES=1"} & set(testbed)]
for i in range(int(kills)):
    np, iterations, count, failures, collectives, within_us, *variables = TESTBEDS[i % len(TESTBEDS)]
    survive(np, iterations, count, i + 1, failures, collectives, within_us, *variables)
print(results)
expect(results["full"] + results["survivors"] > 0, "some calls were repaired", results)

# Without failures the drop-in says nothing, and no result differs.
code, said = launch(3, [20, 10, 1, 0, "aibgrsvtncxj"], ["CIRCOLL_FAULTS=finish"])
expect(code == 0 and "circoll" not in said and said.count("wrong 0, full 0, survivors 0, refused 0") == 3,
       "nothing is said where nothing fails", said)

# A broken pipe ends a process that does not expect it, but not where others are expected to die.
code, said = launch(3, [5, 10, 1, 0, "ap"], ["CIRCOLL_FAULTS=finish"])
expect(code == 0 and said.count("wrong 0") == 3, "whoever writes to the dead lives on", code, said)
code, said = launch(3, [5, 10, 1, 0, "ap"], [], options=[])
expect(code not in (None, 0) and "wrong" not in said, "without CIRCOLL_FAULTS signals are as they were", code, said)

# A native call cannot be guarded: the drop-in ends the job, and says so.
code, said = launch(3, [100000, 10, 3, 1, "a", 20000, *way_to_die], ["CIRCOLL_FAULTS=finish", "CIRCOLL_ALLREDUCE=native"])
expect(code is not None and "the job is ended" in said and "allreduce" in said, "a native call does not hang", code, said)

# The drop-in reports misuse.
for variables, text in [(["CIRCOLL_FAULTS=yes"], "'yes' is none of off, report, finish"),
                        (["CIRCOLL_FAULTS=finish", "CIRCOLL_MATCH=1"], "CIRCOLL_FAULTS is off: CIRCOLL_MATCH"),
                        (["CIRCOLL_FAULTS=finish", "CIRCOLL_POLICY=learn"], "nothing is learned while CIRCOLL_FAULTS is on")]:
    code, said = launch(2, [2, 10, 1, 0, "a"], variables)
    expect(text in said, f"{variables}: {text}", code, said)
code, said = launch(1, [2, 10, 1, 0, "a"], ["CIRCOLL_FAULTS=finish"])
expect(code == 0 and "there is one process only" in said, "one process has nobody to go on", said)
if mpi == "openmpi":  # the launchers of Open MPI 5 and later do not show ranks the option
    code, said = launch(2, [2, 10, 1, 0, "a"], ["CIRCOLL_FAULTS=finish"], options=[])
    named = launching.version(mpi) < (5,)
    expect(code == 0 and ("--enable-recovery" in said) == named, "a launcher that is known to end the job is named", said)
else:
    code, said = launch(3, [100000, 10, 3, 1, "a", 20000], ["CIRCOLL_FAULTS=finish"])
    expect(code not in (None, 0), "Hydra ends a job of which a process is killed", code, said)
end()
