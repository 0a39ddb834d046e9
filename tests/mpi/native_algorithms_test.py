"""native_algorithms_test.py MPI BENCH PROBE CIRCOLL: the algorithms inside the MPI library, as circoll-bench chooses and names them. That one is
really used is shown by marks that it leaves: how an operator of ours is called, what the library refuses, and which function of Open MPI
is called for the first time. No time is checked."""
import json
import os
import re
import subprocess
import sys
import tempfile

from launching import end, environment, expect, launcher, on_first_rank, processes, version

MPI, BENCH, PROBE, CIRCOLL = sys.argv[1:5]
QUICK = ["--reps", "3", "--seconds", "0.01", "--sync", "barrier"]
# Functions of Open MPI whose names differ from those of their algorithms.
FUNCTIONS = {"split_binary_tree": "split_bintree", "binary_tree": "bintree", "recursive_doubling": "recursivedoubling", 
             "segmented_ring": "ring_segmented", "rabenseifner": "redscat_allgather", "neighbor": "neighborexchange",
             "modified_bruck": "bruck", "two_proc": "two_procs", "bruck-k-fanout": "k_bruck",
             "direct-messaging": "direct_messaging", ("alltoall", "linear"): "basic_linear", ("allgather", "linear"): "basic_linear"}


def run(np, command, **variables):
    return subprocess.run(launcher(MPI) + processes(MPI, np, command), env=environment() | variables, capture_output=True, text=True, timeout=120,
                          check=False)

# Allreduces that came after Open MPI 4.1 and MPICH 4.0.
LATER = {"openmpi": [((6,), {"allgather_reduce"})],
         "mpich": [((4, 2), {"tree", "recexch", "ring", "k_reduce_scatter_allgather"}), ((5,), {"recursive_multiplying", "ccl"})]}


def bench(np, *options, code=0, **variables):
    """The rows of circoll-bench, and what it printed."""
    with tempfile.TemporaryDirectory() as work:
        file = work + "/rows.json"
        done = run(np, [BENCH, *options, *QUICK, "--json", file], **variables)
        expect(done.returncode == code, f"{options}, {variables}: exit code {done.returncode}", done.stdout, done.stderr)
        rows = json.load(open(file, encoding="utf-8")) if done.returncode == 0 and os.path.exists(file) else {"rows": []}
        return rows, done.stdout + done.stderr


def names_of(result, collective):
    return {row["algorithm"] for row in result["rows"] if row["collective"] == collective}


def marks(np, collective, count, segment):
    """The marks that the probe prints for each algorithm: (combinations, elements), or None if it is refused."""
    done = run(np, [PROBE, collective, str(count), str(segment)])
    expect(done.returncode == 0, f"probe {collective} on {np}: exit code {done.returncode}", done.stderr)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(MPI + "/")]
    return {words[0].split("/")[1]: None if words[1] == "refused" else (int(words[1]), int(words[2])) for words in lines}


def all_are_measured():
    """In one launch, beside native and Circoll's, all results compared."""
    result, text = bench(3, "--native-algorithms", "--collective", "allreduce,bcast,allgather,reduce_scatter", "--bytes", "64,16Ki", "--type",
                         "int32", "--op", "sum", "--segments", "4Ki")
    wanted = {"openmpi": {"recursive_doubling", "ring", "segmented_ring", "segmented_ring:segment=4096", "rabenseifner", "basic_linear",
                          "nonoverlapping"},
              "mpich": {"recursive_doubling", "reduce_scatter_allgather", "smp", "nb"}}[MPI]
    for since, names in LATER[MPI]:
        wanted |= names if version(MPI) >= since else set()
    expect(names_of(result, "allreduce") == {"native", "auto"} | {f"{MPI}/{name}" for name in wanted}, "allreduce", text)
    inside = [row for row in result["rows"] if "/" in row["algorithm"]]
    expect(all(row["correct"] == "yes" and row["served_by"] == row["algorithm"] for row in inside), "all inside are right", text)
    refused = {"openmpi": "openmpi/two_proc", "mpich": "mpich/recursive_doubling"}[MPI]  # of allgather, on 3 ranks
    expect(refused not in names_of(result, "allgather") and re.search(rf"allgather +{refused}.* refuses it", text), "what is refused is said", text)
    expect(re.fullmatch(rf"{MPI} [0-9]+[.][0-9.]+", result["mpi"]), f"the file names the library: {result['mpi']}")
    if MPI == "mpich":  # an assertion would end the program
        expect("mpich/noncommutative" not in names_of(result, "reduce_scatter"), "reduce_scatter/noncommutative on 3 ranks", text)


