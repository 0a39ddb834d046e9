#!/usr/bin/env python3
"""circoll simulate against SimGrid's SMPI, whose network model is set to exact alpha-beta: the same algorithms, run as MPI programs, take
the same simulated time. usage: smpi_model_test.py BUILD SOURCE"""
import json
import pathlib
import subprocess
import sys
import tempfile

build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "lab/experiments"))
import simulated

# Each host has one port of 1 GB/s, and a message to another host takes 2 x 1 us. Nothing else costs time.
ALPHA, BETA = 2e-6, 1e-9
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="cluster" prefix="node-" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="1us"/>
  </zone>
</platform>
"""
EXACT = ["network/model:CM02", "network/crosstraffic:no", "network/TCP-gamma:0", "smpi/os:0:0:0", "smpi/or:0:0:0", "smpi/ois:0:0:0",
         "smpi/wtime:0", "smpi/simulate-computation:no", "smpi/shared-malloc:no"]
# SMPI counts at least this number of bytes of its own with every message (seen for any size, over any link).
OWN_BYTES = 17
TOLERANCE = 0.001
# No two messages of these algorithms use one port at the same time. SMPI would share the port, the simulator would
# queue.
FOR_ALL = {
    "allgather": "circulant,circulant_optimal,bruck,ring",
    "allreduce": "circulant,circulant_rsag,circulant_optimal,ring",
    "alltoall": "circulant,bruck",
    "barrier": "circulant,dissemination",
    "gather": "circulant,binomial",
    "reduce": "circulant,circulant_tree,binomial,ring",
    "reduce_scatter_block": "circulant,circulant_optimal,ring",
    "scan": "recursive_doubling",
}
FOR_POWERS_OF_TWO = {
    "allgather": "recursive_doubling",
    "allreduce": "recursive_doubling,rabenseifner,binary_blocks",
    "barrier": "recursive_doubling",
    "reduce": "rabenseifner",
    "reduce_scatter_block": "recursive_halving,recursive_doubling",
}


def smpi_times(directory, p, collective, algorithms, sizes):
    cluster, results = simulated.Cluster(directory, p, 1, PLATFORM), directory / "results.json"
    results.unlink(missing_ok=True)
    command = ["smpirun", "-np", p, "-platform", cluster.platform, "-hostfile", cluster.hosts, "--log=root.thres:error",
               *(f"--cfg={setting}" for setting in EXACT), *simulated.OWN_COLLECTIVES, build / "bin/circoll-bench.smpi", "--reps", "1",
               "--sync", "clock", "--type", "float64", "--op", "sum", "--collective", collective, "--algorithm", algorithms, "--bytes", sizes,
               "--json", results]
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100,
                          check=False, text=True)
    if done.returncode != 0:
        print(done.stdout[-2000:])
        sys.exit(f"FAILED  {collective}, p = {p}")
    return simulated.rows_of(results)


def circoll_time(collective, algorithm, p, vector_bytes):
    done = subprocess.run([build / "bin/circoll", "simulate", f"{collective}/{algorithm}", "-p", str(p), "--bytes", str(vector_bytes), "--json",
                           "--loggops", f"L={ALPHA + OWN_BYTES * BETA},G={BETA},g=0,o=0,O=0", "--gamma", "0"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["time_s"]


failures = 0
with tempfile.TemporaryDirectory() as name:
    for p in (7, 8, 13):
        for collective, algorithms in [*FOR_ALL.items(), *(FOR_POWERS_OF_TWO.items() if p & (p - 1) == 0 else ())]:
            of_vector = collective in ("allreduce", "reduce", "scan")
            # Each rank has whole elements.
            blocks = p if of_vector or collective == "alltoall" else 1
            sizes = [8 * blocks * 4096, 8 * blocks * 32768]
            for row in smpi_times(pathlib.Path(name), p, collective, algorithms, ",".join(map(str, sizes))):
                vector = row["bytes"] * (1 if of_vector or collective == "alltoall" else p)
                simulated_us = circoll_time(collective, row["algorithm"], p, vector) * 1e6
                error = simulated_us / row["median_us"] - 1
                if abs(error) <= TOLERANCE:
                    continue
                failures += 1
                print(f"FAILED  {collective}/{row['algorithm']} p = {p}, {row['bytes']} B: SMPI {row['median_us']:.3f} us, circoll simulate "
                      f"{simulated_us:.3f} us, {100 * error:+.2f} %", flush=True)
sys.exit(1 if failures else 0)
