"""launch_test.py SOURCE_DIR: dev/launch starts the launcher of each MPI with options for ranks that share one machine.

Programs of the launchers' names only say what they were started with.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from launching import end, expect

LAUNCH = pathlib.Path(sys.argv[1]) / "dev/launch"

with tempfile.TemporaryDirectory() as directory:
    for name in ("mpirun.openmpi", "mpiexec.mpich"):
        program = pathlib.Path(directory) / name
        program.write_text(f'#!/bin/sh\necho "{name} $*"\n')
        program.chmod(0o755)

    def started(*words, **variables):
        """The exit code, and the words that the launcher was started with."""
        environment = {name: value for name, value in os.environ.items() if name != "btl"}
        done = subprocess.run([LAUNCH, *words], capture_output=True, text=True, timeout=60, check=False,
                              env=environment | {"PATH": f"{directory}:{os.environ['PATH']}"} | variables)
        return done.returncode, done.stdout.strip()

    def test_options(ways):
        return f"--mca btl {ways} --mca btl_tcp_if_include lo --mca op ^avx"

    crowded = "mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
    for words, variables, wanted in (
            ("crowded openmpi", {}, crowded), ("pinned openmpi", {}, "mpirun.openmpi --bind-to core"),
            ("test openmpi", {}, f"{crowded} {test_options('self,vader')}"),
            ("test openmpi", {"btl": "self,tcp"}, f"{crowded} {test_options('self,tcp')}"),
            ("crowded mpich", {}, "mpiexec.mpich"), ("test mpich", {}, "mpiexec.mpich"), ("pinned mpich", {}, "mpiexec.mpich -bind-to core")):
        found = started(*words.split(), "-np", "3", "program", "a b", **variables)
        expect(found == (0, f"{wanted} -np 3 program a b"), f"{words} {variables}: {found}")
    expect(started("test", "openmpi", "--version") == (0, "mpirun.openmpi --version"), "the launcher is asked for its version")
    for wrong in ((), ("crowded",), ("crowded", "lam"), ("gently", "openmpi"), ("openmpi", "-np", "3")):
        expect(started(*wrong) == (2, ""), f"{wrong} is refused")
end()