def single_names():
    """A name, with parameters, of the collectives that have it; wrong ones are refused with a sentence."""
    name = {"openmpi": "openmpi/pipeline:segment=1Ki", "mpich": "mpich/scatter_ring_allgather"}[MPI]
    full = name.replace("1Ki", "1024")
    result, text = bench(2, "--algorithm", f"native,{name}", "--collective", "bcast,allgather", "--bytes", "4Ki")
    expect(names_of(result, "bcast") == {"native", full} and names_of(result, "allgather") == {"native"}, "a single name", text)
    other = {"openmpi": "mpich", "mpich": "openmpi"}[MPI]
    for word, sentence in ((f"{MPI}/no_such", "no_such"), (f"{other}/ring", f"and this is {MPI}"), (f"{MPI}/recursive_doubling:segment=4", "no parameter"),
                           (f"{MPI}/recursive_doubling:fanout", "no parameter")):
        _, text = bench(2, "--algorithm", word, "--collective", "allreduce", code=2)
        expect(sentence in text, f"{word} is refused", text)


def by_launch():
    """An algorithm that variables force on a launch names the row of native calls. A misspelt variable does not."""
    if MPI == "openmpi":
        forcing = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allgatherv_algorithm": "3"}
        name, collective, misspelt = "openmpi/ring", "allgatherv", {"OMPI_MCA_coll_tuned_allgatherv_algoritm": "3"}
    else:
        forcing, name, collective = {"MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM": "ring"}, "mpich/ring", "allgatherv"
        misspelt = {"MPIR_CVAR_ALLGATHERV_INTRA_ALGORITM": "ring"}
    options = ["--native-algorithms", "--algorithm", "native", "--collective", collective, "--bytes", "64"]
    result, text = bench(2, *options, **forcing)
    expect(name in names_of(result, collective) and "native" not in names_of(result, collective), f"{forcing}", text)
    result, text = bench(2, *options, **misspelt)
    expect("native" in names_of(result, collective), f"{misspelt}", text)
    if MPI == "openmpi":
        expect("coll_tuned_allgatherv_algorithm be set at its start only" in text, "allgatherv by launch only", text)
        result, text = bench(2, *options[:-3], "bcast", "--bytes", "64", OMPI_MCA_coll_tuned_use_dynamic_rules="0")
        expect(names_of(result, "bcast") == {"native"} and "without coll_tuned_use_dynamic_rules" in text, "who forbids it is told", text)


