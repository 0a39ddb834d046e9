"""Collectives over MPI by any schedule: circoll.run, with messages of mpi4py and operators of NumPy."""
from __future__ import annotations

import collections
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from .errors import InvalidArgument, Unsupported
from .schedules import StepKind

_OPERATORS = {"sum": numpy.add, "prod": numpy.multiply, "min": numpy.minimum, "max": numpy.maximum, "land": numpy.logical_and,
              "lor": numpy.logical_or, "lxor": numpy.logical_xor, "band": numpy.bitwise_and, "bor": numpy.bitwise_or, "bxor": numpy.bitwise_xor}
_NAMES = ("sendbuf", "recvbuf")
_MOST_BYTES = 1 << 30  # of one message of MPI: mpi4py counts in 32 bits. Longer ones are cut.


def _areas(buffers):
    """The buffers as flat arrays of one type; one that is not given is empty."""
    given = [buffer for buffer in buffers if buffer is not None]
    if not all(isinstance(buffer, numpy.ndarray) for buffer in given):
        raise InvalidArgument("sendbuf and recvbuf are arrays of NumPy, or None")
    dtype = given[0].dtype if given else numpy.dtype(numpy.uint8)
    for name, buffer in zip(_NAMES, buffers):
        if buffer is not None and (buffer.dtype != dtype or dtype.hasobject or not buffer.flags.c_contiguous):
            raise InvalidArgument(f"{name} is no contiguous array of numbers of type {dtype}")
    if buffers[1] is not None and not buffers[1].flags.writeable:
        raise InvalidArgument("recvbuf is read-only")
    if len(given) == 2 and numpy.may_share_memory(*given):
        raise InvalidArgument("sendbuf and recvbuf share memory: give a copy of one")
    return [numpy.empty(0, dtype) if buffer is None else buffer.reshape(-1) for buffer in buffers]


def _block(collective, send, recv, p):
    """Elements of a user block, by a buffer that every rank has."""
    if collective in ("reduce_scatter_block", "scatter"):
        return recv.size
    if collective == "alltoall":
        return send.size // p
    return send.size or recv.size


def _check_extents(plan, areas):
    """Refuses buffers that are too short."""
    pieces = numpy.concatenate([plan.pieces, *(plan.runs[operand] for operand in ("dst", "left", "right"))])
    for number, name in enumerate(_NAMES):
        mine = pieces[pieces["area"] == number]
        needed = int((mine["first"] + mine["count"]).max()) if len(mine) else 0
        if areas[number].size < needed:
            raise InvalidArgument(f"{name} has {areas[number].size} elements, and {needed} are needed")


def _operator(op, areas):
    """The operator, which has to take elements of this type."""
    operator = _OPERATORS.get(op)
    if operator is None:
        raise Unsupported(f"circoll.run has no operator '{op}'")
    nothing = numpy.empty(0, areas[0].dtype)
    try:
        operator(nothing, nothing, out=nothing, casting="unsafe")
    except TypeError as error:
        raise Unsupported(f"the operator '{op}' is not for elements of type {nothing.dtype}") from error
    return operator


class _Execution:
    """One rank's part. A step begins when those that it waits for have ended, so that ranks cannot wait for one another forever."""

    def __init__(self, plan, areas, operator, comm, mpi):
        self.plan, self.areas, self.operator, self.comm, self.mpi = plan, areas, operator, comm, mpi
        self.steps, self.pieces, self.runs = plan.steps, plan.pieces, plan.runs
        self.waits_for = self.steps["waits_for"].astype(int)
        self.ready = collections.deque(numpy.flatnonzero(self.waits_for == 0).tolist())
        self.requests, self.under_way = [], []  # under_way[i] is the step of requests[i], and its memory
        self.parts = collections.Counter()  # of the messages under way

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
        content = memory.view(numpy.uint8)
        for first in range(0, max(1, content.size), _MOST_BYTES):
            part = content[first:first + _MOST_BYTES]
            self.requests.append(begin([part, part.size, self.mpi.BYTE], int(step["peer"]), int(step["tag"])))
            self.under_way.append((number, memory))
            self.parts[number] += 1

    def _arrived(self, number, memory):
        self.parts[number] -= 1
        if self.parts[number]:
            return
        if self.steps[number]["kind"] != StepKind.send:
            at = 0
            for view in self._views(self.steps[number]):
                view[:] = memory[at:at + view.size]
                at += view.size
        self._end(number)

    def go(self):
        """Executes everything. If an exception ends it, the communicator keeps the memory that MPI may still use."""
        try:
            while self.ready or self.requests:
                while self.ready:
                    self._begin(self.ready.popleft())
                if self.requests:
                    at = self.mpi.Request.Waitany(self.requests)
                    del self.requests[at]
                    self._arrived(*self.under_way.pop(at))
        except BaseException:
            self.comm.Set_attr(self.mpi.Comm.Create_keyval(), (self.areas, self.requests, self.under_way))
            for request, (number, _) in zip(self.requests, self.under_way):
                if self.steps[number]["kind"] != StepKind.send:
                    request.Cancel()
            raise


