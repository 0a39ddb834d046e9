#!/usr/bin/env python3
"""reporting_test.py MPI NP DROPIN YIELD PROGRAM: report and trace say exactly what the program did.

PROGRAM is counted_calls, which writes down every call that it makes.
"""
import collections
import glob
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, np, dropin, shim, program = sys.argv[1:6]
report_name = pathlib.Path(program).name


def run(work, variables, wrapper=()):
    """Runs the program under the drop-in; what it wrote to stderr, and its calls: (rank, size, mode, collective, bytes)."""
    log = work / "log"
    for old in glob.glob(f"{log}.*"):
        os.unlink(old)
    settings = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", *settings, *wrapper, program, str(log)]
    done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, np, command)), env=launching.environment(), timeout=100,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"the program succeeds with {variables}: {done.stderr}")
    calls = []
    for rank in range(int(np)):
        for line in pathlib.Path(f"{log}.{rank}").read_text().splitlines():
            size, mode, collective, length = line.split()
            calls.append((rank, int(size), mode, collective, int(length)))
    return done.stderr, calls


def size_class(length):
    return 0 if length == 0 else 1 << (length.bit_length() - 1)


def by_class(calls):
    """The number of calls of each kind and class of size."""
    return collections.Counter((size, mode, collective, size_class(length)) for _, size, mode, collective, length in calls)


def check_json(report, calls, native):
    """Sums and histograms are those of the calls."""
    expect(report["circoll_report"] == 1 and report["ranks"] == int(np), "version and ranks")
    wanted = by_class(calls)
    wanted_bytes = collections.Counter()
    for _, size, mode, collective, length in calls:
        wanted_bytes[size, mode, collective] += length
    found = collections.Counter()
    found_bytes = collections.Counter()
    for row in report["rows"]:
        key = row["comm_size"], row["mode"], row["collective"]
        expect(row["calls"] == sum(one["calls"] for one in row["histogram"]), f"the histogram of {key} sums to its calls")
        expect(row["bytes"] == sum(one["bytes"] for one in row["histogram"]), f"the histogram of {key} sums to its bytes")
        expect((row["served_by"] == "native") == (row["collective"] in native), f"{key} is served, or native as asked")
        expect((row["why_native"] is None) == (row["served_by"] != "native"), f"{key} says why it is native")
        expect(row["seconds"] > 0 and row["inside_s"] > 0, f"{key} took time")
        expect(row["native_s"] is not None and row["native_s"] >= 0, f"{key} has an estimate for native")
        expect((row["predicted_s"] is None) == (row["served_by"] == "native"), f"{key} has a prediction")
        found_bytes[key] += row["bytes"]
        for one in row["histogram"]:
            found[*key, one["bytes_from"]] += one["calls"]
            expect(one["why"] and one["algorithm"].split(":")[0] == row["served_by"], f"{key} says why")
            expect(one["bytes_from"] * one["calls"] <= one["bytes"] <= one["bytes_to"] * one["calls"], f"{key} sizes")
    expect(found_bytes == wanted_bytes, f"bytes are those of the calls: {found_bytes} {wanted_bytes}")
    check_times(report)
    expect(found == wanted, f"calls are those of the program: {found} {wanted}")
    expect(report["calls"] == len(calls), "the total is that of the calls")
    expect(report["native_calls"] == sum(call[3] in native for call in calls), "the native ones are counted")


