#!/usr/bin/env python3
"""Runs an MPI program without and with the drop-in, compares what it prints, and reads who served its collectives.

Lines are compared word by word. They must be identical, but for numbers on lines that a --close pattern allows to differ
because sums are added in another order. On one or two ranks there is no other order, and everything must be identical.
Exit status: 0 alike and served, 1 not.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import report

LAUNCH = pathlib.Path(__file__).resolve().parents[1] / "dev/launch"
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
LIMIT_S = 60  # of one run: a hang


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="its name in tables")
    parser.add_argument("--variant", default="", help="what is particular about this run")
    parser.add_argument("--mpi", required=True, choices=MPIS)
    parser.add_argument("--np", required=True, type=int)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree with the drop-in")
    parser.add_argument("--env", action="append", default=[], metavar="VARIABLE=VALUE", help="for the run with the drop-in")
    parser.add_argument("--ignore", action="append", default=[], metavar="REGEX", help="leave out these lines: times")
    parser.add_argument("--close", action="append", default=[], nargs=3, metavar=("REGEX", "RELATIVE", "ABSOLUTE"),
                        help="lines whose numbers may differ by the larger of both; the first pattern that matches holds")
    parser.add_argument("--why", default="sums in another order", help="why they may differ")
    parser.add_argument("--unsteady", action="store_true",
                        help="the program differs from itself from run to run: run it twice without the drop-in to show "
                             "that, and let --close hold for any number of ranks")
    parser.add_argument("--served", default="", metavar="COLLECTIVE,...", help="what must be served")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def end(process):
    """Ends a launcher, which ends its ranks if it is asked to."""
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


class Failed(Exception):
    """A run that ends badly, or not at all."""


def run(args, preload, report_file=None):
    """The lines that the program prints."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    command = list(args.command)
    if preload:
        command = [str(args.build / "bin/circoll"), "run", "--mpi", args.mpi, "--"] + command
        # The programs are short, so the drop-in serves every call from the first one on.
        environment.update(CIRCOLL_SERVE_AFTER="0", CIRCOLL_REPORT=str(report_file), **dict(setting.split("=", 1) for setting in args.env))
    launch = [str(LAUNCH), "crowded", args.mpi, *(["--mca", "btl", "self,vader"] if args.mpi == "openmpi" else []), "-np", str(args.np)]
    if args.mpi == "mpich":
        shim = args.build / "tests/mpi/libcircoll_yield.so"  # MPICH spins while it waits
        if shim.exists() and args.np > (os.cpu_count() or 1) // 2:
            environment["LD_PRELOAD"] = str(shim)
    process = subprocess.Popen(launch + command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    how = "with" if preload else "without"
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        end(process)
        raise Failed(f"{how} the drop-in the program does not end within {LIMIT_S} s: {' '.join(launch + command)}") from None
    if process.returncode != 0:
        raise Failed(f"{how} the drop-in the program ends with status {process.returncode}: "
                     f"{' '.join(launch + command)}\n{out[-1000:]}\n{err[-1000:]}")
    ignored = re.compile("|".join(args.ignore)) if args.ignore else None
    return [line for line in out.splitlines() if line.strip() and not (ignored and ignored.search(line))]


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


class Comparison:
    """Of the lines of two runs."""

    def __init__(self, args, left, right):
        self.lines = len(left)
        self.identical = 0
        self.largest = 0.0   # relative difference of two numbers
        self.problems = []
        if len(left) != len(right):
            self.problems.append(f"{len(left)} lines without the drop-in, {len(right)} with it")
        close = args.close if args.np > 2 or args.unsteady else []
        for a, b in zip(left, right):
            if a == b:
                self.identical += 1
                continue
            rule = next((rule for rule in close if re.search(rule[0], a)), None)
            if rule is None or not self.near(a.split(), b.split(), float(rule[1]), float(rule[2])):
                self.problems.append(f"without: {a}\n    with:    {b}")

    def near(self, left, right, relative, absolute):
        if len(left) != len(right):
            return False
        for a, b in zip(left, right):
            if a == b:
                continue
            x, y = number(a), number(b)
            if x is None or y is None:
                return False
            size = max(abs(x), abs(y))
            if not abs(x - y) <= max(relative * size, absolute):
                return False
            self.largest = max(self.largest, abs(x - y) / size)
        return True

    def summary(self):
        if self.identical == self.lines:
            return f"all {self.lines} lines identical"
        return f"{self.identical} of {self.lines} lines identical, the others differ by at most {self.largest:.1g}"


def record(args, problems, output="", itself="", calls=None):
    """For examples/table: one line of JSON."""
    if "EXAMPLES_RECORD" not in os.environ:
        return
    calls = calls or {}
    entry = {"program": args.program, "variant": args.variant, "mpi": args.mpi, "np": args.np, "works": not problems,
             "output": output, "itself": itself,
             "calls": {name: [entry.served, entry.native] for name, entry in calls.items()},
             "reasons": sorted({f"{name}: {reason}" for name, entry in calls.items() for reason in entry.reasons})}
    with open(os.environ["EXAMPLES_RECORD"], "a", encoding="utf-8") as out:
        out.write(json.dumps(entry) + "\n")


def main():
    args = arguments()
    print(f"{args.program}{', ' + args.variant if args.variant else ''}: {MPIS[args.mpi]}, {args.np} ranks", flush=True)
    try:
        with tempfile.TemporaryDirectory() as work:
            report_file = pathlib.Path(work) / "report.json"
            native = run(args, preload=False)
            ours = run(args, preload=True, report_file=report_file)
            itself = Comparison(args, native, run(args, preload=False)).summary() if args.unsteady else ""
            calls = report.by_collective(report_file)
    except Failed as failure:
        print(f"  FAILED: {failure}")
        record(args, [failure])
        return 1
    comparison = Comparison(args, native, ours)
    print(f"  output with and without: {comparison.summary()}")
    if comparison.identical < comparison.lines and not comparison.problems:
        print(f"    ({args.why})")
    if itself:
        print(f"  output without, twice:   {itself}")
    print(f"  {'collective':22s} {'served':>8s} {'native':>8s}")
    for name, entry in calls.items():
        remark = ", ".join(dict.fromkeys(entry.algorithms + entry.reasons))
        print(f"  {name:22s} {entry.served:8d} {entry.native:8d}  {remark}")

    problems = comparison.problems[:5]
    if not native:
        problems.append("the program prints nothing")
    if not any(entry.served for entry in calls.values()):
        problems.append("the drop-in served no call")
    problems += [f"{name} was not served" for name in report.not_served(calls, filter(None, args.served.split(",")))]
    for problem in problems:
        print(f"  FAILED: {problem}")
    if not problems:
        print("  PASS")
    record(args, problems, comparison.summary(), itself, calls)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
