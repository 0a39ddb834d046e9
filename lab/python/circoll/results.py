"""Plain results of the functions of circoll. They compare by their values, show all of them, and can be copied and pickled."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Algorithm, Schedule


@dataclasses.dataclass(frozen=True)
class Needs:
    """Conditions under which an algorithm is correct."""

    commutative: bool
    idempotent: bool
    power_of_two: bool
    even_size: bool
    min_size: int
    only_size: int


@dataclasses.dataclass(frozen=True)
class Guarantees:
    """Properties beyond the collective's definition, which are proven."""

    same_bits: bool
    rank_order: bool
    direct: bool


@dataclasses.dataclass(frozen=True)
class Cost:
    """The most of any rank: rounds, and blocks sent, received, reduced and copied."""

    rounds: int
    sent: int
    received: int
    reduced: int
    copied: int


@dataclasses.dataclass(frozen=True)
class Terms:
    """How often a predicted time pays each price of the machine."""

    alpha: float
    alpha_uni: float
    bytes: float
    bytes_uni: float
    combined: float
    received: float
    levels: float


@dataclasses.dataclass(frozen=True)
class Ranked:
    """An algorithm in a ranking, with its best parameters. Terms and time are 0 if a need is not met."""

    algorithm: Algorithm
    terms: Terms
    time_s: float
    unmet_need: str


@dataclasses.dataclass(frozen=True)
class Decision:
    """The choice of a policy, and its reason. No algorithm: the MPI library's own."""

    algorithm: Algorithm | None
    policy: str
    reason: str
    ruled_out: dict[str, str]
    predicted_s: list[tuple[Algorithm, float]]


_Span = tuple[int, int | None]  # from the first, included, to the second, excluded; None: without an end


@dataclasses.dataclass(frozen=True)
class Rule:
    """A rule of a file: what is used for which calls. `use` is "native", "auto" (the model), or the algorithm. `operators` has the words that
    hold for all operators of the rule. `otherwise` is for calls that no other rule covers."""

    collective: str
    use: str
    algorithm: Algorithm | None
    p: _Span
    nodes: _Span
    ranks_per_node: _Span
    bytes: _Span
    operators: list[str]
    otherwise: bool
    line: int


@dataclasses.dataclass(frozen=True)
class ProfileRanks:
    """A number of ranks on one node that a profile knows, and where it was measured."""

    ranks: int
    crowded: bool
    processors: int
    launches: int
    circoll: str
    date: str
    host: str


@dataclasses.dataclass(frozen=True)
class ProfileProgram:
    """A program for which a profile has rules of its own. `tried` is the outcome of its runs with the rules."""

    name: str
    report: str
    launches: int
    circoll: str
    date: str
    host: str
    tried: str
    rules: list[Rule]


@dataclasses.dataclass(frozen=True)
class Profile:
    """A profile: the MPI library and the processor for which it holds, and its rules for all programs."""

    library: str
    processor: str
    measured: list[ProfileRanks]
    programs: list[ProfileProgram]
    rules: list[Rule]


@dataclasses.dataclass(frozen=True)
class Refutation:
    """The smallest evidence against an algorithm. -1: no single rank, step or block. str() is all of it in a line."""

    claim: str
    id: str
    size: int
    root: int
    in_place: bool
    params: dict[str, int]
    rank: int
    step: int
    block: int
    what: str
    line: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self.line


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The outcome of a proof; true if everything is proven. Needs and guarantees are those declared, or found out of schedules."""

    refutation: Refutation | None
    cost: Cost
    messages: int
    reductions: int
    by_rotation: bool
    needs: Needs
    guarantees: Guarantees

    def __bool__(self) -> bool:
        return self.refutation is None

    def __repr__(self) -> str:
        return f"<Verdict refuted: {self.refutation}>" if self.refutation else f"<Verdict proven: {self.messages} messages>"


@dataclasses.dataclass(frozen=True)
class RangeVerdict:
    """The outcome for a family of instances."""

    id: str
    instances: int
    refutation: Refutation | None


@dataclasses.dataclass(frozen=True)
class Repair:
    """Schedules by which survivors end a collective; none if the goal is NONE, for the reason `why`."""

    goal: str
    why: str
    schedules: list[Schedule]
    guarantees: Guarantees
    pieces: int
    missing: int
    cost: Cost


@dataclasses.dataclass(frozen=True, eq=False)
class Failures:
    """What survivors hold: `table` has a row for each k and failure. Its class is an index of FAILURE_CLASSES."""

    id: str
    keep: str
    p: int
    rounds: int
    blocks: int
    failed: list[list[int]]
    table: Any = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, eq=False)
class Traffic:
    """The rounds of a collective on a network whose links are shared. Each level has its bytes and messages."""

    id: str
    p: int
    bytes: int
    topology: str
    time_s: float
    alone_s: float
    hops: int
    levels: dict[str, tuple[float, int]]
    rounds: Any = dataclasses.field(repr=False)
    busiest: list[str] = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, eq=False)
class PlayedRun:
    """A run of a recorded program, as it was or as it is played. The times of the ranks are arrays, in seconds."""

    what: str
    run_s: float
    in_collectives_s: Any = dataclasses.field(repr=False)
    waiting_s: Any = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, eq=False)
class WhatIf:
    """A recorded program: the run itself, the same run in the simulator, and with changes. `asked` has the machine, ranks, cores or balanced load of the
    question, if there are any. Changes are of `asked`, or of `simulated`."""

    program: str
    mpi: str
    ranks: int
    calls: int
    recorded: PlayedRun
    simulated: PlayedRun
    asked: PlayedRun | None
    changes: list[PlayedRun]
    notes: list[str]
    verdict: str
