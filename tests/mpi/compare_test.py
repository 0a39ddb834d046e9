#!/usr/bin/env python3
"""compare_test.py MPI NP CIRCOLL BENCH YIELD PROGRAM: has it helped, and tuning for a program, from end to end.

PROGRAM is counted_calls, which makes calls of many kinds.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import shlex
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, np, circoll, bench, shim, program = sys.argv[1:7]
NAME = pathlib.Path(program).name
# The launcher as a user would write it. A rank that waits lets others have the processor.
# By its name it is one whose ranks are the comparison's own processes, so that their load is told from others'.
named = tempfile.TemporaryDirectory()
MPIRUN = pathlib.Path(named.name) / "mpirun-here"
MPIRUN.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, launching.launcher(mpi)))} "$@"\n', encoding="utf-8")
MPIRUN.chmod(0o755)
LAUNCHER = f"{MPIRUN} -np {{np}} env LD_PRELOAD={shim if launching.SPINS[mpi] else ''}"


def run(*arguments, code=0, cwd=None, **variables):
    done = subprocess.run([circoll, *map(str, arguments)], env=launching.environment() | variables, timeout=200,
                          capture_output=True, text=True, check=False, cwd=cwd)
    expect(done.returncode == code, f"circoll {arguments} ends with {code}, not {done.returncode}", done.stdout, done.stderr)
    return done


def seconds_in(report):
    return sum(row["mean_inside_s"] for row in report["rows"])


def check_comparison(work):
    reports = work / "reports"
    done = run("compare", "--np", np, "--runs", 2, "--launcher", LAUNCHER, "--mpi", mpi, "--reports", reports, "--json", "--",
               program, work / "log", CIRCOLL_BARRIER="circulant")
    found = json.loads(done.stdout)
    files = {kind: [json.loads((reports / f"{kind}.{i}.json").read_text()) for i in (1, 2)] for kind in ("native", "circoll")}
    for report in files["native"]:
        expect(report["native_calls"] == report["calls"] > 0, "runs without Circoll are native, whatever the variables say")
    for report in files["circoll"]:
        expect(report["native_calls"] < report["calls"], "runs with Circoll are served by it")
    for kind, reports_of in (("without", files["native"]), ("with", files["circoll"])):
        times = sorted(seconds_in(report) for report in reports_of)
        expect(abs(found["collectives"][kind]["median_s"] - sum(times) / 2) < 1e-9, f"{kind}: the time is that of the reports")
        expect(found["program"][kind]["runs"] == 2, f"{kind}: two runs")
    kinds = {(one["collective"], one["comm_size"], one["mode"]) for one in found["calls"]}
    expect(kinds == {(row["collective"], row["comm_size"], row["mode"]) for row in files["circoll"][0]["rows"]},
           "every kind of call is compared")
    expect(all(one["calls_without"] == one["calls_with"] for one in found["calls"] if one["mode"] != "persistent"),
           "both made the same calls")
    # A pair is left out if other processes took more in one of its runs.
    expect(found["advice"] and found["verdict"]["pairs"] <= 2, "it says what to do next", found["advice"], found["verdict"])
    expect(0 <= found["waiting"]["itself_s"] <= found["waiting"]["inside_s"] > 0, "waiting is told apart", found["waiting"])
    expect(all(0 <= report["load"]["others"] <= 1 for report in files["native"]), "the load is kept")
    text = run("compare", reports / "native.1.json", reports / "circoll.1.json", "--plot").stdout
    expect(text.splitlines()[-1].startswith("Verdict: not decided: ") and "\nNext: " in text, "the answer is in words", text)
    expect(all(len(line) <= 80 for line in text.splitlines()) and "|" in text, "80 columns, and dots", text)
    several = run("compare", "--without", f"{reports}/native.1.json,{reports}/native.2.json", "--with",
                  f"{reports}/circoll.1.json,{reports}/circoll.2.json", "--json").stdout
    expect(json.loads(several)["calls"] == found["calls"], "files are compared as runs are")
    again = run("run", "--compare", "--np", np, "--runs", 1, "--launcher", LAUNCHER, "--mpi", mpi, "--reports", work / "again",
                "--", program, work / "log")
    expect("Verdict: not decided" in again.stdout, "circoll run --compare does the same", again.stdout)

    run("compare", reports / "native.1.json", code=2)
    failing = run("compare", "--np", 2, "--launcher", LAUNCHER, "--mpi", mpi, "--reports", work / "failing", "--", "false", code=2)
    expect("the run without Circoll" in failing.stderr, "a program that fails is said to fail", failing.stderr)
    misused = run("run", "--np", 2, "--", program, code=2)
    expect("--np is for --compare" in misused.stderr, "circoll run by itself starts no ranks", misused.stderr)
    return reports / "circoll.1.json"


def check_launching(work):
    """The launcher that circoll finds: its refusals, scripts, and the folder of a comparison."""
    shimmed = {"LD_PRELOAD": shim} if launching.SPINS[mpi] else {}
    here = work / "launching"
    here.mkdir()
    script = here / "script"
    script.write_text('exec "$@"\n')
    (here / "mpirun").symlink_to(shutil.which({"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}[mpi]))

    def found(*arguments, code=0, **variables):
        done = subprocess.run([circoll, *map(str, arguments)], env=launching.environment() | shimmed | variables, timeout=200,
                              capture_output=True, text=True, check=False, cwd=here)
        expect(done.returncode == code, f"circoll {arguments} ends with {code}, not {done.returncode}", done.stdout, done.stderr)
        return done

    started = ("--np", 2, "--oversubscribe", "--runs", 1)
    told = found("compare", *started, "--", program, work / "log").stderr
    told += found("compare", *started, "--", "sh", "script", program, work / "log", PATH=f"{here}:{os.environ['PATH']}").stderr
    kept = sorted(one.name for one in (here / "circoll-compare").iterdir())
    expect(len(kept) == 2 and re.fullmatch(rf"{pathlib.Path(program).name}-\d{{8}}-\d{{6}}", kept[0]) and
           re.fullmatch(r"script-\d{8}-\d{6}", kept[1]), "each comparison has a folder", *kept)
    for one in kept:
        expect(f"reports of these runs are in circoll-compare/{one}\n" in told, "the folder is named", told)
        expect(sorted(file.name for file in (here / "circoll-compare" / one).iterdir()) ==
               ["circoll.1.json", "first.json", "first.trace.json", "native.1.json"], "its files")
    expect("'sh' is linked to no MPI; taking " in told, "the MPI of mpirun is named", told)
    if mpi == "openmpi":
        for words in (("compare", "--np", 4000, "--mpi", mpi, "--", program, work / "log"), ("bench", "--np", 4000, "--mpi", mpi)):
            refused = found(*words, code=2).stderr.splitlines()[-1]
            expect("Open MPI has " in refused and "for 4000 ranks: --np " in refused and refused.endswith("or --oversubscribe") or
                   "fewer slots than 4000" in refused, "not enough slots", refused)
    inside = subprocess.run([*launching.launcher(mpi, *launching.processes(mpi, 2, [circoll, "compare", "--", program]))],
                            env=launching.environment(), timeout=60, capture_output=True, text=True, check=False, cwd=here)
    expect(inside.returncode != 0 and inside.stderr.count("compare starts the ranks itself: leave mpirun out") == 1,
           "ranks start no ranks, and one of them says so", inside.stdout, inside.stderr)
    # The launcher of the other MPI; `true` stands for a program of this one.
    other = {"openmpi": {"PMI_SIZE": "2", "PMI_RANK": "{}"}, "mpich": {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "{}"}}[mpi]
    for rank in range(2):
        mine = {name: value.format(rank) for name, value in other.items()}
        warned = found("run", "--mpi", mpi, "--", "true", **mine).stderr
        expect(("so that each may be alone: start it with the mpi" in warned) == (rank == 0), "one rank warns of the other launcher", warned)


def tune(report, *arguments, code=0, cwd=None):
    return run("tune", "--for", report, "--launcher", LAUNCHER, "--mpi", mpi, "--bench", bench, "--most-ranks", np, "--oversubscribe",
               "--time", 6, "--launches", 2, "--candidate-seconds", 0.005, "--candidates", 1, *arguments, code=code, cwd=cwd)


def decided(text, rules):
    """True if a command has written rules, or has said that there is nothing to gain, which times of so short launches may say."""
    if rules.exists():
        return list(json.loads(rules.read_text())["programs"]) == [NAME] and f"{rules}: rules for '{NAME}'\n" in text and (
            f"Use it by CIRCOLL_PROFILE={rules}." in text)
    return "nothing to gain: keep auto" in text


def with_gains(*files):
    """Makes named algorithms a hundred times as fast in the files of measured launches, with certainty."""
    for file in files:
        shard = json.loads(file.read_text())
        for _, part in shard["parts"]:
            for row in part["bench"]["rows"]:
                if row["algorithm"] not in ("native", "auto"):
                    row["median_us"] /= 100
                row["median_low_us"] = row["median_high_us"] = row["median_us"]
        file.write_text(json.dumps(shard))


def check_tuning(work, report):
    rules = work / "rules.json"
    done = tune(report, "-o", rules)
    expect(decided(done.stdout, rules), "rules are written if there is a gain", done.stdout)
    measured = json.loads(pathlib.Path(f"{rules}.measured").read_text())
    expect(measured["done"] and measured["seed"] == 1 and measured["version"] and measured["facts"]["nodes"],
           "seed, version and nodes are recorded")
    called = {(row["collective"], row["comm_size"]) for row in json.loads(report.read_text())["rows"]}
    cells = {(part["cell"]["collective"], part["cell"]["p"]) for _, part in measured["parts"]}
    expect(cells and cells <= called, f"what is measured are calls of the program: {cells} {called}")
    costs = {}
    for _, part in measured["parts"]:
        costs[part["number"]] = part["cell"]["program_s"]
    expect(list(dict(sorted(costs.items())).values()) == sorted(costs.values(), reverse=True), "the most expensive are first")
    expect("left out: the time is used up" in done.stderr, "the time is limited", done.stderr)
    again = tune(report, "-o", rules)
    expect("measured before" in again.stderr, "nothing is measured twice", again.stderr)

    with_gains(pathlib.Path(f"{rules}.measured"))
    sure = tune(report, "-o", rules).stdout
    expect(rules.exists() and decided(sure, rules), "the rules are written", sure)
    expect("An estimate of the gain" in sure and "The program was not run with them." in sure, "the gain is said to be an estimate", sure)
    expect(max(map(len, sure.replace(str(work), "").splitlines())) <= 100, "lines are short", sure)

    # The program decides if it is given.
    tried = work / "tried.json"
    shutil.copy(f"{rules}.measured", f"{tried}.measured")
    text = tune(report, "-o", tried, "--", program, work / "log", cwd=work).stdout
    expect(("With them the program is " in text and json.loads(tried.read_text())["programs"][NAME]["tried"] in text) if tried.exists() else
           "The program is not surely faster with these rules: " in text and "Nothing is written: keep auto" in text, "the program decides", text)
    folder, = (work / "circoll-compare").glob(f"{NAME}-*")
    for kind, ruled in ("before", False), ("rules", True):
        whys = [one["why"] for row in json.loads((folder / f"{kind}.1.json").read_text())["rows"] for one in row["histogram"]]
        expect(any(f" for {NAME}: " in why for why in whys) == ruled, f"rules count in runs with them only: {kind}", *whys)

    # The program takes these rules.
    run("compare", "--np", np, "--runs", 1, "--launcher", LAUNCHER, "--mpi", mpi, "--reports", work / "ruled", "--",
        program, work / "log", CIRCOLL_PROFILE=str(rules))
    ruled = json.loads((work / "ruled" / "circoll.1.json").read_text())
    whys = [one["why"] for row in ruled["rows"] for one in row["histogram"]]
    expect(any(re.match(rf"profile {rules}:\d+ for {NAME}: ", why) for why in whys), "rules serve calls of the program", *whys)
    expect(ruled["profile"] == f"{rules}, with rules for {NAME}", "the report names them", ruled["profile"])
    alone = run("explain", "bcast", "-p", 2, "--policy", f"file:{rules}", code=2).stderr
    expect(f"CIRCOLL_PROFILE={rules} uses them" in alone, "a policy of a file does not take rules for programs", alone)

    # The report has communicators that are too large.
    large = json.loads(report.read_text())
    for row in large["rows"]:
        row["comm_size"] = 1000
    (work / "large.json").write_text(json.dumps(large))
    refused = tune(work / "large.json", "-o", work / "none", code=2)
    expect("1000 ranks are more than" in refused.stderr, "what the machine cannot host is left out", refused.stderr)


def check_shards(work, report):
    files = [work / f"shard.{i}" for i in (1, 2)]
    tune(report, "--shard", "1/2", "-o", files[0])
    expect("2/2 is missing" in run("merge", files[0], code=2).stderr, "a hole is refused")
    tune(report, "--shard", "2/2", "-o", files[1], "--seed", 2)
    expect("the seed is" in run("merge", *files, code=2).stderr, "shards of other seeds are refused")
    files[1].unlink()
    tune(report, "--shard", "2/2", "-o", files[1])
    with_gains(*files)
    said = run("merge", *files, "-o", work / "combined.json").stdout
    if not (work / "combined.json").exists():
        return expect(False, "shards become rules", said, files[0].read_text())
    expect(list(json.loads((work / "combined.json").read_text())["programs"]) == [NAME], "shards become rules")
    home = work / "home"
    text = run("merge", *files, XDG_CONFIG_HOME=str(home)).stdout
    expect("Programs under the drop-in use it from now on." in text and list((home / "circoll" / "profiles").glob("*.json")),
           "without -o they go into the user's profile", text)
    shards = [json.loads(file.read_text()) for file in files]
    orders = [[part["number"] for _, part in shard["parts"]] for shard in shards]
    expect(sorted(orders[0]) == sorted(orders[1]), "each launch measures the same cells")
    expect(all(part["launch"] == i for i, shard in enumerate(shards) for _, part in shard["parts"]), "a shard is a launch")

    # A script makes the same files.
    script = work / "job.sh"
    script.write_text(tune(report, "--print-job", "local", "-o", work / "local.json").stdout)
    for _ in range(2):
        done = subprocess.run(["bash", script], env=launching.environment(), timeout=200, capture_output=True, text=True, check=False)
        expect(done.returncode == 0, "the local script runs, and runs again", done.stdout, done.stderr)
        expect(decided(done.stdout, work / "local.json"), "it writes rules, or says that there are none", done.stdout)
    expect(len(glob.glob(f"{work}/local.json.*.measured")) == 2, "a file for each shard")
    slurm = tune(report, "--print-job", "slurm", "-o", work / "s.json", "--ranks-per-node", 1).stdout
    (work / "slurm.sh").write_text(slurm)
    expect(subprocess.run(["bash", "-n", work / "slurm.sh"], check=False).returncode == 0, "the slurm script is a script")
    asked = tune(report, "--print-job", "slurm", "-o", work / "s.json", "--nodes", 4, "--ranks-per-node", 32).stderr
    expect(f"communicators of at most {np} ranks, so the job starts {np} and not 128" in asked, "a small report is noticed", asked)
    expect("#SBATCH --array=1-2%1\n" in slurm and f"#SBATCH --ntasks={np}\n" in slurm and f"#SBATCH --nodes={np}\n" in slurm,
           "it asks for what it needs", slurm)


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    made = check_comparison(place)
    if not launching.failures:
        check_launching(place)
        check_tuning(place, made)
        if mpi == "openmpi":  # shards are files of the tool, whose content depends on no library
            check_shards(place, made)
end()
