"""The parts of a message's time, from the call of write until the reader has it; `sawtooth.measures.layers` finds their moments."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of a message's time, between two moments; `what` says what takes the time."""

    name: str
    begin: str
    end: str
    what: str

    @property
    def column(self) -> str:
        """Of the table of messages."""
        return f"{self.name.replace(' ', '_')}_ns"


PARTS = (
    Part("application to socket", "write", "copied", "the call of write, copying, sleeping until there is memory; what TCP sends in between"),
    Part("socket to tcp", "copied", "tcp_send", "waiting for the window, as a partial packet or for recovery; TCP's work"),
    Part("tcp to driver", "tcp_send", "handed", "waiting for room in the interface; the driver's work"),
    Part("driver to wire", "handed", "wire_begin", "packets that are transmitted before it; the interface"),
    Part("transmission", "wire_begin", "wire_end", "the packet at the rate of the first link"),
    Part("way", "wire_end", "arrive", "propagation, switches, queues and further links"),
    Part("wire to driver", "arrive", "driver_receive", "the interface, the interrupt and the driver's work in it"),
    Part("driver to tcp", "driver_receive", "tcp_receive", "TCP's work, and what the processor does before it"),
    Part("tcp to socket", "tcp_receive", "readable", "waiting for what is missing before it"),
    Part("socket to application", "readable", "read", "waking the reader, reading and copying; the acknowledgement that is sent first"),
)  # fmt: skip
