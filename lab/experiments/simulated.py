"""circoll-bench on simulated clusters (docs/lab/simulator.md)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import common

# Nodes, ranks per node. The paper's machines: Hydra 36x32 and 32x1, Irene 256x1 and 100x48, Theta 150x1 and 128x64.
TESTBEDS = {"36x32": (36, 32), "32x1": (32, 1), "256x1": (256, 1), "150x1": (150, 1), "100x48": (100, 48), "128x64": (128, 64),
           "4x4": (4, 4)}
# Each node has one port of 100 Gbit/s, which its ranks share. Ranks of one node use memory.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="cluster" prefix="node-" suffix="" radical="0-{last}" core="{cores}" speed="1Gf"
             bw="12.5GBps" lat="1us" loopback_bw="20GBps" loopback_lat="0.3us"/>
  </zone>
</platform>
"""
# The bench's own coordination, by algorithms that need no set-up.
OWN_COLLECTIVES = ("--cfg=smpi/bcast:binomial_tree", "--cfg=smpi/allreduce:rdb", "--cfg=smpi/barrier:ompi_recursivedoubling")
OF_CIRCOLL = ("--cfg=smpi/coll-selector:ompi", *OWN_COLLECTIVES)


class Cluster:
    """The files that describe one to smpirun."""

    def __init__(self, directory, nodes, cores, platform=PLATFORM):
        self.ranks = nodes * cores
        self.platform, self.hosts = directory / "platform.xml", directory / "hosts"
        self.platform.write_text(platform.format(last=nodes - 1, cores=cores), encoding="utf-8")
        self.hosts.write_text("".join(f"node-{node}\n" * cores for node in range(nodes)), encoding="utf-8")


class Simulator:
    """circoll-bench of a build tree on clusters, each simulation within limits."""

    def __init__(self, build, time_limit_s, memory_limit_gib):
        build = build or common.find_build("smpi", "dev", program="bin/circoll-bench.smpi")
        self.bench, self.circoll = (build / "bin/circoll-bench.smpi").resolve(), (build / "bin/circoll").resolve()
        self.setup = (build / "bin/circoll-smpi-setup.so").resolve()  # dev/smpi_setup.cpp
        self.time_limit_s, self.memory_limit_gib = time_limit_s, memory_limit_gib
        if not self.bench.exists():
            sys.exit(f"there is no {self.bench} (cmake --preset smpi && cmake --build --preset smpi)")

    def run(self, cluster, file, own, *arguments):
        """Runs circoll-bench; its results in `file`. False if it took too much time or memory, or failed; then it is not tried
        again in this directory."""
        failed = file.with_suffix(".failed")
        if file.exists() or failed.exists():
            return file.exists()
        common.say(f"{file}")
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(dir="/dev/shm") as copies:  # of the program, one for each rank
            partial = file.with_suffix(".partial")
            partial.unlink(missing_ok=True)
            command = ["smpirun", "-wrapper", f"env LD_PRELOAD={self.setup}", "-np", cluster.ranks, "-platform", cluster.platform,
                       "-hostfile", cluster.hosts, "--cfg=contexts/stack-size:256", "--cfg=smpi/simulate-computation:no",
                       "--log=root.thres:error", "--cfg=smpi/async-small-thresh:65536", "--cfg=smpi/shared-malloc-blocksize:16777216",
                       *own, self.bench, "--reps", "1", "--sync", "clock", "--type", "float32", "--op", "sum", "--json", partial.resolve(),
                       *arguments]
            problem = self._within_limits(list(map(str, command)), dict(os.environ, TMPDIR=copies), partial)
        if problem:
            common.say(f"{file}: {problem}")
            failed.write_text(problem + "\n", encoding="utf-8")
            return False
        partial.rename(file)
        common.say(f"{file}: {time.monotonic() - begin:.0f} s")
        return True

    def _within_limits(self, command, environment, results):
        """Runs a command, which writes a file of results last, as a process group within the limits of time and memory. Returns what went
        wrong, or nothing. (Some of SimGrid's collectives leave messages behind, which it finds out when all is measured.)"""
        with tempfile.TemporaryFile() as output:
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                  env=environment, start_new_session=True) as process:
                end = time.monotonic() + self.time_limit_s
                try:
                    while True:
                        try:
                            process.wait(timeout=1)
                            if results.exists():
                                if process.returncode != 0:
                                    common.say(f"{results.with_suffix('')}: exit code {process.returncode}, after the results were written")
                                return ""
                            output.seek(0)
                            return f"no results, exit code {process.returncode}\n{output.read().decode(errors='replace')[-600:]}"
                        except subprocess.TimeoutExpired:
                            if time.monotonic() > end:
                                return f"more than {self.time_limit_s:.0f} s"
                            if resident_bytes(process.pid) > self.memory_limit_gib * 2**30:
                                return f"more than {self.memory_limit_gib:g} GiB"
                finally:
                    if process.returncode is None:
                        os.killpg(process.pid, signal.SIGKILL)


def resident_bytes(group):
    """Of all processes of a process group. What SMPI shares among the ranks, which are one process, does not count for each of them."""
    kib = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(process.name)) == group:
                kib += sum(int(size) for size in re.findall(r"^RssAnon:\s*([0-9]+) kB$", (process / "status").read_text(), re.MULTILINE))
        except OSError:
            continue  # it has ended meanwhile
    return kib * 1024


def rows_of(file):
    with open(file, encoding="utf-8") as source:
        return json.load(source)["rows"]
