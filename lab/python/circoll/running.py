"""Collectives over MPI by any schedule: circoll.run, with messages of mpi4py and operators of NumPy."""
from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from .errors import InvalidArgument, Unsupported
from .schedules import StepKind

_OPERATORS = {"sum": numpy.add, "prod": numpy.multiply, "min": numpy.minimum, "max": numpy.maximum, "land": numpy.logical_and,
              "lor": numpy.logical_or, "lxor": numpy.logical_xor, "band": numpy.bitwise_and, "bor": numpy.bitwise_or, "bxor": numpy.bitwise_xor}
_NAMES = ("sendbuf", "recvbuf")


def _areas(buffers):
    """The buffers as flat arrays of one type; one that is not given is empty."""
    given = [buffer for buffer in buffers if buffer is not None]
    dtype = given[0].dtype if given else numpy.dtype(numpy.uint8)
    for name, buffer in zip(_NAMES, buffers):
        if buffer is not None and (buffer.dtype != dtype or not buffer.flags.c_contiguous):
            raise InvalidArgument(f"{name} is no contiguous array of {dtype}")
    return [numpy.empty(0, dtype) if buffer is None else buffer.reshape(-1) for buffer in buffers]


def _block(collective, send, recv, p):
    """Elements of a user block, by a buffer that every rank has."""
    if collective in ("reduce_scatter_block", "scatter"):
        return recv.size
    if collective == "alltoall":
        return send.size // p
    return send.size or recv.size


def _check_extents(plan, areas):
    """Refuses buffers that are too short, before anything is sent."""
    pieces = numpy.concatenate([plan.pieces, *(plan.runs[operand] for operand in ("dst", "left", "right"))])
    for number, name in enumerate(_NAMES):
        mine = pieces[pieces["area"] == number]
        needed = int((mine["first"] + mine["count"]).max()) if len(mine) else 0
        if areas[number].size < needed:
            raise InvalidArgument(f"{name} has {areas[number].size} elements, and {needed} are needed")


class _Execution:
    """One rank's part. A step begins when those that it waits for have ended, so that ranks cannot wait for one another forever."""

    def __init__(self, plan, areas, operator, comm, byte):
        self.plan, self.areas, self.operator, self.comm, self.byte = plan, areas, operator, comm, byte
        self.steps, self.pieces, self.runs = plan.steps, plan.pieces, plan.runs
        self.waits_for = self.steps["waits_for"].astype(int)
        self.ready = collections.deque(numpy.flatnonzero(self.waits_for == 0).tolist())
        self.requests, self.under_way = [], []  # under_way[i] is the step of requests[i], and its memory

    def _view(self, piece):
        return self.areas[piece["area"]][piece["first"]:piece["first"] + piece["count"]]

    def _views(self, step):
        return [self._view(piece) for piece in self.pieces[step["first"]:step["first"] + step["length"]]]

    def _end(self, number):
        """Does what a step has to do in this rank's memory; steps that waited for it are ready then."""
        step = self.steps[number]
        for run_ in self.runs[step["first_run"]:step["first_run"] + step["run_count"]]:
            dst, left = self._view(run_["dst"]), self._view(run_["left"])
            if step["kind"] == StepKind.copy:
                dst[:] = left
            else:
                self.operator(left, self._view(run_["right"]), out=dst, casting="unsafe")
        for follower in self.plan.successors(number):
            self.waits_for[follower] -= 1
            if self.waits_for[follower] == 0:
                self.ready.append(follower)

    def _begin(self, number):
        step = self.steps[number]
        if step["empty"] or step["kind"] in (StepKind.reduce, StepKind.copy):
            self._end(number)
            return
        views = self._views(step)
        memory = views[0] if len(views) == 1 else numpy.concatenate([self.areas[0][:0], *views])
        begin = self.comm.Isend if step["kind"] == StepKind.send else self.comm.Irecv
        self.requests.append(begin([memory.view(numpy.uint8), memory.nbytes, self.byte], int(step["peer"]), int(step["tag"])))
        self.under_way.append((number, memory))

    def _arrived(self, number, memory):
        if self.steps[number]["kind"] != StepKind.send:
            at = 0
            for view in self._views(self.steps[number]):
                view[:] = memory[at:at + view.size]
                at += view.size
        self._end(number)

    def go(self, wait_for_any):
        """Executes everything."""
        while self.ready or self.requests:
            while self.ready:
                self._begin(self.ready.popleft())
            if self.requests:
                at = wait_for_any(self.requests)
                del self.requests[at]
                self._arrived(*self.under_way.pop(at))


def run(what: str | _core.Algorithm | Sequence[_core.Schedule], sendbuf: Any, recvbuf: Any, op: str = "sum", comm: Any = None, root: int = 0,
        counts: Sequence[int] | None = None) -> None:
    """Executes a collective over MPI. All ranks of comm call it. Schedules of your own are proven first, at each call; an Algorithm is not.

    Buffers are contiguous arrays of one type. A rank without one gives None: bcast has its data in recvbuf. Blocks of different sizes need
    counts, one for each rank. This is for trying an algorithm out. The drop-in executes the same schedules faster.
    """
    from mpi4py import MPI
    algorithm = _core.algorithm(what)
    private = (MPI.COMM_WORLD if comm is None else comm).Dup()  # no message of the caller's is taken for one of these
    try:
        unmet = algorithm.unmet_need(private.size, op)
        if unmet:
            raise Unsupported(f"{algorithm.id} {unmet}")
        areas = _areas((sendbuf, recvbuf))
        plan = _core.Plan(algorithm.schedule(private.size, private.rank, root), counts or [_block(algorithm.collective, *areas, private.size)])
        _check_extents(plan, areas)
        areas.append(numpy.empty(plan.scratch, areas[0].dtype))
        if op not in _OPERATORS:
            raise Unsupported(f"circoll.run has no operator '{op}'")
        _Execution(plan, areas, _OPERATORS[op], private, MPI.BYTE).go(MPI.Request.Waitany)
    finally:
        private.Free()
