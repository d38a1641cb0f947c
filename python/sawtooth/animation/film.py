"""The packets of a stretch of a run's time, with the network they cross, and where each is at any moment.

**Model.** A packet's front leaves a link's head when its transmission starts and is at the far end one delay later; its back leaves when its last bit
does, and follows at the same speed. Between, the packet is a bar on the link as long as its transmission takes; before, it waits in the queue. The
delay is the packet's own, so what jitter and changes do to it is drawn, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sawtooth import _core
from sawtooth.animation.network import Network, lay_out
from sawtooth.backends.registry import Simulator
from sawtooth.errors import RunFailed, StudyError
from sawtooth.hints import did_you_mean
from sawtooth.plan import Plan, Run

MOST_LINKS = 80
_FIRST_GUESS = 4.0
"""Times the stretch that the estimate of all packets says: flows begin slowly."""
_NEXT_GUESS = 8.0
KINDS = ("data", "ack", "datagram")
FATES = ("arrived", "doubled", "damaged", "dropped", "lost", "unfinished")


@dataclass(frozen=True)
class Film:
    """What is shown.

    Attributes:
        network: where it happens.
        flows: names, in the order of their colours.
        packets: rows of the table `packets`, with the numbers of line and flow as `line` and `of`, in the order of their arrivals.
        begin, end: seconds of the run. duration: all of the run's.
        left_out: sentences that say what is not shown.

    """

    network: Network
    flows: list[str]
    packets: pl.DataFrame
    begin: float
    end: float
    duration: float
    left_out: list[str]


@dataclass(frozen=True)
class Advice:
    """What who asked can do where not all can be shown, in the words of where it is asked.

    Attributes:
        other: if there is nothing in the stretch.
        rest: to see what comes after its end.
        fewer: where packets cross too many links.

    """

    other: str
    rest: str
    fewer: str


COMMAND = Advice(
    "--from and --to choose another stretch",
    "--from and --to show another stretch, --flow and --link fewer of them",
    "--link NAME and --flow NAME, which may be repeated, choose some",
)


@dataclass(frozen=True)
class Span:
    """The stretch that is asked for, seconds; without an end as much as is shown well."""

    begin: float
    end: float | None


@dataclass(frozen=True)
class Choice:
    """Which flows and links are shown; none: all."""

    flows: Sequence[str] = ()
    links: Sequence[str] = ()


def take(plan: Plan, run: Run, backend: Simulator, span: Span, choice: Choice, most: int, advice: Advice = COMMAND) -> Film:
    """Does the run once more and keeps what its packets do in a stretch of time, of which there may be so many.

    Raises:
        RunFailed: with the simulator's words.
        StudyError: if there are more, or none, or not the flows and links.

    """
    if plan.study.on_kernels:
        raise StudyError(
            "only the simulator tells where each packet is", hint="leave out --backend, or see what the kernel's hosts do: sawtooth trace"
        )
    tree = json.loads(run.scenario)
    duration = _core.evaluate(str(tree["duration"]), tree.get("vars", {}))[0]
    links, paths = _core.network(run.scenario)
    names = [name for name, _ in paths]
    _known("flow", choice.flows, names)
    _known("link", choice.links, [name for name, _ in links])
    flows = [(name, path) for name, path in paths if not choice.flows or name in choice.flows]
    wanted = pl.col("flow").is_in([name for name, _ in flows])
    if choice.links:
        wanted &= pl.col("link").is_in(list(choice.links))
        kept = {at for at, (name, _) in enumerate(links) if name in choice.links}
        flows = [(name, [port for port in path if port // 2 in kept]) for name, path in flows]
    crossings = sum(2 * len(path) for _, path in paths) / max(len(paths), 1)
    guess = _FIRST_GUESS * most / max(run.cost * crossings, 1.0) * duration
    while True:
        until = min(span.begin + guess, duration) if span.end is None else span.end
        rows = _recorded(tree, run, backend, (span.begin, until)).filter(wanted)
        if span.end is not None or rows.height >= most or until >= duration:
            break
        guess *= _NEXT_GUESS
    end, left_out = _within(rows, span, until, most, advice)
    rows = rows.filter(pl.col("arrived_ns") < end * 1e9)
    if not rows.height:
        raise StudyError(
            f"no packet is on a link from {span.begin:g} to {end:g} s",
            hint=f"the run takes {duration:g} s; {advice.other}",
        )
    if span.begin > 0 or end < duration:
        left_out.insert(0, f"{span.begin:.6g} to {end:.6g} s of {duration:g} s are shown")
    network = lay_out(links, flows)
    if len(network.lines) > MOST_LINKS:
        hint = f"{advice.fewer}: {', '.join(line.name for line in network.lines[:3])}, ..."
        raise StudyError(f"packets cross {len(network.lines)} links, and {MOST_LINKS} can be drawn", hint=hint)
    return Film(network, [name for name, _ in flows], _numbered(rows, network, flows), span.begin, end, duration, left_out)


def _recorded(tree: dict[str, object], run: Run, backend: Simulator, between: tuple[float, float]) -> pl.DataFrame:
    # Samples would make rows that nobody reads; neither changes a simulation.
    plain = {key: value for key, value in tree.items() if key not in ("sample", "record")}
    asked = {"record": ["packets"], "record_from": f"{between[0]:.9f} s", "record_until": f"{between[1]:.9f} s"}
    batch = backend.run_batch([json.dumps({**plain, **asked})], [run.seed])
    for message in batch.errors.values():
        raise RunFailed(f"the run failed: {message}")
    return batch.tables["packets"]


def _within(rows: pl.DataFrame, span: Span, until: float, most: int, advice: Advice) -> tuple[float, list[str]]:
    """Where the stretch ends that has no more packets than can be shown, and what that leaves out."""
    if rows.height <= most:
        return until, []
    fits = int(rows["arrived_ns"].sort()[most]) / 1e9
    if span.end is not None:
        hint = f"--to '{fits:.6g} s' is as far as they fit; --flow and --link show fewer; --most {rows.height} shows all, if the browser bears it"
        message = f"from {span.begin:g} to {span.end:g} s packets come to links {rows.height:,} times, and {most:,} are shown"
        raise StudyError(message, hint=hint)
    return fits, [f"it ends where there are {most:,} packets on links: {advice.rest}"]


def _numbered(rows: pl.DataFrame, network: Network, flows: Sequence[tuple[str, Sequence[int]]]) -> pl.DataFrame:
    lines = {line.name: at for at, line in enumerate(network.lines)}
    numbers = {name: at for at, (name, _) in enumerate(flows)}
    return (
        rows.filter(pl.col("link").is_in(list(lines)))
        .with_columns(
            pl.col("link").replace_strict(lines, return_dtype=pl.Int64).alias("line"),
            pl.col("flow").replace_strict(numbers, return_dtype=pl.Int64).alias("of"),
        )
        .sort("arrived_ns", maintain_order=True)
    )


def _known(what: str, asked: Sequence[str], there: Sequence[str]) -> None:
    for name in asked:
        if name not in there:
            raise StudyError(f"the run has no {what} `{name}`", hint=did_you_mean(name, there))


# --- where packets are


@dataclass(frozen=True)
class Place:
    """Where a packet is.

    Attributes:
        phase: `waits`, `moves` or `falls`.
        back, front: shares of the way that it has covered; of one that falls, how far it has fallen is `front`.

    """

    phase: str
    back: float = 0.0
    front: float = 0.0


def place(row: Mapping[str, Any], now_ns: float, delay_ns: float, fall_ns: float) -> Place | None:
    """Where a packet is at a moment; nowhere before it came and after it went.

    Args:
        row: of the table `packets`.
        now_ns: the moment.
        delay_ns: the link's, for packets that never arrive.
        fall_ns: how long one is seen to fall that is dropped or lost.

    """
    arrived, dropped, started, sent, delivered = (row[f"{name}_ns"] for name in ("arrived", "dropped", "started", "sent", "delivered"))
    if now_ns < arrived:
        return None
    if dropped is not None and now_ns >= dropped:
        fallen = (now_ns - dropped) / fall_ns if fall_ns > 0 else 1.0
        return Place("falls", 0.0, fallen) if fallen < 1 else None
    if started is None or now_ns < started:
        return Place("waits")
    delay = delay_ns if delivered is None or sent is None else delivered - sent
    # What takes no time to cross is seen while it is sent.
    front = min((now_ns - started) / delay, 1.0) if delay > 0 else 1.0
    back = 0.0 if sent is None or now_ns < sent else (now_ns - sent) / delay if delay > 0 else 1.0
    if row["fate"] == "lost" and now_ns >= (lost := started + delay / 2):
        fallen = (now_ns - lost) / fall_ns if fall_ns > 0 else 1.0
        return Place("falls", 0.5, fallen) if fallen < 1 else None
    return Place("moves", back, front) if back < 1 else None


def backlog(packets: pl.DataFrame, line: int, direction: str) -> tuple[list[int], list[int]]:
    """When the number of packets that wait for a direction of a link changes, ns, and what it is from then on."""
    rows = packets.filter(line=line, direction=direction)
    gone = pl.coalesce("dropped_ns", "started_ns")
    waited = rows.with_columns(gone.alias("gone_ns")).filter(pl.col("gone_ns").is_null() | (pl.col("gone_ns") > pl.col("arrived_ns")))
    come = waited.select(t="arrived_ns", step=pl.lit(1))
    left = waited.filter(pl.col("gone_ns").is_not_null()).select(t="gone_ns", step=pl.lit(-1))
    steps = pl.concat([come, left]).group_by("t", maintain_order=True).agg(pl.col("step").sum()).sort("t")
    return steps["t"].to_list(), steps["step"].cum_sum().to_list()


def first_drop_ns(film: Film) -> int:
    """The moment that stands for all when nothing moves: the first loss, or else the middle."""
    lost = film.packets.filter(pl.col("fate").is_in(["dropped", "lost"]))
    times = lost.select(t=pl.coalesce("dropped_ns", "started_ns").clip(int(film.begin * 1e9)))["t"]
    middle = int((film.begin + film.end) / 2 * 1e9)
    return int(times.min()) if times.len() else middle  # type: ignore[arg-type]
