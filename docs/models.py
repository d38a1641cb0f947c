"""The page of what is modelled, and what is not: the README's table, and each part in a line, from the tables of the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sawtooth.backends.registry import BACKENDS

Table = Callable[[Sequence[str], Iterable[Sequence[str]]], str]
# Tables whose parts are told one by one: what they are parts of, and the page of each.
PARTS = {
    "stack": ("TCP as a whole", "tcp"),
    "cc": ("Congestion controls", "cc"),
    "recovery": ("Repair of losses", "recovery"),
    "partial": ("Partial packets", "partial"),
    "delayed_ack": ("Delayed acknowledgements", "delayed_ack"),
    "queue": ("Queues", "queue"),
    "loss": ("Losses that are no queue's", "loss"),
    "jitter": ("Jitter", "jitter"),
    "reorder": ("Reordering", "reorder"),
    "medium": ("Frames and cells", "medium"),
    "forwarding": ("Nodes between links", "forwarding"),
    "source": ("Applications over TCP", "source"),
    "packet_source": ("Packets of UDP", "packet_source"),
}
LEAD = """# What is modelled, and what is not

A run of the simulator is made of packets: every segment and every acknowledgement of every flow is sent, waits in the queues of the links on its path, and arrives. Nothing is
averaged, but for [flows that a scenario declares to be a fluid](../guides/fluid.md). What follows is written from the tables that the simulator itself reads, so what it
has is here, and what is not here it has not.

"""
AFTER = """
[Hosts](host.md) have [a list of their own](host.md#what-is-not-modelled): without one, the ends of a flow take no time. What an algorithm does otherwise than its
specification stands under *Deviations* on [its page](../reference/cc.md), and how near all of it is to kernels and other simulators in [the pages of validation](../README.md#how-well-does-it-agree).
How far the `linux` stack was from a Linux kernel in scenarios like yours says `sawtooth doctor --fidelity STUDY`, of [the validity map](../validation/map.md).

## On what else can a study run?

One study can run on the simulator and on real kernels, which have what is theirs. What a backend cannot do of a scenario, it refuses before anything runs.

"""


def page(tables: Mapping[str, Sequence[Mapping[str, Any]]], overview: str, table: Table) -> str:
    """The whole page.

    Args:
        tables: of the core.
        overview: the README's section, with links from this page.
        table: makes one of Markdown.

    """
    text = LEAD + overview + AFTER + table(("Backend", "What it is"), ((f"`{row.name}`", row.summary) for row in BACKENDS.values()))
    text += "\n## Each part in a line\n"
    for kind, (what, name) in PARTS.items():
        rows = ((f"`{row['name']}`", row["summary"], ", ".join(row.get("specification") or [])) for row in tables[kind])
        text += f"\n### {what}\n\nTheir parameters: [{name}](../reference/{name}.md).\n\n" + table(("Name", "What it does", "By"), rows)
    return text
