#!/usr/bin/env python3
"""topology_test.py MPI DROPIN YIELD PROGRAM: nodes change places by the switches above them (CIRCOLL_TOPOLOGY), and results stay what they are.

PROGRAM is all_collectives. Nodes are ranks of this machine (CIRCOLL_CORES), and no two neighbours are below one switch.
Nothing is learned, since the first short calls between nodes would be native.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, program = sys.argv[1:5]
PLACES = "nodes change places"


def launch(np, *variables, script=""):
    """Output, warnings, the report's line about switches, and its reasons by collective."""
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        served = [f"CIRCOLL_REPORT={report}", f"LD_PRELOAD={launching.preloaded(mpi, dropin, shim)}"] if variables else ["CIRCOLL=none"]
        command = ["sh", "-c", f'rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {script} exec env "$@"', "sh", *served, program]
        done = subprocess.run(launching.launcher(mpi) + launching.processes(mpi, np, ["env", "CIRCOLL_SERVE_AFTER=0", "CIRCOLL_MEASURE=off", "CIRCOLL_LEARN=off",
                                                                                     *variables, *command]),
                              env=launching.environment(), capture_output=True, text=True, timeout=100, check=False)
        expect(done.returncode == 0, f"{np} ranks, {variables}: exit code {done.returncode}", done.stdout, done.stderr)
        found = json.loads(report.read_text()) if report.exists() else {"rows": [], "topology": None}
        whys = {}
        for row in found["rows"]:
            whys.setdefault(row["collective"], set()).update(size["why"] for size in row["histogram"])
        warnings = [line for line in done.stderr.splitlines() if "CIRCOLL_TOPOLOGY" in line]
        return done.stdout, warnings, found["topology"], whys


def changed(whys):
    """Collectives of which some calls have nodes in other places."""
    return {collective for collective, reasons in whys.items() if any(PLACES in why for why in reasons)}


with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    for np, cores in ((6, 1), (8, 2)):
        native = launch(np)[0]
        hosts = work / f"hosts{np}"
        hosts.write_text("".join(f"group{node % 2}/host{node}:{cores}\n" for node in range(np // cores)))
        nodes = f"{np // cores} nodes in 2 parts of level 1"
        for variables, script in (((f"CIRCOLL_TOPOLOGY={hosts}",), ""),
                                  (("CIRCOLL_TOPOLOGY=auto",), f"export SLURM_TOPOLOGY_ADDR=group$((rank / {cores} % 2)).$(hostname -s);")):
            out, warnings, topology, whys = launch(np, f"CIRCOLL_CORES={cores}", *variables, script=script)
            expect(out == native != "", f"{np} ranks, {variables}: results are those of the native collectives", out, native)
            expect(topology == nodes and not warnings, f"{np} ranks, {variables}: the report knows the switches", topology, *warnings)
            expect({"allreduce", "allgather", "reduce", "reduce_scatter_block"} <= changed(whys), f"{np} ranks, {variables}: nodes change places", whys)
            expect(not changed(whys) & {"scan", "exscan", "alltoall", "alltoallv"}, "but not where that cannot help", whys)

    # An algorithm that has been named is executed as it is.
    out, _, topology, whys = launch(8, "CIRCOLL_CORES=2", f"CIRCOLL_TOPOLOGY={hosts}", "CIRCOLL_ALLGATHER=ring")
    expect(out == native and whys["allgather"] == {"chosen by name"} and "allreduce" in changed(whys), "an algorithm by name", topology, whys)

    # One rank does not know its switch, or none does: ranks stay as they are.
    out, warnings, topology, whys = launch(6, "CIRCOLL_CORES=1", "CIRCOLL_TOPOLOGY=auto", script='[ "$rank" = 4 ] || export SLURM_TOPOLOGY_ADDR=s$rank.$(hostname -s);')
    expect(topology == "none, since rank 4 does not know what is above its node" and not warnings and not changed(whys), "an unknown node", topology, whys)
    out, warnings, topology, whys = launch(6, "CIRCOLL_CORES=1")
    expect(topology is None and not warnings and not changed(whys), "nobody asked", topology, whys)
    for text, words in ((None, "cannot be read"), ("host0\n", "fewer than 6"), ("SwitchName=s Nodes=elsewhere\n", "no host")):
        file = work / "bad"
        file.unlink(missing_ok=True)
        if text:
            file.write_text(text)
        out, warnings, topology, whys = launch(6, "CIRCOLL_CORES=1", f"CIRCOLL_TOPOLOGY={file}")
        expect(len(warnings) == 1 and words in warnings[0].lower() and not changed(whys), f"{words}: a warning, and ranks stay", topology, *warnings)
end()
