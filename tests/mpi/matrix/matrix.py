#!/usr/bin/env python3
"""matrix.py [--write] TABLE DROPINS YIELD PROGRAMS: runs the programs that call every entry point, and compares the table
of what became of the calls with TABLE, or writes it there. With other versions of the MPI libraries than TABLE's, entry
points may be there or not; no call may be native that is served in TABLE.

DROPINS and PROGRAMS are directories: DROPINS/<mpi>/libcircoll-mpi.so, PROGRAMS/matrix_<mpi>_<binding>.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from entries import entries

MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
BINDINGS = {"C": "C", "MPIF": "mpif.h", "USE_MPI": "use mpi", "USE_MPI_F08": "use mpi_f08"}
RANKS = 3
LAUNCH = pathlib.Path(__file__).resolve().parents[3] / "dev/launch"
HEAD = """# Entry points of MPI's collectives: served or native

For users and MPI implementers: does Circoll serve this MPI function in my language? The tests of tests/mpi/matrix call each
function on {ranks} ranks, check the result, and look the call up in the trace (`CIRCOLL_TRACE`).

    ctest --preset dev -R '^matrix$'                # calls all functions again, and compares with this page
    cmake --build --preset dev --target matrix      # calls them, and writes this page

- `served`: an algorithm of Circoll executes the call.
- `native: REASON`: the MPI library executes it. The table has calls that Circoll could serve.
  [Other native calls](../user/served.md) have their reason in the report.
- `absent`: the MPI, or this binding of it, has no such function.

C stands for C++, too. `MPI_<Name>_init` is `MPIX_<Name>_init` under Open MPI 4.1. Functions ending in `_c` take 64-bit counts. In
mpi_f08 they are overloads of the names without `_c`.

"""


def run(arguments, mpi, binding, work):
    """The lines of the program (by entry point), and the trace, of one column."""
    work.mkdir()
    program = pathlib.Path(arguments.programs) / f"matrix_{mpi}_{binding}"
    dropin = f"{arguments.dropins}/{mpi}/libcircoll-mpi.so"
    preload = dropin if mpi == "openmpi" else f"{dropin} {getattr(arguments, 'yield')}"
    launch = [LAUNCH, "test", mpi, "-np", str(RANKS), "env", f"LD_PRELOAD={preload}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("CIRCOLL_")}
    done = subprocess.run([*launch, f"CIRCOLL_TRACE={work}/trace", "CIRCOLL_SERVE_AFTER=0", str(program), f"{work}/log"], env=env, timeout=100,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{program} failed: {done.stdout}{done.stderr}")
    results = {}
    for rank in range(RANKS):
        for line in (work / f"log.{rank}").read_text().splitlines():
            result, name = line.split()
            if results.setdefault(name, result) != result:
                results[name] = "wrong"
    return results, json.loads((work / "trace").read_text())


def cell(entry, results, events):
    """The outcome of one call, or the problem with it."""
    result = results.get(entry.name, "missing")
    if result == "absent":
        return "absent"
    if result != "ok":
        return result
    key = entry.collective, entry.mode, entry.event_bytes(RANKS)
    found = events.get(key, [])
    if not found:
        return "native: not intercepted"
    if sorted(event["pid"] for event in found) != list(range(RANKS)):
        return "wrong"  # not once on every rank
    if all(event["cat"] == "circoll" for event in found):
        return "served"
    reasons = {event["args"]["why"] for event in found if event["cat"] == "native"}
    return "native: " + "; ".join(sorted(reasons)) if len(reasons) == 1 else "wrong"


def column(results, trace):
    events = {}
    for event in trace["traceEvents"]:
        args = event.get("args", {})
        if event["ph"] in ("X", "b") and "collective" in args:
            events.setdefault((args["collective"], args["mode"], args["bytes"]), []).append(event)
    return [cell(entry, results, events) for entry in entries()]


def titles_and_cells(text):
    """The line of titles, and the cells by entry point."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return rows[0], {row[0]: row[1:] for row in rows[1:]}


def newly_native(old, new):
    """The calls that are served in one table and native in the other."""
    titles, cells = titles_and_cells(new)
    before = titles_and_cells(old)[1]
    return [f"{name}, {title}: {cell}" for name, row in cells.items() for title, cell, known in zip(titles[1:], row, before[name])
            if known == "served" and cell.startswith("native")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    for name in ("table", "dropins", "yield", "programs"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    columns, titles = [], []
    with tempfile.TemporaryDirectory() as name:
        for mpi, mpi_name in MPIS.items():
            for binding, binding_name in BINDINGS.items():
                results, trace = run(arguments, mpi, binding, pathlib.Path(name) / f"{mpi}_{binding}")
                version = re.search(r"\d+\.\d+", trace["otherData"]["mpi"])[0]
                titles.append(f"{mpi_name} {version}, {binding_name}")
                columns.append(column(results, trace))
    for first in range(0, len(columns), len(BINDINGS)):  # C tells what the MPI has
        who = ["the MPI" if c == "absent" else "the binding" for c in columns[first]]
        for other in range(first, first + len(BINDINGS)):
            columns[other] = [f"absent: {who[i]} has none" if c == "absent" else c for i, c in enumerate(columns[other])]
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    wrong = []
    for i, entry in enumerate(entries()):
        row = [c[i] for c in columns]
        lines.append(f"| `{entry.name}` | " + " | ".join(row) + " |")
        wrong += [f"{entry.name}, {titles[k]}: {c}" for k, c in enumerate(row) if c in ("wrong", "missing")]
    if wrong:
        sys.exit("wrong results, or calls that are not in the trace once on each rank:\n" + "\n".join(wrong))
    text = HEAD.format(ranks=RANKS) + "\n".join(lines) + "\n"
    path = pathlib.Path(arguments.table)
    if arguments.write:
        path.write_text(text)
        return
    old = path.read_text()
    if titles_and_cells(old)[0] != titles_and_cells(text)[0]:
        print("other versions than the table's:", ", ".join(titles))
        if native := newly_native(old, text):
            sys.exit("native now:\n" + "\n".join(native))
    elif old != text:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), str(path), "as run"))
        sys.exit(1)


main()
