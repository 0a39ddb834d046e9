import os
from collections.abc import Sequence
from typing import Any, Final, overload

import numpy
from numpy.typing import NDArray

from .results import Cost, Decision, Failures, Guarantees, Needs, RangeVerdict, Ranked, Repair, Terms, Traffic, Verdict

FAILURE_CLASSES: tuple[str, ...]
_What = Any  # an id, an Algorithm, or the schedules of all ranks
_Array = NDArray[Any]

class Machine:
    name: str
    alpha_s: float
    beta_s_per_byte: float
    gamma_s_per_byte: float
    f_alpha: float
    f_beta: float
    overhead_s: float
    node_alpha_s: float
    node_beta_s_per_byte: float
    def __init__(self, **attributes: Any) -> None: ...
    @staticmethod
    def read(path: str | os.PathLike[str]) -> Machine: ...

class LogGops:
    latency_s: float
    overhead_s: float
    gap_s: float
    gap_s_per_byte: float
    overhead_s_per_byte: float
    rendezvous_from_bytes: int
    first_byte_free: bool
    exchange_factor: float
    exchange_from_bytes: int
    def __init__(self, **attributes: Any) -> None: ...

class Network:
    between: LogGops
    inside: LogGops | None
    group: LogGops | None
    cores: int
    group_nodes: int
    ports: int
    gamma_s_per_byte: float
    shared: bool
    def __init__(self, machine: Machine | None = None, cores: int = 1, ports: int = 1, **attributes: Any) -> None: ...

class Buffer:
    slots: Final[int]
    first_block: Final[int]
    stride: Final[int]
    list: Final[Sequence[int]]
    storage: Final[int]

class Schedule:
    id: Final[str]
    collective: Final[str]
    size: Final[int]
    rank: Final[int]
    root: Final[int]
    in_place: Final[bool]
    params: Final[dict[str, int]]
    user_blocks: Final[int]
    segments: Final[int]
    blocks: Final[int]
    rounds: Final[int]
    buffers: Final[list[Buffer]]
    edges: Final[list[tuple[int, int]]]
    steps: Final[_Array]
    ranges: Final[_Array]
    messages: Final[_Array]
    def blocks_of(self, step: int, operand: str = "left") -> NDArray[numpy.int64]: ...
    def __len__(self) -> int: ...

class Region:
    def __init__(self) -> None: ...
    count: Final[int]
    empty: Final[bool]
    def __len__(self) -> int: ...
    def __add__(self, other: Region) -> Region: ...

class Builder:
    def __init__(self, id: str, size: int, rank: int, root: int = 0, in_place: bool = False, params: dict[str, int] = {}) -> None: ...
    size: Final[int]
    rank: Final[int]
    root: Final[int]
    blocks: Final[int]
    segments: Final[int]
    input_slots: Final[int]
    output_slots: Final[int]
    step_count: Final[int]
    round: Final[int]
    def param(self, name: str, fallback: int) -> int: ...
    def cut(self, segments: int) -> None: ...
    @overload
    def input(self) -> Region: ...
    @overload
    def input(self, first: int, count: int) -> Region: ...
    @overload
    def output(self) -> Region: ...
    @overload
    def output(self, first: int, count: int) -> Region: ...
    @overload
    def scratch(self, slots: int, first_block: int, stride: int = 1) -> int: ...
    @overload
    def scratch(self, blocks: Sequence[int]) -> int: ...
    def scratch_like(self, like: Region) -> int: ...
    @overload
    def region(self, buffer: int) -> Region: ...
    @overload
    def region(self, buffer: int, first: int, count: int) -> Region: ...
    def part(self, of: Region, first: int, count: int) -> Region: ...
    def send(self, to: int, out: Region) -> None: ...
    def recv(self, source: int, to: Region) -> None: ...
    def sendrecv(self, to: int, out: Region, source: int, into: Region) -> None: ...
    def reduce(self, dst: Region, left: Region, right: Region) -> None: ...
    def recv_reduce(self, source: int, dst: Region, left: Region, right: Region, arrives_left: bool) -> None: ...
    def copy(self, dst: Region, src: Region) -> None: ...
    def next_round(self, rounds: int = 1) -> None: ...
    def embed(self, part: Schedule, ranks: Sequence[int] = ..., first_block: int = 0, block_stride: int = 1, send: Region = ...,
              recv: Region = ...) -> None: ...
    def finish(self) -> Schedule: ...

