"""lab/experiments/supercomputers/run on times that follow a known alpha and beta: it finds both, and picks well by them.
usage: supercomputers_test.py BUILD SOURCE"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

build, source = map(pathlib.Path, sys.argv[1:])
ALPHA, BETA = 5e-6, 2e-10  # combining a byte takes as long as moving it
HEAD = "system,stamp,test,nodes,ranks_per_node,mpi,version,collective,algorithm,bytes,iterations,median_ns"


def seconds(algorithm, p, bytes):
    q, part = math.ceil(math.log2(p)), (p - 1) / p * bytes
    return {"recursive_doubling_over": q * (ALPHA + 2 * bytes * BETA),
            "rabenseifner_ompi": 2 * q * ALPHA + 3 * part * BETA,
            "ring_over": 2 * (p - 1) * ALPHA + 3 * part * BETA,
            "default_ompi": 2 * q * (ALPHA + 2 * bytes * BETA),
            "binomial_ompi": q * (ALPHA + bytes * BETA),
            "scatter_allgather_ring_ompi": (q + p - 1) * ALPHA + 2 * part * BETA,
            "recursive_halving_over": q * ALPHA + 2 * part * BETA,
            "ring_of_blocks": (p - 1) * ALPHA + 2 * part * BETA}[algorithm]


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = [f"known,s,0,{p},1,OMPI,4.1.6,allreduce,{algorithm},{bytes},100,{round(seconds(algorithm, p, bytes) * 1e9)}"
                for p in (8, 64) for bytes in (256, 2048, 65536, 1 << 20, 8 << 20, 64 << 20)
                for algorithm in ("recursive_doubling_over", "rabenseifner_ompi", "ring_over", "default_ompi")]
        # A second job with one of the cells counts by itself. Its ring over messages counts before the library's.
        rows += [f"known,t,0,8,1,OMPI,4.1.6,allreduce,{algorithm},256,100,{round(1.05e9 * factor * seconds(like, 8, 256))}"
                 for algorithm, like, factor in (("recursive_doubling_over", "recursive_doubling_over", 1), ("ring_over", "ring_over", 1),
                                                 ("ring_ompi", "ring_over", 0.01))]
        # These labels are of no algorithm that Circoll has, so that their times, by far the shortest, do not count.
        rows += [f"known,t,0,8,1,OMPI,4.1.6,{collective},{algorithm},256,100,{round(1e9 * factor * seconds(like, 8, 256))}"
                 for collective, algorithm, like, factor in (
                     ("bcast", "binomial_ompi", "binomial_ompi", 1),
                     ("bcast", "scatter_allgather_ring_ompi", "scatter_allgather_ring_ompi", 1),
                     ("bcast", "scatter_allgather_over", "binomial_ompi", 0.01),
                     ("bcast", "scatter_allgather_ompi", "binomial_ompi", 0.01),
                     ("reduce_scatter", "recursive_halving_over", "recursive_halving_over", 1),
                     ("reduce_scatter", "ring_over", "ring_of_blocks", 1),
                     ("reduce_scatter", "recursive_distance_doubling_over", "recursive_halving_over", 0.01))]
        # A Bine form counts only where Bine forms do. It is twice as fast in one cell, for no reason in the model.
        rows += [f"known,s,0,8,1,OMPI,4.1.6,allreduce,bine_lat_over,256,100,{round(0.5e9 * seconds('recursive_doubling_over', 8, 256))}"]
        # A third job ran one algorithm for two labels. One label is left in its cell, which does not count.
        rows += [f"known,u,0,8,1,OMPI,5.0.7,allreduce,{algorithm},65536,100,{nanoseconds}" for algorithm, nanoseconds in
                 (("allgather_reduce_ompi", 1000), ("rabenseifner_ompi", 1001), ("ring_over", 90000))]
        (folder / "times.csv").write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
        run = subprocess.run([source / "lab/experiments/supercomputers/run", folder, "--build", build, "--machines", folder / "machines"],
                             stdout=subprocess.PIPE, text=True, timeout=250, check=True)
        print(run.stdout)
        said = re.search(r"known: 15 cells with 42 times; alpha (\S+) us, beta (\S+) ns/B; by ten cells (\S+) us, (\S+) ns/B", run.stdout)
        for number, known in zip(map(float, said.groups()), (ALPHA * 1e6, BETA * 1e9) * 2):
            assert abs(number / known - 1) < 0.1, said[0]
        tables = run.stdout.split("\n## ")[1:]
        found = {t.splitlines()[0]: re.search(r"^\| all \| ([\d.]+) \| (\d+) ", t, re.MULTILINE) for t in tables}
        picks = {title: (float(match[1]), int(match[2])) for title, match in found.items() if match}
        assert picks["The library's own choice"][0] > 1.3, picks
        assert picks["Two fitted numbers"] == (1.0, 15), picks
        assert picks["Fitted to ten cells"][0] <= 1.10, picks
        assert picks["Fitted to ten cells, checked on the others"][1] in (4, 5), picks
        assert picks["Rules of every second size, checked on the others"][0] <= 1.10, picks
        assert picks["With Bine forms: two fitted numbers"] == (round(2 ** (1 / 15), 3), 15), picks
        bine = next(t for t in tables if t.startswith("Errors of the model's times of Bine forms"))
        assert re.search(r"\| known \| 1 \| (9\d|10\d|110)% ", bine), bine
        machine = json.loads((folder / "machines/known.json").read_text(encoding="utf-8"))
        for key, known in (("alpha_s", ALPHA), ("beta_s_per_byte", BETA)):
            assert known / 1.3 < machine[key] < known * 1.3, machine
        subprocess.run([build / "bin/circoll", "explain", "allreduce", "-p", "8", "--machine", folder / "machines/known.json"], check=True,
                       stdout=subprocess.DEVNULL)


main()
