"""lab/experiments/allocations/run on jobs whose traffic is known: the table has the ratios, and the jobs that were left out are said.
usage: allocations_test.py BUILD SOURCE"""
import gzip
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

build, source = map(pathlib.Path, sys.argv[1:])


def write_jobs(path, jobs):
    with tarfile.open(path, "w:gz") as archive:
        for number, hosts in enumerate(jobs):
            data = ("\n".join(hosts) + "\n").encode()
            member = tarfile.TarInfo(f"jobs/{number}.txt")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder, out = pathlib.Path(name) / "allocations", pathlib.Path(name) / "out"
        folder.mkdir()
        # Two cells of two switches with 16 nodes each.
        with gzip.open(folder / "leonardo_nodes.txt.gz", "wt", encoding="ascii") as file:
            for node in range(64):
                file.write(f"NODE {node:04} RACK 1 CELL {node // 32} ROW 1 PARTITION 1  SWITCH {node // 16}\n")
        node = [f"lrdn{number:04}" for number in range(64)]
        alternating = [host for pair in zip(node[:32], node[32:]) for host in pair]
        write_jobs(folder / "leonardo.tar.gz", [alternating,  # 64 ranks, of which neighbours are in different cells
                                                node[:32],  # in one cell
                                                alternating[:18],  # no power of two
                                                alternating[:15],  # too few
                                                node[:16] + ["viz01"]])
        # 8 ranks in the first cabinet and 9 in the last.
        write_jobs(folder / "lumi.tar.gz", [[f"nid{number:06}" for number in (*range(1000, 1008), *range(7969, 7978))]])
        run = subprocess.run([source / "lab/experiments/allocations/run", folder, out, "--build", build], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=250, check=False)
        print(run.stdout, run.stderr)
        assert run.returncode == 0
        assert "Leonardo: 2 jobs in several groups; left out: 1 with a node that no group has, and 1 inside one group" in run.stderr
        assert "LUMI: 1 jobs in several groups; left out: 0 with a node that no group has, and 0 inside one group" in run.stderr
        rows = {}
        for kind, table in re.findall(r"^\*\*(.*)\*\*\n\n((?:\|.*\n)*)", run.stdout, re.MULTILINE):
            for row in re.findall(r"^\| (\w+) \| `(\w+)` \| (.*) \|$", table, re.MULTILINE):
                rows[kind, row[0], row[1]] = row[2].split(" | ")
        # Each rank sends half of the vector to its neighbour, twice: 64 vectors between two cells, where 2 are needed.
        of_64 = rows["64 nodes or more, a power of two", "allreduce", "rabenseifner"]
        assert of_64[:5] == ["1", "1.000", "0.031", "0.031", "0.031, 0.031"], of_64
        assert of_64[5:] == ["0", "", "", "", ""], of_64
        assert float(rows["64 nodes or more, a power of two", "allreduce", "swing"][2]) < 0.5
        assert rows["16 to 63 nodes", "allgather", "swing"][0] == "1" and rows["16 to 63 nodes", "allgather", "swing"][5] == "0", "17 ranks are odd"
        assert rows["16 to 63 nodes", "allgather", "ring"][5] == "1"
        assert all(cells[0] == "0" and cells[5] == "0" for key, cells in rows.items() if key[0] == "64 nodes or more, other numbers")
        # Rows of the table and the chart are of the same numbers, and nothing is counted twice.
        assert (out / "table.md").read_text(encoding="utf-8") == run.stdout
        panels = json.loads((out / "allocations.json").read_text(encoding="utf-8"))["jobs"]
        assert [len(panel["rows"]) for panel in panels] == [21, 0], panels
        (out / "hosts").rename(out / "gone")
        again = subprocess.run([source / "lab/experiments/allocations/run", folder, out, "--build", build], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, timeout=250, check=True)
        assert again.stdout == run.stdout and not (out / "hosts").exists()


main()
