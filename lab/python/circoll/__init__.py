"""Circoll: schedules of collective operations, their proofs, costs and simulations.

>>> import circoll
>>> circoll.algorithm("allreduce/ring").cost(p=8).rounds
14
>>> bool(circoll.verify("allreduce/circulant_optimal", p=11))
True
"""
import os
from collections.abc import Iterable
from typing import Any

from ._core import (FAILURE_CLASSES, Algorithm, Buffer, Builder, Execution, LogGops, Machine, Network, Region, Schedule, Simulation, _verify_sizes,
                    algorithm, algorithms, collectives, execute, explain, faults, messages, parse, profile, rank, read, repair, rules,
                    simulate, to_dot, to_goal, to_json, to_msccl, to_svg, to_text, traffic, verify, whatif)
from .errors import Error, InternalError, InvalidArgument, ParseError, Refuted, UnknownName, Unsupported
from .progress import Progress
from .results import (Cost, Decision, Failures, Guarantees, Needs, PlayedRun, Profile, ProfileProgram, ProfileRanks, RangeVerdict, Ranked, Refutation,
                      Repair, Rule, Terms, Traffic, Verdict, WhatIf)
from .running import run
from .schedules import StepKind, build, write
from .version import VERSION as __version__

__all__ = ["Algorithm", "Buffer", "Builder", "Cost", "Decision", "Error", "Execution", "FAILURE_CLASSES", "Failures", "Guarantees",
           "InternalError", "InvalidArgument", "LogGops", "Machine", "Needs", "Network", "ParseError", "PlayedRun", "Profile", "ProfileProgram",
           "ProfileRanks", "RangeVerdict", "Ranked", "Refutation", "Refuted", "Region", "Repair", "Rule", "Schedule", "Simulation",
           "StepKind", "Terms", "Traffic", "UnknownName", "Unsupported", "Verdict", "WhatIf", "algorithm", "algorithms", "build", "collectives",
           "costs", "execute", "explain", "faults", "measurements", "messages", "parse", "profile", "rank", "read", "repair", "rules",
           "run", "simulate", "to_dot", "to_goal", "to_json", "to_msccl", "to_svg", "to_text", "traffic", "verify", "verify_range",
           "whatif", "write"]


def verify_range(what: str | Algorithm, sizes: Iterable[int] = range(1, 65), all_roots: bool = False, segments: Iterable[int] = (),
                 jobs: int = 0, progress: Progress = False) -> RangeVerdict:
    """Proves all instances for several p, as `circoll verify` does. Larger p are left out once one is refuted. jobs=0: one per core.

    >>> proof = circoll.verify_range("allgather/bruck", range(1, 9))
    >>> proof.refutation is None and proof.instances > 0
    True
    """
    return _verify_sizes(what, list(sizes), all_roots, list(segments), jobs, progress)


def costs(collective: str, p: int, most_bytes: int = 1 << 26, op: str = "sum", machine: Machine | None = None, root: int = 0) -> dict[str, Any]:
    """Predicted times of all algorithms over sizes, for plot.costs: the sizes of `circoll cost --sizes`, four for each doubling from 8 bytes on."""
    sizes: list[int] = []
    while (size := round(8 * 2 ** (len(sizes) / 4))) < most_bytes:
        sizes.append(size)
    sizes.append(most_bytes)
    times: dict[str, list[float | None]] = {}
    fastest = []
    for at, size in enumerate(sizes):
        ranked = [one for one in rank(collective, p, size, op=op, machine=machine, root=root) if not one.unmet_need]
        fastest.append(ranked[0].algorithm.name)  # of equal times the first one is what `auto` would take
        for one in ranked:
            times.setdefault(one.algorithm.name, [None] * len(sizes))[at] = one.time_s
    return {"collective": collective, "p": p, "sizes": sizes, "fastest": fastest, "times_s": times}


def measurements(*paths: str | os.PathLike[str]) -> Any:
    """The rows of files that `circoll bench --json` and `circoll merge --json` wrote, as a DataFrame of pandas."""
    import json

    import pandas
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as source:
            try:
                document = json.load(source)
            except json.JSONDecodeError as error:
                raise ParseError(f"{path}: {error}") from error
        if not isinstance(document, dict) or not all("median_us" in row for row in document.get("rows", [{}])):
            raise ParseError(f"{path}: this is no file of circoll bench --json")
        rows += [{"file": str(path), **row} for row in document["rows"]]
    return pandas.DataFrame(rows)