def _prepare(algorithm, buffers, op, comm, root, counts, most_tag):
    """Plan, areas and operator of this rank, and what all ranks have in common. What can be wrong is found here, before the first message."""
    unmet = algorithm.unmet_need(comm.size, op)
    if unmet:
        raise Unsupported(f"{algorithm.id} {unmet}")
    areas = _areas(buffers)
    sizes = [_block(algorithm.collective, *areas, comm.size)] if counts is None else [int(count) for count in counts]
    plan = _core._Plan(algorithm.schedule(comm.size, comm.rank, root), sizes)
    _check_extents(plan, areas)
    if len(plan.steps) and int(plan.steps["tag"].max()) > most_tag:
        raise Unsupported(f"this MPI has tags up to {most_tag} only, and {algorithm.id} needs more")
    areas.append(numpy.empty(plan.scratch, areas[0].dtype))
    combines = algorithm.collective.startswith(("allreduce", "reduce", "scan", "exscan"))
    return (plan, areas, _operator(op, areas) if combines else None), (str(algorithm), op, root, sizes, areas[0].dtype.str)


def _digest(what, algorithm, p, root):
    """Of schedules that may differ among the ranks under one name; those of an algorithm of Circoll's cannot."""
    if isinstance(what, str) and not what.startswith("file:"):
        return None
    return hashlib.sha256(_core.to_text(algorithm.schedules(p, root)).encode()).hexdigest()


def run(what: str | _core.Algorithm | Sequence[_core.Schedule], sendbuf: Any, recvbuf: Any, op: str = "sum", comm: Any = None, root: int = 0,
        counts: Sequence[int] | None = None) -> None:
    """Executes a collective over MPI. All ranks of comm call it. Schedules of your own are proven first, at each call; an Algorithm is not.

    Buffers are contiguous arrays of one type. A rank without one gives None: bcast has its data in recvbuf. Blocks of different sizes need
    counts, one for each rank. A call that is wrong on one rank is an error on all, before the first message. This is for trying an
    algorithm out. The drop-in executes the same schedules faster.
    """
    from mpi4py import MPI
    comm = MPI.COMM_WORLD if comm is None else comm
    prepared: Any = ()
    call: Any = ()
    digest, failed = None, None
    try:
        algorithm = _core.algorithm(what)
        prepared, call = _prepare(algorithm, (sendbuf, recvbuf), op, comm, root, counts, MPI.COMM_WORLD.Get_attr(MPI.TAG_UB))
        digest = _digest(what, algorithm, comm.size, root)
    except Exception as error:  # the other ranks hear of any
        failed = error
    verdicts = comm.allgather((None if failed is None else str(failed) or repr(failed), call, digest))
    if failed is not None:
        raise failed
    for rank, (sentence, other, others_digest) in enumerate(verdicts):
        if sentence is not None or other != call:
            raise InvalidArgument(f"rank {rank}: {sentence or f'it calls {other}, and rank {comm.rank} {call}'}")
        if others_digest != digest:
            raise InvalidArgument(f"rank {rank} has other schedules of {call[0]} than rank {comm.rank}")
    private = comm.Dup()  # no message of the caller's is taken for one of these
    plan, areas, operator = prepared
    _Execution(plan, areas, operator, private, MPI).go()
    private.Free()
