"""The drop-in's report (CIRCOLL_REPORT=FILE): what served which calls. The only reader of its format among the examples."""
import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Row:
    collective: str  # as MPI names it, without MPI_: allreduce, iallreduce
    served_by: str   # an algorithm, or "native"
    calls: int       # sum over the ranks
    reason: str      # of native


@dataclasses.dataclass
class Calls:
    served: int = 0
    native: int = 0
    algorithms: list = dataclasses.field(default_factory=list)
    reasons: list = dataclasses.field(default_factory=list)


def rows(path):
    """The rows of a report; none if there is no file."""
    path = pathlib.Path(path)
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        fields = line.split(maxsplit=6)
        if len(fields) >= 6 and fields[0] == "circoll:" and fields[3].isdigit():
            yield Row(fields[1], fields[2], int(fields[3]), fields[6] if len(fields) > 6 else "")


def by_collective(path):
    """Calls of each collective in a report, by name."""
    calls = {}
    for row in rows(path):
        entry = calls.setdefault(row.collective, Calls())
        if row.served_by == "native":
            entry.native += row.calls
            entry.reasons.append(row.reason)
        else:
            entry.served += row.calls
            entry.algorithms.append(row.served_by)
    return dict(sorted(calls.items()))
