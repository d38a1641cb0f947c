"""What of the `linux-3.2` stack can be held against a program: forward acknowledgement and growth by acknowledgements, beside ns-2; writes a page.

    python bench/ns2/old_kernels.py

No kernel of that age runs here. ns-2 has Mathis and Mahdavi's agent (`TCP/Fack`) and modules of Linux 2.6 (`TCP/Linux`), which count acknowledgements.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from peer import run_case

import sawtooth

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
TEXT = Path(__file__).with_name("old_kernels.md").read_text(encoding="utf-8")
SECONDS = 4.0
LOSSES = {
    "one": [100],
    "two, 40 apart": [100, 140],
    "three in a row": [100, 101, 102],
    "fifteen in a row": list(range(100, 115)),
    "every other one of thirty": list(range(100, 130, 2)),
    "three, two, and one later": [100, 101, 102, 150, 151, 300],
}
"""Numbers of packets that are lost, from 0, as they arrive at the bottleneck."""
FACK = {"recovery": "fack", "prr": False, "tail_loss_probe": False, "frto": False, "undo": False}
"""As the agent is: the window is halved at once."""
MODULE = FACK | {"handshake": False, "whole_windows": True, "algorithms": "linux-3.2", "rto_estimator": "rfc6298", "header": "50 B"}
MODULES = ("scalable", "bic", "highspeed", "cubic", "veno")
SINKS = {"every segment": ("auto", 1), "every second": ("delack", 2)}


@dataclass(frozen=True)
class Side:
    """What one flow of a simulator did: packets acknowledged, and when its window was first reduced, s."""

    packets: int
    reduced_s: float


def case(variant: str, drop: list[int], rate_bps: float, window: int, **more: Any) -> dict[str, Any]:
    """One flow alone over 20 ms, in the words of peer.py."""
    return {
        "bw_bps": rate_bps, "delay_s": 0.02, "queue": 1000, "single": True, "n": 1, "window": window, "packet_size": 1000, "duration": SECONDS,
        "drop_forward": drop, "variant": variant, "trace_vars": ["cwnd_"], **more,
    }  # fmt: skip


def ns2(command: dict[str, Any]) -> Side:
    """The case on ns-2."""
    outcome = run_case(command)
    windows = [(time, float(event.split()[-1])) for time, event in outcome.events if "cwnd_" in event.split()]
    reduced = (time for (_, before), (time, after) in pairwise(windows) if after < before)
    return Side(outcome.acked[0], next(reduced))


def ours(command: dict[str, Any], tcp: dict[str, Any], cc: str = "reno") -> Side:
    """The same here: packets are lost before the bottleneck, so that they take none of its time, as in ns-2."""
    links = {
        "lossy": {"rate": "1000 Gbit/s", "delay": "0 s", "drop": [number + 1 for number in command["drop_forward"]]},
        "l": {"rate": f"{command['bw_bps']:.0f} bit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}},
    }
    tree = {
        "duration": f"{SECONDS:g} s", "stack": "ns2", "cc": cc, "record": ["episodes"], "links": links, "flows": [{"path": ["lossy", "l"]}],
        "tcp": {"window_limit": f"{command['window']} packets", **tcp},
    }  # fmt: skip
    data = sawtooth.simulate(tree)
    return Side(int(data.flows["acked_packets"][0]), float(data.table("episodes")["start_ns"][0]) / 1e9)


def recovery(name: str, drop: list[int]) -> tuple[Side, Side]:
    """`sack` or `fack` with these losses: ns-2's and ours."""
    command = case(name, drop, 10e6, 200)
    return ns2(command), ours(command, FACK if name == "fack" else {"recovery": name})


def module(cc: str, sink: str) -> tuple[Side, Side, Side]:
    """A module of Linux 2.6 after one loss: ns-2's, ours by acknowledgements, ours by segments."""
    name, every = SINKS[sink]
    options = {"timestamps_": True}, {"ts_echo_rfc1323_": True}
    command = case("linux", [70], 100e6, 500, select_ca=cc, sink=name, vars=options[0], sink_vars=options[1])
    tcp = MODULE | {"ack_every": every}
    return ns2(command), ours(command, tcp, cc), ours(command, tcp | {"byte_counting": True}, cc)


def agent(sink: str) -> tuple[Side, Side]:
    """ns-2's own SACK agent after one loss."""
    name, every = SINKS[sink]
    command = case("sack", [70], 100e6, 500, sink=name)
    return ns2(command), ours(command, {"recovery": "sack", "ack_every": every})


def relative(own: Side, theirs: Side) -> str:
    return f"{own.packets / theirs.packets - 1:+.1%}"


def main() -> None:
    losses: list[list[str]] = []
    for words, drop in LOSSES.items():
        (sack, our_sack), (fack, our_fack) = recovery("sack", drop), recovery("fack", drop)
        losses.append([
            words, f"{sack.reduced_s:.4f}", f"{our_sack.reduced_s:.4f}", f"{fack.reduced_s:.4f}", f"{our_fack.reduced_s:.4f}",
            f"{fack.packets}", f"{our_fack.packets}", relative(our_fack, fack),
        ])  # fmt: skip
    counting: list[list[str]] = []
    for sink in SINKS:
        theirs, own = agent(sink)
        counting.append(["Sack1", sink, f"{theirs.packets}", f"{own.packets}", relative(own, theirs), ""])
        for cc in MODULES:
            theirs, own, segments = module(cc, sink)
            counting.append([cc, sink, f"{theirs.packets}", f"{own.packets}", relative(own, theirs), relative(segments, theirs)])
    heads = ["Lost of the first window", "SACK reduces at [s]", "ours", "FACK at [s]", "ours", "FACK, packets", "ours", "Difference"]
    others = ["Algorithm", "Acknowledged is", "ns-2, packets", "Ours, counting acknowledgements", "Difference", "Counting segments"]
    page = TEXT.replace("@LOSSES@", table(heads, losses, "lrrrrrrr")).replace("@COUNTING@", table(others, counting, "llrrrr"))
    (ROOT / "docs/validation/old-kernels.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
