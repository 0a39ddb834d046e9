"""The drop-in's report (docs/user/reports.md): what served which calls. The only reader of it among the examples."""
import dataclasses
import json
import pathlib

PREFIX = {"blocking": "", "nonblocking": "i", "persistent": "persistent "}


@dataclasses.dataclass
class Calls:
    """Of a collective in one mode; sums over the ranks."""
    served: int = 0
    native: int = 0
    algorithms: list = dataclasses.field(default_factory=list)
    reasons: list = dataclasses.field(default_factory=list)

    def add(self, served_by, calls, reason):
        if served_by == "native":
            self.native += calls
            self.reasons.append(reason)
        else:
            self.served += calls
            self.algorithms.append(served_by)


def by_collective(path):
    """Calls by name: allreduce, iallreduce, persistent allreduce. Empty if there is no file."""
    path = pathlib.Path(path)
    if not path.exists():
        return {}
    calls = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        name = PREFIX[row["mode"]] + row["collective"]
        calls.setdefault(name, Calls()).add(row["served_by"], row["calls"], row["why_native"])
    return dict(sorted(calls.items()))


def not_served(calls, names):
    """Those of the names that the drop-in served no call of."""
    return [name for name in names if name not in calls or calls[name].served == 0]
