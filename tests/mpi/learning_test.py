#!/usr/bin/env python3
"""learning_test.py MPI DROPIN YIELD PROGRAM: a program whose calls are learned from gets other algorithms, on all ranks alike, and the
same bits as without."""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program = sys.argv[1:5]
preload = launching.preloaded(mpi, dropin, shim)
CALLS = 24000
ATTEMPTS = 4  # how much is tried depends on the time that calls take: where others keep the machine busy, a run may try nothing


def run(np, *variables, calls=None, late_us=0):
    command = launching.launcher(mpi) + launching.processes(
        mpi, np, ["env", f"LD_PRELOAD={preload}", *variables, program, str(calls or CALLS), str(late_us)])
    done = subprocess.run(command, env=launching.environment(), capture_output=True, text=True, timeout=300)
    expect(done.returncode == 0, f"{np} ranks, {variables}: exit code {done.returncode}", done.stdout, done.stderr)
    return done.stdout


def searched_again(first, second):
    """For every row of the second run whose group the first run's rules name: whether more than what serves was tried."""
    known = {(rule["p"][0], name, rule.get("bytes", [0])[0], tuple(rule.get("op", []))) for name, rules in first.items()
             if isinstance(rules, list) for rule in rules if "use" in rule}
    searched = []
    for row in second["rows"]:
        op = (["commutative" if row["commutative"] else "noncommutative", "exact" if row["exact"] else "inexact",
               "idempotent" if row["idempotent"] else "nonidempotent"] if row["collective"] in
              ("allreduce", "reduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan") else [])
        if (row["comm_size"], row["collective"], row["bytes_from"], tuple(op)) in known:
            searched.append(len(row["tried"]) > 1)
    return searched


