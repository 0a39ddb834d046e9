"""compare_command_test.py CIRCOLL: circoll compare where no ranks can be started. The last words are the cause and the remedy. And programs of
made-up sleeps: the verdict and its words.

A launcher that starts nothing stands on PATH. It fails in the way that FAKE says.
"""
import json
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
# Starts one process in place of all ranks, without circoll run. It sleeps, and writes report and trace.
SLEEPER = """#!/usr/bin/env python3
import json, os, sys, time
if "--version" in sys.argv:
    print("mpirun (Open MPI) 4.1.4")
    sys.exit(0)
settings = dict(word.split("=", 1) for word in sys.argv if "=" in word)
begin = time.monotonic()
time.sleep(0.02 * (float(os.environ["RATIO"]) if "CIRCOLL_POLICY" in settings else 1))
seconds = time.monotonic() - begin
row = {"comm_size": 2, "mode": "blocking", "served_by": "native" if "CIRCOLL_POLICY" in settings else "ring", "calls": 8, "bytes": 8,
       "histogram": []}
rows = [dict(row, collective=name, mean_s=share * seconds, mean_inside_s=share * seconds) for name, share in (("bcast", 0.5), ("gather", 0.001))]
json.dump({"circoll_report": 1, "mpi": "none", "ranks": 2, "calls": 16, "native_calls": 16 if "CIRCOLL_POLICY" in settings else 0,
           "program": {"mean_s": seconds}, "rows": rows}, open(settings["CIRCOLL_REPORT"], "w"))
if "CIRCOLL_TRACE" in settings:
    call = {"ph": "X", "args": {"collective": "bcast", "comm_size": 2, "mode": "blocking"}}
    with open(settings["CIRCOLL_TRACE"], "w") as trace:
        for rank, begin, length in ((0, 0, 262000), (1, 256000, 6000)):
            print(json.dumps(dict(call, pid=rank, ts=begin, dur=length)) + ",", file=trace)
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

    # Sleeps of a known ratio. On a machine that is too busy the answer may be missing, but it is never the wrong one.
    for name in ("mpirun", "mpirun.openmpi"):
        (here / name).write_text(SLEEPER)
    for ratio, never in (("3", "slower"), ("0.3", "faster")):
        done = subprocess.run([circoll, "compare", "--limit", "20", "--seed", "7", "--plot", *script], env={**clean, "RATIO": ratio},
                              capture_output=True, text=True, timeout=60, check=False, cwd=here)
        lines = done.stdout.splitlines()
        expect(done.returncode == 0 and lines and lines[-1].startswith("Verdict: ") and f"times {never}" not in lines[-1], f"{ratio}: {done}")
        expect(all(len(line) <= 80 for line in lines), f"80 columns: {done.stdout}")
        expect("of 262 ms" not in done.stdout and "of 134 ms in blocking collectives" in done.stdout and "at most 6 ms" in done.stdout,
               f"waiting: {done.stdout}")
        expect("and 1 below 1 % of the time in collectives" in done.stdout and "  gather" not in done.stdout, f"folded: {done.stdout}")
        expect("pair 1: " in done.stderr and "of at most 20 s" in done.stderr and "--seed 7" in done.stderr, f"progress: {done.stderr}")
    orders = []
    for _ in range(2):
        run("compare", "--runs", "3", "--seed", "7", "--reports", "order", *script, RATIO="1")
        orders.append(sorted((here / "order").iterdir(), key=lambda one: one.stat().st_mtime_ns))
    expect(orders[0] == orders[1] and len(orders[0]) == 8, f"a seed repeats the order: {orders}")
    found = subprocess.run([circoll, "compare", "--runs", "3", "--json", *script], env={**clean, "RATIO": "1"}, capture_output=True,
                           text=True, timeout=60, check=False, cwd=here).stdout
    found = json.loads(found)
    expect(found["verdict"]["pairs"] + found["verdict"]["disturbed"] == 3 == len(found["pairs"]), f"JSON: {found}")

print(*wrong, sep="\n")
print("FAILED" if wrong else "PASS")
sys.exit(1 if wrong else 0)
