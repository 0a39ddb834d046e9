"""Every entry point of MPI's collectives: the one list from which calls and table are made."""
import dataclasses

# A collective, and its arguments up to the communicator, as words of SPELLING.
COLLECTIVES = {
    "barrier": "",
    "bcast": "recv n type root",
    "gather": "send n type recv n type root",
    "gatherv": "send n type recv counts displs type root",
    "scatter": "send n type recv n type root",
    "scatterv": "send counts displs type recv n type root",
    "allgather": "send n type recv n type",
    "allgatherv": "send n type recv counts displs type",
    "alltoall": "send n type recv n type",
    "alltoallv": "send counts displs type recv counts displs type",
    "alltoallw": "send counts bytes types recv counts bytes types",
    "reduce": "send recv n type op root",
    "allreduce": "send recv n type op",
    "reduce_scatter_block": "send recv n type op",
    "reduce_scatter": "send recv counts type op",
    "scan": "send recv n type op",
    "exscan": "send recv n type op",
    # On a graph in which every rank is a neighbour of every rank, which gives the results of the functions above.
    "neighbor_allgather": "send n type recv n type",
    "neighbor_allgatherv": "send n type recv counts displs type",
    "neighbor_alltoall": "send n type recv n type",
    "neighbor_alltoallv": "send counts displs type recv counts displs type",
    "neighbor_alltoallw": "send counts addresses types recv counts addresses types",
}
MODES = ["blocking", "nonblocking", "persistent"]
SPELLING = {
    "c": {"type": "MPI_INT", "op": "MPI_SUM", "root": "0"},
    "fortran": {"type": "MPI_INTEGER", "op": "MPI_SUM", "root": "0"},
}
LEAST_COUNT = 3


@dataclasses.dataclass(frozen=True)
class Entry:
    collective: str
    mode: str
    large: bool  # counts of 64 bits
    count: int  # elements of 4 bytes per block; every entry point has its own, so that a trace tells them apart

    @property
    def name(self):
        stem = self.collective.capitalize()
        if self.mode == "nonblocking":
            stem = "I" + self.collective
        elif self.mode == "persistent":
            stem += "_init"
        return f"MPI_{stem}{'_c' if self.large else ''}"

    def event_bytes(self, ranks):
        """The fields of this call's event (docs/user/reports.md)."""
        if self.collective == "barrier":
            return 0
        blocks = ranks if self.collective.removeprefix("neighbor_").startswith(("alltoall", "reduce_scatter")) else 1
        return 4 * blocks * self.count


def entries():
    made = []
    for collective in COLLECTIVES:
        for mode in MODES:
            for large in [False] if collective == "barrier" else [False, True]:
                made.append(Entry(collective, mode, large, LEAST_COUNT + len(made)))
    return made
