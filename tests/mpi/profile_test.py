#!/usr/bin/env python3
"""profile_test.py MPI DROPIN YIELD CIRCOLL BENCH PROGRAM: programs under the drop-in go by the profile that rank 0 finds, and by no other;
circoll tune --here writes one in a short time."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import launching
from launching import end, expect

mpi, dropin, shim, circoll, bench, program = sys.argv[1:7]
preload = launching.preloaded(mpi, dropin, shim)
os.environ.pop("CIRCOLL_PROFILE", None)
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


def launch(np, command, variables=(), limit=120):
    """Standard output and error of a program that ends well."""
    done = subprocess.run(launching.launcher(mpi) + launching.processes(mpi, np, ["env", *variables, *command]),
                          env=launching.environment(), capture_output=True, text=True, timeout=limit)
    expect(done.returncode == 0, f"{command}, {variables}: exit code {done.returncode}", done.stdout, done.stderr)
    return done.stdout, done.stderr


def profile(library, processor, use, programs=None):
    """By it an allreduce of two or three ranks takes `use`, whatever its operator. `programs` have other choices."""
    measured = [{"ranks": p, "processors": p, "launches": 1, "circoll": "", "date": "", "host": "", **crowd(p)} for p in (2, 3)]
    rules = [{"op": "commutative", "p": [2, 4], "nodes": [1, 2], "use": use}, {"otherwise": "auto"}]
    origin = {"report": "", "launches": 1, "circoll": "", "date": "", "host": ""}
    sections = {name: {"measured": origin, "allreduce": [{"op": "commutative", "p": [2, 4], "use": own}, {"otherwise": "auto"}]}
                for name, own in (programs or {}).items()}
    return json.dumps({"circoll_rules": 1, "profile": {"version": 1, "library": library, "processor": processor, "measured": measured},
                       "allreduce": rules, "programs": sections}, indent=1)


def crowd(p):
    return {"crowded": True} if p > len(os.sched_getaffinity(0)) else {}


def config(directory, text, name="test.json"):
    """A user's configuration directory that holds one profile."""
    profiles = directory / "circoll" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / name).write_text(text)
    return directory