class _Plan:
    def __init__(self, schedule: Schedule, counts: Sequence[int]) -> None: ...
    steps: Final[_Array]
    pieces: Final[_Array]
    runs: Final[_Array]
    scratch: Final[int]
    def successors(self, step: int) -> list[int]: ...

class Execution:
    id: Final[str]
    wrong: Final[str]
    p: Final[int]
    time_s: Final[float]
    inputs: Final[list[_Array]]
    outputs: Final[list[_Array]]
    def __bool__(self) -> bool: ...

class Algorithm:
    id: Final[str]
    name: Final[str]
    collective: Final[str]
    params: Final[dict[str, int]]
    summary: Final[str]
    source: Final[str]
    family: Final[str]
    when: Final[str]
    needs: Final[Needs]
    guarantees: Final[Guarantees]
    formula: Final[str]
    declared_params: Final[dict[str, tuple[int, int, int, str]]]
    def unmet_need(self, p: int, op: str = "sum") -> str: ...
    def cost(self, p: int, root: int = 0, in_place: bool = False) -> Cost: ...
    def terms(self, p: int, bytes: int, machine: Machine | None = None, root: int = 0) -> Terms: ...
    def time_s(self, p: int, bytes: int, machine: Machine | None = None, root: int = 0) -> float: ...
    def schedule(self, p: int, rank: int, root: int = 0, in_place: bool = False) -> Schedule: ...
    def schedules(self, p: int, root: int = 0, in_place: bool = False) -> list[Schedule]: ...

class Simulation:
    id: Final[str]
    bytes: Final[int]
    p: Final[int]
    time_s: Final[float]
    last_rank: Final[int]
    events: Final[int]
    messages: Final[int]
    begin_s: Final[NDArray[numpy.float64]]
    end_s: Final[NDArray[numpy.float64]]
    arrival_slack_s: Final[NDArray[numpy.float64]]
    idle_s: Final[NDArray[numpy.float64]]
    steps: Final[_Array]
    critical_path: Final[_Array]

def collectives() -> list[str]: ...
def algorithms(collective: str) -> list[Algorithm]: ...
def algorithm(what: _What) -> Algorithm: ...
def rank(collective: str, p: int, bytes: int, op: str = "sum", machine: Machine | None = None, root: int = 0) -> list[Ranked]: ...
def explain(collective: str, p: int, bytes: int, op: str = "sum", type: str = "float64", cores: int = 1, nodes: int = 0,
            crowded: bool = False, policy: str = "model", machine: Machine | None = None) -> Decision: ...
def read(path: str | os.PathLike[str]) -> list[Schedule]: ...
def parse(text: str) -> list[Schedule]: ...
def to_text(schedules: Sequence[Schedule]) -> str: ...
def to_json(schedules: Sequence[Schedule]) -> str: ...
def to_msccl(schedules: Sequence[Schedule]) -> str: ...
def to_goal(schedules: Sequence[Schedule], bytes: int, gamma_s_per_byte: float = 0.0) -> str: ...
def to_dot(schedules: Sequence[Schedule]) -> str: ...
def to_svg(schedules: Sequence[Schedule]) -> str: ...
def messages(schedules: Sequence[Schedule]) -> _Array: ...
def verify(what: _What, p: int = 0, root: int = 0, in_place: bool = False) -> Verdict: ...
def _verify_size(what: _What, p: int, all_roots: bool = False, segments: Sequence[int] = ..., jobs: int = 0) -> RangeVerdict: ...
def simulate(what: _What, p: int = 0, bytes: int = 1024, root: int = 0, machine: Machine | None = None, network: Network | None = None,
             skew: str = "none", noise: str = "none", seed: int = 1, arrivals_s: Sequence[float] = ..., slow: dict[int, float] = ...,
             record: bool = False, jobs: int = 0) -> Simulation: ...
def traffic(what: _What, topology: str, p: int = 0, bytes: int = 1024, root: int = 0, machine: Machine | None = None, cores: int = 1,
            ports: int = 1, placement: str = "consecutive", jobs: int = 0) -> Traffic: ...
def faults(what: _What, p: int = 0, keep: str = "buf", root: int = 0, in_place: bool = False, failed: Sequence[Sequence[int]] = ...,
           ahead: bool = False) -> Failures: ...
def repair(what: _What, k: int, failed: Sequence[int], p: int = 0, keep: str = "buf", root: int = 0, in_place: bool = False) -> Repair: ...
def execute(what: _What, p: int = 0, counts: Sequence[int] = ..., type: str = "float64", op: str = "sum", root: int = 0,
            threads: bool = False) -> Execution: ...
