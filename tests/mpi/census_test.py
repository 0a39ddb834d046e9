#!/usr/bin/env python3
"""census_test.py MPI DROPIN YIELD TOOL SUMS QUIET ALL_COLLECTIVES [OTHER]: ranks that differ.

A rank without the drop-in hangs nobody: the program's output is the native one, and one message names the ranks. Ranks
with other variables or files are one message that names them. A report that cannot come is one warning. TOOL is a
library that calls PMPI_Init for MPI_Init; OTHER is the launcher of the other MPI.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import launching
from launching import end, expect, skipped

mpi, dropin, shim, tool, sums, quiet, all_collectives = sys.argv[1:8]
other_launcher = shutil.which(sys.argv[8]) if len(sys.argv) > 8 else None
openmpi = mpi == "openmpi"
yielding = shim if launching.SPINS[mpi] else ""
preload = launching.preloaded(mpi, dropin, shim)
rank_here = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


def launcher(*options):
    return launching.launcher(mpi, *options)


def processes(np, command):
    return launching.processes(mpi, np, command)


def without(ranks, command):
    """A wrapper that clears the preload of some ranks."""
    these = " ".join(map(str, ranks))
    script = f'case " {these} " in *" {rank_here} "*) export LD_PRELOAD="{yielding}";; esac; exec "$@"'
    return ["sh", "-c", script, "sh", *command]


def environment(variables, libraries=preload):
    return ["env", f"LD_PRELOAD={libraries}", *(f"{name}={value}" for name, value in variables.items())]


def run(command, seconds=40):
    """Status, output in any order of lines, and the lines on stderr."""
    try:
        done = subprocess.run(command, env=launching.environment(), timeout=seconds, capture_output=True, text=True,
                              check=False)
    except subprocess.TimeoutExpired:
        expect(False, f"a run ends: {' '.join(command)}")
        return None, [], []
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr.splitlines()


def same_as_native(command, native, what):
    status, output, errors = run(command)
    expect(status == 0, f"{what}: the program succeeds: {errors}")
    expect(output == native, f"{what}: the output is the native one")
    return errors


def message_of(errors, what):
    """The text of the one message there must be."""
    heads = [line for line in errors if not line.startswith("circoll:   ")]
    expect(len(heads) == 1 and heads[0].startswith("circoll: "), f"{what}: exactly one message: {errors}")
    return "\n".join(errors)


def waits(command, messages):
    """Seconds until a job that waits in MPI_Init has said so many messages, and what is on stderr 2 seconds later."""
    with tempfile.TemporaryFile("w+") as errors:
        begin = time.monotonic()
        job = subprocess.Popen(command, env=launching.environment(), stdout=subprocess.DEVNULL, stderr=errors)
        text = ""
        while text.count("circoll:") < messages and time.monotonic() - begin < 40:
            time.sleep(0.5)
            errors.seek(0)
            text = errors.read()
        waited = time.monotonic() - begin
        time.sleep(2)
        errors.seek(0)
        text = errors.read()
        expect(job.poll() is None, "MPI_Init waits")
        job.terminate()
        job.wait(timeout=20)
        return waited, text


def absences(work):
    """Some ranks have no drop-in."""
    program = [all_collectives]
    _, native, _ = run(launcher(*processes(4, environment({}, yielding) + program)))
    expect(native, "the program prints something")
    errors = same_as_native(launcher(*processes(4, environment({}) + program)), native, "all ranks have it")
    expect(errors == [], f"nothing is said where all is well: {errors}")
    for ranks, text in {(0,): "rank 0 of 4 seems", (1,): "rank 1 of 4 seems", (3,): "rank 3 of 4 seems",
                        (0, 2, 3): "ranks 0, 2, 3 of 4 seem", (1, 2, 3): "ranks 1-3 of 4 seem"}.items():
        errors = same_as_native(launcher(*processes(4, environment({}) + without(ranks, program))), native, str(ranks))
        message = message_of(errors, str(ranks))
        expect(text in message and "without Circoll" in message and "LD_PRELOAD" in message and "srun" in message,
               f"{ranks} are named: {message}")
        expect("report" not in message, f"{ranks}: no word of reports that nobody wants: {message}")

    def two_programs(first, others=preload):
        return launcher(*processes(1, environment({}, first) + [sums]), ":",
                        *processes(2, environment({}, others) + [sums]))
    if run(two_programs(yielding, yielding))[0] == 0:
        errors = same_as_native(two_programs(yielding), [], "MPMD")
        expect("rank 0 of 3" in message_of(errors, "MPMD"), "MPMD: the rank is named")
    else:
        launching.skipped("two programs in one job: this launcher cannot start them (prterun 3.0 of Open MPI 5.0 crashes)")

    if not openmpi:  # a daemon on each of two nodes, which are this one by two names
        nodes = ["-launcher", "fork", "-hosts", "localhost:2,127.0.0.1:2"]
        errors = same_as_native(launcher(*nodes, *processes(4, environment({}) + program)), native, "two nodes")
        expect(errors == [], f"nothing is said on two nodes: {errors}")
        _, text = waits(launcher(*nodes, *processes(4, environment({}) + without([2], [quiet, "60"]))), 2)
        expect(re.search(r"^circoll: on node \S+ rank 0, counted there, seems to run without", text, re.M) is not None,
               f"two nodes, one without: the rank is named: {text}")
        expect(text.count("MPI_Init has waited for 10 seconds") == 1, f"the other node says that it waits: {text}")

    # MPI_Init of one rank goes past the drop-in, but its collectives do not.
    past = f'if [ "{rank_here}" = 1 ]; then export LD_PRELOAD="{tool} {preload}"; fi; exec "$@"'
    command = launcher(*processes(4, environment({}) + ["sh", "-c", past, "sh"] + program))
    errors = same_as_native(command, native, "past on one")
    expect("rank 1 of 4 seems" in message_of(errors, "past on one"), f"past on one: the rank is named: {errors}")

    report, trace = work / "report", work / "trace"
    wanted = environment({"CIRCOLL_REPORT": report, "CIRCOLL_TRACE": trace})
    errors = same_as_native(launcher(*processes(3, wanted + without([1], [sums]))), [], "a report is wanted")
    message = message_of(errors, "a report is wanted")
    expect("rank 1 of 3" in message and "nothing is reported" in message, f"it cannot come: {message}")
    expect(not report.exists() and not trace.exists(), "nothing is written")


def differences(work):
    """Ranks have other variables or files."""
    def differing(script, what):
        wrapped = ["sh", "-c", f'{script}; exec "$@"', "sh", sums]
        errors = same_as_native(launcher(*processes(3, environment({}) + wrapped)), [], what)
        message = message_of(errors, what)
        expect(message.count("differ among the ranks") == 1, f"{what}: it differs: {message}")
        expect("native collectives are used" in message, f"{what}: what follows: {message}")
        return message

    on_last = f'if [ "{rank_here}" = 2 ]; then'
    message = differing(f"{on_last} export CIRCOLL_ALLREDUCE=ring CIRCOLL_REPORT=1; fi", "variables")
    expect("CIRCOLL_ALLREDUCE: not set on rank 0, 'ring' on rank 2" in message, f"ranks and values: {message}")
    expect("CIRCOLL_REPORT: not set on rank 0, '1' on rank 2" in message, f"all of them: {message}")
    how = "-x CIRCOLL_ALLREDUCE -x CIRCOLL_REPORT" if openmpi else "-genvlist CIRCOLL_ALLREDUCE,CIRCOLL_REPORT"
    expect(how in message and "srun --export=ALL" in message, f"how to hand them on: {message}")
    message = differing(f"export CIRCOLL_REPORT={work}/two; {on_last} export CIRCOLL_REPORT=0; fi", "report")
    expect("nothing is reported" in message and not (work / "two").exists(), f"no report: {message}")

    message = differing(f"export CIRCOLL_ALLREDUCE=recursive_doubling; {on_last} unset CIRCOLL_ALLREDUCE; export CIRCOLL_SCAN=ring; fi",
                        "a variable of the last rank alone")
    expect("CIRCOLL_SCAN" in message and "recursive" not in message, f"one is taken over, the other differs: {message}")

    rules = (pathlib.Path(__file__).parent / "relabelled.json").read_text()
    for rank in range(3):
        (work / str(rank)).mkdir()
        (work / str(rank) / "rules").write_text(rules + " " * (rank == 1))
    here = f'cd {work}/{rank_here}'
    message = differing(f"{here}; export CIRCOLL_POLICY=file:rules", "contents")
    expect("CIRCOLL_POLICY: the contents of 'rules' on rank 0 and on rank 1" in message, f"contents: {message}")
    expect("CIRCOLL_POLICY" in message and " -x " not in message, f"no variable is to be handed on: {message}")
    (work / "1" / "rules").write_text(rules)
    (work / "2" / "rules").unlink()
    message = differing(f"{here}; export CIRCOLL_POLICY=file:rules", "a file that is not there")
    expect("'rules' on rank 2, which cannot be read there" in message, f"unreadable: {message}")


def variables_of_rank_zero(work):
    """Open MPI's launcher gives variables to the first host only: the other ranks take them over."""
    report = work / "of_rank_zero.json"
    wanted = {"CIRCOLL_ALLREDUCE": "ring", "CIRCOLL_REPORT": report, "CIRCOLL_MATCH": "1", "CIRCOLL_PROGRESS": "hook"}
    exported = " ".join(f"{name}={value}" for name, value in wanted.items())
    script = f'if [ "{rank_here}" = 0 ]; then export {exported}; else export CIRCOLL_PROGRESS=hook; fi; exec "$@"'
    wrapped = ["sh", "-c", script, "sh", sums]
    errors = same_as_native(launcher(*processes(3, environment({}) + wrapped)), [], "variables of rank 0")
    expect(errors == [], f"variables of rank 0: nothing is said: {errors}")
    expect(report.exists(), "variables of rank 0: the report is written")
    rows = json.loads(report.read_text())["rows"] if report.exists() else []
    served = {row["served_by"] for row in rows if row["collective"] == "allreduce" and row["comm_size"] == 3}
    expect(served == {"ring"}, f"variables of rank 0: all ranks follow them: {served}")


