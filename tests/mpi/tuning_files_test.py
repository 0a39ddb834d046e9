#!/usr/bin/env python3
"""tuning_files_test.py CIRCOLL PROGRAM: Open MPI does with a rules file what `circoll lint` says that it does.

Which algorithm ran is seen by its messages: who sent how many of which size to whom, counted by Open MPI's own monitoring. They are
compared with those of a run in which the algorithm was forced by its number. The installed library is built without messages about rules.
Skipped (77) where the monitoring crashes, as in Open MPI 6.0.0rc2."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

circoll, program = sys.argv[1:3]
directory = pathlib.Path(tempfile.mkdtemp())
READER = "openmpi-4.1"
MPI_ERR_ARG = 13
NUMBERS = {  # of the algorithms that are expected here, as ompi_info lists them
    "allreduce": ["basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"],
    "bcast": ["basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"],
    "allgather": ["linear", "bruck", "recursive_doubling", "ring", "neighbor"],
    "alltoall": ["linear", "pairwise", "modified_bruck", "linear_sync"],
    "scan": ["linear", "recursive_doubling"],
    "gather": ["basic_linear", "binomial", "linear_sync"],
}


def run(np, collective, size, *options):
    """The messages of one call, or None and the output and exit code if the program fails."""
    for old in directory.glob("messages.*"):
        old.unlink()
    monitoring = ["--mca", "pml_monitoring_enable", "1", "--mca", "pml_monitoring_enable_output", "3",
                  "--mca", "pml_monitoring_filename", str(directory / "messages")]
    command = (launching.launcher("openmpi", *monitoring, *options)
               + launching.processes("openmpi", np, [program, collective, str(size)]))
    done = subprocess.run(command, env=launching.environment(), capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return None, f"{done.stdout}{done.stderr}\nexit code {done.returncode}"
    messages = collections.Counter()
    for rank in range(np):
        for line in (directory / f"messages.{rank}.prof").read_text().splitlines():
            if line.startswith("E"):
                _, source, target, size_text, count = line.split("\t")[:5]
                messages[int(source), int(target), int(size_text.split()[0])] += int(count.split()[0])
    return messages, ""


def with_file(file):
    return "--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_dynamic_rules_filename", str(file)


def forced(collective, algorithm, segment=0, fanout=0):
    name = f"coll_tuned_{collective}_algorithm"
    return ("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", name, str(NUMBERS[collective].index(algorithm) + 1),
            "--mca", f"{name}_segmentsize", str(segment), *(("--mca", f"{name}_chain_fanout", str(fanout)) if fanout else ()))


def check(file, np, collective, size):
    done = subprocess.run([circoll, "lint", str(file), "--for", READER, "-p", str(np), "--bytes", str(size), "-c", collective, "--json"],
                          capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def honoured(file, np, collective, size, algorithm, segment=0, fanout=0):
    """`circoll lint` names the algorithm, and its messages are those of a run that is forced to it, and not the default's."""
    said = check(file, np, collective, size)["calls"][0]["algorithm"]
    where = f"{file.name}, {collective} on {np} ranks, {size} bytes"
    expect(said == algorithm, f"{where}: circoll lint says {said}, not {algorithm}")
    got, output = run(np, collective, size, *with_file(file))
    wanted, _ = run(np, collective, size, *forced(collective, algorithm, segment, fanout))
    default, _ = run(np, collective, size)
    expect(got is not None and got == wanted and sum(got.values()) > 0, f"{where}: its messages are those of {algorithm}", got, wanted, output)
    expect(default != wanted, f"{where}: {algorithm} can be told from the default", default)


def left_alone(file, np, collective, size):
    """The library decides, as `circoll lint` says."""
    where = f"{file.name}, {collective} on {np} ranks, {size} bytes"
    expect(check(file, np, collective, size)["calls"][0]["algorithm"] is None, f"{where}: circoll lint leaves it to the library")
    got, output = run(np, collective, size, *with_file(file))
    default, _ = run(np, collective, size)
    expect(got is not None and got == default, f"{where}: the messages are the default's", got, default, output)


def written(name, text):
    file = directory / name
    file.write_text(text)
    return file


