"""All blocking collectives through mpi4py; prints the same with and without the drop-in. Needs no numpy."""
import zlib
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
INT = MPI.INT64_T


def report(what, values):
    """One line on rank 0: the digest of every rank."""
    own = zlib.crc32(values.tobytes())
    if rank != 0:
        comm.send(own, dest=0, tag=5)
        return
    digests = [own] + [comm.recv(source=i, tag=5) for i in range(1, size)]
    print(f"{what:24s}", " ".join(f"{d:08x}" for d in digests), flush=True)


for n in (1, 100, 20000):
    a = array("q", (i * (rank + 1) for i in range(n * size)))
    x = array("d", (rank + i / n for i in range(n)))
    y = array("d", bytes(8 * n))
    counts = [n if i % 2 == 0 else n // 2 for i in range(size)]
    displs = [sum(counts[:i]) for i in range(size)]
    mine = counts[rank]

    def zeros():
        return array("q", bytes(8 * n * size))

    b = zeros(); comm.Allreduce([a, n, INT], [b, n, INT], op=MPI.SUM); report("Allreduce", b)
    comm.Allreduce([x, n, MPI.DOUBLE], [y, n, MPI.DOUBLE], op=MPI.MAX); report("Allreduce max", y)
    b = zeros(); comm.Reduce([a, n, INT], [b, n, INT], op=MPI.SUM, root=size - 1); report("Reduce", b)
    b = array("q", bytes(8 * n)); comm.Reduce_scatter_block([a, INT], [b, INT], op=MPI.SUM); report("Reduce_scatter_block", b)
    b = zeros(); comm.Reduce_scatter([a, sum(counts), INT], [b, mine, INT], recvcounts=counts, op=MPI.MIN); report("Reduce_scatter", b)
    b = zeros(); comm.Allgather([a, n, INT], [b, n, INT]); report("Allgather", b)
    b = zeros(); comm.Allgatherv([a, mine, INT], [b, counts, displs, INT]); report("Allgatherv", b)
    b = zeros(); comm.Gather([a, n, INT], [b, n, INT], root=0); report("Gather", b)
    b = zeros(); comm.Gatherv([a, mine, INT], [b, counts, displs, INT], root=0); report("Gatherv", b)
    b = zeros(); comm.Scatter([a, n, INT], [b, n, INT], root=size - 1); report("Scatter", b)
    b = zeros(); comm.Scatterv([a, counts, displs, INT], [b, mine, INT], root=0); report("Scatterv", b)
    b = zeros(); comm.Alltoall([a, n, INT], [b, n, INT]); report("Alltoall", b)
    pairs = [n if (rank + i) % 2 == 0 else n // 2 for i in range(size)]
    places = [n * i for i in range(size)]
    b = zeros(); comm.Alltoallv([a, pairs, places, INT], [b, pairs, places, INT]); report("Alltoallv", b)
    b = zeros(); comm.Scan([a, n, INT], [b, n, INT], op=MPI.SUM); report("Scan", b)
    b = zeros(); comm.Exscan([a, n, INT], [b, n, INT], op=MPI.SUM); report("Exscan", b if rank > 0 else zeros())
    b = array("q", a); comm.Bcast([b, n * size, INT], root=0); report("Bcast", b)
    comm.Barrier()
gathered = comm.allgather("x" * rank)
exchanged = comm.alltoall([rank * size + i for i in range(size)])
report("objects", array("q", [comm.allreduce(rank, op=MPI.SUM), sum(map(len, gathered))] + exchanged))
