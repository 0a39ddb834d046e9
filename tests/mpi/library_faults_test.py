#!/usr/bin/env python3
"""library_faults_test.py MPI YIELD PROGRAM: what the MPI library does wrong without Circoll, which tests and circoll-torture make allowance for.

Each fault is a run of programs/library_faults.c. What it does in the versions that are listed must be what it did there: a fault that is gone
takes its allowance with it. In other versions the test says what it sees.
"""
import concurrent.futures
import subprocess
import sys

import launching
from launching import end, expect

mpi, shim, program = sys.argv[1:4]
version = launching.version(mpi)

# By MPI: the versions of Debian 12, 13 and sid that were tried, and those with the fault.
TRIED = {"openmpi": [(4, 1, 4), (5, 0, 7), (6, 0, 0)], "mpich": [(4, 0, 2), (4, 2, 1), (5, 0, 2)]}
FAULTS = {
    "commands": ("a launch of several commands crashes", {"openmpi": [(5, 0, 7)]}),
    "freed_communicator": ("a communicator is freed while a nonblocking collective is pending", {"openmpi": [(4, 1, 4), (5, 0, 7), (6, 0, 0)]}),
    "no_type_in_reduction": ("a reduction of no type", {"mpich": [(5, 0, 2)]}),
    "negative_count_in_reduction": ("a reduction of less than nothing", {"mpich": [(4, 0, 2), (4, 2, 1), (5, 0, 2)]}),
    "error_after_handler": ("a call forgets its error when a handler of the user's returns", {"mpich": [(5, 0, 2)]}),
    "persistent_gather": ("a persistent gather copies the root's block when it is made", {"mpich": [(4, 0, 2), (4, 2, 1)]}),
    "spawn": ("no process can be spawned", {"mpich": [(4, 0, 2), (4, 2, 1)]}),
    "communicators_of_threads": ("threads that make communicators at the same time hang", {"openmpi": [(4, 1, 4), (5, 0, 7), (6, 0, 0)]}),
    "groups_of_threads": ("threads that make groups at the same time, not all in the order of their tags, hang",
                          {"openmpi": [(4, 1, 4), (5, 0, 7), (6, 0, 0)]}),
    "left_message": ("MPI_Finalize crashes over a message that nobody has received", {"mpich": [(4, 2, 1), (5, 0, 2)]}),
}


def does_right(thing, np):
    """True if the run prints that all is right, and ends well."""
    ranks = [*(["env", f"LD_PRELOAD={shim}"] if launching.SPINS[mpi] else []), program, thing]
    command = launching.launcher(mpi, *launching.processes(mpi, 1 if thing == "commands" else np, ranks))
    if thing == "commands":
        command += [":", *launching.processes(mpi, 1, ranks)]
    environment = {**launching.environment(), "btl": "self,vader,tcp"}  # spawned processes are reached by TCP
    try:
        done = subprocess.run(command, env=environment, timeout=25, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and "right" in done.stdout.splitlines()


# Most of the time goes by in runs that hang, so two run at the same time.
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    outcomes = {thing: pool.submit(does_right, thing, 1 if thing == "spawn" else 3) for thing in FAULTS}
for thing, (what, seen) in FAULTS.items():
    right = outcomes[thing].result()
    print(f"{'right' if right else 'wrong'}: {what} ({thing}), {mpi} {'.'.join(map(str, version))}", flush=True)
    if version in TRIED[mpi]:
        known = version in seen.get(mpi, [])
        expect(right != known, f"{thing} is {'wrong' if known else 'right'} in this version")
expect(does_right("nothing", 2), "a program that does nothing is right")
end()
