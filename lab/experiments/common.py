"""Functions that the experiments share."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

os.environ["CIRCOLL_PROFILE"] = "off"  # "auto" is the model's choice here, whatever this machine's owner has tuned
ROOT = pathlib.Path(__file__).resolve().parents[2]
SLOWER = 0.95  # a ratio below is named
MPIS = ("openmpi", "mpich")
# Two ranks of one node, each on a core of its own, and four that share two processors.
PINNED = {mpi: [ROOT / "dev/launch", "pinned", mpi, "-np", "2"] for mpi in MPIS}
CROWDED = {mpi: [ROOT / "dev/launch", "crowded", mpi, "-np", "4"] for mpi in MPIS}


def say(text):
    """To the terminal, after which experiment says so."""
    program = pathlib.Path(sys.argv[0])
    print(f"{program.parent.name}/{program.name}: {text}", file=sys.stderr, flush=True)


def find_build(*presets, program="bin/circoll-bench.openmpi"):
    """The first tree of a preset that has the program, else the first one's."""
    builds = [ROOT / "build" / preset for preset in presets]
    return next((build for build in builds if (build / program).exists()), builds[0])


def exchange_program(directory, mpi):
    """tools/bench/exchange.c, compiled in the directory."""
    program = directory.resolve() / f"exchange.{mpi}"
    if not program.exists():
        subprocess.run([f"mpicc.{mpi}", "-O2", "-o", program, ROOT / "tools/bench/exchange.c"], check=True)
    return program


def exchange_on_hosts(options, mpi, hosts, cores, pairs, word, variables, sizes, name):
    """The medians of a launch of exchange.c between emulated hosts, in us, by the size of a value. `pairs` is its FILE, `word` what it calls.
    Variables of Circoll, or none: without it. They stay in `name`.json in the directory."""
    file = options.directory / f"{name}.json"
    if not file.exists():
        settings = []
        if variables is not None:
            library = options.build / f"lib/circoll/{mpi}/libcircoll-mpi.so"
            for variable in (f"LD_PRELOAD={library}", "CIRCOLL_SERVE_AFTER=0", *(f"{key}={value}" for key, value in variables.items())):
                settings += ["-x", variable]
        partial = file.with_suffix(".partial").resolve()
        command = ["dev/netbed", "--mpi", mpi, "--hosts", hosts, "--ppn", cores, "--time-limit", 120, "--no-verify", "--result", partial, *settings, "--",
                   exchange_program(options.directory, mpi), pairs.resolve(), options.calls, word, partial, *sizes]
        done = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode != 0:
            sys.exit(f"{file}: exit code {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
        partial.rename(file)
        say(file.name)
    return json.loads(file.read_text())


def yielding_library(directory):
    """dev/yield.c, compiled in the directory: MPICH's ranks that outnumber the processors preload it."""
    library = directory.resolve() / "yield.so"
    if not library.exists():
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "dev/yield.c"], check=True)
    return library


def draw(circoll, output, *words):
    """Draws a chart by circoll plot. An experiment without matplotlib says so, and has its numbers."""
    done = subprocess.run([str(word) for word in (circoll, "plot", *words, "-o", output)], capture_output=True, text=True, check=False)
    say(done.stdout.strip() or done.stderr.strip())


def geometric_mean(ratios):
    return statistics.geometric_mean(ratios) if ratios else float("nan")


def marked(ratio):
    return f"**{ratio:.2f}**" if ratio < SLOWER else f"{ratio:.2f}"


def means(what, ratios):
    """A table of the ratios of each collective, {collective: ratios}, with a line before it."""
    lines = [f"Geometric means of {what}:", "", f"| collective | mean | below {SLOWER} |", "|---|---|---|"]
    for collective, values in [*ratios.items(), ("all", [ratio for values in ratios.values() for ratio in values])]:
        lines.append(f"| {collective} | {marked(geometric_mean(values))} | {sum(ratio < SLOWER for ratio in values)} of {len(values)} |")
    return "\n".join(lines)


def exit_with(main):
    """Ends the program with what main() returns; quietly on Ctrl-C."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
