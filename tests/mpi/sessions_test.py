"""Programs of sessions, with and without MPI_Init (programs/sessions.c): right results, served and reported; ranks that
run without the drop-in or with other variables.

usage: sessions_test.py MPI NP DROPIN YIELD PROGRAM TIMES
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from launching import end, environment, expect, launcher, preloaded, processes

mpi, np, dropin, shim, program, times = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6], int(sys.argv[6])
rank = {"openmpi": "$OMPI_COMM_WORLD_RANK", "mpich": "$PMI_RANK"}[mpi]


def run(mode, again, unlike="", **variables):
    """The program's status, what it printed, and what was said. `unlike` is done on rank 0 before."""
    settings = [f"{name}={value}" for name, value in variables.items()]
    script = f'if [ "{rank}" = 0 ]; then {unlike or ":"}; fi; exec "$0" "$@"'
    command = ["env", f"LD_PRELOAD={preloaded(mpi, dropin, shim)}", *settings, "sh", "-c", script, program, mode, str(again)]
    try:
        done = subprocess.run(launcher(mpi) + processes(mpi, np, command), env=environment(), capture_output=True,
                              text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        return None, *((text or b"").decode() for text in (late.stdout, late.stderr))


def lines(mode, again):
    """The lines that the program prints."""
    def line(what, size):
        rounds = 2  # the last one
        return f"{what}: {size} ranks, {size * rounds + size * (size - 1) // 2}"
    halves = [(np + 1) // 2, np // 2]
    once = [line("alone", 1)] * np + [line("all", np), line("copy", np), line("again", np)]
    once += [line("half", size) for size in halves if size]
    once += [line("MPI_COMM_WORLD", np)] if mode != "only" else []
    return sorted(once * again)


for mode, again in ("only", times), ("before", 1), ("beside", 1):
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        status, printed, said = run(mode, again, CIRCOLL_REPORT=report)
        expect(status == 0 and sorted(printed.splitlines()) == lines(mode, again), f"{mode}: wrong", status, printed, said)
        # The report of the last time. No call on a communicator of all ranks is native.
        text = report.read_text() if report.exists() else ""
        for ways in "blocking", "nonblocking", "persistent":
            rows = json.loads(text)["rows"] if text else []
            missing = {"allreduce"} if ways == "persistent" else {"allreduce", "bcast"}
            missing -= {row["collective"] for row in rows
                        if row["comm_size"] == np and row["mode"] == ways and row["served_by"] != "native"}
            expect(not missing, f"{mode}: {ways} {missing} are not served", text)
    status, printed, said = run(mode, again)
    expect(status == 0 and "circoll:" not in said, f"{mode}: something is said", status, said)
if np > 1:
    for mode in "only", "before":
        status, printed, said = run(mode, 1, "unset LD_PRELOAD")
        expect(status == 0 and sorted(printed.splitlines()) == lines(mode, 1), f"{mode}: a rank without: wrong", said)
        expect(said.count(f"rank 0 of {np} seems to run without Circoll") == 1, f"{mode}: nobody says who is missing", said)
    status, printed, said = run("only", 1, "export CIRCOLL_ALLREDUCE=ring", CIRCOLL_ALLREDUCE="bruck")
    expect(status == 0 and sorted(printed.splitlines()) == lines("only", 1), "other variables: wrong", status, said)
    expect(said.count("differ among the ranks") == 1, "other variables: nobody says so", said)
end()
