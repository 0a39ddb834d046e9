#!/usr/bin/env python3
"""whatif_test.py MPI DROPIN YIELD CLI PROGRAM: the calls of a program are in its trace, and the program can be played again.

PROGRAM is counted_calls, on 3 ranks. Its communicators have 1, 2 and 3 of them. The trace is read by a small reader of
its own (the form is that of core/facts/call_trace.hpp).
"""
import glob
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, cli, program = sys.argv[1:6]
RANKS = 3
COLLECTIVES = ["allreduce", "reduce", "reduce_scatter_block", "reduce_scatter", "allgather", "allgatherv", "gather", "gatherv", "scatter",
               "scatterv", "bcast", "barrier", "alltoall", "alltoallv", "scan", "exscan"]
MODES = ["blocking", "nonblocking", "persistent"]
NEW_COMMUNICATOR, NEW_SHAPE, FIRST_CALL = 1, 2, 3


class Reader:
    """Reads numbers of seven bits a byte, and what is made of them."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def raw(self, length):
        self.at += length
        return self.data[self.at - length:self.at]

    def text(self):
        return self.raw(self.number()).decode()

    def communicator(self, ranks):
        kind, instance = self.number(), self.number()
        if kind == 2:
            return None, instance
        members, before = list(range(ranks)), -1
        if kind == 1:
            members = []
            for _ in range(self.number()):
                before += 1 + self.signed()
                members.append(before)
        return members, instance

    def shape(self):
        collective, mode, communicator, count, size, op, root, request = (self.number() for _ in range(8))
        return {"collective": COLLECTIVES[collective], "mode": MODES[mode], "communicator": communicator, "bytes": count * size,
                "size": size, "op": op, "root": root, "request": request, "served": self.text()}


def read(path):
    """Facts of the run, and of each rank (communicators, [(shape, begin, end)], end of the program)."""
    head, body = path.read_bytes().split(b"\n", 1)
    expect(head == b"circoll-calls 1", "the file says its version", head)
    reader = Reader(body)
    facts = {"ranks": reader.number(), "cores": reader.number(), "clock_error_ns": reader.number(), "program": reader.text(),
             "mpi": reader.text(), "machine": reader.text()}
    ranks = []
    for rank in range(facts["ranks"]):
        expect(reader.number() == rank, "ranks stand in order")
        expect(reader.number() == 0, "no call is dropped")
        begin, until = reader.signed(), reader.signed()
        expect(begin >= 0, "no rank begins before the first")
        expect(abs(struct.unpack("<d", reader.raw(8))[0] - 1) < 0.01, "clocks run alike")
        communicators, shapes, calls, last = [], [], [], 0
        while (record := reader.number()) != 0:
            if record == NEW_COMMUNICATOR:
                communicators.append(reader.communicator(facts["ranks"]))
            elif record == NEW_SHAPE:
                shapes.append(reader.shape())
            else:
                start = last + reader.signed()
                last = start + reader.number()
                calls.append((shapes[record - FIRST_CALL], start, last))
        expect(len({tuple(shape.items()) for shape in shapes}) == len(shapes), "each shape is defined once")
        expect(all(0 <= start <= stop <= until for _, start, stop in calls), "calls are inside the program")
        expect(all(before[2] <= after[1] for before, after in zip(calls, calls[1:])), "calls follow one another")
        ranks.append((communicators, calls))
    expect(body[reader.at:reader.at + 5] == b"\nend " and len(body) == reader.at + 13, "the file ends behind the last rank")
    return facts, ranks


def run(work, **variables):
    """What the program has logged of each rank, [(ranks, mode, collective, bytes)], and standard error."""
    log = work / "log"
    for old in glob.glob(f"{log}.*"):
        os.unlink(old)
    settings = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}", *settings, program, str(log)]
    done = subprocess.run(launching.launcher(mpi, *launching.processes(mpi, RANKS, command)), env=launching.environment(), timeout=100,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"the program succeeds with {variables}", done.stderr)
    logged = []
    for rank in range(RANKS):
        rows = [line.split() for line in pathlib.Path(f"{log}.{rank}").read_text().splitlines()]
        logged.append([(int(size), mode, collective, int(length)) for size, mode, collective, length in rows])
    return logged, done.stderr


def whatif(*words):
    done = subprocess.run([cli, "whatif", *map(str, words)], capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    trace = work / f"run.{RANKS}.calls"
    for variables in {}, {"CIRCOLL_POLICY": "native"}, {"CIRCOLL_SERVE_AFTER": "0"}:
        native = "CIRCOLL_POLICY" in variables
        logged, stderr = run(work, CIRCOLL_TRACE=work / "run.%n.calls", **variables)
        expect(stderr == "", "nothing is printed", stderr)
        facts, ranks = read(trace)
        expect(facts["ranks"] == RANKS and facts["cores"] == RANKS, "all ranks are on this node", facts)
        expect(facts["program"] == pathlib.Path(program).name, "the program has a name", facts)
        expect(facts["mpi"].startswith("Open MPI" if mpi == "openmpi" else "MPICH"), "the library has a name", facts)
        expect(json.loads(facts["machine"])["circoll_machine"] == 1, "the machine is a machine file", facts)
        for rank, (communicators, calls) in enumerate(ranks):
            found = [(len(communicators[shape["communicator"]][0]), shape["mode"], shape["collective"], shape["bytes"])
                     for shape, _, _ in calls]
            # The log has nonblocking calls in the order of their starts, too.
            expect(found == logged[rank], f"the trace of rank {rank} has its calls", variables)
            expect(communicators == [(list(range(RANKS)), 0), ([rank] if rank == 1 else [0, 2], 0)], "communicators have members",
                   communicators)
            roots = {shape["root"] for shape, _, _ in calls if shape["collective"] == "bcast" and shape["mode"] == "blocking"}
            expect(roots == ({0, RANKS - 1} if rank == 1 else {1, RANKS - 1}), "roots are those of communicators", roots)
            expect(all(shape["size"] == 8 for shape, _, _ in calls if shape["bytes"] > 0), "elements are doubles")
            sums = {shape["op"] for shape, _, _ in calls if shape["collective"] == "scan"}
            expect(sums == {0b1001}, "a sum of doubles commutes, is neither idempotent nor exact, and is MPI's", sums)
            served = {shape["served"] == "native" for shape, _, _ in calls}
            expect(served == {True} if native else False in served, "the trace says what served", variables)

        rc, out, err = whatif(trace, "--json", "--policy", "auto,classic", "--algorithm", "allreduce=ring")
        expect(rc == 0 and err == "", "the program is played", out, err)
        answer = json.loads(out)
        expect(answer["ranks"] == RANKS and answer["calls"] == sum(map(len, logged)), "all calls count", answer)
        rows = [row["what"] for row in answer["changes"]]
        expect(rows[:3] == ["policy auto", "policy classic", "allreduce/ring"] and rows[-1] == "load balanced", "changes", rows)
        for row in [answer["recorded"], answer["simulated"], *answer["changes"]]:
            expect(0 < row["in_collectives_s"] < row["run_s"] and 0 <= row["waiting_s"] <= row["in_collectives_s"], "times", row)
        rc, out, err = whatif(trace, "-p", "8")
        expect(rc == 2 and "only programs on MPI_COMM_WORLD can grow" in err, "half of the ranks cannot become more", out, err)

    # Both a report and a trace, and files that cannot be written.
    logged, stderr = run(work, CIRCOLL_TRACE=trace, CIRCOLL_REPORT=work / "report.json")
    expect(stderr == "" and json.loads((work / "report.json").read_text())["calls"] > 0, "and a report", stderr)
    read(trace)
    _, stderr = run(work, CIRCOLL_TRACE=work / "missing" / "run.calls")
    expect(stderr.count("\n") == 1 and "could not be written" in stderr, "a directory is missing", stderr)
    trace.write_bytes(trace.read_bytes()[:-20])
    rc, out, err = whatif(trace)
    expect(rc == 2 and "is cut off" in err and len(err.splitlines()) == 1, "half a file is refused", err)
end()