def under_another_launcher(wanted):
    """Each process is a job of its own."""
    other = [other_launcher, *(["-n", "2"] if openmpi else ["--oversubscribe", "-np", "2"])]
    if run([*other, sums])[0] != 0:  # MPICH 5.0.2 aborts where it finds PMIx
        skipped("another launcher: MPI_Init fails without Circoll")
        return
    _, _, errors = run(other + environment(wanted, f"{dropin} {yielding}") + [sums])
    message = message_of([line for line in errors if "circoll" in line], "another launcher")
    expect("nothing is reported" in message and "2 processes" in message, f"another launcher: {message}")
    _, _, errors = run(other + environment({}, f"{dropin} {yielding}") + [sums])
    expect("circoll" not in "\n".join(errors), f"another launcher, no report wanted: {errors}")


def no_report(work):
    """A report is wanted and cannot come."""
    wanted = {"CIRCOLL_REPORT": work / "never", "CIRCOLL_TRACE": work / "neither"}
    errors = same_as_native(launcher(*processes(3, environment(wanted, f"{tool} {preload}") + [sums])), [], "past")
    expect("nothing is reported: the program's MPI_Init did not go through the drop-in" in message_of(errors, "past"),
           f"past: {errors}")

    status, _, errors = run(environment(wanted) + [quiet])
    expect("without MPI_Finalize" in message_of(errors, "unfinished"), f"unfinished: {status} {errors}")

    if other_launcher is not None:
        under_another_launcher(wanted)
    for name in wanted.values():
        expect(not name.exists(), "nothing is written")

    for command in ["true"], ["sh", "-c", "true; true"], ["env"]:
        _, _, errors = run(environment(wanted) + command)
        expect(errors == [], f"{command} is no program of MPI: {errors}")


def unknown_number():
    """The launcher does not say how many ranks the node has: MPI_Init waits for all, and says so after seconds."""
    hidden = ["env", "-u", "OMPI_COMM_WORLD_LOCAL_SIZE" if openmpi else "MPI_LOCALNRANKS"]
    errors = same_as_native(launcher(*processes(3, hidden + environment({}) + [sums])), [], "unknown")
    expect(errors == [], f"nothing is said where all is well: {errors}")
    waited, text = waits(launcher(*processes(3, hidden + environment({}) + without([0], [quiet, "60"]))), 1)
    expect(waited > 9 and re.search(r"waited for 10 seconds on rank [12] .* without Circoll", text) is not None,
           f"it says so: {waited} {text}")
    expect(text.count("circoll:") == 1, f"once: {text}")


with tempfile.TemporaryDirectory() as name:
    absences(pathlib.Path(name))
    differences(pathlib.Path(name))
    variables_of_rank_zero(pathlib.Path(name))
    no_report(pathlib.Path(name))
    unknown_number()
end()
