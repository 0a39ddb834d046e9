"""compare_command_test.py CIRCOLL: circoll compare where no ranks can be started. The last words are the cause and the remedy.

A launcher that starts nothing stands on PATH. It fails in the way that FAKE says.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

wrong = []
LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit; }
echo "$@" >>"$FAKE_LOG"
case $FAKE in
  slots) printf -- '-----\\nThere are not enough slots available in the system to satisfy the 4000\\nslots that were requested\\n-----\\n' >&2 ;;
  srun) printf 'The application appears to have been direct launched using "srun",\\nbut OMPI was not built so\\n' >&2 ;;
  fire) for i in 1 2 3 4 5 6 7 8 9; do echo "line $i"; echo ------; done >&2 ;;
esac
exit 3
"""
STARTED = re.compile(r"OMPI_COMM_WORLD_|PMI_|PMIX_|SLURM_|PBS_|LSB_|PE_HOSTFILE")


def expect(good, what):
    if not good:
        wrong.append(what)


with tempfile.TemporaryDirectory() as directory:
    here = pathlib.Path(directory)
    circoll = here / "circoll"
    shutil.copy(sys.argv[1], circoll)
    for name in ("mpirun", "mpirun.openmpi"):
        (here / name).write_text(LAUNCHER)
        (here / name).chmod(0o755)
    (here / "script.py").write_text("import mpi4py\n")
    log = here / "log"
    clean = {name: value for name, value in os.environ.items() if not STARTED.match(name)}
    clean.update(PATH=f"{here}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", FAKE_LOG=str(log))

    def run(*arguments, **variables):
        log.write_text("")
        done = subprocess.run([circoll, *arguments], env={**clean, **variables}, capture_output=True, text=True, timeout=60, check=False,
                              cwd=here)
        return done.returncode, done.stderr, log.read_text()

    # The MPI of a script is that of mpirun.
    script = ("--", sys.executable, "script.py")
    code, said, launched = run("compare", "--np", "4000", *script, FAKE="slots")
    expect(code == 2 and re.search(r"the run .* ended with exit code 3: Open MPI has .* for 4000 ranks: --np \d+, or --oversubscribe$", said),
           f"not enough slots: {code} {said}")
    expect("taking Open MPI 4.1.4, as mpirun does" in said and " run --mpi openmpi -- " in launched and "-np 4000" in launched,
           f"a script: {said} {launched}")
    code, said, launched = run("compare", "--np", "4", "--oversubscribe", *script, FAKE="fire")
    expect(code == 2 and "line 2\n  line 3" in said and said.endswith("line 9\n") and "line 1\n" not in said and "---" not in said,
           f"the last lines: {said}")
    expect(launched.startswith("--oversubscribe "), f"--oversubscribe: {launched}")
    launcher = ("--launcher", f"{here}/mpirun -n {{np}}")
    code, said, _ = run("compare", *launcher, *script, FAKE="srun")
    expect(code == 2 and "srun --mpi=pmix" in said, f"srun without PMI: {said}")
    code, said, launched = run("compare", "--oversubscribe", *launcher, *script, FAKE="fire")
    expect(code == 2 and "--oversubscribe is for" in said and not launched, f"--oversubscribe with --launcher: {said}")

    # One folder for each program and time.
    kept = sorted(one.name for one in (here / "circoll-compare").iterdir())
    expect(len(kept) >= 3 and all(re.fullmatch(r"script\.py-\d{8}-\d{6}(-\d+)?", one) for one in kept), f"folders: {kept}")

    # Ranks start no ranks. One of them says so.
    for variables in ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "{}"}, {"PMI_SIZE": "2", "PMI_RANK": "{}"},
                      {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "{}"}):
        for words, name in ((("compare",), "compare"), (("run", "--compare"), "run --compare")):
            for rank in range(2):
                mine = {variable: value.format(rank) for variable, value in variables.items()}
                code, said, launched = run(*words, *script, FAKE="fire", **mine)
                expect(not launched and (code, said) == ((2, f"circoll: {name} starts the ranks itself: leave mpirun out, and give --np N\n")
                                                         if rank == 0 else (0, "")), f"{mine}, {name}: {code} {said} {launched}")
    # Files are compared anywhere.
    code, said, _ = run("compare", "none.json", "none.json", OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0")
    expect(code == 2 and "leave mpirun out" not in said, f"two files: {code} {said}")

print(*wrong, sep="\n")
print("FAILED" if wrong else "PASS")
sys.exit(1 if wrong else 0)
