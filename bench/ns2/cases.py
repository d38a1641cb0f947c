"""Random dumbbells for the comparison with ns-2, the same on every machine, and the scenario trees they stand for.

The cases cover what the project promises: 1 Mbit/s to 1 Gbit/s, one-way delays of 1 to 200 ms, 1 to 32 flows, queues of 5
to 5000 packets, window limits from a few packets to none that matters, five variants, fixed starts, durations chosen so
that ns-2 needs seconds. A part of them has delayed acknowledgements, a slow way back, or links and starts so alike that everything
keeps step, where the order of simultaneous events decides.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from pathlib import Path
from typing import Any

from peer import Case

VARIANTS = ("tahoe", "reno", "newreno", "sack", "highspeed")
COUNT = 260
SEED = 20261
SECOND = (120, 12)
"""Another series: how many cases, and the seed."""
BLIND = (600, 4711)
"""A series that was drawn once the simulator was done with the others; nothing is mended with it in sight."""
ANSWERS = Path(__file__).with_name("answers.json")
"""What ns-2 answered in every case of these series, by their keys."""
PACKETS = 500_000
"""Packets that a case delivers at most, so that ns-2 takes about a second."""


def cases(count: int = COUNT, seed: int = SEED) -> list[Case]:
    """`count` cases, the variants in turn; a case depends on its number and the seed alone."""
    return [draw(number, seed) for number in range(count)]


def key(case: Case) -> str:
    """The case as a short text, the same whatever the order of its keys."""
    return hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:24]


def draw(number: int, seed: int) -> Case:
    """Case `number` of the series `seed`."""
    # A string seed is hashed by SHA-512, alike on every machine and version.
    rng = random.Random(f"sawtooth ns-2 case {seed} {number}")
    variant = VARIANTS[number % len(VARIANTS)]
    n = rng.choice([1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32])
    rate = round(log_uniform(rng, 1e6, 1e9), -3)
    delay = round(log_uniform(rng, 0.001, 0.2), 6)
    single = rng.random() < 0.2
    packet_size = rng.choice([1000, 1000, 1000, 1460, 536, 200])
    access = rate if rng.random() < 0.4 else round(rate * rng.uniform(1, 10), -3)
    spread = rng.choice([0.0, 0.0, 0.01, 0.05]) * rng.random()
    sender = [round(rng.random() * spread, 6) for _ in range(n)]
    receiver = [round(rng.random() * spread, 6) for _ in range(n)]
    slowest = 2 * (delay + spread * 2) + 0.01
    seconds = min(60.0, PACKETS * 8 * (packet_size + 40) / rate)
    duration = round(max(seconds, min(60.0, 15 * slowest)), 3)
    starts = [round(rng.random() * min(2.0, duration / 5), 6) for _ in range(n)]
    queue = round(log_uniform(rng, 5, 5000))
    access_queue = 5000
    window = round(log_uniform(rng, 8, 10_000))
    if rng.random() < 0.2:
        access, access_queue, sender, receiver = rate, queue, [0.0] * n, [0.0] * n
        step = rng.choice([0.0, 0.01, 0.1])
        starts = [round(step * i, 6) for i in range(n)]
    return {
        "number": number,
        "variant": variant,
        "n": n,
        "single": single,
        "bw_bps": rate,
        "delay_s": delay,
        "access_bps": access,
        "sender_delay_s": sender,
        "receiver_delay_s": receiver,
        "queue": queue,
        "access_queue": access_queue,
        "window": window,
        "packet_size": packet_size,
        "starts": starts,
        "duration": duration,
        "sink": "delack" if rng.random() < 0.3 else "auto",
        "reverse_bps": round(rate / rng.uniform(2, 50), -2) if rng.random() < 0.2 else rate,
        "reverse_queue": queue,
    }


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def scenario(case: Case) -> dict[str, Any]:
    """The scenario tree of the simulator for a case of ns-2."""
    bottleneck = link(case["bw_bps"], case["delay_s"], case["queue"])
    links: dict[str, Any] = {"bottleneck": bottleneck | {"reverse": {"rate": f"{case['reverse_bps']!r} bit/s"}}}
    flows: list[dict[str, Any]] = []
    for i, start in enumerate(case["starts"]):
        path = ["bottleneck"]
        if not case["single"]:
            for name, delays in (("sender", "sender_delay_s"), ("receiver", "receiver_delay_s")):
                links[f"{name}{i}"] = link(case["access_bps"], case[delays][i], case["access_queue"])
            path = [f"sender{i}", "bottleneck", f"receiver{i}"]
        flows.append({"name": f"flow{i}", "path": path, "start": seconds(start)})
    variant = case["variant"]
    return {
        "duration": seconds(case["duration"]),
        "stack": "ns2",
        "cc": {"name": "highspeed" if variant == "highspeed" else "reno"},
        "tcp": {
            "recovery": "sack" if variant == "highspeed" else variant,
            "window_limit": f"{case['window']} packets",
            "smss": f"{case['packet_size']} B",
            "ack_every": 2 if case["sink"] == "delack" else 1,
        },
        "links": links,
        "flows": flows,
    }


def link(rate_bps: float, delay_s: float, packets: int) -> dict[str, Any]:
    """One link of the tree, alike in both directions."""
    return {
        "rate": f"{rate_bps!r} bit/s",
        "delay": seconds(delay_s),
        "queue": {"name": "drop_tail", "limit": f"{packets} packets"},
    }


def seconds(value: float) -> str:
    """A time with every digit."""
    return f"{value!r} s"
