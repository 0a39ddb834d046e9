#!/usr/bin/env python3
"""measured_network_test.py MPI DROPIN YIELD CIRCOLL PROGRAM: a job on several hosts measures their network, or uses what an earlier one has kept.
The hosts are ranks of this machine: CIRCOLL_CORES=1."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, dropin, shim, circoll, program = sys.argv[1:6]
preload = launching.preloaded(mpi, dropin, shim)
for name in ("CIRCOLL_MACHINE", "CIRCOLL_MEASURE"):
    os.environ.pop(name, None)
MEASURED = "measured between "


def launch(np, *variables, script=""):
    """The network as the report has it, the machines of its reasons, and warnings."""
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        command = ["sh", "-c", f'{script} LD_PRELOAD="{preload}" exec "$0"', program]
        done = subprocess.run(launching.launcher(mpi) + launching.processes(mpi, np, ["env", f"CIRCOLL_REPORT={report}", *variables, *command]),
                              env=launching.environment(), capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"{np} ranks, {variables}: exit code {done.returncode}", done.stdout, done.stderr)
        found = json.loads(report.read_text())
        whys = {size["why"] for row in found["rows"] for size in row["histogram"] if "on machine" in size["why"]}
        warnings = [line for line in done.stderr.splitlines() if "circoll:" in line]
        return found["network"] or "", {why.split("'")[1] for why in whys}, warnings


with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    cache = work / "cache"
    networks = cache / "circoll" / "networks"
    hosts = ("CIRCOLL_CORES=1", f"XDG_CACHE_HOME={cache}")

    def kept():
        return sorted(networks.iterdir()) if networks.exists() else []

    # Nothing happens on one node, nor where it is switched off.
    network, machines, warnings = launch(2, f"XDG_CACHE_HOME={cache}")
    expect(network == "" and machines <= {"default"} and not warnings and not kept(), "one node measures nothing", network, str(machines), str(warnings))
    for variable in ("CIRCOLL_MEASURE=off", "CIRCOLL_POLICY=native"):
        network, machines, warnings = launch(3, *hosts, variable)
        expect(MEASURED not in network and not kept() and not warnings and "measured network" not in machines, variable, network, str(warnings))
    network, machines, warnings = launch(3, *hosts, "CIRCOLL_MEASURE=off")
    expect(network == "none, since CIRCOLL_MEASURE is off" and machines == {"default"}, "the report says so", network, str(machines))

    # The first job measures, and the second one reads. If ranks had other numbers, the program would fail.
    network, machines, warnings = launch(3, *hosts)
    expect(network.startswith("alpha ") and MEASURED + "3 hosts in " in network and "kept in " in network and not warnings,
           "the first job measures", network, str(warnings))
    expect(machines == {"measured network"}, "and decides by that", str(machines))
    expect(len(kept()) == 1 and kept()[0].suffix == ".json", "one file is kept", str(kept()))
    file = kept()[0]
    whole = json.loads(file.read_text())
    network, machines, warnings = launch(4, *hosts)
    expect(network.endswith(f"from {file}") and machines == {"measured network"} and not warnings, "the second job reads", network, str(warnings))
    expect(json.loads(file.read_text()) == whole, "and writes nothing")

    # Only rank 0 reads: other ranks have another directory, or a damaged one.
    script = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 0 ] || export XDG_CACHE_HOME={work}/other;'
    network, machines, warnings = launch(3, *hosts, script=script)
    expect(network.endswith(f"from {file}") and machines == {"measured network"} and not (work / "other").exists(), "only rank 0 opens files", network)

    # circoll doctor names the file.
    said = subprocess.run([circoll, "doctor", "--mpi", mpi, "-p", "2"], env=launching.environment() | {"XDG_CACHE_HOME": str(cache), "CIRCOLL_CORES": "1"},
                          capture_output=True, text=True, check=False).stdout
    expect(str(file) in said, "circoll doctor names the file", said)

    # Damage and another network's file are one warning, and are gone in the next job.
    for what, text in (("damaged", "{"), ("another network's", json.dumps(whole | {"name": "another"}))):
        file.write_text(text)
        network, machines, warnings = launch(3, *hosts)
        expect(MEASURED in network and machines == {"measured network"} and len(warnings) == 1 and str(file) in warnings[0], f"{what} file", network,
               str(warnings))
        network, _, warnings = launch(3, *hosts)
        expect(network.endswith(f"from {file}") and not warnings, f"the {what} file has been replaced", network, str(warnings))

    # No home, and one in which nothing can be written: measured each time, without a word but in the report.
    network, machines, warnings = launch(3, "CIRCOLL_CORES=1", script="unset XDG_CACHE_HOME HOME;")
    expect("not kept, since there is no home" in network and machines == {"measured network"} and not warnings, "no home", network, str(warnings))
    (work / "plain").write_text("a file")
    network, machines, warnings = launch(3, "CIRCOLL_CORES=1", f"XDG_CACHE_HOME={work}/plain")
    expect("not kept, since " in network and machines == {"measured network"} and not warnings, "an unwritable home", network, str(warnings))
    network, _, warnings = launch(3, *hosts, "CIRCOLL_MEASURE=often")
    expect(len(warnings) == 1 and "neither auto nor off" in warnings[0], "an unknown value is a warning", str(warnings))

    # Long messages go in parts if the user says so. With the numbers of this machine they may or may not.
    for value, words, wrong in (("1Ki", True, 0), ("off", False, 0), ("many", None, 1)):
        network, _, warnings = launch(3, *hosts, f"CIRCOLL_PARTS={value}")
        expect(words in (None, "long messages go in parts of 1 KiB" in network) and len(warnings) == wrong, f"CIRCOLL_PARTS={value}", network, str(warnings))

    # So do those of algorithms by name, of which none goes by the numbers.
    network, machines, warnings = launch(3, *hosts, "CIRCOLL_PARTS=1Ki", "CIRCOLL_POLICY=classic")
    expect("long messages go in parts of 1 KiB" in network and "measured network" not in machines and not warnings, "parts under classic", network, str(machines))

    # Two jobs at once leave one whole file.
    file.unlink()
    jobs = [subprocess.Popen(launching.launcher(mpi) + launching.processes(mpi, 3, ["env", *hosts, f"LD_PRELOAD={preload}", program]),
                             env=launching.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [job.communicate(timeout=60)[1] for job in jobs]
    expect(all(job.returncode == 0 for job in jobs) and not any("circoll:" in one for one in outputs), "two jobs at once", *outputs)
    expect(kept() == [file] and json.loads(file.read_text())["name"] == whole["name"], "leave one whole file", str(kept()))
end()
