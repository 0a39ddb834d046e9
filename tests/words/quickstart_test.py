"""quickstart_test.py SOURCE_DIR: ./quickstart starts as many ranks as there are processors, at least 2 and at most 8.

A copy of the script runs among programs that only say what they were started with.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

wrong = []
MPIRUN = '#!/bin/sh\n[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit; }\necho "MPIRUN $*"\n'
PROGRAMS = {"mpirun.openmpi": MPIRUN, "cmake": "#!/bin/sh\n", "nproc": '#!/bin/sh\necho "$PROCESSORS"\n'}


def expect(good, what):
    if not good:
        wrong.append(what)


with tempfile.TemporaryDirectory() as directory:
    here = pathlib.Path(directory)
    shutil.copy(pathlib.Path(sys.argv[1]) / "quickstart", here)
    bin_ = here / "bin"
    bin_.mkdir()
    for name, text in PROGRAMS.items():
        (bin_ / name).write_text(text)
        (bin_ / name).chmod(0o755)

    def started(processors, *arguments):
        """The words behind mpirun, or what was said."""
        done = subprocess.run([here / "quickstart", "--no-install", *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "PROCESSORS": str(processors)})
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("MPIRUN ")]
        return lines[0] if done.returncode == 0 and len(lines) == 1 else [done.stdout, done.stderr]

    def ranks_of(words):
        return words[words.index("-np") + 1] if "-np" in words else words

    for processors, ranks in ((1, 2), (2, 2), (5, 5), (8, 8), (64, 8)):
        words = started(processors)
        expect(ranks_of(words) == str(ranks), f"{processors} processors: {words}")
        expect(("mpi_yield_when_idle" in words) == (ranks > processors), f"{ranks} ranks on {processors} processors: {words}")
    words = started(2, "--np", "5")
    expect(ranks_of(words) == "5" and "mpi_yield_when_idle" in words, f"--np 5: {words}")
    expect(ranks_of(started(64, "--np=9")) == "9", "--np=9")
    expect("--wide" not in started(2) and "--wide" in started(2, "--wide"), "--wide")
    expect("native,auto" in started(2) and "--check" in started(2), "native and auto, with results compared")
    expect("is not a number of ranks" in started(2, "--np", "x")[-1], "--np x")

print(*wrong, sep="\n")
print("FAILED" if wrong else "PASS")
sys.exit(1 if wrong else 0)
