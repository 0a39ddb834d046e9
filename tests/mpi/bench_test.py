"""bench_test.py BENCH LAUNCH...: circoll-bench in its ways to start ranks together. LAUNCH is followed by a number of ranks and the
program. What it measures is checked for consistency; no time is."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from launching import end, expect

BENCH, LAUNCH = sys.argv[1], sys.argv[2:]
FACTORS = {"allreduce": lambda p: 2 * (p - 1) / p, "allgather": lambda p: p - 1, "bcast": lambda p: min(p - 1, 1),
           "alltoall": lambda p: (p - 1) / p}


def run(ranks, *options):
    with tempfile.TemporaryDirectory() as work:
        table, rows = work + "/table.json", work + "/rows.csv"
        done = subprocess.run([*LAUNCH, str(ranks), BENCH, *options, "--json", table, "--csv", rows], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            expect(False, f"{options}: exit code {done.returncode}: {done.stderr}")
            return None, [], done.stdout
        with open(table, encoding="utf-8") as file, open(rows, encoding="utf-8") as lines:
            return json.load(file), list(csv.DictReader(lines)), done.stdout


def names():
    """Parameters are separated by commas as names are; a collective before a name makes it that one's; a name that no collective has is an
    error."""
    several = ["linear", "ring:segment=1Ki", "ring:segments=2,relabel=2", "circulant_optimal:relabel=2"]
    _, rows, _ = run(4, "--collective", "allgather", "--algorithm", ",".join(several + ["binary"]), "--bytes", "8Ki", "--reps", "3")
    found = sorted({row["algorithm"] for row in rows})
    expect(found == sorted(several), f"names: {found}")
    _, rows, _ = run(2, "--collective", "scatter,gather", "--algorithm", "scatter/linear,binomial", "--bytes", "8", "--reps", "3")
    found = sorted({(row["collective"], row["algorithm"]) for row in rows})
    expect(found == [("gather", "binomial"), ("scatter", "binomial"), ("scatter", "linear")], f"names of one collective: {found}")
    for wrong in ("no_such", "scatter/no_such", "no_such/linear", "ring:no_such=1", "segment=4Ki"):
        done = subprocess.run([*LAUNCH, "1", BENCH, "--algorithm", wrong], check=False, capture_output=True, text=True)
        expect(done.returncode != 0 and wrong.split(":")[0] in done.stdout + done.stderr, f"names: {wrong}: {done.stdout}{done.stderr}")


def sizes():
    """Ranges of sizes double."""
    result, _, _ = run(2, "--collective", "bcast", "--algorithm", "native", "--bytes", "8..100,1Ki", "--reps", "3")
    expect(result is not None and [row["bytes"] for row in result["rows"]] == [8, 16, 32, 64, 1024], f"sizes: {result and result['rows']}")


def warm_up():
    """Repetitions before those that count are not among them."""
    for asked in (0, 7):
        result, rows, _ = run(2, "--collective", "bcast", "--algorithm", "native,binomial", "--bytes", "8", "--reps", "3", "--warm-up", str(asked),
                              "--sync", "barrier")
        expect(result is not None and [(row["warm_up"], row["reps"]) for row in result["rows"]] == [(asked, 3), (asked, 3)] and len(rows) == 6,
               f"warm-up {asked}: {result and result['rows']}, {len(rows)} rows")


def as_in_programs():
    """Work between repetitions takes its time, which does not count; arrivals need a clock, and are recorded."""
    begin = time.monotonic()
    result, _, _ = run(2, "--collective", "barrier", "--algorithm", "native,auto", "--reps", "5", "--sync", "barrier", "--between", "0.05")
    took = time.monotonic() - begin
    expect(result is not None and result["between_s"] == 0.05 and result["spread_s"] == 0, f"work between: {result}")
    expect(took > 2 * 3 * 0.05, f"ranks work before each repetition: {took} s")
    expect(result is not None and all(0 < row["min_us"] < 50e3 for row in result["rows"]), f"their work does not count: {result}")
    result, _, _ = run(2, "--collective", "barrier", "--algorithm", "native", "--reps", "20", "--sync", "clock", "--spread", "0.05")
    expect(result is not None and result["spread_s"] == 0.05, f"arrivals: {result}")
    expect(result is not None and all(0 < row["min_us"] < 2e3 for row in result["rows"]), f"time counts from the last arrival: {result}")
    done = subprocess.run([*LAUNCH, "2", BENCH, "--spread", "0.01", "--sync", "barrier"], check=False, capture_output=True, text=True)
    expect(done.returncode != 0 and "--spread needs a start by the clock" in done.stdout + done.stderr, f"refused: {done.stderr}")


def measure(ranks, sync):
    name = f"np {ranks}, --sync {sync}"
    reps = 25
    result, rows, text = run(ranks, "--collective", ",".join(FACTORS), "--algorithm", "native,auto,linear", "--bytes", "8,4Ki",
                             "--reps", str(reps), "--seconds", "0.3", "--sync", sync, "--check")
    if result is None:
        return
    processors = len(os.sched_getaffinity(0))
    # On a busy machine ranks may be late.
    possible = {"clock", "barrier"} if sync == "auto" and ranks <= processors else {"barrier" if sync == "auto" else sync}
    expected = result["sync"]
    expect(expected in possible, f"{name}: started by {expected}")
    expect(text.startswith("# Circoll ") and f" with {result['mpi']}: {ranks} rank" in text.splitlines()[0], f"{name}: {text.splitlines()[:1]}")
    expect(result["date"][:2] == "20" and result["date"].endswith("Z"), f"{name}: the date is {result['date']}")
    expect(f"together by {expected}" in text, f"{name}: the table does not say how")
    expect((result["clock_error_us"] > 0) == (expected == "clock" and ranks > 1), f"{name}: error {result['clock_error_us']}")
    missing = text.count("not measured")  # on a machine so busy that no repetition was valid
    expect(len(result["rows"]) + missing == len(FACTORS) * 2 * 3, f"{name}: {len(result['rows'])} rows")
    for row in result["rows"]:
        what = f"{name}: {row}"
        measured = sorted(float(r["seconds"]) * 1e6 for r in rows
                          if (r["collective"], r["algorithm"], int(r["bytes"])) ==
                          (row["collective"], row["algorithm"], row["bytes"]))
        expect(row["correct"] == "yes", what)
        expect(row["reps"] == len(measured) > 0, what)
        expect(result["sync"] == "clock" or (3 <= row["reps"] <= reps and row["invalid"] == 0), what)
        expect(row["min_us"] <= row["median_low_us"] <= row["median_us"] <= row["median_high_us"], what)
        expect(abs(row["min_us"] - measured[0]) < 0.01 and row["median_high_us"] <= measured[-1] + 0.01, what)
        if row["algbw_GBps"] > 0:
            expect(abs(row["busbw_GBps"] / row["algbw_GBps"] - FACTORS[row["collective"]](ranks)) < 1e-9, what)


def plain(ranks, *options):
    """The output of a run in lines, without files."""
    done = subprocess.run([*LAUNCH, str(ranks), BENCH, *options], check=False, capture_output=True, text=True)
    expect(done.returncode == 0, f"{options}: exit code {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def compared():
    """Native and auto alone are a row for each cell of at most 80 columns, with a bar. Otherwise rows have at most 100."""
    several = "allreduce,reduce,reduce_scatter_block,allgather,gather,scatter,alltoall,scan,exscan,bcast,barrier"
    options = ("--bytes", "8,16Ki,1Mi", "--reps", "5", "--seconds", "0.01", "--check")
    for sync in ("barrier", "auto"):
        lines = plain(2, "--collective", several, "--algorithm", "native,auto", *options, "--sync", sync)
        rows = [line for line in lines if not line.startswith("#")]
        expect(len(rows) == 31, f"--sync {sync}: {len(rows)} rows")
        table = [line for line in lines if not line.startswith(("# Circoll", "# auto goes"))]  # names of hosts and files may be long
        expect(max(map(len, table)) <= 80, f"--sync {sync}: {max(table, key=len)}")
        for row in rows:
            found = re.fullmatch(r"([a-z_]+) +(-|\d+(?:\.\d)? (?:B|KiB|MiB)) +(late|[\d.]+) +(late|[\d.]+) +(-|[\d.]+)"
                                 r"(?:  ([ #]{7})\|(#{0,7}))?", row)
            expect(found, f"--sync {sync}: {row}")
            if not found:
                continue
            collective, size, native, own, ratio, slower, faster = found.groups()
            # After a barrier, a rank of a short call with a root may only leave.
            rooted = "together by barrier" in "".join(lines) and collective in ("reduce", "gather", "scatter", "bcast") and "MiB" not in size
            expect((ratio == "-") == (rooted or "late" in (native, own)), f"--sync {sync}: the ratio of {row}")
            expect((faster is None) == (ratio == "-"), f"--sync {sync}: the bar of {row}")
            if ratio != "-":
                quotient = float(native) / float(own)
                expect(abs(float(ratio) - quotient) < 0.006 + 0.02 * quotient + 0.02 * (1 + quotient) / float(own), f"--sync {sync}: {row}")
                expect(not faster if float(ratio) < 0.9 else "#" not in slower if float(ratio) > 1.1 else True, f"--sync {sync}: {row}")
        missing = sum(row.split()[-1] == "-" for row in rows)
        expect("# all results equal the native ones" in lines, f"--sync {sync}: the results are compared")
        expect(re.fullmatch(rf"# auto is faster than native in \d+ of {31 - missing} cells, [\d.]+ times in the geometric mean", lines[-1]),
               f"--sync {sync}: the verdict: {lines[-1]}")
        expect(any(line.startswith("# no ratio:") for line in lines) == ("together by barrier" in "".join(lines)), f"--sync {sync}: {lines}")
    wide = plain(2, "--collective", "scatter", "--algorithm", "auto,native", "--bytes", "8", "--reps", "5", "--sync", "barrier", "--wide")
    expect(any("busbw" in line for line in wide) and sum(line.startswith("scatter ") for line in wide) == 2, f"--wide: {wide}")
    usual = plain(2, "--collective", "scatter", "--algorithm", "auto,native,linear", "--bytes", "8", "--reps", "5", "--sync", "barrier")
    expect(sum(line.startswith("scatter ") and line.split()[-2] == "-" for line in usual) == 3, f"no speedup of ranks that leave: {usual}")
    result, _, text = run(2, "--collective", "scatter,allreduce", "--algorithm", "auto,native", "--bytes", "8", "--reps", "5", "--sync", "barrier")
    without = [row["collective"] for row in result["rows"] if row["speedup"] is None] if result else None
    expect(without == ["scatter", "scatter"], f"JSON has no ratio of {without}: {text}")
    alone, _, _ = run(2, "--collective", "allreduce", "--algorithm", "auto", "--bytes", "8", "--reps", "5", "--sync", "barrier")
    expect(alone and alone["rows"][0]["speedup"] is None, "JSON has no ratio without a native time")
    for usual in (("--algorithm", "native,auto,all"), ("--algorithm", "auto"), ("--guidelines",)):
        lines = plain(2, "--collective", "bcast,reduce_scatter_block", *usual, "--bytes", "8", "--reps", "3", "--seconds", "0.001")
        rows = [line for line in lines if not line.startswith("#")]
        expect(rows and max(map(len, rows)) <= 100, f"{usual}: {max(rows, key=len)}")
        expect(sum("auto" in row.split() for row in rows) >= 1, f"{usual}: a row for each algorithm")


def rewrites():
    """A run that uses the buffers between repetitions has the same results, and says so; another says that it does not."""
    for buffers in ("reuse", "rewrite"):
        result, rows, _ = run(2, "--collective", "allreduce,bcast,gather", "--bytes", "8,100Ki", "--reps", "5", "--buffers", buffers, "--check")
        expect(result is not None and result["buffers"] == buffers, f"--buffers {buffers}: {result and result['buffers']}")
        expect(len(rows) > 0 and all(row["correct"] == "yes" for row in result["rows"]), f"--buffers {buffers}: wrong results")


def measure_guidelines(ranks):
    name = f"np {ranks}, --guidelines"
    result, _, text = run(ranks, "--guidelines", "--collective", "reduce,allreduce,bcast,scan,gatherv", "--bytes", "10,4Ki", "--reps", "4",
                          "--seconds", "0.02", "--type", "int32", "--op", "sum")
    if result is None:
        return
    unit = 4 * ranks
    sizes = {(10 + unit - 1) // unit * unit, (4096 + unit - 1) // unit * unit}
    sides = {(row["side"], row["algorithm"]): row for row in result["sides"]}
    expect({row["bytes"] for row in result["sides"]} == sizes, f"{name}: sizes {sizes}")
    for algorithm in ("native", "auto"):
        for side in ("reduce", "allreduce", "reduce_scatter@root", "reduce+bcast", "reduce_scatter_block+gather", "scatter+allgather",
                     "allgatherv@root", "exscan+reduce_local", "gatherv/2+gatherv/2", "allreduce/2+allreduce/2"):
            expect((side, algorithm) in sides, f"{name}: {side} of {algorithm} is missing")
            expect(side in text, f"{name}: {side} is not printed")
    expect(sides["reduce+bcast", "native"]["served_by"] == "native+native", f"{name}: served by")
    expect(("allreduce", "nonoverlapping") in sides, f"{name}: a counterpart is missing")
    expect(("allreduce+copy_block", "auto") not in sides, f"{name}: a guideline of another collective")
    keys = [(row["side"], row["algorithm"], row["bytes"]) for row in result["sides"]]
    expect(len(keys) == len(set(keys)), f"{name}: a side twice")
    # The results of one call are also in the table, in its units.
    for row in result["rows"]:
        side = next(s for s in result["sides"] if s["side"] == row["collective"] and s["algorithm"] == row["algorithm"] and
                    s["bytes"] == row["bytes"] * (ranks if row["collective"] == "gatherv" else 1))
        expect(side["median_us"] == row["median_us"], f"{name}: {row}")


def nobody_is_in_time():
    """With more ranks than processors most starts are late, and few are tried: what has no valid repetition has no row, and is named."""
    for options in (["--collective", "allreduce,bcast", "--algorithm", "native,auto,linear,binomial"], ["--guidelines"]):
        result, _, text = run(5, *options, "--bytes", "8", "--reps", "1", "--seconds", "1e-6", "--sync", "clock")
        if result is None:
            continue
        rows = result.get("sides", result["rows"])
        expect(all(row["reps"] >= 1 and row["median_us"] > 0 for row in rows), f"{options}: {rows}")
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        missing = [line for line in lines if "not measured" in line]
        expect(len(lines) == len(rows) + len(missing), f"{options}: {len(rows)} rows of {text}")


nobody_is_in_time()
for np in (2, 3):
    measure_guidelines(np)
for np in (1, 2, 3):
    for how in ("clock", "barrier", "auto"):
        if how != "clock" or np < 3:  # with more ranks than processors nobody can be in time
            measure(np, how)
names()
sizes()
warm_up()
as_in_programs()
compared()
rewrites()
bad = subprocess.run([*LAUNCH, "1", BENCH, "--sync", "stopwatch"], check=False, capture_output=True, text=True)
expect(bad.returncode == 2 and "stopwatch" in bad.stderr, f"--sync stopwatch: {bad.returncode} {bad.stderr}")
end()
