#!/usr/bin/env python3
"""Simulated clusters (SimGrid's SMPI): results are right, times are repeatable, relabelling keeps traffic inside nodes, the shorter set-up
changes no time, and the short forms of the experiments work. usage: smpi_test.py BUILD SOURCE"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "lab/experiments"))
import simulated

failures = []


def expect(condition, what):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        failures.append(what)


def run_bench(cluster, smpirun, selector, setting, *arguments):
    command = ["smpirun", *smpirun, "-np", cluster.ranks, "-platform", cluster.platform, "-hostfile", cluster.hosts,
               "--cfg=smpi/simulate-computation:no", f"--cfg=smpi/coll-selector:{selector}", *setting, build / "bin/circoll-bench.smpi",
               "--reps", "1", *arguments]
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=200, check=False, text=True)


def simulated_end(cluster, smpirun):
    """When a program ends whose only call is a two-level collective, in simulated seconds."""
    done = run_bench(cluster, smpirun, "mvapich2", ["--cfg=smpi/display-timing:yes"], "--collective", "reduce", "--bytes", "8",
                     "--algorithm", "native")
    found = re.search(r"Simulated time: ([0-9.]+) seconds", done.stdout)
    return float(found[1]) if found else float("nan")


def bench(cluster, json_file, *arguments, selector="ompi", smpirun=()):
    done = run_bench(cluster, smpirun, selector, ["--cfg=smpi/shared-malloc:no", "--log=root.thres:error"], "--json", json_file, *arguments)
    if done.returncode != 0:
        print(done.stdout[-2000:])
    expect(done.returncode == 0, f"circoll-bench {' '.join(arguments[:4])}")
    return json.loads(json_file.read_text(encoding="utf-8"))["rows"] if done.returncode == 0 else []


def experiment(script, directory, *arguments):
    return subprocess.run([source / "lab/experiments" / script / "run", directory, "--build", build, *arguments], stdout=subprocess.PIPE, timeout=250,
                          check=False, text=True)


with tempfile.TemporaryDirectory() as name:
    directory = pathlib.Path(name)
    cluster = simulated.Cluster(directory, 4, 4)
    usual = ("--type", "float64", "--op", "sum", "--bytes", "8,8Ki,256Ki")
    rows = bench(cluster, directory / "a.json", "--collective", "all", "--algorithm", "native,auto", "--check", *usual)
    expect(len({row["collective"] for row in rows}) == 16, "all collectives were measured")
    expect(all(row["correct"] == "yes" for row in rows), "all results equal the native ones")
    again = bench(cluster, directory / "b.json", "--collective", "all", "--algorithm", "native,auto", "--check", *usual)
    expect([row["median_us"] for row in rows] == [row["median_us"] for row in again], "times are the same a second time")
    served = {(row["collective"], row["bytes"]): row["served_by"] for row in rows if row["algorithm"] == "auto"}
    expect("relabel=4" in served.get(("reduce_scatter_block", 8), ""), f"auto knows of the nodes: {served}")
    rows = bench(cluster, directory / "c.json", "--collective", "reduce_scatter_block", "--bytes", "64Ki", "--algorithm",
                 "circulant_optimal,circulant_optimal:relabel=4")
    times = {row["algorithm"]: row["median_us"] for row in rows}
    # These times are simulated, and do not depend on this machine. 3 blocks of each of 4 ranks cross the port of a
    # node, instead of nearly all 15.
    expect(times["circulant_optimal:relabel=4"] * 1.5 < times["circulant_optimal"], f"relabelling pays: {times}")
    two_level = ("--collective", "allreduce,bcast,reduce", "--bytes", "8,8Ki", "--algorithm", "native", "--type", "float64", "--op", "sum")
    setup = ("-wrapper", f"env LD_PRELOAD={build / 'bin/circoll-smpi-setup.so'}")
    usual, short = ([row["median_us"] for row in bench(cluster, directory / "d.json", *two_level, selector="mvapich2", smpirun=options)]
                    for options in ((), setup))
    # The clock begins at another time, so that differences of its readings may be rounded differently.
    expect(usual and len(usual) == len(short) and all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(usual, short)),
           f"the set-up is not measured: {usual}, {short}")
    ends = [simulated_end(cluster, options) for options in ((), setup)]
    expect(ends[1] < ends[0], f"and takes less time: {ends}")
    results = directory / "results"
    done = experiment("smpi", results, "--testbeds", "4x4", "--short", "--selectors", "ompi,mpich")
    expect(done.returncode == 0 and "Geometric means" in done.stdout, "lab/experiments/smpi/run --short")
    expect((results / "summary.md").exists(), "it writes the table")
    done = experiment("smpi", directory / "one", "--testbeds", "4x4", "--collectives", "bcast", "--bytes", "2Ki", "--selectors", "ompi")
    cells = done.stdout.partition("Geometric means")[0].splitlines()
    lines = [line for line in cells if line.startswith("| ") and not line.startswith("| collective")]
    expect(done.returncode == 0 and len(lines) == 1 and lines[0].startswith("| bcast | 2048 |"), f"one collective, one size: {done.stdout}")
    guidelines = directory / "guidelines"
    done = experiment("guidelines", guidelines, "--testbed", "simulated", "--short")
    expect(done.returncode == 0 and "under the rules" in done.stdout, "lab/experiments/guidelines/run --testbed simulated --short")
    compared = json.loads((guidelines / "second.json").read_text(encoding="utf-8"))["comparisons"] if done.returncode == 0 else []
    expect({row["algorithm"] for row in compared} == {"native", "auto"}, "native and the rules in the second run")
sys.exit(1 if failures else 0)
