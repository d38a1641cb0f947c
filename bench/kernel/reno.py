"""Run Reno on a real kernel and in the simulator over single losses and drop-tail queues, explain every difference, write the page.

    python bench/kernel/reno.py

Writes docs/validation/kernel-reno.md and its figure. The kernel is user-mode Linux in virtual time (`sawtooth doctor`).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import reno_cases as rc
from reno_causes import CASES, EXPLAINED, PARTING, Cause, causes, completion, with_first_burst_lost
from reno_runs import Results, Run, measure
from reno_traces import mean_gap, parting

from sawtooth.backends import uml
from sawtooth.errors import SawtoothError
from sawtooth.plots import style

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
SHOWN = "drop-tail-50"
FIGURE = "kernel-reno"
WITHOUT = {
    "early-loss": "CA, PRR",
    "avoidance-loss": "CA, PRR",
    "tail-loss": "RTT, ACK, ticks",
    "tail-losses": "RTT, ticks",
    "lost-retransmission": "",
    "drop-tail-10": "",
    "lost-syn": "",
}
"""Causes of what is left between a plain kernel and the simulator."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "validation", help="directory of the page and its figure")
    options = parser.parse_args()
    started = time.monotonic()
    results = measure(rc.CASES)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "kernel-reno.md").write_text(page(results), encoding="utf-8")
    draw(results, options.out)
    print(f"{len(rc.CASES)} scenarios in {time.monotonic() - started:.0f} s; wrote {options.out / 'kernel-reno.md'}")


def page(results: Results) -> str:
    """The page of the documentation."""
    found = causes(results, rc.CASES)
    parts = [
        "# Reno on a kernel and in the simulator",
        f"Written by `python bench/kernel/reno.py`. Kernel: Linux {uml.modules().release} as user-mode Linux in virtual time, its `reno`, "
        'defaults otherwise. Simulator: `cc = "reno"`, stack `rfc`. The links are the same code on both sides, '
        f"{rc.MBIT} Mbit/s, 20 ms each way and a queue of 1000 packets unless the scenario says otherwise; one flow of 300 kB unless it says otherwise. "
        "A loss is of the same *data segment* on both sides; the packets' numbers (`drop`) differ by one, because the simulator's handshake has no third packet.",
        "## Scenarios",
        "Completion in ms, then retransmissions and timeouts. The kernel's range is over flows that start at different points between two of its ticks. "
        "*Like the kernel*: the simulator with every parameter it has set towards the kernel's (the next table says which). "
        "The causes are explained in the list below.",
        scenarios(results),
        "## Where the windows part",
        "The first time at which the two congestion windows differ by a segment for longer than three segments take, in segments (kernel / simulator), "
        "counted from the end of the handshake; and the mean difference at equal numbers of segments acknowledged. "
        "From the simulator as it is the kernel parts at once: IW (after a lost SYN, SYN).",
        partings(results),
        f"![Congestion windows over time, {SHOWN}]({FIGURE}.svg)",
        f"*{SHOWN}: {CASES[SHOWN].title}, {CASES[SHOWN].size // 1_000_000} MB. Left the whole transfer; right the two recoveries: the kernel walks down (PRR) "
        "where the simulator jumps. With RACK the kernel finds the second overflow a round trip earlier; without RACK it does so when the simulator does, and "
        "all three finish at the same time, because the queue never runs empty.*",
        "## Causes: the work list",
        "By their effect: the largest change of a completion time in these scenarios, kernel's way less the simulator's (negative: the kernel is faster), and where. "
        "Each is measured: by setting the simulator's parameter, by switching the kernel's feature off, or from the traces.",
        work_list(found),
        "## The simulator, set like the kernel step by step",
        "Completion, ms; each column keeps the settings of those before it.",
        ladder(results),
        "## The kernel with its features off, one at a time",
        "Completion, ms, as a difference to the kernel's. Ticks alone make up to 20 ms of a timeout and 80 ms of a lost SYN. "
        "drop-tail-bdp without offload and RACK has two outcomes, between which the rounding of the guest's clock decides from boot to boot.",
        ablations(results),
        "## What remains",
        remains(results),
    ]
    return "\n\n".join(parts) + "\n"


