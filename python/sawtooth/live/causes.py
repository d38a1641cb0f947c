"""What can hold a connection back, in words, and how one look at it tells which of them does.

The names are those of the columns `limited_*_ns` of `flows`; `device` has none there, since the simulator's flows have no network card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sawtooth.live.tcp_info import HAS_WINDOW, UNLIMITED, Sockets

Measured = dict[str, Any]
"""One connection's row of `MEASURED`."""


@dataclass(frozen=True)
class Cause:
    """Something that holds a connection back.

    Attributes:
        name: as in `limited_NAME_ns`.
        title: of a column or a legend.
        says: what is so, of one connection.
        advice: what to try.
        stalls: whether it is a wait in the sense of the stall: something is there to be sent, and nothing is done for it.

    """

    name: str
    title: str
    says: Callable[[Measured], str]
    advice: Callable[[Measured], str]
    stalls: bool = True


def _source_says(m: Measured) -> str:
    if m["rqueue"] > 0 and m["bytes_received"] > m["bytes_acked"]:
        return f"it receives, and {size(m['rqueue'])} {'waits' if m['rqueue'] == 1 else 'wait'} for this machine's application to read"
    if m["bytes_received"] > m["bytes_acked"]:
        return "it receives: what holds it back is seen at its other end"
    return "the application gives it nothing to send"


def _source_advice(m: Measured) -> str:
    if m["rqueue"] > 0 and m["bytes_received"] > m["bytes_acked"]:
        return "make the reader faster: more of it, larger reads, nothing slow between two of them"
    if m["bytes_received"] > m["bytes_acked"]:
        return "run `sawtooth stall` on the sender"
    return "look at what the application waits for (disk, peer, lock); write larger pieces, ask for the next before the last is there"


def _window_says(m: Measured) -> str:
    window = f" of {size(m['snd_wnd_bytes'])}" if m["info_bytes"] >= HAS_WINDOW else ""
    return f"the receiver's window{window} is full"


def _window_advice(m: Measured) -> str:
    if m["info_bytes"] >= HAS_WINDOW and m["snd_wnd_bytes"] < m["mss_bytes"]:
        return "the receiving application does not read: make it faster"
    carries = ""
    if m["info_bytes"] >= HAS_WINDOW and m["srtt_us"]:
        carries = f" (this one carries {rate(m['snd_wnd_bytes'] * 8e6 / m['srtt_us'])} at a round trip of {m['srtt_us'] / 1e3:.3g} ms)"
    return (
        "make the receiving application read faster; if it does, give it a window of bandwidth times round trip"
        f"{carries}: no SO_RCVBUF, a larger maximum of net.ipv4.tcp_rmem there"
    )


def _buffer_says(m: Measured) -> str:
    return f"the send buffer of {size(m['sndbuf_bytes'])} is full, and all of it is in flight"


def _buffer_advice(m: Measured) -> str:
    return (
        f"leave SO_SNDBUF alone, so that the kernel tunes it, or raise it and the maximum of net.ipv4.tcp_wmem: a connection carries about one "
        f"buffer per round trip ({m['srtt_us'] / 1e3:.3g} ms)"
    )


def _lossy(m: Measured) -> float:
    return m["total_retrans"] / max(m["data_segs_out"], 1)


def _cwnd_says(m: Measured) -> str:
    queue = ""
    if m["srtt_us"] > 2 * m["min_rtt_us"] > 0:
        queue = f"; round trips take {m['srtt_us'] / 1e3:.3g} ms, at the least {m['min_rtt_us'] / 1e3:.3g}: a queue stands in the path"
    elif _lossy(m) > 0.001:
        queue = f"; {_lossy(m):.2%} were sent again: the path loses"
    return f"the congestion window of {m['cwnd']} segments is in flight{queue}"


def _cwnd_advice(m: Measured) -> str:
    name = m["cc"].decode("ascii", "replace")
    if m["srtt_us"] > 2 * m["min_rtt_us"] > 0 or _lossy(m) <= 0.001:
        return "this is the path's share: more needs a faster path, or less competition; nothing at the ends is in the way"
    return f"find where the path loses; if it is no congestion, another congestion control than {name} may get more (TCP_CONGESTION)"


def _pacing_says(m: Measured) -> str:
    return f"it is paced at {rate(8.0 * m['pacing_rate'])}" + (
        ", by its application (SO_MAX_PACING_RATE)"
        if _capped(m)
        else f", what {m['cc'].decode('ascii', 'replace')} takes for the path's rate"
    )


