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

from ._core import (FAILURE_CLASSES, Algorithm, Buffer, Builder, Cost, Decision, Execution, Failures, Guarantees, LogGops, Machine, Needs,
                    Network, Plan, RangeVerdict, Ranked, Refutation, Region, Repair, Schedule, Simulation, Terms, Traffic, Verdict,
                    algorithm, algorithms, collectives, execute, explain, faults, messages, parse, rank, read, repair, simulate, to_dot,
                    to_goal, to_json, to_msccl, to_svg, to_text, traffic, verify, verify_size)
from .errors import Error, InternalError, InvalidArgument, ParseError, Refuted, UnknownName, Unsupported
from .running import run
from .schedules import StepKind, build, write
from .version import VERSION as __version__

__all__ = ["Algorithm", "Buffer", "Builder", "Cost", "Decision", "Error", "Execution", "FAILURE_CLASSES", "Failures", "Guarantees",
           "InternalError", "InvalidArgument", "LogGops", "Machine", "Needs", "Network", "ParseError", "Plan", "RangeVerdict", "Ranked",
           "Refutation", "Refuted", "Region", "Repair", "Schedule", "Simulation", "StepKind", "Terms", "Traffic", "UnknownName",
           "Unsupported", "Verdict", "algorithm", "algorithms", "build", "collectives", "costs", "execute", "explain", "faults",
           "measurements", "messages", "parse", "rank", "read", "repair", "run", "simulate", "to_dot", "to_goal", "to_json", "to_msccl",
           "to_svg", "to_text", "traffic", "verify", "verify_range", "verify_size", "write"]


def verify_range(what: str | Algorithm, sizes: Iterable[int] = range(1, 65), all_roots: bool = False, segments: Iterable[int] = (),
                 jobs: int | None = None) -> RangeVerdict:
    """Proves all instances for several p, as `circoll verify` does. It ends at the smallest p that is refuted.

    >>> proof = circoll.verify_range("allgather/bruck", range(1, 9))
    >>> proof.refutation is None and proof.instances > 0
    True
    """
    total = None
    for p in sizes:
        verdict = verify_size(what, p, all_roots, list(segments), jobs or os.cpu_count() or 1)
        verdict.instances += total.instances if total else 0
        total = verdict
        if verdict.refutation:
            break
    if total is None:
        raise InvalidArgument("verify_range needs at least one number of ranks")
    return total


def costs(collective: str, p: int, most_bytes: int = 1 << 26, op: str = "sum", machine: Machine | None = None, root: int = 0) -> dict[str, Any]:
    """Predicted times of all algorithms over sizes, for plot.costs. Two sizes for each doubling from 8 bytes on."""
    sizes = sorted({min(most_bytes, round(8 * 2 ** (k / 2))) for k in range(2 * max(1, most_bytes // 8).bit_length())})
    times = {}
    for at, size in enumerate(sizes):
        for one in rank(collective, p, size, op=op, machine=machine, root=root):
            if not one.unmet_need:
                times.setdefault(one.algorithm.name, [None] * len(sizes))[at] = one.time_s
    return {"collective": collective, "p": p, "sizes": sizes, "times_s": times}


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
