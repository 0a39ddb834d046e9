#!/usr/bin/env python3
"""The short forms of the experiments on one node and on the emulated network: they measure, choose, and write their tables and pictures. No time
is checked. The network is left out where namespaces are not permitted. usage: experiments_test.py BUILD SOURCE"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
failures = []


def expect(condition, what):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        failures.append(what)


def run(experiment, *arguments):
    done = subprocess.run([source / "lab" / "experiments" / experiment / "run", *map(str, arguments), "--build", build, "--short"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250, check=False, text=True)
    expect(done.returncode == 0, f"lab/experiments/{experiment}/run --short")
    if done.returncode != 0:
        print(done.stdout[-2000:])
    return done.stdout


def namespaces_are_permitted():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if not all(map(shutil.which, ("ip", "tc", "unshare"))):
        return False
    name = f"netbed{os.getpid()}s"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode != 0:
        return False
    return subprocess.run(["ip", "netns", "del", name], check=False).returncode == 0


def rows_of(file):
    return json.loads(file.read_text(encoding="utf-8"))["rows"]


with tempfile.TemporaryDirectory() as name:
    node, netbed = pathlib.Path(name) / "node", pathlib.Path(name) / "netbed"
    text = run("node", node)
    expect(text.count("Geometric means of native / auto") == 4, "a table for each of four testbeds")
    for testbed in ("openmpi", "mpich", "openmpi-crowded", "mpich-crowded"):
        rows = rows_of(node / f"{testbed}.1.json")  # results are compared in the first launch
        expect(len(rows) == 8 and all(row["correct"] == "yes" for row in rows), f"{testbed}: two collectives, two sizes, twice; all correct")
        expect(len(rows_of(node / f"{testbed}.json")) == 8, f"{testbed}: launches put together")
        expect((node / f"{testbed}.json").exists() and (node / f"{testbed}.rules.json").exists(), f"{testbed}: numbers, and rules")
        expect("<svg" in (node / f"node_{testbed}.svg").read_text(encoding="utf-8"), f"{testbed}: a chart")
    expect(text.count("\n| all | ") == 4, "the means of all collectives in each table")
    manycore = pathlib.Path(name) / "manycore"
    text = run("manycore", manycore, "--ranks", "2 4096", "--launches", 1, "--minutes", 0.05)
    expect("4096 ranks are left out" in text, "manycore: no more ranks than cores")
    summary = (manycore / "summary.txt").read_text(encoding="utf-8").splitlines()
    expect([line.split(":")[0] for line in summary] == ["openmpi, 2 ranks", "mpich, 2 ranks"] and all(" of 4 cells" in line for line in summary),
           f"manycore: a line for each MPI: {summary}")
    for mpi in ("openmpi", "mpich"):
        guidelines = pathlib.Path(name) / f"guidelines-{mpi}"
        text = run("guidelines", guidelines, "--testbed", mpi)
        expect("under the rules" in text and (guidelines / "rules.json").exists(), f"guidelines, {mpi}: a table, and rules")
        compared = json.loads((guidelines / "second.json").read_text(encoding="utf-8"))["comparisons"]
        expect({row["algorithm"] for row in compared} == {"native", "auto"}, f"guidelines, {mpi}: native and the rules in the second run")
    learning = pathlib.Path(name) / "learning"
    text = run("learning", learning, "--testbeds", "openmpi,mpich")
    expect(text.count("Geometric means of native / learn") == 2 and text.count("learn / best") == 2, "learning: a table for each MPI")
    expect(text.count("Last third of the calls over the best fixed choice") == 2 and text.count("of 32 windows") == 2,
           "learning: the last third, and windows")
    rows = [row for row in rows_of(learning / "openmpi.random.learn.1.json") if len(row["seconds"]) == 100]
    expect(len(rows) == 16 and all(second > 0 for row in rows for second in row["seconds"]), "learning: eight collectives, two sizes")
    whatif = pathlib.Path(name) / "whatif"
    text = run("whatif", whatif)
    table = (whatif / "table.md").read_text(encoding="utf-8").splitlines()
    expect(len([line for line in table if line.startswith("| kmeans |")]) == 4 and "| kmeans | 3 ranks |" in text,
           "whatif: as recorded, two algorithms, and more ranks")
    expect(text.splitlines()[-1].startswith("median error of 12 predictions: "), "whatif: a median error")
    verdicts = pathlib.Path(name) / "verdicts"
    text = run("verdicts", verdicts, build / "examples" / "cg_openmpi")
    expect("| beside four jobs in bursts | cg_openmpi |" in text and (verdicts / "bursts.cg_openmpi.1.json").exists(), "verdicts: a row")
    faults = pathlib.Path(name) / "faults"
    text = run("faults", faults, "--before", build, "--before-launches", 2)
    for program in ("calls", "repairs"):
        runs = [json.loads(line) for line in (faults / f"openmpi.node.4.{program}.jsonl").read_text(encoding="utf-8").splitlines()]
        expect(len(runs) == 3 and all(row["dead"] and row["end"] in ("right", "stopped") for row in runs), f"faults, {program}: all runs end well")
    expect(text.count("Geometric means: with the guard") == 1 and text.count("Geometric means: now / before") == 2,
           "faults: the price with the guard, and without")
    if namespaces_are_permitted():
        text = run("netbed", netbed, "--testbeds", "4x4", "--collectives", "allreduce,bcast", "--bytes", "8,4096", "--no-verify")
        expect("Geometric means" in text and (netbed / "4x4.json").exists(), "a table and the numbers of the network")
        expect("<svg" in (netbed / "netbed_4x4.svg").read_text(encoding="utf-8"), "a chart of the network")
        rows = rows_of(netbed / "4x4.1.json")
        expect(len(rows) == 8 and all(row["correct"] == "yes" for row in rows), "all correct on the network")
        native = pathlib.Path(name) / "native"
        text = run("native", native, "--collectives", "bcast,allgather")
        cells = json.loads((native / "native.json").read_text(encoding="utf-8"))["cells"]
        expect("default / with" in text and {cell["collective"] for cell in cells} == {"bcast", "allgather"} and len(cells) == 4,
               "native calls without and with the file")
        expect((native / "tuned.conf").exists() and (native / "check.txt").exists(), "a file for Open MPI, checked")
sys.exit(1 if failures else 0)