# Open MPI's own monitoring does not initialise its component for point-to-point messages there.
if launching.version("openmpi") >= (6,) and run(2, "allreduce", 64)[0] is None:
    print("skipped: Open MPI's own monitoring crashes")
    sys.exit(77)

rules = written("rules.json", json.dumps({
    "circoll_rules": 1,
    "allreduce": [{"op": "commutative", "p": [2, 5], "bytes": [0, 4096], "use": "linear"},
                  {"op": "commutative", "p": [2, 5], "bytes": [4096], "use": "nonoverlapping"},
                  {"op": "commutative", "p": [5, 9], "bytes": [4096], "use": "linear"}, {"otherwise": "auto"}],
    "bcast": [{"p": [5, 9], "bytes": [4096], "use": "chain:segment=1Ki,fanout=2"}, {"otherwise": "auto"}],
    "allgather": [{"p": [4, 5], "bytes": [0, 4096], "use": "gather_bcast"}, {"p": [4, 5], "bytes": [4096], "use": "bruck"}, {"otherwise": "auto"}],
    "gather": [{"p": [5, 9], "use": "binomial"}, {"otherwise": "auto"}],
}))
exported = directory / "exported.rules"
done = subprocess.run([circoll, "export", str(rules), "--for", READER, "-o", str(exported)], capture_output=True, text=True, timeout=60)
expect(done.returncode == 0, "the export succeeds", done.stdout, done.stderr)
expect(not check(exported, 4, "bcast", 8)["rejected"], "the exported file is not rejected")
honoured(exported, 4, "allreduce", 4088, "basic_linear")
honoured(exported, 4, "allreduce", 4096, "nonoverlapping")  # its reduce and bcast are the default's here
honoured(exported, 5, "allreduce", 8192, "basic_linear")
left_alone(exported, 5, "allreduce", 64)
honoured(exported, 5, "bcast", 8192, "chain", segment=1024, fanout=2)
left_alone(exported, 5, "bcast", 64)
honoured(exported, 4, "allgather", 2048, "linear")      # all blocks: 512 bytes on each rank
honoured(exported, 4, "allgather", 65536, "bruck")
honoured(exported, 5, "gather", 64 * 1024 * 5, "binomial")

# These are files as people write them.
lists = written("lists.rules", "1\n2\n2\n8 1\n0 2 0 0\n64 1\n0 1 0 0\n")
honoured(lists, 4, "allreduce", 512, "nonoverlapping")  # the first list serves fewer ranks than 8, too
octal = written("octal.rules", "1\n2\n1\n2 2\n0 2 0 0\n010000 1 0 0\n")
honoured(octal, 4, "allreduce", 4096, "basic_linear")   # 010000 is 4096
units = written("units.rules", "1\n2\n1\n2 2\n0 2 0 0\n4k 1 0 0\n")
honoured(units, 4, "allreduce", 64, "basic_linear")     # 4k is 4
counted = written("scan.rules", "1\n14\n1\n2 2\n0 2 0 0\n4096 1 0 0\n")
honoured(counted, 4, "scan", 65536, "recursive_doubling")  # the count is not looked at
# Later libraries accept the header that READER does not know, and choose by themselves where a rule is missing.
as_reader = launching.version("openmpi") < (4, 1, 8)
for name, text in {"late.rules": "1\n2\n1\n2 1\n16 2 0 0\n", "short.rules": "1\n2\n1\n2 2\n0 2 0 0\n",
                   "header.rules": "rule-file-version-2\n1\n2\n1\n2 1\n0 2 0 0\n"}.items():
    damaged = written(name, text)
    expect(check(damaged, 4, "allreduce", 512)["rejected"], f"circoll lint rejects {name}")
    if as_reader or name != "header.rules":
        left_alone(damaged, 4, "allreduce", 512)
unknown = written("unknown.rules", "1\n0\n1\n2 1\n0 7 0 0\n")
expect("MPI_ERR_ARG" in json.dumps(check(unknown, 4, "allgather", 512)["calls"]), "circoll lint says that the call fails")
failed, output = run(4, "allgather", 512, *with_file(unknown))
# MPI_ERRORS_ARE_FATAL aborts with the error class; its message may be lost on the way.
expect(not as_reader or failed is None and output.endswith(f"exit code {MPI_ERR_ARG}"), "an algorithm that is not there is an error of the call", output)
end()
