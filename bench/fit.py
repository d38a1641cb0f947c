"""How well `sawtooth fit` finds the scenario behind a capture, over simulated captures that are drawn by a rule.

    .venv/bin/python bench/fit.py --write              (docs/validation/fit.md)
    .venv/bin/python bench/fit.py --kernels --write    (its section about captures of real kernels)

The rule, written before any result was looked at:

- A scenario is one flow of the stack `linux` that sends all it can for 20 s over one link with drop-tail, captured at its sender.
- Rate: 2 to 50 Mbit/s; round-trip propagation: 10 to 100 ms; buffer: half to twice the product of both, at least 10 packets. All three are uniform in their logarithms.
- Loss: none with probability a half; otherwise each packet by itself, with a probability of 0.01 % to 1 %, uniform in its logarithm.
- Congestion control: each of `CONTROLS` as often as the others, in turn.
- Scenario N draws from a generator with the seed "fit test N", N from 1 to 200, and N is its seed, too. Whatever was tuned was tuned on "fit train N".
- Parameters count on the first 50, the congestion control on all 200. A rate or a delay that was not told counts as wrong. A buffer that was not told, with a reason, counts neither as right nor
  as wrong, and how many these are is shown; a loss counts if its interval has the true probability. "Cannot tell" of a congestion control counts as not right.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import publish, table
from sawtooth import captures, fitting, taps
from sawtooth.api import simulate
from sawtooth.backends import uml

PAGE = Path(__file__).resolve().parents[1] / "docs/validation/fit.md"

CONTROLS = ("reno", "cubic", "bbr", "vegas", "htcp", "bic", "westwood", "illinois")
CAPTURES, OF_PARAMETERS = 200, 50
DURATION_S = 20
KERNEL_CAPTURES = 80
KERNEL_RULE = f"""\
- Scenarios are drawn by the same rule, and run on user-mode Linux in virtual time with the kernel's congestion controls of the same names. Scenario N draws from a generator with the seed "fit kernel N", N from 1 to {KERNEL_CAPTURES}: each
  congestion control equally often. First there were two of each, of which three quarters were named right, below the bar that came later, and the others could not be told; as so few say little, the rest were drawn afterwards, with the same method.
- The capture is that of the sender, as `sawtooth run --backend uml --pcap` makes it. Nothing was tuned on these, and no other was drawn or left out. A filter of late acknowledgements was made after other captures of a kernel, in network namespaces of a busy machine, had been looked at.
- The loss of the network is drawn by itself for each packet, as in the simulator. Candidates are simulated, as ever."""
FRESH_CAPTURES, TRAINED, BAR = 160, 240, 80
FRESH_RULE = f"""\
- The {KERNEL_CAPTURES} had been seen, one by one, when the method was to become better on kernels. What it became was tried on captures of kernels with the seeds "fit kernel train N", N from 1 to {TRAINED}, drawn by the same rule, and on
  "fit train N"; the {KERNEL_CAPTURES} were not fitted again until it was done. What is tuned is tuned on these alone.
