"""Communicators that the program revokes, and processes that die, under mpirun --with-ft ulfm: calls that are served end
as native ones do, and the survivors go on (programs/revoked.c).

usage: revoked_test.py MPI NP DROPIN YIELD PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from launching import end, environment, expect, launcher, preloaded, processes

mpi, np, dropin, shim, program = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
collectives = ["allreduce", "bcast", "alltoall", "allgather", "barrier"]
failure = "circoll: nothing is reported: MPI_COMM_WORLD is revoked, or a process of it has failed"


def run(way, count, how, **variables):
    """True if the ranks that are left found nothing wrong; and the output."""
    settings = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", f"LD_PRELOAD={preloaded(mpi, dropin, shim)}", *settings, program, way, str(count), "2", how]
    try:
        done = subprocess.run(launcher(mpi, "--with-ft", "ulfm") + processes(mpi, np, command), env=environment(),
                              capture_output=True, text=True, timeout=60)
        printed, said = done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        # With a dead process MPI_Finalize does not always end, even without the drop-in.
        printed, said = ((text or b"").decode() for text in (late.stdout, late.stderr))
        said += "\n(it did not end)"
    left = np if how == "revoke" else np - 1
    right = sorted(line for line in printed.splitlines()) == [f"rank {rank}: right" for rank in range(left)]
    return right and (how == "kill" or "did not end" not in said), printed + said


with tempfile.TemporaryDirectory() as directory:
    for node in "auto", "off":
        for way in "blocking", "nonblocking", "persistent":
            for count in 1, 100000:
                what = f"{way}, {count} numbers, CIRCOLL_NODE={node}"
                report = pathlib.Path(directory) / "report.json"
                report.unlink(missing_ok=True)
                right, said = run(way, count, "revoke", CIRCOLL_NODE=node, CIRCOLL_REPORT=report)
                expect(right, f"revoked: {what}", said)
                rows = json.loads(report.read_text())["rows"] if report.exists() else []
                for collective in collectives:
                    expect(any(row["collective"] == collective and row["served_by"] != "native" for row in rows),
                           f"revoked: {what}: {collective} is not served", *rows)
                right, said = run(way, count, "kill", CIRCOLL_NODE=node, CIRCOLL_REPORT="1")
                expect(right, f"killed: {what}", said)
                expect(failure in said or "did not end" in said, f"killed: {what}: why there is no report", said)
    for way in "blocking", "nonblocking", "persistent":
        right, said = run(way, 10, "revoke", CIRCOLL_MATCH="1")
        expect(right and "circoll:" not in said, f"revoked while calls are compared: {way}", said)
end()