with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    launch(2, [bench, "--collective", "barrier", "--reps", "3", "--json", str(work / "here.json")], ["CIRCOLL_PROFILE=off"])
    here = json.loads((work / "here.json").read_text())
    library, processor = here["library"], here["processor"]
    expect(library.startswith({"openmpi": "Open MPI ", "mpich": "MPICH "}[mpi]) and processor, "the bench says where it is", str(here))
    good = config(work / "good", profile(library, processor, "ring"))
    other = config(work / "other", profile(library, processor, "recursive_doubling"))
    damaged = config(work / "damaged", profile(library, processor, "ring")[:-20])
    foreign = config(work / "foreign", profile(library + "9", processor, "ring"))
    (work / "none").mkdir()

    def reported(np, first, others, *variables):
        """The profile in use, the reasons of allreduces, and warnings, where rank 0 has another configuration than the rest."""
        report = work / "report.json"
        script = f'[ "{RANK}" = 0 ] && export XDG_CONFIG_HOME={first} || export XDG_CONFIG_HOME={others}; LD_PRELOAD="{preload}" exec "$0"'
        _, err = launch(np, ["sh", "-c", script, program], [f"CIRCOLL_REPORT={report}", *variables])
        found = json.loads(report.read_text())
        whys = {(row["served_by"], size["why"]) for row in found["rows"] if row["collective"] == "allreduce" and row["comm_size"] == np
                and row["mode"] == "blocking" for size in row["histogram"]}
        return found["profile"] or "", whys, [line for line in err.splitlines() if "circoll:" in line]

    def by_profile(whys, place):
        return any(why.startswith(f"profile {place}/circoll/profiles/test.json:") for _, why in whys)

    for np in (2, 3):
        used, whys, warnings = reported(np, good, other)
        expect(used == f"{good}/circoll/profiles/test.json" and by_profile(whys, good) and not warnings,
               f"{np} ranks go by rank 0's profile", used, str(whys), str(warnings))
        expect(any(name.startswith("ring") or "/ring" in name for name, _ in whys), "the algorithm is the profile's", str(whys))
    name = pathlib.Path(program).name
    ruled = config(work / "ruled", profile(library, processor, "ring", {"another": "binomial", name: "recursive_doubling"}))
    for np in (2, 3):
        used, whys, warnings = reported(np, ruled, good)
        expect(used == f"{ruled}/circoll/profiles/test.json, with rules for {name}" and not warnings, "the program has rules of its own",
               used, str(warnings))
        expect(any(served == "recursive_doubling" and f" for {name}: " in why for served, why in whys), "and goes by them", str(whys))
    # Unlike the machine's, they serve several nodes.
    _, whys, _ = reported(2, ruled, good, "CIRCOLL_CORES=1")
    expect(any(f" for {name}: " in why for _, why in whys), "also on two nodes", str(whys))
    used, whys, warnings = reported(2, work / "none", good)
    expect(used.startswith("none, since there is none for ") and "profile /" not in str(whys) and not warnings,
           "profiles that only other ranks have are not used", used, str(whys), str(warnings))
    used, whys, warnings = reported(3, damaged, good)
    expect(used.startswith("none") and "profile /" not in str(whys) and len(warnings) == 1
           and "a profile is damaged and not used: " in warnings[0], "damage is one warning", used, str(whys), str(warnings))
    used, whys, warnings = reported(2, foreign, good)
    expect(used == f"none; there is one of {library}9: tune again" and "profile /" not in str(whys) and not warnings,
           "another patch level's is not used, and named", used, str(warnings))
    named = f"CIRCOLL_PROFILE={foreign}/circoll/profiles/test.json"
    used, whys, warnings = reported(2, good, good, named)
    expect(used.startswith("none") and len(warnings) == 1 and f"it is for {library}9, not {library}" in warnings[0],
           "one that is named in vain is a warning", used, str(warnings))
    for variable in ("CIRCOLL_PROFILE=off", "CIRCOLL_POLICY=model", "CIRCOLL_NODE=off"):
        used, whys, warnings = reported(2, good, good, variable)
        expect(used.startswith("none, since CIRCOLL_") and not by_profile(whys, good) and not warnings, variable, used, str(warnings))
    used, _, warnings = reported(3, good, other, "CIRCOLL_POLICY=learn")
    expect(used.startswith(str(good)) and not warnings, "learning begins with the profile", used, str(warnings))
    # On two nodes the profile says nothing.
    used, whys, _ = reported(2, good, good, "CIRCOLL_CORES=1")
    expect(not by_profile(whys, good), "rules of one node are not for two", str(whys))

    # The bench says which profile its "auto" used.
    launch(2, [bench, "--collective", "allreduce", "--bytes", "64", "--reps", "5", "--json", str(work / "under.json")],
           [f"XDG_CONFIG_HOME={good}"])
    under = json.loads((work / "under.json").read_text())
    expect(under["policy"] == f"profile:{good}/circoll/profiles/test.json", "the bench names the profile", under["policy"])
    expect([row["served_by"] for row in under["rows"] if row["algorithm"] == "auto"] == ["ring"], "and goes by it", str(under["rows"]))

    # One command writes a profile, and programs use it.
    home = work / "home"
    environment = launching.environment() | {"XDG_CONFIG_HOME": str(home)}
    begin = time.monotonic()
    tuned = subprocess.run([circoll, "tune", "--here", "--quick", "--mpi", mpi, "-p", "2", "--seconds", "6"], env=environment,
                           capture_output=True, text=True, timeout=200)
    print(tuned.stdout, tuned.stderr, f"{time.monotonic() - begin:.1f} s", sep="\n")
    expect(tuned.returncode == 0, "circoll tune --here", tuned.stdout, tuned.stderr)
    files = list((home / "circoll" / "profiles").glob("*.json"))
    # On a busy machine no choice may be surely faster.
    written = "Programs under the drop-in use it from now on." in tuned.stdout
    expect(len(files) == 1 and f"written to {files[0]}" in tuned.stdout if written else
           not files and "nothing to gain: keep auto. Nothing is written" in tuned.stdout, "there is a profile, or nothing to gain", str(files))
    if written:
        used, whys, warnings = reported(2, home, work / "none")
        expect(used == str(files[0]) and any(why.startswith(f"profile {files[0]}") for _, why in whys) and not warnings,
               "programs go by it", used, str(whys), str(warnings))
    doctor = subprocess.run([circoll, "doctor", "--mpi", mpi, "--json"], env=environment, capture_output=True, text=True, timeout=120)
    expect(doctor.returncode == 0 and json.loads(doctor.stdout)["libraries"][0]["profile"] == "".join(map(str, files)), "the doctor names it",
           doctor.stdout, doctor.stderr)
end()
