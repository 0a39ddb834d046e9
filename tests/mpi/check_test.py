#!/usr/bin/env python3
"""check_test.py MPI DROPIN YIELD MISMATCHES [FORTRAN...]: with CIRCOLL_MATCH=1, for each kind of calls which differ
exactly one message names the ranks, the calls and the functions that make them, all ranks get an error, and under
MPI_ERRORS_ARE_FATAL the job ends. FORTRAN: programs with a mismatch of their own, one per binding."""
import re
import subprocess
import sys

import launching
from launching import end, expect

MPI, DROPIN, YIELD, PROGRAM = sys.argv[1:5]
FORTRAN = sys.argv[5:]
ERROR = "circoll: the collective calls of the ranks do not match"
PERSISTENT = "MPIX?_Bcast_init of 4 bytes, root "
WORLD = r"MPI_COMM_WORLD"
CALL = WORLD + r" do not make the same collective call \(call 3 on it\)"
AMOUNTS = WORLD + r" do not agree on amounts \(call 3 on it\)"
BACKWARDS = r'a communicator \("backwards", ranks 3, 2, 1, 0 of MPI_COMM_WORLD\)'
OTHERS = "ranks 0, 2-3: "


def lines(ordinary, odd, where=("ordinary", "odd")):
    return [f"{OTHERS}{ordinary}, called from {where[0]}\\+0x", f"rank 1: {odd}, called from {where[1]}\\+0x"]


BCAST = "MPI_Bcast of 40 bytes, root 0"
SUM = "MPI_Allreduce of 8 bytes, MPI_SUM on MPI_INT"
GATHERV = ["ranks 0-3: MPI_Gatherv, root 2, called from collect", "rank 1 sends 16 bytes to rank 2, which expects 12"]
CASES = {  # name: (head, lines)
    "collective": (CALL, lines(BCAST, "MPI_Reduce of 40 bytes, MPI_MAX on MPI_INT, root 0")),
    "bytes": (CALL, lines(BCAST, "MPI_Bcast of 20 bytes, root 0")),
    "sub_bytes": (BACKWARDS + " do not make the same", lines(BCAST, "MPI_Bcast of 20 bytes, root 0")),
    "root": (CALL, lines(BCAST, "MPI_Bcast of 40 bytes, root 1")),
    "mode": (CALL, lines(BCAST, "MPI_Ibcast of 40 bytes, root 0")),
    "operator": (CALL, lines(SUM, "MPI_Allreduce of 8 bytes, MPI_MAX on MPI_INT")),
    "user_operator": (CALL, lines(SUM, "MPI_Allreduce of 8 bytes, a user's operator on MPI_INT")),
    "type": (CALL, lines(SUM, "MPI_Allreduce of 8 bytes, MPI_SUM on MPI_FLOAT")),
    "order": (CALL, lines("MPI_Barrier", "MPI_Bcast of 4 bytes, root 3")),
    "gatherv": (AMOUNTS, GATHERV),
    "sub_gatherv": (BACKWARDS + " do not agree on amounts", GATHERV),
    "alltoallv": (AMOUNTS, ["ranks 0-3: MPI_Alltoallv, called from exchange",
                            "rank 1 sends 8 bytes to rank 2, which expects 4"]),
    "alltoallw": (AMOUNTS, ["ranks 0-3: MPI_Alltoallw, called from exchange_typed",
                            "rank 1 sends 8 bytes to rank 2, which expects 4"]),
    "own_typed": (AMOUNTS, ["ranks 0-3: MPI_Alltoallw, called from exchange_typed",
                            "rank 1 sends itself 16 bytes and expects 12"]),
    "neighbors": (r'a communicator \("ring", ranks 0-3 of MPI_COMM_WORLD\) do not agree on amounts',
                  ["ranks 0-3: MPI_Neighbor_alltoallv, called from halo", "rank 1 sends 8 bytes to rank 2, which expects 4"]),
    "double_edges": (r'a communicator \("ring", ranks 0-3 of MPI_COMM_WORLD\) do not agree on amounts',
                     ["ranks 0-3: MPI_Neighbor_alltoallv, called from halo", "rank 1 sends 8 bytes to rank 2, which expects 4$",
                      "rank 1 sends 4 bytes to rank 2, which expects 8, by edge 2 between them"]),
    "allgatherv": (CALL, lines("MPI_Allgatherv of blocks of 8, 8, 8, 8 bytes",
                               "MPI_Allgatherv of blocks of 8, 8, 8, 12 bytes",
                               ("share", "share"))),
    "own_block": (AMOUNTS, lines("MPI_Allgather of 8 bytes from each rank", "MPI_Allgather of 8 bytes from each rank")
                  + ["rank 1 sends itself 4 bytes and expects 8"]),
    "nonblocking": (CALL, lines("MPI_Ibcast of 4 bytes, root 0", "MPI_Ibarrier")),
    "sub_nonblocking": (BACKWARDS + " do not make the same", lines("MPI_Ibcast of 4 bytes, root 0", "MPI_Ibarrier")),
    "persistent": (CALL, lines(PERSISTENT + "0", PERSISTENT + "2")),
    "finalize": (CALL, lines("MPI_Barrier", "MPI_Finalize", ("ordinary", "main"))),
}
FATAL = ["collective", "alltoallv", "nonblocking", "sub_bytes"]
KILLED = ["mode", "nonblocking", "sub_nonblocking", "persistent"]  # they end without MPI_Finalize