def check_times(report):
    """Means over the ranks are no more than maxima, and parts no more than the whole."""
    program, inside = report["program"], report["collectives"]
    expect(0 < program["mean_s"] <= program["seconds"] * (1 + 1e-9), f"the program took time: {program}")
    expect(program["name"] == report_name, f"the program has its name: {program}")
    expect(0 < inside["mean_s"] <= inside["seconds"] * (1 + 1e-9), f"collectives took time: {inside}")
    expect(inside["seconds"] < program["seconds"], f"collectives are a part of the program: {inside} {program}")
    expect(abs(sum(row["mean_inside_s"] for row in report["rows"]) - inside["mean_s"]) <= 1e-9 * inside["mean_s"],
           "the rows are all that was spent in collectives")
    for row in report["rows"]:
        expect(all(0 < one["least_s"] <= one["seconds"] * (1 + 1e-9) for one in row["histogram"]), "the shortest calls took time")
        expect(0 < row["mean_s"] <= row["seconds"] * (1 + 1e-9), f"the mean of {row['collective']} is no more than the most")
        expect(abs(sum(one["mean_s"] for one in row["histogram"]) - row["mean_s"]) <= 1e-9 * row["mean_s"],
               f"the sizes of {row['collective']} are all of its time")


def check_left(report, calls):
    """Every call was left to the MPI library: each time it comes, with a reason, its size and its time."""
    wanted, found = by_class(calls), collections.Counter()
    wanted_bytes, found_bytes = collections.Counter(), collections.Counter()
    for _, size, mode, collective, length in calls:
        if mode != "persistent":
            wanted_bytes[size, mode, collective] += length
    check_times(report)
    for row in report["rows"]:
        if row["mode"] != "persistent":
            found_bytes[row["comm_size"], row["mode"], row["collective"]] += row["bytes"]
        expect(row["served_by"] == "native" and row["why_native"], f"{row['collective']} is native for a reason")
        for one in row["histogram"]:
            found[row["comm_size"], row["mode"], row["collective"], one["bytes_from"]] += one["calls"]
    for counter in (wanted, found):  # the MPI library's own persistent requests are known when they are made, not when they start
        for key in [key for key in counter if key[1] == "persistent"]:
            del counter[key]
    expect(found == wanted, f"native calls are those of the program: {found} {wanted}")
    expect(found_bytes == wanted_bytes, f"bytes of native calls are those of the program: {found_bytes} {wanted_bytes}")


def check_text(text, calls):
    """The rows add up to the calls as well, with those that the text only counts."""
    found = collections.Counter()
    counted = 0
    for line in text.splitlines():
        expect(line.startswith("circoll:"), f"a line is marked: {line}")
        word = line.split()
        if len(word) == 9 and word[3].isdigit():
            found[word[1]] += int(word[3])
        elif folded := re.match(r"circoll: and \d+ more rows? below 1 % .* with (\d+) calls?;", line):
            counted = int(folded[1])
        elif "why" not in word and word[1:2] != ["profile:"]:  # both give a reason, which has names of any length
            expect(len(line) <= 100, f"a line is short: {line}")
    wanted = collections.Counter(call[3] for call in calls)
    expect(found <= wanted and found.total() + counted == wanted.total(), f"the text has the calls: {found} and {counted}")
    expect("model model(native)" in text and "predicted  " not in text, "predictions are named as such")
    last = text[text.rindex("circoll: measured:"):]
    expect(re.search(r"measured: \S+ in collectives, [0-9.]+ % of the \S+ of the program", last) and
           re.search(r"  [0-9.]+ % of them in .* on [0-9]+ ranks, mostly ", last) and "next: " in last,
           f"the end says how much time went where, and what to do next: {last}")


