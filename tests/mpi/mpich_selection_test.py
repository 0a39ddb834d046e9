"""mpich_selection_test.py TOOL PROGRAM COUNTER YIELD: tuning files for MPICH 4.0, under the real one.

What ran is seen, not believed: by the messages and bytes of each rank, which a preloaded counter before UCX sees (every
rank is a node, so that all messages go that way), or by the lengths that an operator of the program is called with.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import expect

tool, program, counter, shim = sys.argv[1:]
SKIPPED = 77
P = 4  # a power of two: the signatures below are for such
WORD = 8


def by_tool(*arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)


def run(file, cells, np=P, nodes="MPIR_CVAR_NOLOCAL=1", **more):
    """Runs cells ("allreduce:1000"); their fingerprints, by rank: (messages, bytes, lengths)."""
    variables = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": file} if file else {}
    variables |= more
    command = launching.launcher("mpich") + launching.processes(
        "mpich", np, ["env", nodes, f"LD_PRELOAD={counter} {shim}", *(f"{k}={v}" for k, v in variables.items()), program,
                      *cells])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=launching.environment())
    except subprocess.TimeoutExpired:
        expect(False, f"{cells} with {file} hangs")
        return None, ""
    lines = {}
    for line in done.stdout.splitlines():
        cell, *ranks = line.split() or [""]
        if cell in cells:
            lines[cell] = [(int(m), int(b), tuple(int(x) for x in l.split(",") if x))
                           for m, b, l in (rank.split("/") for rank in ranks)]
    return (lines if done.returncode == 0 and len(lines) == len(cells) else None), done.stdout + done.stderr


def signature(collective, algorithm, n, p=P):
    """Messages and bytes of the sender of most: what tells the algorithms apart."""
    q = int(math.log2(p))
    size = n * WORD
    return {
        ("allreduce", "recursive_doubling"): (q, q * size),
        ("allreduce", "reduce_scatter_allgather"): (2 * q, 2 * size * (p - 1) // p),
        ("allreduce", "tsp_ring"): (2 * (p - 1), 2 * size * (p - 1) // p),
        ("bcast", "binomial"): (q, q * size),
        ("bcast", "scatter_ring_allgather"): (q + p - 1, size * (p - 1) // p * 2),
        ("bcast", "scatter_recursive_doubling_allgather"): (2 * q, size * (p - 1) // p * 2),
        ("bcast", "tsp_tree"): (p - 1, (p - 1) * size),  # radix p
        ("allgather", "ring"): (p - 1, (p - 1) * size),
        ("allgather", "recursive_doubling"): (q, (p - 1) * size),
        ("alltoall", "pairwise"): (p - 1, (p - 1) * size),
    }.get((collective, algorithm))


def vector_bytes(collective, n, p=P):
    return n * WORD * (p if collective in ("allgather", "alltoall") else 1)


def decided(file, cell, p=P, nodes=P):
    collective, n, *own = cell.split(":")
    return by_tool("decide_own" if own else "decide", file, collective, p, nodes, vector_bytes(collective, int(n), p)).stdout.strip()


def check_cells(name, file, cells, wanted, **more):
    """Every cell must be served as `wanted`, as the reader says and as messages show."""
    lines, output = run(file, cells, **more)
    if lines is None:
        expect(False, f"{name}: the program failed", output)
        return {}
    for cell, algorithm in zip(cells, wanted):
        collective, n, *_ = cell.split(":")
        said = decided(file, cell)
        expect(said == algorithm, f"{name}: {cell} is decided as '{said}', not as {algorithm}")
        most = max(rank[:2] for rank in lines[cell])
        right = signature(collective, algorithm, int(n))
        expect(most == right, f"{name}: {cell} sends {most}, but {algorithm} sends {right}")
    return lines


def exported(directory):
    """A file from rules; cells on both sides of each bound."""
    file = f"{directory}/exported.json"
    rules = ["allreduce:2-8:0-8000:reduce_scatter_allgather", "allreduce:2-8:8001-80000:recursive_doubling",
             "allreduce:2-8:80001-:tsp_ring", "bcast:4-4:100-200000:binomial", "bcast:4-4:200001-:tsp_tree:4",
             "allgather:2-:0-32000:ring", "allgather:2-:32001-:recursive_doubling", "alltoall:2-:0-:pairwise"]
    written = by_tool("write", file, *rules)
    if written.returncode == SKIPPED:
        print("no MPICH 4.0 here")
        sys.exit(SKIPPED)
    expect(written.returncode == 0, "rules are not exported", written.stderr)
    # The last two are guarded: an operator of the program, and less than one element for each rank.
    cells = ["allreduce:1000", "allreduce:1004", "allreduce:10000", "allreduce:10004", "bcast:1000", "bcast:25000",
             "bcast:25004", "allgather:1000", "allgather:1004", "alltoall:100", "allreduce:1000:own", "allreduce:2"]
    wanted = ["reduce_scatter_allgather", "recursive_doubling", "recursive_doubling", "tsp_ring", "binomial", "binomial",
              "tsp_tree", "ring", "recursive_doubling", "pairwise", "recursive_doubling", "recursive_doubling"]
    ours = check_cells("exported", file, cells, wanted)
    default, output = run(None, cells)
    expect(default is not None, "the program failed without a file", output)
    changed = [cell for cell in cells if default and ours and default[cell] != ours[cell]]
    expect(len(changed) >= 5, f"the file changes only {changed}")
    # Calls for which no rule holds go on as before.
    others = ["bcast:5", "barrier:0", "reduce:1000"]
    before, _ = run(None, others)
    after, output = run(file, others)
    expect(before is not None and before == after, f"{others} were {before}, and are {after}", output)


def others(directory):
    """Files that others could write: wrong in ways that end nothing, and the same as the reader says."""
    base = f"{directory}/base.json"
    expect(by_tool("base", base).returncode == 0, "there is no base")
    texts = pathlib.Path(base).read_text(encoding="utf-8")
    decoder, trees, at = json.JSONDecoder(), [], 0
    while at < len(texts):
        tree, at = decoder.raw_decode(texts, at)
        trees.append(tree)
        at += len(texts[at:]) - len(texts[at:].lstrip())
    whole = next(t for t in trees if "MPIR_" in json.dumps(t))

    def file_with(name, members, suffix=""):
        tree = json.loads(json.dumps(whole))
        collective, intra = members
        tree[f"collective={collective}"]["comm_type=intra"] = intra
        path = f"{directory}/{name}.json"
        pathlib.Path(path).write_text(json.dumps(tree)[:-1] + suffix + "}", encoding="utf-8")
        return path

    def leaf(name):
        return {f"algorithm=MPIR_{name}": {}}
    doubling, halving = leaf("Allreduce_intra_recursive_doubling"), leaf("Allreduce_intra_reduce_scatter_allgather")
    quiet = {
        "strict": (("allreduce", {"comm_size<4": doubling, "comm_size=any": halving}), "reduce_scatter_allgather"),
        "lax": (("allreduce", {"is_commutative=yes": {"comm_size<4": doubling, "comm_size=any": halving},
                               "is_commutative=no": doubling}), "recursive_doubling"),
        "unit": (("allreduce", {"avg_msg_size<=64k": doubling, "avg_msg_size=any": halving}), "reduce_scatter_allgather"),
        "large": (("allreduce", {"avg_msg_size<=4294967297": doubling, "avg_msg_size=any": halving}),
                  "reduce_scatter_allgather"),
        "blanks": (("allreduce", {"avg_msg_size <= 8000": doubling, "avg_msg_size = any": halving}), "recursive_doubling"),
        "through": (("allreduce", leaf("Allreduce_allcomm_nb")), None),
        "flat": (("allreduce", {"comm_hierarchy=flat": doubling, "comm_hierarchy=any": halving}), "recursive_doubling"),
        "average": (("allreduce", {"comm_avg_ppn<=1": doubling, "comm_size=any": halving}), "recursive_doubling"),
        "node": (("allreduce", {"comm_size=node_comm_size": doubling, "comm_size=any": halving}),
                 "reduce_scatter_allgather"),
    }
    for name, (members, wanted) in quiet.items():
        path = file_with(name, members)
        if wanted:
            check_cells(name, path, ["allreduce:1000"], [wanted])
        else:  # the tree of the nonblocking collective decides
            expect(decided(path, "allreduce:1000").startswith("sched_"), "nb does not lead to the nonblocking tree")
    twice = ',"collective=allreduce":' + json.dumps({"comm_type=intra": halving, "comm_type=inter": whole[
        "collective=allreduce"]["comm_type=inter"]})
    check_cells("twice", file_with("twice", ("allreduce", doubling), twice), ["allreduce:1000"],
                ["reduce_scatter_allgather"])

    ending = {
        "wrong": (("allgather", {"avg_msg_size<=10": leaf("Allgather_intra_ring"),
                                 "avg_msg_size=any": leaf("Allgather_intra_ring")}), "allgather:100", "not defined"),
        "out": (("allreduce", {"is_commutative=no": doubling}), "allreduce:1000", "ends"),
        "unknown": (("allreduce", leaf("Allreduce_intra_ring")), "allreduce:1000", "no algorithm"),  # of 4.1
        "no_any": (("allreduce", {"avg_msg_size<=10": doubling}), "allreduce:1000", "must follow"),
        "beside": (("allreduce", {"comm_size<=2": doubling, **halving}), "allreduce:1000", "beside"),
    }
    for name, (members, cell, why) in ending.items():
        path = file_with(name, members)
        said = decided(path, cell)
        expect("ends" in said and why in said, f"{name}: nothing of '{why}' in: {said}")
        lines, output = run(path, [cell])
        expect(lines is None, f"{name}: MPICH runs on", output)


    # Without guards the program ends: MPICH checks nothing where a leaf names an algorithm.
    bare = file_with("bare", ("allreduce", halving))
    for cell in ("allreduce:1000:own", "allreduce:2"):
        expect(decided(bare, cell) == "reduce_scatter_allgather", f"{cell} does not come to the leaf")
        lines, output = run(bare, [cell])
        expect(lines is None, f"{cell} needs no guard", output)


def variables(directory):
    """Algorithms whose parameters a leaf cannot give: the control variables that the export names."""
    file = f"{directory}/variables.json"
    written = by_tool("write", file, "reduce:2-:0-:tsp_ring")
    expect(written.returncode == 0, "no file beside variables", written.stderr)
    lines = written.stdout.splitlines()
    given = dict(line.split()[1].split("=") for line in lines if "export MPIR_CVAR_" in line and "JSON" not in line)
    expect(set(given.values()) == {"nb", "tsp_ring"}, f"the variables are {given}")
    ring, output = run(file, ["reduce:1000"], **given)
    expect(ring and sorted(r[:2] for r in ring["reduce:1000"]) == [(0, 0)] + [(1, 8000)] * (P - 1),
           f"a chain sends {ring}", output)


def levels(directory):
    """Several ranks on a node: the rule is about the user's communicator, with the file of compositions beside it."""
    file = f"{directory}/levels.json"
    expect(by_tool("write", file, "allreduce:2-:0-:recursive_doubling").returncode == 0, "no file for the levels")
    flat = {"MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": file + ".composition.json"}
    right = signature("allreduce", "recursive_doubling", 1000)
    cliques = "MPIR_CVAR_NUM_CLIQUES=2"
    alone, output = run(file, ["allreduce:1000"], nodes=cliques)
    expect(alone is not None, "two nodes: the program failed", output)
    expect(alone and {r[:2] for r in alone["allreduce:1000"]} != {right}, "two nodes: the composition does nothing")
    both, output = run(file, ["allreduce:1000"], nodes=cliques, **flat)
    expect(both and {r[:2] for r in both["allreduce:1000"]} == {right}, f"two nodes: not flat: {both}", output)
    # On one node messages need not go through UCX, so the operator's calls tell.
    cell = "allreduce:1000:own"
    lines, output = run(file, [cell], nodes="CIRCOLL_TEST_NODE=1", **flat)
    lengths = {rank[2] for rank in lines[cell]} if lines else None
    expect(lengths == {(1000, 1000)}, f"one node: the operator is called with {lengths}", output)


with tempfile.TemporaryDirectory() as work:
    os.chmod(work, 0o755)
    exported(work)
    others(work)
    variables(work)
    levels(work)
launching.end()