def launch(np, *command, **variables):
    settings = [f"{name}={value}" for name, value in variables.items()]
    preload = launching.preloaded(MPI, DROPIN, YIELD)
    processes = launching.processes(MPI, np, ["env", f"LD_PRELOAD={preload}", *settings, *command])
    done = subprocess.run(launching.launcher(MPI, *processes), env=launching.environment(), capture_output=True, text=True,
                          timeout=60, check=False)
    # Only lines of the program count, because mpiexec of MPICH says on the same stream how the program ended.
    out = "".join(line for line in done.stdout.splitlines(True) if line.startswith("rank "))
    return done.returncode, out, done.stderr


def expect_message(what, head, body, err):
    said = [line for line in err.splitlines() if "CIRCOLL_MATCH" in line]
    expect(len(said) == 1 and re.search(r"the \d ranks of " + head, said[0]), f"{what}: not exactly that message", err)
    said = re.findall(r"^  (?:ranks? [-0-9, ]+:|rank \d+ sends) .*$", err, re.MULTILINE)
    expect(len(said) == len(body), f"{what}: {len(said)} lines, not {len(body)}", err)
    for pattern, line in zip(body, said):
        expect(re.match("  " + pattern, line), f"{what}: not '{pattern}'", err)


for case, (head, body) in CASES.items():
    status, out, err = launch(4, PROGRAM, case, "return", CIRCOLL_MATCH=1)
    expect_message(case, head, body, err)
    ranks = [r for r in range(4) if case != "finalize" or r != 1]
    expect(out == "".join(f"rank {r}: {ERROR}\n" for r in ranks), f"{case}: not an error at all ranks", out, err)
    expect(status == 0 or case in KILLED, f"{case}: the program ends with {status}", err)
for case in FATAL:
    status, out, err = launch(4, PROGRAM, case, CIRCOLL_MATCH=1)
    expect_message(case + ", fatal", *CASES[case], err)
    expect(status != 0 and out == "", f"{case}: the error is not fatal", out, err)
for program in FORTRAN:
    status, out, err = launch(3, program, CIRCOLL_MATCH=1)
    place = r", called from \S+\+0x[0-9a-f]+ \(" + re.escape(program)
    expect_message(program, WORLD, ["ranks 0, 2: MPI_Bcast of 40 bytes, root 0" + place,
                                    "rank 1: MPI_Barrier" + place], err)

# A rank is late. The others say what they wait for, and go on.
status, out, err = launch(4, PROGRAM, "alone", CIRCOLL_MATCH=1)
expect(status == 0 and out == "".join(f"rank {r}: success\n" for r in range(4)), "alone: it does not go on", out, err)
waiting = re.findall(r"rank (\d) of MPI_COMM_WORLD has waited for 10 s for the other ranks to make call 3 on it: "
                     r"MPI_Barrier, called from ordinary\+0x", err)
expect(sorted(waiting) == ["0", "2", "3"] and err.count("CIRCOLL_MATCH") == 3, "alone: who waits is not said", err)
# The checks are off, or the variable is wrong.
status, out, err = launch(4, PROGRAM, "none")
expect(status == 0 and "circoll" not in err, "something is said unasked", err)
status, out, err = launch(4, PROGRAM, "none", CIRCOLL_MATCH="yes")
expect(status == 0 and err.count("CIRCOLL_MATCH: 'yes' is neither 0 nor 1") == 1,
       "a wrong value is not one warning", err)
# The variable's name of 0.2 works, with a warning. The new name comes first.
status, out, err = launch(4, PROGRAM, FATAL[0], "return", CIRCOLL_CHECK=1)
expect(err.count("circoll: CIRCOLL_CHECK is called CIRCOLL_MATCH now") == 1, "the old name is not one warning", err)
expect_message("the old name", *CASES[FATAL[0]], "".join(line for line in err.splitlines(True) if "is called" not in line))
status, out, err = launch(4, PROGRAM, "none", CIRCOLL_CHECK=1, CIRCOLL_MATCH="yes")
expect(status == 0 and err.count("CIRCOLL_MATCH: 'yes' is neither 0 nor 1") == 1, "the old name comes first", err)

end()
