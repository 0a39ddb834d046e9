"""Launches the ranks of a test with each MPI library, and checks their results."""
import os
import pathlib
import re
import subprocess
import sys

LAUNCH = str(pathlib.Path(__file__).resolve().parents[2] / "dev/launch")
SPINS = {"openmpi": False, "mpich": True}  # while it waits, unless a shim is preloaded that yields
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
failures = []


def launcher(mpi, *options):
    """The command that launches the ranks of processes()."""
    return [LAUNCH, "test", mpi, *options]


def version(mpi):
    """The version of the launcher, which is the library's: (4, 1, 4)."""
    said = subprocess.run(launcher(mpi, "--version"), capture_output=True, text=True, check=True).stdout
    number = re.search(r"(?:\((?:Open MPI|OpenRTE)\)|Version:)\s*(\d+(?:\.\d+)*)", said)
    return tuple(map(int, number[1].split(".")))


def processes(_mpi, np, command):
    """np ranks of a command. The launchers of all MPI libraries take them alike."""
    return ["-np", str(np), *command]


def on_first_rank(assignment, command):
    """The command, with VARIABLE=VALUE on rank 0 alone. An Open MPI crashes if a launch has several commands (library_faults_test.py)."""
    return ["sh", "-c", f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" != 0 ] || export {assignment}; exec "$@"', "sh", *command]


def preloaded(mpi, dropin, shim):
    """The value of LD_PRELOAD under the drop-in."""
    return f"{dropin} {shim}" if SPINS[mpi] else dropin


def environment():
    return os.environ | ENVIRONMENT


def expect(holds, what, *outputs):
    """Says what is wrong, with what was printed, unless it holds."""
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", *outputs, sep="\n", flush=True)


def skipped(what):
    """Says what the libraries here do not permit to test."""
    print(f"skipped: {what}", flush=True)


def end():
    """Ends the test with 1 if anything was wrong."""
    print("FAILED" if failures else "PASS")
    sys.exit(1 if failures else 0)
