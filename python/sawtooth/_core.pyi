from collections.abc import Sequence
from typing import Any, Protocol, TypedDict, final, type_check_only

__all__ = [
    "CAPTURE_EPOCH_NS",
    "CaptureError",
    "CaptureProgress",
    "CapturedSegment",
    "CapturedSegments",
    "Outcomes",
    "ScenarioError",
    "ScriptedEndpoint",
    "StopRequest",
    "TomlError",
    "alike",
    "analyze_capture",
    "capture_schema",
    "check",
    "departures",
    "draw_uniform",
    "draw_uniform_integer",
    "estimate",
    "evaluate",
    "examine",
    "feed_queue",
    "fractional_gaussian_noise",
    "how_to_raise",
    "items",
    "kernel_settings",
    "limits",
    "machine_memory",
    "network",
    "outcomes_of",
    "parse_toml",
    "registry",
    "run_all",
    "schema",
    "simulate",
    "version",
]

@type_check_only
class ScriptedSegment(TypedDict):
    time: float
    syn: bool
    fin: bool
    push: bool
    start: int
    length: int
    ack: int | None
    window: int | None
    sack: list[list[int]]
    stamps: list[int]
    ecn: int
    ece: bool
    cwr: bool
    ace: int | None

class ScenarioError(Exception):
    path: str
    at_key: bool
    message: str
    hint: str | None
    span: tuple[int, int] | None

@final
class ScriptedEndpoint:
    def __new__(cls, scenario_json: str, active: bool, borders: Sequence[int]) -> ScriptedEndpoint: ...
    def advance(self, until: float) -> bool: ...
    def connect(self) -> None: ...
    def write(self, bytes: int) -> None: ...  # noqa: A002
    def close(self) -> None: ...
    @property
    def delivered(self) -> int: ...
    @property
    def is_established(self) -> bool: ...
    def receive(self, segment: ScriptedSegment) -> str | None: ...
    def take(self) -> list[ScriptedSegment]: ...
    def info(self) -> dict[str, int]: ...

class TomlError(Exception):
    message: str
    hint: str | None
    line: int
    column: int
    end_line: int
    end_column: int

@type_check_only
class KernelSettings(TypedDict):
    image: str
    memory_bytes: int
    cpus: int
    time: str
    application: str
    shaper: str
    modules: list[str]
    algorithms: list[str]
    fastest_link_bps: float
    duration_secs: float
    links: list[str]

@type_check_only
class CaptureRequest(Protocol):
    @property
    def points(self) -> Sequence[tuple[str, str | None]]: ...
    @property
    def paths(self) -> Sequence[str]: ...
    @property
    def snap(self) -> int: ...
    @property
    def comments(self) -> Sequence[str]: ...

@final
class Outcomes: ...

class CaptureError(Exception):
    message: str
    hint: str

CAPTURE_EPOCH_NS: int
"""Time 0 of a simulated run in its captures, since 1970."""

@final
class CapturedSegment:
    """A packet of TCP where it was captured.

    Attributes:
        t_ns: since what was asked for. flow: name of the interface, at simulated hosts that of the flow. outgoing: whether it left the interface.
        length: bytes of the IP packet. payload: those of TCP's payload.
        seq, ack: as the header has them. flags: its bits. sacks: left and right edges of its SACK blocks, the first first.

    """

    t_ns: int
    flow: str
    outgoing: bool
    length: int
    payload: int
    seq: int
    ack: int
    flags: int
    sacks: list[tuple[int, int]]
    def __new__(
        cls,
        t_ns: int,
        flow: str,
        *,
        outgoing: bool,
        length: int,
        payload: int,
        seq: int,
        ack: int,
        flags: int,
        sacks: list[tuple[int, int]],
    ) -> CapturedSegment: ...

@final
class CapturedSegments:
    """The packets of TCP in a capture, in the order of the file, but for those that were damaged on their way, which their hosts drop."""

    def __new__(cls, path: str, since_ns: int) -> CapturedSegments: ...
    def __iter__(self) -> CapturedSegments: ...
    def __next__(self) -> CapturedSegment: ...

@final
class CaptureProgress:
    def __new__(cls) -> CaptureProgress: ...
    @property
    def bytes(self) -> int: ...

@final
class StopRequest:
    def __new__(cls) -> StopRequest: ...
    def set(self) -> None: ...
    @property
    def is_set(self) -> bool: ...

@type_check_only
class Outcome(TypedDict):
    errors: list[tuple[int, str]]
    efforts: list[tuple[int, int, int]]
    tables: dict[str, dict[str, tuple[str, bytes | list[str], bytes | None]]]

def parse_toml(text: str) -> tuple[dict[str, Any], dict[str, tuple[int, int, int, int]]]: ...
def check(scenario_json: str) -> None: ...
def estimate(scenario_json: str, *, kernel: bool = False) -> float: ...
def limits(table_json: str) -> dict[str, float]: ...
def how_to_raise(name: str, needed: float) -> str: ...
def machine_memory() -> float | None: ...
def examine(scenario_json: str, *, kernel: bool = False) -> tuple[tuple[float, float, float, float], list[ScenarioError]]: ...
def alike(scenarios_json: list[str], *, kernel: bool = False) -> list[int]: ...
def items(scenario_json: str, *, kernel: bool = False) -> dict[str, list[str]]: ...
def network(scenario_json: str) -> tuple[list[tuple[str, list[tuple[float, float]]]], list[tuple[str, list[int]]]]: ...
def kernel_settings(scenario_json: str) -> KernelSettings: ...
def simulate(scenarios: list[str], seeds: list[int]) -> Outcome: ...
def run_all(
    scenarios: list[str],
    seeds: list[int],
    stop: StopRequest | None = None,
    captures: list[CaptureRequest] | None = None,
    series_of: str | None = None,
) -> Outcomes | None: ...
def outcomes_of(parts: list[Outcomes]) -> Outcome: ...
def feed_queue(
    scenario_json: str, seed: int, arrivals: list[tuple[float, int, int, int]], until: float
) -> tuple[list[tuple[int, int, int, float]], float, float]: ...
def evaluate(expression: str, variables: dict[str, float | str]) -> tuple[float, str]: ...
def draw_uniform(seed: int, name: str, low: float, high: float) -> float: ...
def draw_uniform_integer(seed: int, name: str, low: int, high: int) -> int: ...
def fractional_gaussian_noise(hurst: float, points: int, seed: int, name: str) -> bytes: ...
def departures(scenario_json: str, seed: int, flow: str) -> tuple[bytes, bytes]: ...
def analyze_capture(path: str, most_rows: int, progress: CaptureProgress) -> dict[str, Any]: ...
def capture_schema() -> dict[str, Any]: ...
def registry() -> dict[str, Any]: ...
def schema() -> dict[str, Any]: ...
def version() -> str: ...