with tempfile.TemporaryDirectory() as directory:
    for np in (2, 3, 4):
        report = pathlib.Path(directory) / f"{np}.json"
        unlearned = run(np, "CIRCOLL_POLICY=auto")
        for _ in range(ATTEMPTS):
            learned = run(np, "CIRCOLL_POLICY=learn", f"CIRCOLL_REPORT={report}")
            expect(learned == unlearned, f"{np} ranks: the same bits", unlearned, learned)
            content = json.loads(report.read_text())
            tried = {(row["collective"], one["algorithm"]) for row in content["learned"]["rows"] for one in row["tried"]}
            if any(name == "native" for _, name in tried):
                break
        expect(unlearned.count("rank ") == np, f"{np} ranks: all digests are printed", unlearned)
        served = {(row["collective"], row["served_by"]) for row in content["rows"] if row["mode"] == "blocking"}
        expect(tried and {(collective, name.split(":")[0]) for collective, name in tried} <= served,
               f"{np} ranks: what was tried has served calls", tried, served)
        expect(any(name == "native" for _, name in tried), f"{np} ranks: the library's own is tried", tried)
        learned = content["learned"]
        # The price is bounded in learn_price_test, whose clock no other process delays.
        expect(learned["tried_s"] > 0 and learned["in_collectives_s"] > 0, f"{np} ranks: trying is counted", learned)
        expect(all(row["calls"] > 0 and row["use"] for row in learned["rows"]), f"{np} ranks: rows say what serves", learned)
        # The library never serves sums of three numbers that round. Nor does it serve calls of communicators of one
        # rank.
        rows = content["rows"]
        rounding = [row for row in rows if row["comm_size"] > 2 and row["collective"] in ("reduce", "scan", "reduce_scatter_block")]
        expect(np == 2 or rounding, f"{np} ranks: there are sums that round")
        expect(all(row["served_by"] != "native" for row in rounding), f"{np} ranks: sums keep their bits", report.read_text())
    # Across nodes learning is the default, also for calls with arrays of counts. On one node it is not.
    report = pathlib.Path(directory) / "nodes.json"
    FEWER = 4000
    unlearned = run(3, "CIRCOLL_CORES=1", "CIRCOLL_LEARN=off", f"CIRCOLL_REPORT={report}", calls=FEWER)
    expect(json.loads(report.read_text())["learned"] is None, "CIRCOLL_LEARN=off: nothing is learned")
    natively = ("bcast", "allgatherv", "alltoallv")
    for _ in range(ATTEMPTS):
        learned = run(3, "CIRCOLL_CORES=1", f"CIRCOLL_REPORT={report}", calls=FEWER)
        expect(learned == unlearned, "across nodes: the same bits", unlearned, learned)
        rows = json.loads(report.read_text())["learned"]["rows"]
        tried = {(row["collective"], one["algorithm"]) for row in rows for one in row["tried"]}
        if all((name, "native") in tried for name in natively):
            break
    for name in natively:
        expect((name, "native") in tried, f"across nodes: native is tried for {name}", tried)
    for name in ("gatherv", "scatterv"):  # no two calls in turn have like sizes
        of_name = [row for row in rows if row["collective"] == name]
        expect(of_name and all(row["use"] == "auto" and not row["tried"] for row in of_name), f"across nodes: {name} keeps its choice", of_name)
    # An exchange may go through nodes. The model takes no such way by itself, as no rank knows the sizes.
    for _ in range(ATTEMPTS):
        learned = run(4, "CIRCOLL_CORES=2", f"CIRCOLL_REPORT={report}", calls=FEWER, late_us=2000)
        rows = json.loads(report.read_text())["learned"]["rows"]
        through = {one["algorithm"] for row in rows if row["collective"] == "alltoallv" for one in row["tried"]}
        if "node_aware:cores=2" in through:
            break
    expect(learned == run(4, "CIRCOLL_CORES=2", "CIRCOLL_LEARN=off", calls=FEWER), "through nodes: the same bits", learned)
    expect("node_aware:cores=2" in through, "across nodes: an alltoallv is tried through nodes", through)
    # There the first calls with short blocks are native, since to choose takes longer than they.
    early = pathlib.Path(directory) / "early.json"
    run(3, "CIRCOLL_CORES=1", f"CIRCOLL_REPORT={early}", calls=200)
    moving = [row for row in json.loads(early.read_text())["rows"]
              if row["mode"] == "blocking" and row["collective"] in ("bcast", "allgather", "gather", "scatter", "alltoall")]
    short = {row["served_by"] for row in moving if row["bytes"] <= 1024}
    long = {row["served_by"] for row in moving if row["bytes"] > 1024}
    expect(short == {"native"}, "early calls with short blocks are native", early.read_text())
    expect(long - {"native"}, "those with long blocks are served", early.read_text())
    run(3, f"CIRCOLL_REPORT={report}", calls=100)
    expect(json.loads(report.read_text())["learned"] is None, "on one node nothing is learned by default")
    # The learner keeps its measurements in a file, and the next run begins with them.
    kept = pathlib.Path(directory) / "kept.json"
    report = pathlib.Path(directory) / "second.json"
    CALLS *= 3
    for _ in range(ATTEMPTS):
        alone = run(3, f"CIRCOLL_LEARN={kept}", f"CIRCOLL_REPORT={pathlib.Path(directory) / 'first.json'}")
        if not kept.exists():  # the calls were too few
            continue
        first = json.loads(kept.read_text())
        again = run(3, "CIRCOLL_POLICY=learn", f"CIRCOLL_LEARN={kept}", f"CIRCOLL_REPORT={report}")
        expect(alone == again, "the same bits with what was kept", alone, again)
        second = json.loads(report.read_text())["learned"]
        searched = searched_again(first, second)
        # Some calls may be slower than before, by the load of the machine.
        if searched and sum(searched) < len(searched):
            break
    expect(kept.exists(), "something is learned and kept")
    expect(first["learned"]["library"], "the file says whose rules they are", first)
    expect(searched, "settled rows are kept and met again", first, second)
    expect(sum(searched) < len(searched), "what was known is not searched anew", first, second)
    # A file of another kind is one warning, is not used, and stays.
    kept.write_text("{}")
    command = launching.launcher(mpi) + launching.processes(
        mpi, 2, ["env", f"LD_PRELOAD={preload}", f"CIRCOLL_LEARN={kept}", program, "10"])
    done = subprocess.run(command, env=launching.environment(), capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0 and done.stderr.count("circoll: CIRCOLL_LEARN") == 2, "a warning at the beginning and one at the end",
           done.stderr)
    expect(kept.read_text() == "{}", "the file stays as it is")
end()
