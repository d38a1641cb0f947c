"""Simulated windows and queues beside the formulas that theory has for them; writes docs/validation/theory.md and its figure.

python bench/theory/validate.py --keep results/theory        # with --keep, windows that have been simulated are not simulated again
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import formulas
from flows import RTT_S, Sender, Window, window
from scipy import stats as scipy_stats

import queues
from sawtooth.plots import style
from sawtooth.stats import Interval, mean_interval

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
TEXT = Path(__file__).resolve().parent / "theory.md"
# What 'rare' is: terms of order sqrt(p) are a few per cent.
RARE = 1e-3
RAREST = 1e-4
TIMEOUT_S = 1.0


@dataclass(frozen=True)
class Law:
    """A sender whose window is measured where a formula says what it is."""

    sender: Sender
    formula: Callable[[float], float]
    periods: tuple[int, ...]
    """1/p."""
    periodic: bool = True
    replicates: int = 5
    losses: int = 80


@dataclass(frozen=True)
class Point:
    p: float
    formula: float
    mean: Interval
    runs: list[Window]

    @property
    def ratio(self) -> float:
        return self.mean.estimate / self.formula


def reno(constant: float) -> Callable[[float], float]:
    return lambda p: formulas.aimd(constant, p)


EVERY, DELAYED = {"ack_every": 1}, {"ack_every": 2}
COMMON = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
SAWS = (
    Law(Sender("rfc, an acknowledgement per segment", "reno", tcp=EVERY), reno(formulas.periodic_constant(1)), COMMON),
    Law(Sender("rfc, delayed acknowledgements", "reno", acked=2, tcp=DELAYED), reno(formulas.periodic_constant(2)), COMMON),
    Law(Sender("linux, which counts segments", "reno", stack="linux"), reno(formulas.periodic_constant(1)), COMMON),
    Law(Sender("ns2, an acknowledgement per segment", "reno", stack="ns2"), reno(formulas.periodic_constant(1)), COMMON),
)
CHANCES = tuple(
    Law(law.sender, reno(formulas.random_constant(law.sender.acked)), (100, 300, 1000, 3000, 10_000, 30_000), False, 10, 500)
    for law in SAWS[:3]
)
# Without SACK, as in the model; every loss waits for three duplicates.
PADHYE = {"recovery": "reno", "limited_transmit": False, **DELAYED}
HEAVY = tuple(
    Law(
        Sender(name, "reno", acked=2, tcp={**PADHYE, **more}),
        lambda p: formulas.padhye(p, RTT_S, TIMEOUT_S),
        (5, 10, 20, 50, 100, 300, 1000),
        False,
        10,
        1000,
    )
    for name, more in (("RFC 6298", {}), ("with timestamps", {"timestamps": True}))
)
RESPONSES = (
    Law(Sender("cubic", "cubic", tcp=EVERY, parameters={"fast_convergence": False}), lambda p: formulas.cubic(p, RTT_S), (100, 1000, 3000, 10_000, 100_000, 1_000_000)),
    Law(Sender("cubic, fast convergence", "cubic", tcp=EVERY), lambda p: formulas.cubic(p, RTT_S), (100, 1000, 3000, 10_000, 100_000)),
    Law(Sender("highspeed", "highspeed", tcp=EVERY), formulas.highspeed, (100, 1000, 3000, 10_000, 100_000, 1_000_000)),
    Law(Sender("scalable", "scalable", tcp=EVERY), formulas.scalable, (1000, 3000, 10_000, 30_000, 100_000, 300_000)),
)  # fmt: skip


def measure(law: Law, keep: Path | None) -> list[Point]:
    points: list[Point] = []
    for period in law.periods:
        p = 1 / period
        formula = law.formula(p)
        # A million packets a loss are minutes of a processor: fewer of them.
        few = period >= 1_000_000
        losses = law.losses // 4 if few else law.losses
        seeds = range(1, law.replicates + 1, 2 if few else 1)
        runs = [window(law.sender, p, formula, losses, seed, periodic=law.periodic, keep=keep) for seed in seeds]
        measured = [run.sent if law in HEAVY else run.delivered for run in runs]
        points.append(Point(p, formula, mean_interval(measured), runs))
        print(law.sender.name, "periodic" if law.periodic else "random", period, f"{points[-1].ratio:.4f}", flush=True)
    return points


# --- regressions -----------------------------------------------------------------------------------------------------------------------


def line(x: Sequence[float], y: Sequence[float]) -> tuple[Interval, Interval]:
    """Slope and intercept of least squares, with 95 % intervals."""
    fit = cast(Any, scipy_stats.linregress(x, y))
    reach = float(scipy_stats.t.ppf(0.975, len(x) - 2))
    found = (float(fit.slope), float(fit.stderr)), (float(fit.intercept), float(fit.intercept_stderr))
    slope, intercept = (Interval(value, value - reach * error, value + reach * error, len(x), "95 %") for value, error in found)
    return slope, intercept


def exponent(points: Sequence[Point], rare: float) -> Interval:
    """d ln W / d ln p for p up to `rare`; every replicate is a point."""
    chosen = [(point.p, run.delivered) for point in points if point.p <= rare * 1.0001 for run in point.runs]
    return line([math.log(p) for p, _ in chosen], [math.log(w) for _, w in chosen])[0]


def constant(points: Sequence[Point]) -> Interval:
    """W sqrt(p) as p goes to 0: what a straight line in sqrt(p) has there."""
    rare = [(point.p, run.delivered) for point in points if point.p <= RARE for run in point.runs]
    return line([math.sqrt(p) for p, _ in rare], [w * math.sqrt(p) for p, w in rare])[1]


# --- the page --------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    what: str
    stated: str
    found: str
    holds: bool

    def row(self) -> list[str]:
        return [self.what, self.stated, self.found, "yes" if self.holds else "**no**"]


def claims_of_laws(saws: Sequence[list[Point]], chances: Sequence[list[Point]]) -> list[Claim]:
    claims: list[Claim] = []
    # What is missing for a loss's own round trips, up to 2.5 segments, changes an exponent by as much: of windows from 87 on, and from 29 on.
    settings = ((SAWS, saws, "periodic", RAREST, 0.01, 0.01), (CHANCES, chances, "random", RARE, 0.02, 0.02))
    for laws, all_points, losses, rare, reach, band in settings:
        for law, points in zip(laws, all_points, strict=True):
            what = f"{law.sender.name}, {losses} losses"
            slope, limit = exponent(points, rare), constant(points)
            expected = law.formula(1.0)
            good = abs(slope.estimate + 0.5) <= reach
            claims.append(Claim(f"exponent of p up to {rare:g}, {what}", f"-1/2 within {reach:g}", slope.words(".4f"), good))
            near = abs(limit.estimate / expected - 1) <= band
            claims.append(Claim(f"C as p goes to 0, {what}", f"{expected:.4f} within {100 * band:g} %", limit.words(".4f"), near))
    for law, points in ((SAWS[0], saws[0]), (SAWS[2], saws[2]), (SAWS[3], saws[3])):
        off, bar, p = max((off_saw(point, law.losses) for point in points if point.p <= RARE), key=lambda each: abs(each[0]) / each[1])
        what = f"saw of whole round trips, {law.sender.name}, p up to {RARE:g}"
        claims.append(
            Claim(what, "within half a round trip", f"{100 * off:+.2f} % of {100 * bar:.2f} % at p = 1/{round(1 / p)}", abs(off) <= bar)
        )
    return claims


def off_saw(point: Point, losses: int) -> tuple[float, float, float]:
    """How far a mean is from the saw's; the share that half a round trip is of a saw, and what half a saw at the end of a run is of it; and p.

    Windows leave in bursts, so that a saw is a whole number of round trips; half a saw, of the windows below the mean, has 1/12 of a saw's packets less.
    """
    wanted = formulas.saw(point.p)
    return point.mean.estimate / wanted - 1, 0.5 * point.p * wanted + 1 / 12 / (0.75 * losses), point.p


def farthest(points: Sequence[Point], formula: Callable[[float], float], least: float, most: float) -> float:
    """The largest relative difference for p within bounds."""
    return max(
        (point.mean.estimate / formula(point.p) - 1 for point in points if least <= point.p * 1.0001 and point.p <= most * 1.0001), key=abs
    )


def claims_of_responses(heavy: Sequence[list[Point]], responses: Sequence[list[Point]]) -> list[Claim]:
    def full(p: float) -> float:
        return formulas.padhye(p, RTT_S, TIMEOUT_S)

    bars = (
        ("Padhye et al., p up to 0.02", heavy[0], full, 1e-3, 0.02, 0.10),
        ("Padhye et al., p up to 0.2, timestamps", heavy[1], full, 1e-3, 0.2, 0.20),
        ("CUBIC's response (RFC 9438 §5) without fast convergence", responses[0], RESPONSES[0].formula, 1e-6, 1e-3, 0.10),
        ("CUBIC's response with fast convergence", responses[1], RESPONSES[1].formula, 1e-6, 1e-3, 0.15),
        ("HighSpeed's response (RFC 3649 §5)", responses[2], RESPONSES[2].formula, 1e-6, 1e-3, 0.05),
        ("Scalable's response, with the round trip of the repair", responses[3], formulas.scalable_repaired, 1e-6, 1e-4, 0.03),
    )
    claims: list[Claim] = []
    for what, points, formula, least, most, bar in bars:
        off = farthest(points, formula, least, most)
        claims.append(Claim(what, f"within {100 * bar:g} %", f"{100 * off:+.1f} % at most", abs(off) <= bar))
    return claims


def claims_of_queues(found: Sequence[queues.Check], shared: Sequence[queues.Check]) -> list[Claim]:
    exact = [check for check in found if check.quantity.startswith(("Little", "packets sent"))]
    random = [check for check in found if check not in exact]
    worst = max(random, key=lambda check: queues.far(check, statistics.stdev))
    errors = queues.far(worst, statistics.stdev)
    little = max(abs(value - 1) for check in exact if check.quantity.startswith("Little") for value in check.values)
    missing = max(abs(value) for check in exact if check.quantity.startswith("packets") for value in check.values)
    slow = max((statistics.fmean(check.values) / check.formula - 1 for check in shared), key=abs)
    return [
        Claim(f"all {len(random)} means and percentiles of queues", "within 4 standard errors", f"{errors:.1f} at most ({worst.system}, load {worst.load:g}, {worst.quantity})", errors <= 4),
        Claim("Little's law in every run", "within 0.1 % (waits are recorded in whole ns)", f"{100 * little:.3f} % at most", little <= 1e-3),
        Claim("packets sent = delivered + dropped in every run", "exactly", f"{missing:g} missing", missing == 0),
        Claim("a link shared by TCP: mean times of processor sharing", "within 15 %", f"{100 * slow:+.1f} % at most", abs(slow) <= 0.15),
    ]  # fmt: skip


def window_table(
    laws: Sequence[Law], all_points: Sequence[list[Point]], extra: Sequence[tuple[str, Callable[[Law, Point], str]]] = ()
) -> str:
    rows: list[list[str]] = []
    for law, points in zip(laws, all_points, strict=True):
        rows += [
            [
                law.sender.name,
                f"1/{round(1 / point.p)}",
                f"{point.formula:.2f}",
                interval(point.mean),
                f"{point.ratio:.3f}",
                *(text(law, point) for _, text in extra),
            ]
            for point in points
        ]
    head = ["Sender", "p", "Formula", "Simulated, 95 % interval", "Ratio", *(name for name, _ in extra)]
    return table(head, rows, "l" + "r" * (4 + len(extra)))


def interval(found: Interval) -> str:
    return f"{found.estimate:.2f} ({found.low:.2f} to {found.high:.2f})"


def by_signals(law: Law, point: Point) -> str:
    """Measured by what the sender saw: W sqrt(signals per packet) over C."""
    return f"{statistics.fmean(run.delivered * math.sqrt(run.signal_rate) for run in point.runs) / law.formula(1.0):.3f}"


def signals(_: Law, point: Point) -> str:
    return f"{statistics.fmean(run.signal_rate for run in point.runs) / point.p:.2f}"


def timeouts(_: Law, point: Point) -> str:
    share = sum(run.timeouts for run in point.runs) / sum(run.signals for run in point.runs)
    return f"{share:.2f} / {formulas.padhye_timeouts(point.p):.2f}"


def of_approximation(_: Law, point: Point) -> str:
    return f"{point.mean.estimate / formulas.padhye_short(point.p, RTT_S, TIMEOUT_S):.3f}"


def of_saw(law: Law, point: Point) -> str:
    return f"{point.mean.estimate / formulas.saw(point.p):.3f}" if law.sender.acked == 1 else ""


def queue_table(found: Sequence[queues.Check]) -> str:
    rows: list[list[str]] = []
    for check in found:
        digits = ".3f" if check.formula < 100 else ".1f"
        mean = mean_interval(list(check.values))
        cells = f"{mean.estimate:{digits}} ({mean.low:{digits}} to {mean.high:{digits}})"
        rows.append(
            [
                check.system,
                f"{check.load:g}",
                check.quantity,
                f"{check.formula:{digits}}",
                cells,
                "" if check.formula == 0 else f"{mean.estimate / check.formula:.4f}",
            ]
        )
    return table(["System", "Load", "Quantity", "Formula", "Simulated, 95 % interval", "Ratio"], rows, "lrlrrr")


def draw(
    saws: Sequence[list[Point]], chances: Sequence[list[Point]], heavy: Sequence[list[Point]], responses: Sequence[list[Point]], out: Path
) -> None:
    figure, (left, right) = style.figure(10.5, 4.6, 1, 2)
    grid = [10 ** (-5 + 4.4 * step / 200) for step in range(201)]
    low = [p for p in grid if p <= 0.02]
    shown = (
        (saws[0], SAWS[0].formula, "every (1/p)-th lost, C = 1.22", low),
        (saws[1], SAWS[1].formula, "the same, delayed ACKs, C = 0.87", low),
        (chances[0], CHANCES[0].formula, "random losses, C = 1.31", low),
        (heavy[1], HEAVY[1].formula, "random, delayed ACKs, no SACK: Padhye et al.", [p for p in grid if p >= 8e-4] + [0.25]),
    )
    for number, (points, formula, name, at) in enumerate(shown):
        curve(left, number, points, [(p, formula(p)) for p in at], name)
    left.set_title("Reno: lines theory, points simulated")
    deep = [10 ** (-6.1 + 4.2 * step / 200) for step in range(201)]
    chosen = (
        (saws[0], SAWS[0].formula, "Reno", deep),
        (responses[0], RESPONSES[0].formula, "CUBIC at 100 ms, RFC 9438 §5", deep),
        (responses[2], RESPONSES[2].formula, "HighSpeed, RFC 3649 §5", deep),
        (responses[3], RESPONSES[3].formula, "Scalable, Kelly 2003", [p for p in deep if 2.5e-6 <= p <= 1.5e-3]),
    )
    for number, (points, formula, name, at) in enumerate(chosen):
        curve(right, number, points, [(p, formula(p)) for p in at], name)
    right.set_title("Response functions, periodic losses")
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("loss probability p")
        axis.set_ylabel("mean window, segments")
        axis.legend(loc="lower left", frameon=False, fontsize=8)
    style.write(figure, out, "theory")


def curve(axis: Any, number: int, points: Sequence[Point], theory: Sequence[tuple[float, float]], name: str) -> None:
    colour = style.COLOURS[number]
    axis.plot([p for p, _ in theory], [w for _, w in theory], color=colour, linewidth=1.2)
    below, above = zip(*(point.mean.reach() for point in points), strict=True)
    axis.errorbar(
        [point.p for point in points], [point.mean.estimate for point in points], yerr=[below, above],
        color=colour, marker=style.MARKERS[number], markersize=4, linestyle="none", capsize=2, label=name,
    )  # fmt: skip


def starts() -> str:
    """How near RFC 9438's function itself has come to its mean after some losses."""
    rows: list[list[str]] = []
    for fast in (False, True):
        for start in (0.9, 1.1):
            cells = [
                f"{formulas.cubic_cycles(1e-4, RTT_S, fast_convergence=fast, start=start, cycles=n) / formulas.cubic(1e-4, RTT_S):.3f}"
                for n in (40, 80, 400, 4000)
            ]
            rows.append(["on" if fast else "off", f"{start}", *cells])
    return table(
        ["Fast convergence", "First window / equilibrium", *(f"second half of {n} losses" for n in (40, 80, 400, 4000))],
        rows,
        "lr" + "r" * 4,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a folder for what has been simulated")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/validation")
    parser.add_argument("--replicates", type=int, default=10, help="of queues")
    options = parser.parse_args()
    saws, chances, heavy, responses = ([measure(law, options.keep) for law in laws] for laws in (SAWS, CHANCES, HEAVY, RESPONSES))
    found, shared = queues.checks(options.replicates), queues.shared(options.replicates)
    claims = [*claims_of_laws(saws, chances), *claims_of_responses(heavy, responses), *claims_of_queues(found, shared)]
    parts = {
        "@FIGURE@": "![Mean window against the probability of loss, theory and simulation](theory.png)",
        "@CLAIMS@": table(["What", "Stated", "Found", "Holds"], [claim.row() for claim in claims]),
        "@SAWS@": window_table(SAWS, saws, [("Of the saw of whole round trips", of_saw)]),
        "@CHANCES@": window_table(CHANCES, chances, [("Signals / losses", signals), ("Ratio, p counted in signals", by_signals)]),
        "@HEAVY@": window_table(HEAVY, heavy, [("Of the approximation", of_approximation), ("Signals / losses", signals), ("Timeouts per signal, simulated / Q", timeouts)]),
        "@RESPONSES@": window_table(RESPONSES, responses),
        "@REPAIR@": f"{formulas.scalable_repaired(1e-4) / formulas.scalable(1e-4):.3f}",
        "@STARTS@": starts(),
        "@QUEUES@": queue_table([check for check in found if not check.quantity.startswith(("Little", "packets sent"))]),
        "@SHARED@": queue_table(shared),
    }  # fmt: skip
    text = TEXT.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(name, part)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "theory.md").write_text(text, encoding="utf-8")
    draw(saws, chances, heavy, responses, options.out)
    for claim in claims:
        print(*claim.row(), sep=" | ")
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
