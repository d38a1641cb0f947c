"""What the report of one-way latencies adds: the table by medium, interface, cable or switch, and what each layer takes, in µs."""

from __future__ import annotations

import polars as pl

from sawtooth import Dataset
from sawtooth.report import Grid, Section

# The parts of a message's time, in their order: columns of `messages`, and what takes the time.
PARTS = {
    "application_to_socket": "the call of write, copying, sleeping until there is memory; what TCP sends in between",
    "socket_to_tcp": "waiting for the window, as a partial packet or for recovery; TCP's work",
    "tcp_to_driver": "waiting for room in the interface; the driver's work",
    "driver_to_wire": "packets that are transmitted before it; the interface",
    "transmission": "the packet at the rate of the first link",
    "way": "propagation, switches, queues and further links",
    "wire_to_driver": "the interface, the interrupt and the driver's work in it",
    "driver_to_tcp": "TCP's work, and what the processor does before it",
    "tcp_to_socket": "waiting for what is missing before it",
    "socket_to_application": "waking the reader, reading and copying; the acknowledgement that is sent first",
}
FACTORS = ["cell", "host", "medium", "forwarding", "cable", "size", "mtu", "arm"]


def sections(dataset: Dataset) -> list[Section]:
    """Both tables."""
    layers = _layers(dataset)
    sizes = layers.pivot("size", index=["medium", "host", "arm"], values="total_us", maintain_order=True)
    parts = pl.DataFrame({"part": [name.replace("_", " ") for name in PARTS], "what takes it": PARTS.values()})
    return [
        Section(
            "Latency by medium, interface, cable or switch",
            ["The published table of this form has lost its numbers. From the call of write until the reading application has the last byte, in µs."],
            grids=[Grid("latencies", sizes, "Time of a message by its size, in µs", dict.fromkeys(sizes.columns[3:], 1))],
        ),
        Section(
            "Latency by layer",
            ["The parts of each message add up to its time exactly. Of a message of several packets they are those of the packet that brings the last byte: "
             "while it waits, those before it are transmitted."],
            grids=[Grid("latency_by_layer", layers, "Every cell and arm, in µs", dict.fromkeys(layers.columns[len(FACTORS):], 1)),
                   Grid("parts", parts, "What the parts are")],
        ),
    ]  # fmt: skip


def _layers(dataset: Dataset) -> pl.DataFrame:
    """One row per cell and arm: factors, the parts and their sum (`total_us`), means over replicates."""
    made = pl.DataFrame()
    for name in (*PARTS, "total"):
        found = dataset.measure(f"mean(messages.{name}_ns)").group_by(FACTORS, maintain_order=True)
        column = found.agg((pl.col("value").mean() / 1e3).round(6).alias(f"{name}_us"))
        made = made.join(column, on=FACTORS, nulls_equal=True, maintain_order="left") if made.width else column
    return made
