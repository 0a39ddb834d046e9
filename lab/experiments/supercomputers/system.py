"""One system of public results: its cells, machines that are fitted to them, and the choices of those machines."""
import collections
import itertools
import json
import math
import re
import statistics
import subprocess

Cell = collections.namedtuple("Cell", "collective p bytes vector job")
Pick = collections.namedtuple("Pick", "cell pick best ratio")


NEWER = ("bine", "bine_whole")  # no policy takes them by itself


def rounded(value):
    return float(f"{value:.3g}")


def machine(name, about, alpha, beta):
    """A machine file: combining a byte takes as long as moving it, and f_alpha and f_beta are those of the default machine."""
    return {"circoll_machine": 1, "name": name, "about": about, "alpha_s": rounded(alpha), "beta_s_per_byte": rounded(beta),
            "gamma_s_per_byte": rounded(beta), "f_alpha": 0.8, "f_beta": 0.8}


class System:
    def __init__(self, name, launches, circoll, directory, newer=False):
        self.name, self.circoll, self.directory = name, circoll, directory
        self.cells, self.native = collections.defaultdict(dict), {}
        for job, launch in enumerate(launches):
            for row in launch["rows"]:
                if row["algorithm"] in NEWER and not newer:
                    continue
                # The size of a gather and its like is that of a block in these files.
                blocks = row["p"] if row["collective"] in ("allgather", "gather", "scatter", "reduce_scatter") else 1
                cell = Cell(row["collective"], row["p"], row["bytes"], row["bytes"] * blocks, job)
                into, key = (self.native, cell) if row["algorithm"] == "native" else (self.cells[cell], row["algorithm"])
                into[key] = row["median_us"] * 1e-6
        self.choices = sorted(cell for cell, times in self.cells.items() if len(times) > 1)
        self.units = None

    def two_numbers(self):
        """alpha by recursive doubling of at most 256 bytes, and beta (with gamma, the same) by rings of at least 64 MiB; medians."""
        for collective, vectors in (("allreduce", 3), ("allgather", 1), ("reduce_scatter", 2)):
            alphas, betas = [], []
            for cell, times in self.cells.items():
                if cell.collective == collective and "recursive_doubling" in times and cell.vector <= 256:
                    alphas.append(times["recursive_doubling"] / math.ceil(math.log2(cell.p)))
                if cell.collective == collective and "ring" in times and cell.vector >= 64 << 20:
                    betas.append(times["ring"] / (vectors * (cell.p - 1) / cell.p * cell.vector))
            if alphas and betas:
                return statistics.median_high(alphas), statistics.median_high(betas)
        raise SystemExit(f"{self.name}: no short recursive doubling, or no long ring, to fit two numbers to")

    def write_launch(self, name, times):
        """A file of circoll-bench with times, [(cell, algorithm, seconds)]."""
        rows = [{"collective": cell.collective, "algorithm": algorithm, "served_by": algorithm, "p": cell.p, "bytes": cell.bytes,
                 "reps": 1, "median_us": seconds * 1e6, "correct": "-"} for cell, algorithm, seconds in times]
        path = self.directory / f"{self.name}.{name}.json"
        path.write_text(json.dumps({"type": "int32", "op": "sum", "root": 0, "policy": "model", "rows": rows}), encoding="utf-8")
        return path

    def prices(self, machine, simulated=False):
        """The predicted times of the algorithms in the cells with a choice, {cell: {algorithm: seconds}}."""
        file = self.directory / f"{self.name}.machine.json"
        file.write_text(json.dumps(machine), encoding="utf-8")
        times = [(cell, algorithm, seconds) for cell in self.choices for algorithm, seconds in self.cells[cell].items()]
        text = subprocess.run([self.circoll, "calibrate", "--compare", self.write_launch("choices", times), "--machine", file,
                               *(["--simulated"] if simulated else [])], stdout=subprocess.PIPE, text=True, check=True).stdout
        found = re.findall(r"^\S+ +\S+ +\d+ +\d+ +[\d.]+ +([\d.]+) +[\d.]+$", text, re.MULTILINE)
        if len(found) != len(times):
            raise SystemExit(f"{self.name}: {len(times)} times were asked for, and {len(found)} were predicted")
        result = collections.defaultdict(dict)
        for (cell, algorithm, _), us in zip(times, found):
            result[cell][algorithm] = float(us) * 1e-6
        return result

    def per_unit(self):
        """The prices for alpha = 1 and for beta = 1, in which times are linear."""
        if self.units is None:
            self.units = [self.prices(machine("unit", "", *unit)) for unit in ((1, 1e-30), (1e-30, 1))]
        return self.units

    def prices_by(self, numbers):
        per_alpha, per_beta = self.per_unit()
        return {cell: {a: numbers[0] * per_alpha[cell][a] + numbers[1] * per_beta[cell][a] for a in self.cells[cell]}
                for cell in self.choices}

    def fit(self, cells):
        """alpha and beta with the least mean deviation of the logarithms of all times in these cells."""
        per_alpha, per_beta = self.per_unit()
        times = [[(per_alpha[cell][a], per_beta[cell][a], seconds) for a, seconds in self.cells[cell].items()] for cell in cells]

        def deviation(numbers):
            alpha, beta = numbers
            return sum(statistics.mean(min(abs(math.log((alpha * a + beta * b) / seconds)), 2) for a, b, seconds in cell) for cell in times)

        numbers = 1e-6, 1e-10
        for step, reach in ((1.6, 8), (1.2, 3), (1.05, 4)):
            factors = [step**i for i in range(-reach, reach + 1)]
            numbers = min(((numbers[0] * a, numbers[1] * b) for a, b in itertools.product(factors, factors)), key=deviation)
        return numbers

    def picks(self, prices):
        """In each cell the algorithm of the least price, and its time over that of the fastest. Of equal ones the older is taken."""
        return [self.pick(cell, min(priced, key=lambda one: (priced[one], one in NEWER))) for cell, priced in prices.items()]

    def pick(self, cell, algorithm):
        times = self.cells[cell]
        best = min(times, key=times.get)
        return Pick(cell, algorithm, best, times[algorithm] / times[best])

    def picks_of_library(self):
        result = []
        for cell in self.choices:
            best = min(self.cells[cell], key=self.cells[cell].get)
            if cell in self.native:
                result.append(Pick(cell, "native", best, max(self.native[cell] / self.cells[cell][best], 1)))
        return result

    def picks_by_rules(self):
        """Rules of circoll tune by every second size, checked on the others; and the number of cells where the rule's algorithm was not
        measured. Where jobs had the same cell, the rules are of the median of their times."""
        sizes = collections.defaultdict(set)
        for cell in self.choices:
            sizes[cell.collective, cell.p].add(cell.bytes)
        trained = {(*key, bytes) for key, found in sizes.items() for bytes in sorted(found)[::2]}
        times, cells = collections.defaultdict(list), {}
        for cell in self.choices:
            if cell[:3] in trained:
                cells[cell[:3]] = cell
                for algorithm, seconds in self.cells[cell].items():
                    times[cell[:3], algorithm].append(seconds)
        rules = self.directory / f"{self.name}.rules.json"
        launch = self.write_launch("trained", [(cells[key], a, statistics.median(some)) for (key, a), some in times.items()])
        subprocess.run([self.circoll, "tune", launch, "-o", rules], stdout=subprocess.DEVNULL, check=True)
        result, choices, unmeasured = [], {}, 0
        for cell in self.choices:
            if cell[:3] in trained:
                continue
            if cell[:3] not in choices:
                said = subprocess.run([self.circoll, "explain", cell.collective, "-p", str(cell.p), "--bytes", str(cell.vector), "--type",
                                       "int32", "--policy", f"file:{rules}", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout
                choices[cell[:3]] = json.loads(said)["choice"].split("/")[-1]
            if choices[cell[:3]] in self.cells[cell]:
                result.append(self.pick(cell, choices[cell[:3]]))
            else:
                unmeasured += 1
        return result, unmeasured
