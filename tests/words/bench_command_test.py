"""bench_command_test.py CIRCOLL: circoll bench starts the circoll-bench of the MPI in use, with the options that it was given.

A copy of the tool stands beside programs that only say what they were started with.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

wrong = []
SAYS = '#!/bin/sh\necho "{name}"; for word in "$@"; do printf "%s\\n" "$word"; done\n'
LAUNCHER = '#!/bin/sh\n[ "$1" = --version ] && {{ echo "{version}"; exit; }}\necho {name}; for word in "$@"; do printf "%s\\n" "$word"; done\n'
REFUSES = """#!/bin/sh
[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit; }
case $1 in --oversubscribe) echo "the fabric is on fire" >&2; exit 7 ;; esac
printf -- '-----\\nThere are not enough slots available in the system to satisfy the 4000\\nslots that were requested\\n-----\\n' >&2
exit 1
"""
STARTED = ("OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "SLURM_JOB_ID", "SLURM_STEP_ID")


def make(file, text):
    file.write_text(text)
    file.chmod(0o755)


def expect(good, what):
    if not good:
        wrong.append(what)


with tempfile.TemporaryDirectory() as directory:
    here = pathlib.Path(directory)
    circoll = here / "circoll"
    shutil.copy(sys.argv[1], circoll)
    for mpi in ("openmpi", "mpich"):
        make(here / f"circoll-bench.{mpi}", SAYS.format(name=mpi))
    make(here / "mpirun.openmpi", LAUNCHER.format(name="mpirun", version="mpirun (Open MPI) 4.1.4"))
    make(here / "mpiexec.mpich", LAUNCHER.format(name="mpiexec", version="HYDRA build details: Version: 4.0.2"))
    shutil.copy(here / "mpiexec.mpich", here / "mpirun")
    clean = {name: value for name, value in os.environ.items() if name not in STARTED}
    clean.update(PATH=f"{here}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def run(*arguments, **variables):
        done = subprocess.run([circoll, "bench", *arguments], env={**clean, **variables}, capture_output=True, text=True, timeout=60,
                              check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    asked = ["--collective", "allreduce", "--bytes", "8..64", "--check", "--name", "my machine", "--sync", "clock"]
    code, lines, said = run(*asked, OMPI_COMM_WORLD_SIZE="4", PMIX_RANK="0")
    expect(code == 0 and lines[:1] == ["openmpi"] and "my machine" in lines and sorted(lines[1:]) == sorted(asked), f"Open MPI: {lines} {said}")
    expect(run(PMI_RANK="0")[1] == ["mpich"], "MPICH by its rank")
    expect(run(PMIX_RANK="0")[1] == ["openmpi"], "Open MPI by PMIx")
    expect(run("--mpi", "mpich", OMPI_COMM_WORLD_SIZE="4")[1] == ["mpich"], "the MPI that is said")
    # The program runs without a launcher around it.
    code, lines, said = run("-np", "3", "--check")
    expect(lines == ["mpiexec", "-n", "3", f"{here}/circoll-bench.mpich", "--check"], f"the MPI of mpirun: {code} {lines} {said}")
    expect(run("--np", "2", "--mpi", "openmpi", "--oversubscribe")[1] ==
           ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", "2", f"{here}/circoll-bench.openmpi"], "the MPI that is said, started")
    # A launcher that refuses: its words, and then the cause and the remedy.
    make(here / "mpirun.openmpi", REFUSES)
    code, lines, said = run("--np", "4000", "--mpi", "openmpi")
    last = said.splitlines()[-1]
    expect(code == 2 and "not enough slots" in said and last.startswith("circoll: Open MPI has ") and "for 4000 ranks: --np " in last and
           last.endswith(", or --oversubscribe"), f"not enough slots: {code} {lines} {said}")
    code, lines, said = run("--np", "3", "--mpi", "openmpi", "--oversubscribe")
    expect(code == 7 and "the fabric is on fire" in said and "circoll:" not in said, f"another failure: {code} {lines} {said}")
    # The command finds misuse before it starts anything.
    for arguments, words, variables in [((), "how many ranks", {}), (("--np", "2"), "has started this process", {"PMI_RANK": "0"}),
                                        (("--collective", "allredce"), "did you mean allreduce", {"PMI_RANK": "0"}),
                                        (("--bytes", "8..4"), "A <= B", {"PMI_RANK": "0"}), (("--type", "flaot"), "float", {"PMI_RANK": "0"}),
                                        (("--syn", "clock"), "did you mean --sync", {"PMI_RANK": "0"})]:
        code, lines, said = run(*arguments, **variables)
        expect(code == 2 and not lines and words in said, f"{arguments}: {code} {lines} {said}")
    (here / "circoll-bench.mpich").unlink()
    code, lines, said = run(PMI_RANK="0")
    expect(code == 2 and "circoll-bench.mpich is neither beside" in said, f"no bench: {code} {lines} {said}")

print(*wrong, sep="\n")
print("FAILED" if wrong else "PASS")
sys.exit(1 if wrong else 0)