def _pacing_advice(m: Measured) -> str:
    if _capped(m):
        return "raise the application's limit, if it is not meant"
    return "more needs a faster path; if this one is faster, the estimate is wrong: look for losses, jitter or a policer"


def _capped(m: Measured) -> bool:
    return int(m["max_pacing_rate"]) < 0xFFFF_FFFF and m["pacing_rate"] >= m["max_pacing_rate"]


def _nagle_says(m: Measured) -> str:
    amount = m["notsent_bytes"]
    if not amount:
        # Just now nothing waits: the last look was between an acknowledgement and the next writes.
        return f"writes of less than a segment of {m['mss_bytes']} are held back for more (Nagle or TCP_CORK)"
    unit, verb = ("byte", "is") if amount == 1 else ("bytes", "are")
    return f"{amount} {unit}, less than a segment of {m['mss_bytes']}, {verb} held back for more (Nagle or TCP_CORK)"


def _device_says(m: Measured) -> str:
    return f"{size(m['device_bytes'])} {'is' if m['device_bytes'] == 1 else 'are'} in this machine's own queue or network card"


CAUSES: tuple[Cause, ...] = (
    Cause("source", "application", _source_says, _source_advice, stalls=False),
    Cause("rwnd", "receive window", _window_says, _window_advice),
    Cause("send_buffer", "send buffer", _buffer_says, _buffer_advice),
    Cause("cwnd", "congestion window", _cwnd_says, _cwnd_advice),
    Cause("pacing", "pacing", _pacing_says, _pacing_advice),
    Cause(
        "nagle", "partial segment", _nagle_says,
        lambda _: "write a message with one call, or set TCP_NODELAY; take TCP_CORK off when the message is complete",
    ),
    Cause(
        "recovery", "loss recovery", lambda m: f"it repairs losses: {m['total_retrans']} segments were sent again",
        lambda _: "find where the path loses: a full queue (then it is the path's share), a policer, a bad link or cable",
    ),
    Cause(
        "rto", "timeout", lambda m: f"nothing comes back: {m['retransmits']} timeouts in a row, the next after {m['rto_us'] / 1e6:.3g} s",
        lambda _: "see whether the peer is still there and the path whole (route, firewall, MTU)",
    ),
    Cause(
        "device", "network card", _device_says,
        lambda _: "this machine's link is the bottleneck: see `tc -s qdisc` and `ethtool -S`; others that send share it",
        stalls=False,
    ),
)  # fmt: skip
NAMES = tuple(cause.name for cause in CAUSES)
SOURCE, RWND, SEND_BUFFER, CWND, PACING, NAGLE, RECOVERY, RTO, DEVICE = range(len(CAUSES))
BY_NAME = {cause.name: cause for cause in CAUSES}
COUNTED = (RWND, SEND_BUFFER)
"""Those of which the kernel keeps the time itself."""

_LOSS, _RECOVERY = 4, 3
REFERENCES = 255
"""A packet is charged to its socket with the memory it takes, hundreds of bytes at the least; less than that are references to the socket."""
_TSO_WIN_DIVISOR = 3
"""Default of net.ipv4.tcp_tso_win_divisor: a sender may wait for a third of its window, to send one large piece."""
_WRITER_SLEEPS = 2 / 3
"""A writer that sleeps for room sleeps until a third of the buffer is free. No manual says so (man 7 socket and ip-sysctl's tcp_wmem give only the
size); it was measured on 6.18 at the tracepoints of the scheduler and of writes to sockets, with buffers of 16, 40, 60 and 100 kB on a path of
20 Mbit/s: 470 sleeps began with more than all of it taken, and ended with 65.4, 66.4, 66.6 and 66.6 % at the most. A buffer that a single message has filled further, of an application that waits
for the answer, looks the same; only `--exact` tells them apart.
"""
_PROBING_GAIN = 1.25
"""BBR paces at up to this many times what it delivers, once it knows the path (draft-ietf-ccwg-bbr, ProbeBW_UP)."""


