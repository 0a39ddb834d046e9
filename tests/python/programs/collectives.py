"""Collectives by circoll.run over MPI, compared with mpi4py's own. Each rank prints its mistakes; rank 0 the number of comparisons."""
import gc
import sys
import weakref

import circoll
import circoll.running
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, p = comm.rank, comm.size
last, N = p - 1, 1001
compared, wrong = 0, []


def data(elements, dtype=numpy.int64):
    return (numpy.arange(elements) * (rank + 3) % 97 - 11).astype(dtype)


def compare(name, result, expected):
    global compared
    compared += 1
    if not numpy.array_equal(result, expected):
        wrong.append(f"rank {rank}: {name}")


def served(collective):
    return [one for one in circoll.algorithms(collective) if not one.unmet_need(p, "max")]


for one in served("allreduce"):
    expected, result = numpy.empty(N, numpy.int64), numpy.empty(N, numpy.int64)
    comm.Allreduce(data(N), expected, MPI.MAX)
    circoll.run(one, data(N), result, op="max", comm=comm)
    compare(one, result, expected)
for one in served("bcast"):
    buffer = data(N, numpy.float32)
    expected = comm.bcast(buffer, root=last)
    circoll.run(one, None, buffer, root=last, comm=comm)
    compare(one, buffer, expected)
for one in served("reduce_scatter_block"):
    expected, result = numpy.empty(7, numpy.int64), numpy.empty(7, numpy.int64)
    comm.Reduce_scatter_block(data(7 * p), expected, MPI.MAX)
    circoll.run(one, data(7 * p), result, op="max")
    compare(one, result, expected)
for one in served("alltoall"):
    expected, result = numpy.empty(3 * p, numpy.int64), numpy.empty(3 * p, numpy.int64)
    comm.Alltoall(data(3 * p), expected)
    circoll.run(one, data(3 * p), result)
    compare(one, result, expected)
for one in served("reduce"):
    expected, result = (numpy.empty(N, numpy.int64) if rank == last else None for _ in range(2))
    comm.Reduce(data(N), expected, MPI.MAX, root=last)
    circoll.run(one, data(N), result, op="max", root=last)
    compare(one, result, expected)
for one in served("allgatherv"):
    counts = [5 * (i % 3) for i in range(p)]
    expected, result = numpy.empty(sum(counts), numpy.int64), numpy.empty(sum(counts), numpy.int64)
    comm.Allgatherv(data(counts[rank]), [expected, counts])
    circoll.run(one, data(counts[rank]), result, counts=counts)
    compare(one, result, expected)
circoll.run("barrier/dissemination", None, None)


def ring(b):
    b.copy(b.output(b.rank, 1), b.input())
    for k in range(b.size - 1):
        b.sendrecv((b.rank + 1) % b.size, b.output((b.rank - k) % b.size, 1), (b.rank - 1) % b.size, b.output((b.rank - 1 - k) % b.size, 1))
        b.next_round()


gathered = numpy.empty(2 * p, numpy.float64)
circoll.run(circoll.build("allgather/mine", p, ring), numpy.full(2, rank + 0.5), gathered)
compare("an algorithm of one's own", gathered, numpy.repeat(numpy.arange(p) + 0.5, 2))

circoll.running._MOST_BYTES = 24  # messages are cut as long ones are
expected, result = numpy.empty(N, numpy.int64), numpy.empty(N, numpy.int64)
comm.Allreduce(data(N), expected, MPI.SUM)
circoll.run("allreduce/ring", data(N), result)
compare("messages in parts", result, expected)
counts = numpy.array([5 * (i % 3) for i in range(p)])
expected, result = numpy.empty(counts.sum(), numpy.int64), numpy.empty(counts.sum(), numpy.int64)
comm.Allgatherv(data(counts[rank]), [expected, counts])
circoll.run("allgatherv/ring", data(counts[rank]), result, counts=counts)
compare("counts in an array", result, expected)