def names_are_those_of_the_variables():
    """MPICH's numbers come from the order in a description. MPICH itself reads each name here, and the row of native calls must have it."""
    known = {"allreduce": "nb smp recursive_doubling reduce_scatter_allgather", "bcast":
             "binomial nb smp scatter_recursive_doubling_allgather scatter_ring_allgather", "allgather": "brucks nb recursive_doubling ring",
             "alltoall": "brucks nb pairwise pairwise_sendrecv_replace scattered", "reduce": "binomial nb smp reduce_scatter_gather",
             "reduce_scatter_block": "noncommutative recursive_doubling pairwise recursive_halving nb"}
    for turn in range(5):
        chosen = {collective: names.split()[turn % len(names.split())] for collective, names in known.items()}
        variables = {f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": name for collective, name in chosen.items()}
        _, text = bench(2, "--native-algorithms", "--algorithm", "native", "--collective", ",".join(known), "--bytes", "64", "--type", "int32", "--op", "sum", "--wide",
                        **variables)
        for collective, name in chosen.items():
            expect(re.search(rf"^{collective} +mpich/{name} ", text, re.M), f"{collective}: {name}", text)
            expect(not re.search(rf"^{collective} +native ", text, re.M), f"{collective}: not native", text)


def operators_show_it():
    """Combinations of an allreduce and others, counted on all ranks, are those of the algorithm by its definition."""
    p, n = 4, 1000
    allreduce, reduce = marks(p, "allreduce", n, 80), marks(p, "reduce", n, 800)
    doubling = (2 * p, 2 * p * n)  # log2(p) on each rank, of everything
    if MPI == "openmpi":
        expect(allreduce["recursive_doubling"] == doubling and allreduce["basic_linear"] == (p - 1, (p - 1) * n), f"{allreduce}")
        expect(allreduce["ring"] == (p * (p - 1), (p - 1) * n) and allreduce["rabenseifner"] == (2 * p, (p - 1) * n), f"{allreduce}")
        expect(allreduce["segmented_ring:segment=80"][0] > allreduce["segmented_ring"][0], f"segments of a ring: {allreduce}")
        segments = -(-n * 4 // 800)
        for name in ("pipeline", "binary", "binomial"):
            expect(reduce[name] == (p - 1, (p - 1) * n) and reduce[name + ":segment=800"] == (segments * (p - 1), (p - 1) * n), f"{name}: {reduce}")
    else:
        # MPICH 5 takes another algorithm in place of smp if all ranks are on one node.
        smp = (p - 1) * n if version(MPI) < (5,) else doubling[1]
        expect(allreduce["recursive_doubling"] == doubling and allreduce["smp"][1] == smp, f"{allreduce}")
        expect(allreduce["reduce_scatter_allgather"] is None and reduce["reduce_scatter_gather"] is None, "no operators of the user's", str(reduce))
        block = marks(p, "reduce_scatter_block", n, 800)
        expect(block["pairwise"] == (p * (p - 1), p * (p - 1) * n) and block["recursive_halving"][0] == 2 * p, f"{block}")
        # This algorithm is for powers of two only.
        expect(marks(3, "allgather", n, 800)["recursive_doubling"] is None and marks(p, "allgather", n, 800)["recursive_doubling"] is not None,
               "allgather/recursive_doubling")


def tuned_of(bindings):
    """The file that coll/tuned calls from: a component of Open MPI 4, the library itself from 5 on, which others call from, too. In
    Open MPI 6 the library below both of its interfaces is libopen_mpi.so."""
    component = "mca_coll_tuned.so"
    return component if component in bindings else "file /[^ ]*lib(?:open_)?mpi.so"


def functions_are_called():
    """The dynamic linker says which function of Open MPI is called for the first time by the first rank."""
    for collective in ("allreduce", "bcast", "allgather", "alltoall"):
        command = processes(MPI, 2, on_first_rank("LD_DEBUG=bindings", [PROBE, collective, "1000", "80"]))
        done = subprocess.run(launcher(MPI) + command, env=environment(), capture_output=True, text=True, timeout=120, check=False)
        expect(done.returncode == 0, f"functions of {collective}: exit code {done.returncode}", done.stderr[-2000:])
        forced, called = "", {}
        tuned = tuned_of(done.stderr)
        for line in done.stderr.splitlines():
            if line.startswith("forced "):
                forced = line.split("/")[1]
            elif re.search(tuned, line) and (symbol := re.search(rf"`ompi_coll_base_{collective}_(?:intra_)?(\w+)'", line)):
                called.setdefault(forced, []).append(symbol[1])
        for name in marks(2, collective, 1000, 80):
            wanted = FUNCTIONS.get((collective, name)) or FUNCTIONS.get(name) or name
            if ":segment" in name or name.startswith("chain:"):
                wanted = name.split(":")[0]
                expect(":segment" in name or wanted in called.get(name, []), f"{collective}/{name}: {called}")
            else:
                # With these algorithms the program first checks that the library obeys.
                when = "" if collective == "allreduce" and name in ("basic_linear", "recursive_doubling") else name
                before = called.get("", []) if tuned.startswith("file") else []  # by whomever
                expect(wanted in called.get(when, []) + before, f"{collective}/{name} should be {wanted}: {called.get(when)}")


def guidelines_have_them():
    """Left-hand sides are measured by them, too, and no other sides."""
    result, text = bench(2, "--guidelines", "--native-algorithms", "--algorithm", "native", "--collective", "bcast", "--bytes", "1Ki")
    sides = {row["side"] for row in result.get("sides", []) if row["algorithm"].startswith(MPI + "/")}
    expect(sides == {"bcast"}, f"sides by algorithms inside: {sides}", text)


def launch_file(path, collective, times, sides=(), wrong=()):
    """As circoll-bench writes it, with made-up times of 4096 bytes on two ranks."""
    rows = [{"collective": collective, "algorithm": name, "served_by": name, "p": 2, "bytes": 4096, "reps": 9, "median_us": us,
             "correct": "NO" if name in wrong else "yes"} for name, us in times.items()]
    more = [{"side": side, "algorithm": name, "served_by": name, "p": 2, "bytes": 4096, "reps": 9, "median_us": us} for side, name, us in sides]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"type": "int32", "op": "sum", "root": 0, "mpi": f"{MPI} 4.1.4", "rows": rows, **({"sides": more} if more else {})}, file)
    return path


