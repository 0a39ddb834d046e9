from collections.abc import Sequence
from typing import Any, Final, overload

import numpy
from numpy.typing import NDArray

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
    def read(path: str) -> Machine: ...

class Terms:
    alpha: Final[float]
    alpha_uni: Final[float]
    bytes: Final[float]
    bytes_uni: Final[float]
    combined: Final[float]
    received: Final[float]
    levels: Final[float]
    def time_s(self, machine: Machine | None = None) -> float: ...

class LogGops:
    latency_s: float
    overhead_s: float
    gap_s: float
    gap_s_per_byte: float
    overhead_s_per_byte: float
    rendezvous_from_bytes: int
    def __init__(self, **attributes: Any) -> None: ...

class Network:
    between: LogGops
    inside: LogGops | None
    group: LogGops | None
    cores: int
    group_nodes: int
    ports: int
    gamma_s_per_byte: float
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
    def to_text(self) -> str: ...
    def to_json(self) -> str: ...
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
    def view(self, of: int, slots: int, first_block: int, stride: int = 1) -> int: ...
    @overload
    def view(self, of: int, blocks: Sequence[int]) -> int: ...
    def view_like(self, of: int, like: Region) -> int: ...
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
    def edge(self, earlier: int, later: int) -> None: ...
    def embed(self, part: Schedule, ranks: Sequence[int] = ..., first_block: int = 0, block_stride: int = 1, send: Region = ...,
              recv: Region = ...) -> None: ...
    def take(self, finished: Schedule) -> None: ...
    def finish(self) -> Schedule: ...

class Plan:
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

class Needs:
    commutative: Final[bool]
    idempotent: Final[bool]
    power_of_two: Final[bool]
    even_size: Final[bool]
    min_size: Final[int]
    only_size: Final[int]

class Guarantees:
    same_bits: Final[bool]
    rank_order: Final[bool]
    direct: Final[bool]

class Cost:
    rounds: Final[int]
    sent: Final[int]
    received: Final[int]
    reduced: Final[int]
    copied: Final[int]

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

class Ranked:
    algorithm: Final[Algorithm]
    id: Final[str]
    terms: Final[Terms]
    time_s: Final[float]
    unmet_need: Final[str]

class Decision:
    algorithm: Final[Algorithm | None]
    policy: Final[str]
    reason: Final[str]
    ruled_out: Final[dict[str, str]]
    predicted_s: Final[list[tuple[Algorithm, float]]]

class Refutation:
    claim: Final[str]
    id: Final[str]
    size: Final[int]
    root: Final[int]
    in_place: Final[bool]
    params: Final[dict[str, int]]
    rank: Final[int]
    step: Final[int]
    block: Final[int]
    what: Final[str]

class Verdict:
    proven: Final[bool]
    refutation: Final[Refutation | None]
    cost: Final[Cost]
    messages: Final[int]
    reductions: Final[int]
    by_rotation: Final[bool]
    needs: Final[Needs]
    guarantees: Final[Guarantees]
    def __bool__(self) -> bool: ...

class RangeVerdict:
    instances: int
    id: Final[str]
    refutation: Final[Refutation | None]

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

class Traffic:
    id: Final[str]
    p: Final[int]
    bytes: Final[int]
    topology: Final[str]
    time_s: Final[float]
    alone_s: Final[float]
    hops: Final[int]
    levels: Final[dict[str, tuple[float, int]]]
    rounds: Final[_Array]
    busiest: Final[list[str]]

class Failures:
    id: Final[str]
    keep: Final[str]
    p: Final[int]
    rounds: Final[int]
    blocks: Final[int]
    failed: Final[list[list[int]]]
    table: Final[_Array]

class Repair:
    goal: Final[str]
    why: Final[str]
    schedules: Final[list[Schedule]]
    guarantees: Final[Guarantees]
    pieces: Final[int]
    missing: Final[int]
    cost: Final[Cost]

def collectives() -> list[str]: ...
def algorithms(collective: str) -> list[Algorithm]: ...
def algorithm(what: _What) -> Algorithm: ...
def rank(collective: str, p: int, bytes: int, op: str = "sum", machine: Machine | None = None, root: int = 0) -> list[Ranked]: ...
def explain(collective: str, p: int, bytes: int, op: str = "sum", type: str = "float64", cores: int = 1, nodes: int = 0,
            crowded: bool = False, policy: str = "model", machine: Machine | None = None) -> Decision: ...
def read(path: str) -> list[Schedule]: ...
def parse(text: str) -> list[Schedule]: ...
def to_text(schedules: Sequence[Schedule]) -> str: ...
def to_json(schedules: Sequence[Schedule]) -> str: ...
def to_msccl(schedules: Sequence[Schedule]) -> str: ...
def to_goal(schedules: Sequence[Schedule], bytes: int, gamma_s_per_byte: float = 0.0) -> str: ...
def to_dot(schedules: Sequence[Schedule]) -> str: ...
def to_svg(schedules: Sequence[Schedule]) -> str: ...
def messages(schedules: Sequence[Schedule]) -> _Array: ...
def verify(what: _What, p: int = 0, root: int = 0, in_place: bool = False) -> Verdict: ...
def verify_size(what: _What, p: int, all_roots: bool = False, segments: Sequence[int] = ..., jobs: int = 1) -> RangeVerdict: ...
def simulate(what: _What, p: int = 0, bytes: int = 1024, root: int = 0, machine: Machine | None = None, network: Network | None = None,
             skew: str = "none", noise: str = "none", seed: int = 1, arrivals_s: Sequence[float] = ..., slow: dict[int, float] = ...,
             record: bool = False, jobs: int = 1) -> Simulation: ...
def traffic(what: _What, topology: str, p: int = 0, bytes: int = 1024, root: int = 0, machine: Machine | None = None, cores: int = 1,
            ports: int = 1, placement: str = "consecutive", jobs: int = 1) -> Traffic: ...
def faults(what: _What, p: int = 0, keep: str = "buf", root: int = 0, in_place: bool = False, failed: Sequence[Sequence[int]] = ...,
           ahead: bool = False) -> Failures: ...
def repair(what: _What, k: int, failed: Sequence[int], p: int = 0, keep: str = "buf", root: int = 0, in_place: bool = False) -> Repair: ...
def execute(what: _What, p: int = 0, counts: Sequence[int] = ..., type: str = "float64", op: str = "sum", root: int = 0,
            threads: bool = False) -> Execution: ...