# A mistake of the last rank alone, or of all, is an error on all ranks. None of them waits for a message then.
read_only, alias = data(9), data(9)
read_only.flags.writeable = False
last_one = rank == last
for kind, call in [(circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", data(9), numpy.empty(8 if last_one else 9, numpy.int64))),
                   (circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", data(9), numpy.empty(9))),
                   (circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", data(9), read_only if last_one else data(9))),
                   (circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", alias, alias if last_one else data(9))),
                   (circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", alias[:5], alias[4:])),
                   (circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", [1, 2] if last_one else data(2), data(2))),
                   (circoll.InvalidArgument, lambda: circoll.run("bcast/binomial", None, data(9).astype(object))),
                   (circoll.InvalidArgument, lambda: circoll.run("allgatherv/ring", data(1), data(p + 1), counts=[1] * (p + 1))),
                   (circoll.InvalidArgument, lambda: circoll.run("bcast/binomial", None, data(9), root=p)),
                   (circoll.Unsupported, lambda: circoll.run("allreduce/ring", data(9, float), data(9, float), op="band")),
                   (circoll.Unsupported, lambda: circoll.run("allreduce/circulant_idempotent", data(9), data(9))),
                   (circoll.Unsupported, lambda: circoll.run("allreduce/ring", data(9), data(9), op="minloc")),
                   (circoll.UnknownName, lambda: circoll.run("allreduce/rings", data(9), data(9)))]:
    try:
        call()
        wrong.append(f"rank {rank}: no {kind.__name__}")
    except kind:
        compared += 1
if p > 1:
    for words in ({"op": "max" if last_one else "min"}, {"root": last if last_one else 0}):
        try:
            circoll.run("allreduce/ring", data(9), data(9), **words)
            wrong.append(f"rank {rank}: different {words}")
        except circoll.InvalidArgument as error:
            compared += 1
            if "it calls" not in str(error):
                wrong.append(f"rank {rank}: {error}")


def other_ring(b):
    b.copy(b.output(b.rank, 1), b.input())
    for k in range(b.size - 1):
        b.sendrecv((b.rank - 1) % b.size, b.output((b.rank + k) % b.size, 1), (b.rank + 1) % b.size, b.output((b.rank + 1 + k) % b.size, 1))
        b.next_round()


if p > 2:  # rings of two ranks are alike
    try:
        circoll.run(circoll.build("allgather/mine", p, other_ring if last_one else ring), numpy.full(2, 0.5), gathered)
        wrong.append(f"rank {rank}: different schedules")
    except circoll.InvalidArgument as error:
        compared += 1
        if "other schedules" not in str(error):
            wrong.append(f"rank {rank}: {error}")
days = numpy.array(["2026-11-29" if rank == last else "1970-01-01"], "M8[D]")
circoll.run("bcast/binomial", None, days, root=last)
compare("elements without a sum", days, numpy.array(["2026-11-29"], "M8[D]"))


def halves(b):
    """An allreduce of two ranks whose second half is under way while the first one is combined."""
    b.cut(2)
    scratch = b.region(b.scratch_like(b.input()))
    for half in range(2):
        b.sendrecv(1 - b.rank, b.input(half, 1), 1 - b.rank, b.part(scratch, half, 1))
        b.next_round()
        b.reduce(b.output(half, 1), *[b.input(half, 1), b.part(scratch, half, 1)][::1 if b.rank == 0 else -1])


def interrupted(left, right, **options):
    if left.size:
        raise KeyboardInterrupt


# An exception leaves requests behind. MPI may write into their memory, which therefore stays.
pair = comm.Split(rank // 2, rank)
if pair.size == 2:
    circoll.running._MOST_BYTES = 1 << 30
    buffers = [data(1 << 20), data(1 << 20)]
    kept = [weakref.ref(buffer) for buffer in buffers]
    circoll.running._OPERATORS["prod"] = interrupted
    try:
        circoll.run(circoll.build("allreduce/halves", 2, halves), *buffers, op="prod", comm=pair)
        wrong.append(f"rank {rank}: no interrupt")
    except KeyboardInterrupt:
        compared += 1
    del buffers
    gc.collect()
    if any(buffer() is None for buffer in kept):
        wrong.append(f"rank {rank}: the memory of requests is gone")
    again = data(4)
    circoll.run("allreduce/ring", data(4), again, op="max", comm=pair)
    compare("a call after one that was interrupted", again, pair.allreduce(data(4), numpy.maximum))

wrong = comm.allreduce(wrong)
if rank == 0:
    print("\n".join(wrong) or f"{compared} comparisons are right")
sys.exit(bool(wrong))