- Then {FRESH_CAPTURES} fresh ones are drawn, with the seeds "fit kernel fresh N", N from 1 to {FRESH_CAPTURES}, by the same rule: each congestion control equally often. They are fitted once, all are shown, none is drawn or left out besides.
- The bar is that {BAR} % of them, {FRESH_CAPTURES * BAR // 100}, are named right. "Cannot tell" counts as not right, and so does what is refused."""
KERNEL_BEFORE = """\
Before the method was changed somewhat less than three quarters of these were named right, one in forty wrong, and the others could not be told. They are no test of what it is now, since what they had been named was known."""
TRIED = {"simulated": 120, "without loss": 32, "of a kernel": 40, "between namespaces": 6}
"""Captures on which what was changed last was tried."""
BEFORE = {"rate": 50, "base delay": 50, "buffer": 47, "buffer to the packet": 22, "loss": 47, "congestion control": 199}
"""Right on the day on which this page was made anew, with `fit` as it had been."""
AGO = {"near": 115, "within": "0.1 %", "rate": 194, "base delay": 199}
"""What the page had a day before it was made anew."""
_CHANGED = f"""\
All of this page was made anew on 28 November 2026, by the same rules and with the same seeds: simulator and `fit` had changed since. In the simulator what `linux` does on timers, of acknowledgements with SACK that are held back and at the end of a
connection had become more like kernels; `fit` says of a busy machine's capture that buffer and loss are unknown. With `fit` as it was then {BEFORE["rate"]} rates, {BEFORE["base delay"]} delays, {BEFORE["buffer"]} buffers ({BEFORE["buffer to the packet"]} of them to the packet) and {BEFORE["loss"]} losses of the first {OF_PARAMETERS} were right, and
{BEFORE["congestion control"]} of all {CAPTURES} named right.
A buffer was often told one or two packets too large: Linux holds acknowledgements with SACK back for about a millisecond, which is several packets of a fast link. So it is told since from the first three for each acknowledgement number, which are never held back, and from others less what they may have been held.
That was found, and its one threshold set, on "fit train N" (the first {TRIED["simulated"]}, and {TRIED["without loss"]} more of the stack without loss); it was tried afterwards, unchanged, on {TRIED["of a kernel"]} captures of a kernel ("fit kernel train N") and {TRIED["between namespaces"]} between namespaces. Of those here only the tables had been looked at. They are of `fit` with it.

The simulated ones were made and fitted anew on 29 November 2026, since the simulator and `fit` had changed again; nothing was tuned on them. The day before, {AGO["near"]} had a simulation that was less than {AGO["within"]} away, and intervals had {AGO["rate"]} rates and {AGO["base delay"]} delays of all {CAPTURES}."""
BARS = (("rate", "rate_bps", 0.02), ("base delay", "delay_s", 0.02), ("buffer", "buffer_packets", 0.1))
"""What is told of a path, and how far it may be off."""
_IN_A_GUEST = 40
"""Scenarios that a guest runs, one after the other."""
_KERNELS = ("<!-- kernels -->", "<!-- /kernels -->")
_FEWEST_PACKETS = 10
_PACKET = 1500


@dataclass(frozen=True)
class Drawn:
    """A scenario of the rule.

    Attributes:
        number: its number, which is its seed.
        rate_bps, delay_s, buffer_packets, loss, control: what is to be found; `delay_s` is the round-trip propagation.

    """

    number: int
    rate_bps: float
    delay_s: float
    buffer_packets: int
    loss: float
    control: str

    @property
    def tree(self) -> dict[str, Any]:
        """The scenario, as `sawtooth.simulate` takes it."""
        link = {
            "rate": f"{self.rate_bps:.0f} bit/s",
            "delay": f"{self.delay_s / 2 * 1e9:.0f} ns",
            "queue": {"name": "drop_tail", "limit": f"{self.buffer_packets} packets"},
            "loss": self.loss,
        }
        return {"duration": f"{DURATION_S} s", "stack": "linux", "cc": self.control, "links": {"l": link}, "flows": [{"path": ["l"]}]}


def drawn(lot: str, number: int) -> Drawn:
    """Scenario `number` of the lot `train` or `test`."""
    draw = random.Random(f"fit {lot} {number}")
    rate = between(draw, 2e6, 50e6)
    delay = between(draw, 0.01, 0.1)
    product = rate * delay / 8 / _PACKET
    packets = max(_FEWEST_PACKETS, round(product * between(draw, 0.5, 2)))
    loss = between(draw, 1e-4, 1e-2) if draw.random() < 0.5 else 0.0
    return Drawn(number, rate, delay, packets, loss, CONTROLS[number % len(CONTROLS)])


def between(draw: random.Random, low: float, high: float) -> float:
    """Uniform in its logarithm."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


@dataclass(frozen=True)
class Outcome:
    """What was fitted to a scenario's capture; None: it was refused, with the reason. `dropped`: packets that found the queue full, by the simulator's records."""

    drawn: Drawn
    fit: fitting.Fit | None
    refused: str = ""
    dropped: int = 0

    def error(self, quantity: str) -> float | None:
        """Relative, of `rate_bps`, `delay_s` or `buffer_packets`; None if it was not told."""
        found = None if self.fit is None else getattr(self.fit.path, quantity).value
        return None if found is None else found / getattr(self.drawn, quantity) - 1

    def covers(self, quantity: str) -> bool:
        """Whether the interval has what was drawn."""
        if self.fit is None:
            return False
        found = getattr(self.fit.path, quantity)
        return found.low <= getattr(self.drawn, quantity) <= found.high

    @property
    def named(self) -> str:
        """The congestion control that was named."""
        return "cannot tell" if self.fit is None or self.fit.control.name is None else self.fit.control.name


def outcome(each: Drawn) -> Outcome:
    """Simulates, captures and fits."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "sender.pcapng"
        links = simulate(each.tree, seed=each.number, captures=taps.wanted(file)).tables["links"]
        capture = captures.read(file)
    return _fitted(each, capture, int(links.filter(links["direction"] == "forward")["dropped_packets"][0]))


def _fitted(each: Drawn, capture: captures.Capture, dropped: int = 0) -> Outcome:
    try:
        return Outcome(each, fitting.fit(capture, captures.choose(capture, [])[0]), dropped=dropped)
    except fitting.CannotFit as error:
        # Where the capture was for a while is of no interest.
        return Outcome(each, None, error.message.replace(f" in {capture.name}", ""), dropped)


def kernel_outcomes(lot: str, count: int) -> list[Outcome]:
    """Runs scenarios on real kernels, `_IN_A_GUEST` in each, captures and fits."""
    scenarios = [drawn(lot, number) for number in range(1, count + 1)]
    return [each for at in range(0, count, _IN_A_GUEST) for each in _of_a_guest(scenarios[at : at + _IN_A_GUEST])]


def _of_a_guest(lot: Sequence[Drawn]) -> list[Outcome]:
    texts = [json.dumps({**each.tree, "cc": f"kernel:{each.control}"}) for each in lot]
    with tempfile.TemporaryDirectory() as directory:
        files = [Path(directory) / f"{each.number}.pcapng" for each in lot]
        orders = [taps.wanted(file).of_scenario(text, []) for file, text in zip(files, texts, strict=True)]
        batch = uml.run_batch(texts, [each.number for each in lot], orders)
        assert batch.errors == {}, batch.errors
        found: list[Outcome] = []
        for each, file in zip(lot, files, strict=True):
            found.append(_fitted(each, captures.read(file)))
            _tell(found[-1])
    return found


def kernel_section(fresh: Sequence[Outcome], seen: Sequence[Outcome]) -> str:
    """What the page says of captures of real kernels: those drawn afresh, and those by which it had been seen that the method was to become better."""
    parts = [
        "## Captures of real kernels",
        f"The rule of the first {KERNEL_CAPTURES}, which was committed before any of these was fitted:\n\n{KERNEL_RULE}",
        f"The rule of the {FRESH_CAPTURES} fresh ones, which was committed before the method was changed:\n\n{FRESH_RULE}",
        f"### {FRESH_CAPTURES} fresh ones",
        *_of_kernels(fresh),
        f"### The first {KERNEL_CAPTURES}, which had been seen",
        f"{KERNEL_BEFORE}",
        *_of_kernels(seen),
    ]
    return "\n\n".join(parts)


def _of_kernels(outcomes: Sequence[Outcome]) -> list[str]:
    nearest = sorted(min(distances) for each in outcomes if each.fit and (distances := each.fit.control.distances.values()))
    near = (
        f"The nearest simulation is {nearest[0]:.1%} to {nearest[-1]:.1%} away, in the middle {np.median(nearest):.1%}." if nearest else ""
    )
    missed = [each for each in outcomes if each.named != each.drawn.control]
    wrong = [f"- {each.drawn.number}, {each.drawn.control}: {each.named}; {each.refused or _distances(each)}" for each in missed]
    return [
        parameters(outcomes),
        to_the_packet(outcomes),
        _confusion(outcomes),
        f"{near} Those that are not named right, and how far away simulations were:",
        "\n".join(wrong) or "- none",
    ]


def _distances(each: Outcome) -> str:
    assert each.fit
    ranked = sorted(each.fit.control.distances.items(), key=lambda item: item[1])
    return ", ".join(f"{name} {distance:.1%}" for name, distance in ranked[:4]) or each.fit.control.why


def _confusion(outcomes: Sequence[Outcome]) -> str:
    right = sum(each.named == each.drawn.control for each in outcomes)
    wrong = sum(each.named not in (each.drawn.control, "cannot tell") for each in outcomes)
    told = [name for name in (*CONTROLS, "cannot tell") if any(each.named == name for each in outcomes)]
    counts = Counter((each.drawn.control, each.named) for each in outcomes)
    rows = [[name, *(str(counts[name, other] or "") for other in told)] for name in CONTROLS]
    words = f"{right} of {len(outcomes)} are named right ({right / len(outcomes):.1%}), {wrong} wrong. Rows are what it was, columns what was said:"
    return f"{words}\n\n{table(['', *told], rows, 'l' + 'r' * len(told))}"


def _kernels_in(text: str) -> str:
    """The section about kernels of a page, with its marks."""
    begin, end = _KERNELS
    _, _, rest = text.partition(begin)
    return f"{begin}{rest.partition(end)[0]}{end}"


def page(outcomes: Sequence[Outcome]) -> str:
    """The page of validation."""
    assert __doc__
    rule = __doc__.split("looked at:\n\n")[1].strip().replace("`CONTROLS`", ", ".join(CONTROLS))
    parts = [
        "<!-- Written by bench/fit.py --write; edit that. -->",
        "# How good are the scenarios that `sawtooth fit` finds?",
        f"The rule, which was written before the results:\n\n{rule}",
        "## Rate, delay, buffer and loss",
        parameters(outcomes[:OF_PARAMETERS]),
        f"Of these, what is not right:\n\n{missed(outcomes[:OF_PARAMETERS])}",
        f"The same of all {len(outcomes)}:",
        parameters(outcomes),
        to_the_packet(outcomes),
        f"Where it says that it cannot tell the buffer, the queue was never seen full; the interval is what it has room for at least. {_never_full(outcomes)}",
        "The method was changed after its first results on these captures had been seen: where losses depend on the queue, this must also be about as long as it ever was. What was changed was "
        'tried on "fit train N" alone. These captures were fitted anew twice: after the first time one was told a wrong buffer that had not been told before, and a threshold was set anew on "fit train N". The third time was after the distances of congestion controls had been changed for captures of kernels, before which fewer were named right.',
        _CHANGED,
        "## Congestion control",
        _confusion(outcomes),
        _kernels_in(PAGE.read_text(encoding="utf-8")),
        "## What this does not show",
        "But for those of real kernels, captures and candidates are of one simulator, so the simulation of the right one can be the same to the packet: of these captures "
        f"{_same(outcomes)} have one that is less than 0.1 % away. Those of a real kernel never are; [the comparison of the simulator with kernels](linux.md) says how far apart they may be. "
        "There is no noise of clocks or hosts; [captures with the traffic of others, and with other queues](fit-cross.md), have a page of their own. Congestion controls other than the eight would be taken for one of these, or for none.",
    ]
    return "\n\n".join(parts) + "\n"


def parameters(outcomes: Sequence[Outcome]) -> str:
    """What was found of the path, as a table."""
    rows: list[list[str]] = []
    for name, quantity, bound in BARS:
        errors = [error for each in outcomes if (error := each.error(quantity)) is not None]
        # A buffer in whole packets may be exactly a tenth off.
        within = sum(abs(error) <= bound + 1e-9 for error in errors)
        covered = sum(each.covers(quantity) for each in outcomes)
        sizes = np.abs(errors)
        largest = f"{np.median(sizes):.2%} / {np.max(sizes):.2%}"
        rows.append([name, str(len(outcomes)), str(len(outcomes) - len(errors)), f"{within} within {bound:.0%}", largest, str(covered)])
    unknown = sum(each.fit is None or each.fit.path.loss.value is None for each in outcomes)
    covered = sum(each.covers("loss") for each in outcomes)
    rows.append(["loss", str(len(outcomes)), str(unknown), f"{covered} within its interval", "", str(covered)])
    return table(["", "Captures", "Not told", "Right", "Error, median / most", "Intervals that have it"], rows, "lrrrrr")


def to_the_packet(outcomes: Sequence[Outcome]) -> str:
    """How many buffers are told by how many packets too large."""
    apart = Counter(round(error * each.drawn.buffer_packets) for each in outcomes if (error := each.error("buffer_packets")) is not None)
    near = ", ".join(f"{apart[by]} by {by:+}" for by in (-2, -1, 1, 2))
    return f"Of the {sum(apart.values())} buffers that are told {apart[0]} are right to the packet; {near}, and {sum(many for by, many in apart.items() if abs(by) > 2)} by more."


def missed(outcomes: Sequence[Outcome]) -> str:
    """What counts as wrong, one by one."""
    lines: list[str] = []
    for each in outcomes:
        for name, quantity, bound in BARS:
            error = each.error(quantity)
            if error is not None and abs(error) > bound + 1e-9:
                lines.append(
                    f"- {each.drawn.number}, {each.drawn.control}: {name} {error:+.1%}, {_told(each, quantity)}; {each.dropped} packets found the queue full"
                )
        if each.fit is not None and not each.covers("loss"):
            lines.append(f"- {each.drawn.number}, {each.drawn.control}: loss, {_told(each, 'loss')}")
    return "\n".join(lines) or "- nothing"


def _told(each: Outcome, quantity: str) -> str:
    assert each.fit
    found = getattr(each.fit.path, quantity)
    value = "not told" if found.value is None else f"{found.value:.4g}"
    return f"{value} ({found.low:.4g} to {found.high:.4g}) of {getattr(each.drawn, quantity):.4g}"


def _never_full(outcomes: Sequence[Outcome]) -> str:
    untold = [each for each in outcomes if each.fit is not None and each.fit.path.buffer_packets.value is None]
    return f"By the simulator's records {sum(each.dropped == 0 for each in untold)} of the {len(untold)} dropped nothing at the queue, so no capture could tell; the others dropped {sum(each.dropped for each in untold)} packets in all."


def _same(outcomes: Sequence[Outcome]) -> int:
    return sum(each.fit is not None and min(each.fit.control.distances.values()) < 1e-3 for each in outcomes)


def _tell(found: Outcome) -> None:
    print(f"{found.drawn.number}: {found.drawn.control}, {found.named} {found.refused}", file=sys.stderr)


def main() -> None:
    """Fits, and prints or writes the page."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--lot", choices=["train", "test"], default="test")
    arguments.add_argument("--captures", type=int, default=CAPTURES)
    arguments.add_argument("--write", action="store_true", help="write docs/validation/fit.md")
    arguments.add_argument("--kernels", action="store_true", help="the captures of real kernels")
    chosen = arguments.parse_args()
    if chosen.kernels:
        section = kernel_section(kernel_outcomes("kernel fresh", FRESH_CAPTURES), kernel_outcomes("kernel", KERNEL_CAPTURES))
        if not chosen.write:
            print(section)
            return
        text = PAGE.read_text(encoding="utf-8")
        begin, end = _KERNELS
        PAGE.write_text(text.replace(_kernels_in(text), f"{begin}\n{section}\n{end}"), encoding="utf-8")
        return
    outcomes: list[Outcome] = []
    for number in range(1, chosen.captures + 1):
        outcomes.append(outcome(drawn(chosen.lot, number)))
        _tell(outcomes[-1])
    publish(page(outcomes), PAGE, write=chosen.write)


if __name__ == "__main__":
    main()