def check_trace(trace, calls):
    """Every event has what Perfetto needs, every call is there, with its algorithm."""
    expect(trace["otherData"]["circoll_trace"] == 1 and trace["otherData"]["dropped_calls"] == 0, "nothing was dropped")
    expect((trace["otherData"]["clock_error_us"] > 0) == (int(np) > 1), "the clocks were compared")
    found = collections.Counter()
    names = {}
    open_pairs = {}
    last_end = collections.defaultdict(float)
    earliest = []
    for event in trace["traceEvents"]:
        for field, kind in {"ph": str, "name": str, "pid": int, "tid": int}.items():
            expect(isinstance(event.get(field), kind), f"{field} is in {event}")
        if event["ph"] == "M":
            if event["name"] == "process_name":
                names[event["pid"]] = event["args"]["name"]
            continue
        expect(isinstance(event["ts"], (int, float)) and event["ts"] >= 0, f"ts is in {event}")
        expect(isinstance(event["cat"], str), f"cat is in {event}")
        thread = event["pid"], event["tid"]
        if event["ph"] == "X":
            expect(event["dur"] >= 0, f"dur is in {event}")
            if event["cat"] != "start":
                expect(event["ts"] >= last_end[thread] - 0.01, f"calls that block do not overlap: {event}")
                last_end[thread] = event["ts"] + event["dur"]
        elif event["ph"] == "b":
            open_pairs[event["pid"], event["id2"]["local"]] = event
        elif event["ph"] == "e":
            begun = open_pairs.pop((event["pid"], event["id2"]["local"]), None)
            expect(begun is not None and begun["cat"] == event["cat"] and begun["name"] == event["name"] and
                   begun["ts"] <= event["ts"], f"a pair fits: {event}")
        else:
            expect(False, f"an event of an unknown kind: {event}")
        if event["ph"] != "e" and event["cat"] != "start":
            args = event["args"]
            expect(args["algorithm"] and args["why"] and event["name"] == f"{args['collective']} {args['algorithm']}",
                   f"the algorithm and why: {event}")
            found[event["pid"], args["comm_size"], args["mode"], args["collective"], args["bytes"]] += 1
            earliest.append(event["ts"])
    expect(not open_pairs, "every pair is closed")
    expect(min(earliest) == 0, "time starts with the first call")
    expect(names == {rank: f"rank {rank}" for rank in range(int(np))}, f"ranks are processes: {names}")
    expect(found == collections.Counter(calls), "the trace has the calls of the program")
    # No rank ends a barrier before all ranks have begun it, as far as the clocks are known.
    slack = 2 * trace["otherData"]["clock_error_us"] + 1
    barriers = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["cat"] != "start" and event["args"]["collective"] == "barrier" and \
                event["args"]["comm_size"] == int(np):
            barriers[event["pid"]].append((event["ts"], event["ts"] + event["dur"]))
    for together in zip(*barriers.values()):
        expect(max(begin for begin, _ in together) <= min(end for _, end in together) + slack,
               f"barriers overlap on all ranks: {together}")


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "report.json", "CIRCOLL_TRACE": work / "trace"})
    expect(calls, "the program makes calls")
    expect(stderr == "", f"nothing is printed: {stderr}")
    check_json(json.loads((work / "report.json").read_text()), calls, set())
    check_trace(json.loads((work / "trace").read_text()), calls)

    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "report.json", "CIRCOLL_BARRIER": "native"})
    check_json(json.loads((work / "report.json").read_text()), calls, {"barrier"})
    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "report.json", "CIRCOLL_POLICY": "native"})
    check_left(json.loads((work / "report.json").read_text()), calls)
    # If its own variable makes a call native, only the report looks at the call.
    every = {f"CIRCOLL_{name.upper()}": "native" for name in {call[3] for call in calls}}
    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "report.json"} | every)
    check_left(json.loads((work / "report.json").read_text()), calls)
    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "report"})
    check_text((work / "report").read_text(), calls)
    stderr, calls = run(work, {"CIRCOLL_REPORT": "1"})
    check_text(stderr, calls)
    stderr, calls = run(work, {"CIRCOLL_REPORT": "on"})
    check_text(stderr, calls)
    stderr, calls = run(work, {"CIRCOLL_REPORT": "no"})
    expect(stderr == "", f"CIRCOLL_REPORT=no: {stderr}")

    for variables in {}, {"CIRCOLL_POLICY": "native"}:
        stderr, calls = run(work, {"CIRCOLL_REPORT": "short"} | variables)
        # A native persistent request counts once, where it is made. The program starts each twice.
        persistent = sum(call[2] == "persistent" for call in calls)
        count = len(calls) - persistent // 2 if variables else len(calls)
        by = 0 if variables else count
        reason = "" if by else ", most often for the reason 'chosen'"
        expect(re.fullmatch(f"circoll: served {by} of {count} collective calls{reason}; (\\d+|less than 1) % of the program's "
                            "time in collectives\n", stderr), f"CIRCOLL_REPORT=short: {stderr}")

    # Names of files have placeholders. A file of lines grows by one in each run.
    for job, name in ("SLURM_JOB_ID", "17"), ("PBS_JOBID", "18.server"), ("LSB_JOBID", "19"):
        stderr, calls = run(work, {"CIRCOLL_REPORT": work / "%j.%n.%h.%%.jsonl", "CIRCOLL_TRACE": work / "%j.trace", job: name})
        lines = (work / f"{name}.{np}.{socket.gethostname()}.%.jsonl").read_text().splitlines()
        expect(stderr == "" and len(lines) == 1, f"placeholders of {job}: {stderr}")
        check_json(json.loads(lines[0]), calls, set())
        check_trace(json.loads((work / f"{name}.trace").read_text()), calls)
    for times in 1, 2:
        stderr, calls = run(work, {"CIRCOLL_REPORT": work / "all.jsonl"})
        lines = (work / "all.jsonl").read_text().splitlines()
        expect(len(lines) == times, f"{times} runs are {len(lines)} lines")
        for line in lines:
            check_json(json.loads(line), calls, set())
    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "%p.json"})
    named = [path for path in work.iterdir() if re.fullmatch(r"\d+\.json", path.name)]
    expect(stderr == "" and len(named) == 1, f"the process id is in the name: {stderr} {named}")
    stderr, calls = run(work, {"CIRCOLL_REPORT": work / "a%x.json"})
    expect((work / "a%x.json").exists() and stderr.count("circoll: CIRCOLL_REPORT: '%x' in") == 1 == len(stderr.splitlines()),
           f"an unknown placeholder stays, with one warning: {stderr}")

    # With CIRCOLL_NODE=off, messages of a node do not get the price of messages through memory, here a second each.
    (work / "slow.json").write_text(json.dumps({
        "circoll_machine": 1, "name": "slow", "alpha_s": 1e-6, "beta_s_per_byte": 1e-10, "gamma_s_per_byte": 1e-11,
        "node_ways": [{"name": "stored", "from_bytes": 0, "alpha_s": 1, "beta_s_per_byte": 1e-10, "gamma_s_per_byte": 1e-11}]}))
    for node in ("auto", "off") if int(np) > 1 else ():
        stderr, calls = run(work, {"CIRCOLL_REPORT": work / "report.json", "CIRCOLL_MACHINE": work / "slow.json",
                                   "CIRCOLL_NODE": node})
        expect(stderr == "", f"the machine is read: {stderr}")
        rows = json.loads((work / "report.json").read_text())["rows"]
        whys = [one["why"] for row in rows for one in row["histogram"]
                if row["collective"] == "allreduce" and row["comm_size"] == int(np)]
        expect(whys, "there are allreduces of all ranks")
        slow = [why for why in whys if re.search(r"', [0-9.]+ s\b", why)]
        expect(len(slow) == (len(whys) if node == "auto" else 0), f"{node}: {whys}")

    missing = work / "missing"
    stderr, _ = run(work, {"CIRCOLL_REPORT": missing / "a", "CIRCOLL_TRACE": missing / "b"})
    expect(len(stderr.splitlines()) == 2 and "CIRCOLL_REPORT: the file" in stderr and "CIRCOLL_TRACE: the file" in stderr,
           f"files that cannot be written are one warning each: {stderr}")
    if int(np) > 1:
        differ = ["sh", "-c", 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then export CIRCOLL_TRACE=b; fi; exec "$@"',
                  "sh"]
        stderr, _ = run(work, {"CIRCOLL_TRACE": work / "none"}, differ)
        expect(stderr.count("differ among the ranks") == 1 and not (work / "none").exists(),
               f"ranks that differ are one warning and no trace: {stderr}")

end()