def circoll(*arguments):
    return subprocess.run([CIRCOLL, *arguments], capture_output=True, text=True, timeout=60, check=False)


def bcasts_of(variables):
    """The algorithms of coll/tuned by which native broadcasts run, as the dynamic linker sees the first rank."""
    command = [BENCH, "--algorithm", "native", "--collective", "bcast", "--bytes", "4Ki", *QUICK]
    done = subprocess.run(launcher(MPI) + processes(MPI, 2, on_first_rank("LD_DEBUG=bindings", command)),
                          env=environment() | variables, capture_output=True, text=True, timeout=120, check=False)
    expect(done.returncode == 0, f"native with {variables}: exit code {done.returncode}", done.stderr[-2000:])
    return {match[1] for line in done.stderr.splitlines() if re.search(tuned_of(done.stderr), line) and
            (match := re.search(r"`ompi_coll_base_bcast_intra_(\w+)'", line))}


def files_are_honoured():
    """The fastest right one gets into a file, which Open MPI follows; a violated guideline is mended in such a file, too."""
    with tempfile.TemporaryDirectory() as work:
        tuned, mended = work + "/tuned.conf", work + "/mended.conf"
        times = {"native": 100, "openmpi/knomial:segment=1024": 10, "openmpi/chain:fanout=4": 1, "openmpi/pipeline": 50, "pipeline": 2}
        file = launch_file(work + "/1.json", "bcast", times, wrong=("openmpi/chain:fanout=4",))
        done = circoll("tune", file, "--export", "openmpi-4.1", "-o", tuned)
        expect(done.returncode == 0 and "openmpi/knomial:segment=1024" in done.stdout, "tune --export", done.stdout, done.stderr)
        checked = circoll("lint", tuned, "--for", "openmpi-4.1", "-p", "2", "--bytes", "4Ki", "-c", "bcast")
        expect("knomial" in checked.stdout and "1024" in checked.stdout, "check", checked.stdout, checked.stderr)
        with_file = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": tuned}
        usual = bcasts_of({})
        followed = bcasts_of(with_file)
        expect("knomial" in followed and "knomial" not in usual, f"Open MPI follows the file: {followed}, usually {usual}")
        expect(bcasts_of({"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}) == usual, "by itself the switch changes no decision")
        done = circoll("tune", file, "--export", "mpich-4.0", "-o", work + "/none")
        expect(done.returncode != 0 and not os.path.exists(work + "/none"), "times of another library", done.stdout, done.stderr)

        sides = [("allreduce", "native", 100), ("allreduce", "openmpi/recursive_doubling", 40), ("reduce+bcast", "native", 60)]
        runs = [launch_file(f"{work}/{number}.json", "allreduce", {"native": 100}, [(*one[:2], one[2] + number / 100) for one in sides])
                for number in range(2, 6)]
        done = circoll("guidelines", *runs, "--export", "openmpi-4.1", "-o", mended)
        expect(done.returncode == 1 and "openmpi/recursive_doubling" in done.stdout, "guidelines --export", done.stdout, done.stderr)
        checked = circoll("lint", mended, "--for", "openmpi-4.1", "-p", "2", "--bytes", "4Ki", "-c", "allreduce")
        expect("recursive_doubling" in checked.stdout, "the violation is mended", checked.stdout, checked.stderr)


all_are_measured()
single_names()
by_launch()
operators_show_it()
guidelines_have_them()
if MPI == "mpich":
    names_are_those_of_the_variables()
else:
    functions_are_called()
    files_are_honoured()
end()
