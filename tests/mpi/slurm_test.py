#!/usr/bin/env python3
"""slurm_test.py MPI CIRCOLL BENCH YIELD PROGRAM: a campaign as an array job of a real Slurm, of two nodes on this machine.

Skipped (77) where Slurm is not installed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import launching
import slurm_machine
from launching import end, expect

mpi, circoll, bench, shim, program = sys.argv[1:6]
# Under Debian's Slurm srun --mpi=pmix ends the ranks of Debian's Open MPI at once (SIGKILL). Open MPI 5 and later take
# the two nodes, which are this machine, for two machines that do not reach one another. So mpirun starts all ranks
# here.
HERE = " --prtemca ras ^slurm --prtemca plm ^slurm" if mpi == "openmpi" and launching.version(mpi) >= (5,) else ""
STARTS = {"openmpi": f"mpirun.openmpi --oversubscribe --bind-to none{HERE} -np {{np}}", "mpich": "srun --mpi=pmi2 -n {np}"}
LAUNCHES = 2

if slurm_machine.missing():
    print("not installed:", *slurm_machine.missing())
    sys.exit(77)


def command(environment, *arguments):
    done = subprocess.run([str(word) for word in arguments], env=environment, timeout=100, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{arguments} ends with {done.returncode}", done.stdout, done.stderr)
    return done.stdout


def report_of(work, environment):
    """A report of two ranks."""
    start = launching.launcher(mpi, *launching.processes(mpi, 2, ["env", f"LD_PRELOAD={shim if launching.SPINS[mpi] else ''}",
                                                                  f"CIRCOLL_REPORT={work}/report.json", circoll, "run", "--mpi",
                                                                  mpi, "--", program, f"{work}/log"]))
    command(environment, *start)
    return work / "report.json"


with tempfile.TemporaryDirectory(prefix="slurm") as name:
    work = pathlib.Path(name)
    with slurm_machine.slurm(work) as slurm:
        environment = slurm | launching.ENVIRONMENT
        report = report_of(work, environment)
        rules = work / "rules.json"
        starts = STARTS[mpi] + (f" env LD_PRELOAD={shim}" if launching.SPINS[mpi] else "")
        script = work / "job.sh"
        script.write_text(command(environment, circoll, "tune", "--for", report, "--mpi", mpi, "--bench", bench, "--launcher",
                                  starts, "--nodes", 2, "--ranks-per-node", 1, "--time", 16, "--launches", LAUNCHES,
                                  "--candidate-seconds", 0.005, "--candidates", 1, "--oversubscribe", "--seed", 5,
                                  "--print-job", "slurm", "-o", rules))
        command(environment, "sbatch", f"--chdir={work}", script)
        until = time.monotonic() + 100

        def nothing_gained():
            return any("nothing to gain: keep auto" in path.read_text(errors="replace") for path in work.glob("circoll-tune.*.log"))

        while not rules.exists() and not nothing_gained() and time.monotonic() < until:
            if not command(environment, "squeue", "-h").strip():
                break
            time.sleep(0.5)
        logs = [path.read_text(errors="replace") for path in work.glob("circoll-tune.*.log")]
        # Times of so short launches may say that there is nothing to gain.
        ended = rules.exists() or nothing_gained()
        expect(ended, "the last task writes the rules, or says that there are none", *logs)
        if ended:
            before = rules.read_text() if rules.exists() else None
            expect(before is None or json.loads(before)["circoll_rules"] == 1, "they are rules")
            shards = [json.loads(pathlib.Path(f"{rules}.{i}.measured").read_text()) for i in range(1, LAUNCHES + 1)]
            for i, shard in enumerate(shards, 1):
                expect(shard["done"] and shard["shard"] == i and shard["of"] == LAUNCHES, f"shard {i} is done")
                expect(shard["facts"]["nodes"] == "n[1-2]", f"the nodes are recorded: {shard['facts']}")
                expect(shard["seed"] == 5 and shard["version"], "seed and version are recorded")
                expect(all("bench" in part for _, part in shard["parts"]), "every launch has succeeded", *logs)
            orders = [[part["number"] for _, part in shard["parts"]] for shard in shards]
            expect(sorted(orders[0]) == sorted(orders[1]), "both launches have the same cells")
            # A task that is submitted again has nothing left to do.
            command(environment, "sbatch", "--wait", "--array=1", f"--chdir={work}", script)
            expect(json.loads(pathlib.Path(f"{rules}.1.measured").read_text()) == shards[0], "what is done stays")
            expect((rules.read_text() if rules.exists() else None) == before, "the rules are the same")
end()