@dataclass(frozen=True)
class Look:
    """What one look at connections tells, each of shape (connections,).

    Attributes:
        cause: index into `CAUSES`: what holds back now.
        waiting: whether something waits to be sent, or for room in the send buffer.
        idle_device: whether the layers below hold nothing of the connection: the driver is not active for it.

    """

    cause: NDArray[np.int8]
    waiting: NDArray[np.bool_]
    idle_device: NDArray[np.bool_]


def look(s: Sockets) -> Look:
    """What holds each connection back at this moment.

    In this order: timeouts and repair of losses; nothing waits (then the send buffer, if that is why, else the application); the window of
    the receiver; the congestion window; pacing; the local device; a partial segment. A window that has a little room is still what is waited
    for, since the kernel gathers room for a large piece (tcp_tso_win_divisor).
    """
    mss = np.maximum(s["mss_bytes"].astype(np.int64), 1)
    cwnd, notsent = s["cwnd"].astype(np.int64), s["notsent_bytes"].astype(np.int64)
    # RFC 6675's pipe, in segments.
    flight = s["unacked"].astype(np.int64) - s["sacked"] - s["lost"] + s["retrans"]
    room = cwnd - flight
    # Bytes sent and not acknowledged; `wqueue` is all that is not acknowledged.
    sent = s["wqueue"].astype(np.int64) - notsent
    window = s["snd_wnd_bytes"].astype(np.int64)
    queued = notsent > 0
    full_buffer = ~queued & (s["write_queue_bytes"] > s["sndbuf_bytes"] * _WRITER_SLEEPS) & (s["unacked"] > 0)
    closed = queued & (((s["info_bytes"] >= HAS_WINDOW) & (sent + np.minimum(mss, notsent) > window)) | (s["probes"] > 0))
    partial = queued & (notsent < mss) & (room > 0)
    gathers = room < np.maximum(1, -(-cwnd // _TSO_WIN_DIVISOR))
    limit = s["max_pacing_rate"]
    paces = ((limit != UNLIMITED) & (limit < 0xFFFF_FFFF)) | np.char.startswith(s["cc"], b"bbr")
    at_pace = s["delivery_rate"] * _PROBING_GAIN >= s["pacing_rate"]
    paced = queued & (room > 0) & paces & (~gathers | at_pace)
    idle = s["device_bytes"] <= REFERENCES
    busy_device = queued & ~idle & (room > 0)
    chosen = np.select(
        [(s["ca_state"] == _LOSS) & (s["retransmits"] > 0), np.isin(s["ca_state"], (_RECOVERY, _LOSS)), full_buffer, ~queued,
         closed, queued & (room <= 0), partial, paced, busy_device],
        [RTO, RECOVERY, SEND_BUFFER, SOURCE, RWND, CWND, NAGLE, PACING, DEVICE],
        CWND,
    )  # fmt: skip
    return Look(chosen.astype(np.int8), queued | full_buffer, idle)


def words(cause: NDArray[np.int64], measured: Sockets) -> tuple[list[str], list[str]]:
    """What is so and what to try, of each connection; idle ones, of which there may be thousands, share their words."""
    receives, unread = measured["bytes_received"] > measured["bytes_acked"], measured["rqueue"] > 0
    alike: list[Measured] = [{"rqueue": 0, "bytes_received": receiver, "bytes_acked": 0} for receiver in (0, 1)]
    idle: list[tuple[str, str]] = [(CAUSES[SOURCE].says(each), CAUSES[SOURCE].advice(each)) for each in alike]
    kinds: list[int] = np.where((cause == SOURCE) & ~(receives & unread), receives, -1).tolist()
    found: list[tuple[str, str]] = []
    for at, kind in enumerate(kinds):
        if kind >= 0:
            found.append(idle[kind])
        else:
            seen: Measured = dict(zip(measured.dtype.names or (), measured[at].tolist(), strict=True))
            chosen = CAUSES[int(cause[at])]
            found.append((chosen.says(seen), chosen.advice(seen)))
    return [says for says, _ in found], [advice for _, advice in found]


def size(amount: float) -> str:
    """Bytes as people read them."""
    if round(amount) == 1:
        return "1 byte"
    return f"{amount:.0f} bytes" if amount < 1e4 else f"{amount / 1e3:,.0f} kB" if amount < 1e7 else f"{amount / 1e6:,.0f} MB"


def rate(amount: float) -> str:
    """Bits per second as people read them."""
    for limit, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if amount >= limit:
            return f"{amount / limit:.3g} {unit}"
    return f"{amount:.0f} bit/s"
