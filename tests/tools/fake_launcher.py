#!/usr/bin/env python3
"""A launcher of no MPI: instead of ranks of circoll-bench it writes what they would have measured.

FAKE says how it goes: fail, hang, strangers (every process is a world of its own), or well. FAKE_LOG gets a line per launch.
In the launch with the seed FAKE_DENIED all candidates take the same time.
FAKE_DEVICES has the runtimes of GPUs that the ranks have loaded.
In every cell the second candidate takes half the time of the others, but native twice as long in allreduce.
"""
import json
import os
import sys
import time

arguments = sys.argv[1:]
if "--version" in arguments:
    print("mpirun (Open MPI) 9.9.9\n\nReport bugs to nobody")
    sys.exit(0)


def after(option):
    return arguments[arguments.index(option) + 1]


with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
    log.write(" ".join(arguments) + "\n")
how = os.environ.get("FAKE", "well")
ranks = int(after("-np"))
if how == "fail":
    print("--------\nthe fabric is on fire\n--------", file=sys.stderr)
    sys.exit(3)
if how == "hang":
    time.sleep(60)
rows = []
cells = json.load(open(after("--cells"), encoding="utf-8"))["cells"] if "--cells" in arguments else [
    {"collective": "allreduce", "bytes": 8, "algorithms": ["auto"]}]
for cell in cells:
    for place, name in enumerate(cell["algorithms"]):
        denied = "--seed" in arguments and after("--seed") == os.environ.get("FAKE_DENIED")
        us = 10.0 if place != 1 or name == "native" or denied else 5.0
        us *= 2 if name == "native" and cell["collective"] == "allreduce" else 1
        rows.append({"collective": cell["collective"], "algorithm": name, "served_by": name,
                     "p": 1 if how == "strangers" else ranks, "bytes": cell["bytes"], "reps": 9, "median_us": us, "correct": "-"})
        print(cell["collective"], name, flush=True)
with open(after("--json"), "w", encoding="utf-8") as file:
    json.dump({"type": "float64", "op": "sum", "root": 0, "p": 1 if how == "strangers" else ranks, "sync": "clock", "policy": "model",
               "library": "Open MPI 9.9.9", "processor": os.environ.get("FAKE_PROCESSOR", "Fake"), "host": "n1",
               "inside_nodes": {"ranks": ranks, "by_memory": ranks, "read_directly": 0, "crowded": False, "reason": "",
                                "reading_reason": "Yama allows it to nobody"},
               "device_runtimes": json.loads(os.environ.get("FAKE_DEVICES", "[]")), "rows": rows}, file)
