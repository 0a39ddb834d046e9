#!/usr/bin/env python3
"""schedule_files_test.py MPI DROPIN YIELD PROGRAM NONBLOCKING CIRCOLL SOURCE_DIR: files of schedules in place of algorithms.

PROGRAM is all_collectives. Its output with files is that without the drop-in. The broadcast is that of docs/lab/formats.md, written in Python.
NONBLOCKING has calls under way at the same time. Its output is that of its blocking calls.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program, nonblocking, circoll, source = sys.argv[1:8]
SCRIPT = re.search(r"```python\n(.*?)```", (pathlib.Path(source) / "docs/lab/formats.md").read_text(encoding="utf-8"), re.DOTALL)[1]
OTHERS = {"allreduce": "allreduce/recursive_doubling", "reduce": "reduce/binomial --root 1", "allgather": "allgather/ring",
          "allgatherv": "allgatherv/circulant", "gather": "gather/binomial", "gatherv": "gatherv/linear", "scatter": "scatter/binomial",
          "scatterv": "scatterv/linear", "alltoall": "alltoall/bruck", "alltoallv": "alltoallv/pairwise", "scan": "scan/recursive_doubling",
          "exscan": "exscan/doubling_123", "reduce_scatter": "reduce_scatter/circulant_optimal", "barrier": "barrier/dissemination",
          "reduce_scatter_block": "reduce_scatter_block/circulant_optimal"}


def run(work, np, settings, first_rank=None, program=program):
    """Output, standard error, and the rows of the report. `settings`: variables; `first_rank`: one that rank 0 has otherwise."""
    report = work / "report.json"
    report.unlink(missing_ok=True)
    inner = launching.on_first_rank(first_rank, [program]) if first_rank else [program]
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", f"CIRCOLL_REPORT={report}", "CIRCOLL_SERVE_AFTER=0",
               *[f"{name}={value}" for name, value in settings.items()], *inner]
    done = launch(np, command)
    expect(done.returncode == 0, f"the program succeeds with {settings} on {np} ranks", done.stdout, done.stderr)
    return done.stdout, done.stderr, json.loads(report.read_text())["rows"] if report.exists() else []


def launch(np, command):
    return subprocess.run(launching.launcher(mpi, *launching.processes(mpi, np, command)), env=launching.environment(), timeout=100,
                          capture_output=True, text=True, check=False)


def shown(work, collective, words, np):
    """A file with the schedules of an algorithm."""
    file = work / f"{collective}.json"
    file.write_text(subprocess.run([circoll, "show", *words.split(), "-p", str(np), "--format", "json"], capture_output=True, text=True,
                                   check=True).stdout)
    return file


def two_trees(work, p):
    file = work / f"tt{p}.json"
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(p)], capture_output=True, text=True, check=True)
    file.write_text(done.stdout)
    return file


def served(rows, collective, ranks):
    return {row["served_by"] for row in rows if row["collective"] == collective and row["comm_size"] == ranks}


def same_as_native(work, np):
    """The broadcast in Python, and a file for each other collective."""
    native = launch(np, [program]).stdout
    settings = {"CIRCOLL_BCAST": f"file:{two_trees(work, np)}"}
    for collective, words in OTHERS.items():
        settings[f"CIRCOLL_{collective.upper()}"] = f"file:{shown(work, collective, words, np)}"
    out, said, rows = run(work, np, settings)
    expect(out == native != "", f"{np} ranks: results are those of the native collectives", out, native, said)
    for variable, file in settings.items():
        collective = variable.removeprefix("CIRCOLL_").lower()
        expect(file in served(rows, collective, np), f"{np} ranks: {collective} is served by its file", rows, said)
    half = [row for row in rows if row["collective"] == "allreduce" and row["comm_size"] == (np + 1) // 2]
    whys = [cell["why"] for row in half for cell in row["histogram"]]
    expect((np + 1) // 2 == 1 or any(f"is for {np} ranks; " in why for why in whys), f"{np} ranks: the policy serves half of them", whys)
    return native


def refused(work, native):
    """Files for another p leave calls to the policy, wrong ones to the native collective; ranks with different files are all native."""
    good, other = two_trees(work, 3), two_trees(work, 2)
    out, said, rows = run(work, 3, {"CIRCOLL_BCAST": f"file:{other}"})
    whys = [cell["why"] for row in rows if row["collective"] == "bcast" and row["comm_size"] == 3 for cell in row["histogram"]]
    expect(out == native and whys and all(why.startswith(f"bcast/file:{other}: is for 2 ranks; ") for why in whys), "another p", out, said, rows)
    expect("native" not in served(rows, "bcast", 3), "another p is served by the policy", rows)
    text = good.read_text()
    wrong = {"cut": text[:len(text) // 2], "no peer": text.replace('"peer": 1', '"peer": 7', 1),
             "refuted": re.sub(r'(?s)("kind": "send".*?"recv",\s*)0', r"\g<1>1", text, count=1), "empty": ""}
    for what, damaged in wrong.items():
        file = work / "wrong.json"
        file.write_text(damaged)
        expect(damaged != text, f"{what} is another text")
        out, said, rows = run(work, 3, {"CIRCOLL_BCAST": f"file:{file}"})
        expect(out == native and served(rows, "bcast", 3) == {"native"}, f"{what}: native", out, said, rows)
        expect(f"CIRCOLL_BCAST: {file}: " in said and said.count("the native collective is used") == 1, f"{what}: one sentence", said)
    out, said, rows = run(work, 3, {"CIRCOLL_BCAST": f"file:{good}"}, first_rank=f"CIRCOLL_BCAST=file:{work}/not_there.json")
    expect(out == native and "cannot be read there" in said, "one rank that cannot read it", out, said)
    expect({row["served_by"] for row in rows} <= {"native"}, "all ranks leave all calls native", rows)
    out, said, rows = run(work, 3, {"CIRCOLL_ALLREDUCE": f"file:{good}"})
    expect(out == native and "has schedules of bcast, not of allreduce" in said, "another collective", out, said)


def under_way(work):
    """Two ranks exchange many messages in a call, so that each needs a tag of its own, and calls overlap."""
    settings = {"CIRCOLL_BCAST": f"file:{shown(work, 'bcast', 'bcast/pipeline:segments=300', 3)}",
                "CIRCOLL_ALLREDUCE": f"file:{shown(work, 'allreduce', 'allreduce/segmented_ring:segments=100', 3)}"}
    blocking = launch(3, [nonblocking, "blocking"]).stdout
    out, said, rows = run(work, 3, settings, program=nonblocking)
    expect(out == blocking != "", "nonblocking and persistent calls", said)
    modes = {row["mode"] for row in rows if row["served_by"] == settings["CIRCOLL_BCAST"]}
    expect({"nonblocking", "persistent"} <= modes, "they are served by files", modes)


def relabelled(work, native, np):
    """Schedules whose ranks follow the groups of a machine. Ranks 1 and 2 have another one, so that labels differ from ranks."""
    hosts = work / "hosts.txt"
    hosts.write_text("".join(f"group{int(rank in (1, 2))}/host{rank}\n" for rank in range(np)))
    settings = {}
    for words in ("allreduce/rabenseifner", "allgather/circulant_optimal", "reduce_scatter_block/recursive_halving", "bcast/binomial", "gather/binomial"):
        file = work / f"relabelled.{words.partition('/')[0]}"
        done = subprocess.run([circoll, "traffic", words, "--allocation", hosts, "--relabel", "--schedules", file, "--json"],
                              capture_output=True, text=True, check=True)
        expect(json.loads(done.stdout)["algorithms"][0]["relabelled"]["labels"] != list(range(np)), f"{words} has other labels")
        settings[f"CIRCOLL_{words.partition('/')[0].upper()}"] = f"file:{file}"
    out, said, rows = run(work, np, settings)
    expect(out == native != "", f"{np} ranks: relabelled schedules have the results of the native collectives", out, native, said)
    for variable, file in settings.items():
        collective = variable.removeprefix("CIRCOLL_").lower()
        expect(file in served(rows, collective, np), f"{np} ranks: {collective} is served by relabelled schedules", rows, said)


with tempfile.TemporaryDirectory() as directory:
    here = pathlib.Path(directory)
    outputs = {np: same_as_native(here, np) for np in (2, 3, 4, 5)}
    relabelled(here, outputs[5], 5)
    refused(here, outputs[3])
    under_way(here)
end()