def events(run: Run) -> str:
    """Retransmissions and timeouts."""
    return f"{run.retransmits} / {run.timeouts}"


def scenarios(results: Results) -> str:
    """The main table."""
    rows: list[list[str]] = []
    for case in rc.CASES:
        times = [run.completion_ms for run in results.all(case, rc.KERNEL)]
        span = f"{min(times):.1f}" if max(times) - min(times) < 0.5 else f"{min(times):.1f}-{max(times):.1f}"
        kernel, own, like = (results.of(case, side) for side in (rc.KERNEL, rc.RFC, rc.LIKE_KERNEL))
        rest = like.completion_ms - completion(results, case, rc.KERNEL)
        rows.append([
            f"**{case.name}**: {case.title}", span, events(kernel), f"{own.completion_ms:.1f}", events(own),
            f"{like.completion_ms:.1f}", events(like), f"{rest:+z.1f}", EXPLAINED[case.name],
        ])  # fmt: skip
    return table(["Scenario", "Kernel", "", "Simulator", "", "Like the kernel", "", "Remains", "Causes"], rows)


def partings(results: Results) -> str:
    """The table of first differences."""
    rows: list[list[str]] = []
    for case in rc.CASES:
        kernel, own, like = (results.of(case, side).window for side in (rc.KERNEL, rc.RFC, rc.LIKE_KERNEL))
        plain = results.of(case, rc.PLAIN).window
        rows.append([
            case.name, str(parting(kernel, own) or "never"), f"{mean_gap(kernel, own):.1f}", str(parting(kernel, like) or "never"), PARTING[case.name],
            f"{mean_gap(kernel, like):.1f}", str(parting(plain, like) or "never"), f"{mean_gap(plain, like):.1f}",
        ])  # fmt: skip
    header = [
        "Scenario",
        "Kernel / simulator",
        "Mean",
        "Kernel / like the kernel",
        "Because",
        "Mean",
        f"Kernel with {rc.PLAIN.name} / like the kernel",
        "Mean",
    ]
    return table(header, rows)


def work_list(found: list[Cause]) -> str:
    """The table of causes."""
    rows = [
        [str(rank), cause.name, cause.reference, f"{cause.effect_ms:+z.0f}", cause.where, cause.evidence, cause.wanted]
        for rank, cause in enumerate(found, 1)
    ]
    return table(["", "The kernel", "Specification", "ms", "Where", "Evidence", "The simulator needs"], rows)


def ladder(results: Results) -> str:
    """The simulator after each step."""
    sides = [rc.RFC, *rc.steps()]
    rows = [[case.name, *(f"{results.of(case, side).completion_ms:.1f}" for side in sides)] for case in rc.CASES]
    for row, case in zip(rows, rc.CASES, strict=True):
        row.append(f"{completion(results, case, rc.KERNEL):.1f}")
    return table(["Scenario", *(side.name for side in sides), "kernel"], rows)


def ablations(results: Results) -> str:
    """The kernel with one feature off."""
    rows: list[list[str]] = []
    for case in rc.CASES:
        base = completion(results, case, rc.KERNEL)
        cells: list[str] = []
        for side in rc.ABLATIONS:
            if not results.has(case, side):
                cells.append("")
                continue
            run = results.of(case, side)
            note = f" ({run.timeouts} RTO)" if run.timeouts > results.of(case, rc.KERNEL).timeouts else ""
            cells.append(f"{run.completion_ms - base:+z.1f}{note}")
        rows.append([case.name, *cells])
    return table(["Scenario", *(side.name for side in rc.ABLATIONS)], rows)


