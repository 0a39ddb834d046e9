"""Collectives by circoll.run over MPI, compared with mpi4py's own. Each rank prints its mistakes; rank 0 the number of comparisons."""
import sys

import circoll
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

for kind, call in [(circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", data(9), numpy.empty(8, numpy.int64))),
                   (circoll.InvalidArgument, lambda: circoll.run("allreduce/ring", data(9), numpy.empty(9))),
                   (circoll.Unsupported, lambda: circoll.run("allreduce/circulant_idempotent", data(9), data(9))),
                   (circoll.Unsupported, lambda: circoll.run("allreduce/ring", data(9), data(9), op="minloc")),
                   (circoll.UnknownName, lambda: circoll.run("allreduce/rings", data(9), data(9)))]:
    try:
        call()
        wrong.append(f"rank {rank}: no {kind.__name__}")
    except kind:
        compared += 1

wrong = comm.allreduce(wrong)
if rank == 0:
    print("\n".join(wrong) or f"{compared} comparisons are right")
sys.exit(bool(wrong))
