"""Schedules of your own: the names of their steps, the builder's loop over ranks, and files."""
from __future__ import annotations

import enum
import os
from collections.abc import Callable, Sequence

from . import _core


class StepKind(enum.IntEnum):
    """The column "kind" of Schedule.steps and Simulation.steps."""

    send = 0
    recv = 1
    reduce = 2
    copy = 3
    recv_reduce = 4


def build(id: str, p: int, steps: Callable[[_core.Builder], object], root: int = 0, in_place: bool = False, **params: int) -> list[_core.Schedule]:
    """The schedules of p ranks of an algorithm of your own: `steps(builder)` writes those of rank builder.rank.

    >>> def ring(b):
    ...     for k in range(b.size - 1):
    ...         here = (b.rank - k) % b.size
    ...         came = (here - 1) % b.size
    ...         b.sendrecv((b.rank + 1) % b.size, b.input() if k == 0 else b.output(here, 1),
    ...                    (b.rank - 1) % b.size, b.output(came, 1))
    ...         b.next_round()
    ...     b.copy(b.output(b.rank, 1), b.input())
    >>> circoll.verify(circoll.build("allgather/my_ring", 5, ring))
    <Verdict proven: 20 messages>
    """
    schedules = []
    for rank_ in range(p):
        builder = _core.Builder(id, p, rank_, root, in_place, params)
        steps(builder)
        schedules.append(builder.finish())
    return schedules


def write(schedules: Sequence[_core.Schedule], path: str | os.PathLike[str]) -> None:
    """Writes the schedules of all ranks into a file: .json, .xml (MSCCL), .svg, .dot, else text. Commands and
    CIRCOLL_ALLREDUCE=file:PATH read JSON and text."""
    form = {"json": _core.to_json, "xml": _core.to_msccl, "svg": _core.to_svg, "dot": _core.to_dot}.get(str(path).rpartition(".")[2], _core.to_text)
    text = form(schedules)
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