def remains(results: Results) -> str:
    """The scenarios in which a difference is left, and what it is against a kernel without the features that the simulator lacks."""
    rest = {case.name: results.of(case, rc.LIKE_KERNEL).completion_ms - completion(results, case, rc.KERNEL) for case in rc.CASES}
    share = {name: abs(value) / completion(results, CASES[name], rc.KERNEL) for name, value in rest.items()}
    near = sorted(name for name, value in share.items() if value < 0.01)
    far = sorted((name for name in share if name not in near), key=lambda name: -share[name])
    slow_start = results.of(CASES["slow-start"], rc.LIKE_KERNEL).completion_ms
    best: dict[str, tuple[str, float, float, str]] = {}
    for name in far:
        plain, like = (completion(results, CASES[name], side) for side in (rc.PLAIN, rc.LIKE_KERNEL))
        best[name] = (f"kernel with {rc.PLAIN.name}", plain, like, WITHOUT[name])
    best["drop-tail-10"] = (
        "simulator with data segment 10 lost",
        completion(results, CASES["drop-tail-10"], rc.KERNEL),
        with_first_burst_lost(),
        "GSO, CA",
    )
    first = min(run.completion_ms for run in results.all(CASES["lost-syn"], rc.KERNEL))
    best["lost-syn"] = ("simulator's slow-start and 1 s; kernel's fastest", first, slow_start + 1000, "ticks")
    again = CASES["lost-retransmission"]
    best["lost-retransmission"] = (f"kernel with {rc.PLAIN.name}, buffers of 4 MB", completion(results, again, rc.BUFFERS),
                                   results.of(again, rc.LIKE_KERNEL).completion_ms, "again, restart")  # fmt: skip
    rows = [
        [name, f"{rest[name]:+z.0f} ({share[name]:.0%})", best[name][0], f"{best[name][1]:.0f}", f"{best[name][2]:.0f}", f"{best[name][2] - best[name][1]:+z.0f}",
         best[name][3]] for name in far
    ]  # fmt: skip
    return "\n\n".join([
        f"Set like the kernel, the simulator is within 1 % of it in {len(near)} of {len(rest)} scenarios ({', '.join(near)}). In the others the difference "
        "shrinks to this when the kernel loses, or the simulator is given, the feature in question:",
        table(["Scenario", "Remains, ms", "Compared instead", "Kernel", "Simulator", "Remains", "Causes"], rows),
        "ACK, RTO, IW, DelAck, timestamps, half, RACK, TLP, GSO and buffers are proved by a switch on one of the sides; SYN, RTT, CA, PRR, again and rescue are"
        " read from the traces, because nothing turns them off; *restart* is concluded from times alone. 3WHS is shown by losing in the simulator wha"
        "t the kernel loses. F-RTO (RFC 5682) changes nothing in these scenarios beyond ticks, because no timeout is spurious.",
    ])  # fmt: skip


def draw(results: Results, out: Path) -> None:
    """Both windows in one figure."""
    case = CASES[SHOWN]
    lines = [
        ("kernel", rc.KERNEL, 1.8, "-"), ("simulator, set like the kernel", rc.LIKE_KERNEL, 1.2, "--"),
        ("simulator", rc.RFC, 1.0, ":"), ("kernel without RACK", rc.NO_RACK, 1.0, "-."),
    ]  # fmt: skip
    made, axes = style.figure(7.2, 2.9, columns=2, share_y=True)
    whole, zoom = axes
    for colour, (name, side, width, dashes) in zip(style.COLOURS, lines, strict=False):
        window = results.of(case, side).window
        for axis in axes if side is not rc.RFC else [whole]:
            if axis is whole and side is rc.NO_RACK:
                axis.plot([], [], color=colour, linewidth=width, linestyle=dashes, label=name)
                continue
            axis.step(window.t_ms, window.cwnd, where="post", color=colour, linewidth=width, linestyle=dashes, label=name)
    like = results.of(case, rc.LIKE_KERNEL).window
    loss = like.t_ms[like.loss_found()]
    whole.set_xlim(0, None)
    whole.set_ylim(0, None)
    zoom.set_xlim(loss - 60, loss + 640)
    whole.set_ylabel("congestion window (segments)")
    for axis in axes:
        axis.set_xlabel("time since the handshake (ms)")
    style.legend_above(made, whole)
    style.write(made, out, FIGURE)


if __name__ == "__main__":
    try:
        main()
    except SawtoothError as error:
        sys.exit(str(error))
