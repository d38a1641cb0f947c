"""What the kernel tells of a connection: `struct inet_diag_msg`, `struct tcp_info` and the memory of its socket, as columns.

The structures are part of the kernel's interface to programs (man 7 sock_diag, man 7 tcp). `tcp_info` only ever grew at its end, so its
length says what a kernel measures; what it does not is 0 in `MEASURED`, and said by `HAS_WINDOW`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sockets = NDArray[Any]
"""Shape (connections,), of type `MEASURED`."""

# Name here, kind, and place in `tcp_info`.
_INFO: tuple[tuple[str, str, int], ...] = (
    ("ca_state", "u1", 1),  # 0 open, 1 disorder, 2 reduced window, 3 recovery, 4 loss
    ("retransmits", "u1", 2),  # timeouts in a row, unanswered
    ("probes", "u1", 3),  # probes of a closed window, unanswered
    ("backoff", "u1", 4),
    ("flags", "u1", 7),  # bit 0: the delivery rate is the application's
    ("rto_us", "u4", 8),
    ("mss_bytes", "u4", 16),
    ("unacked", "u4", 24),  # segments, as the next three
    ("sacked", "u4", 28),
    ("lost", "u4", 32),
    ("retrans", "u4", 36),
    ("last_ack_ms", "u4", 56),  # since the last acknowledgement
    ("srtt_us", "u4", 68),
    ("ssthresh", "u4", 76),
    ("cwnd", "u4", 80),  # segments
    ("total_retrans", "u4", 100),
    ("pacing_rate", "u8", 104),  # bytes per second, as the next
    ("max_pacing_rate", "u8", 112),
    ("bytes_acked", "u8", 120),
    ("bytes_received", "u8", 128),
    ("notsent_bytes", "u4", 144),
    ("min_rtt_us", "u4", 148),
    ("data_segs_out", "u4", 156),
    ("delivery_rate", "u8", 160),  # bytes per second
    ("busy_us", "u8", 168),
    ("rwnd_limited_us", "u8", 176),
    ("sndbuf_limited_us", "u8", 184),
    ("bytes_sent", "u8", 200),
    ("bytes_retrans", "u8", 208),
    ("dsack_dups", "u4", 216),
    ("snd_wnd_bytes", "u4", 228),
)  # fmt: skip
LENGTH_WITH_COUNTERS = 192
"""Up to `tcpi_sndbuf_limited`."""
KERNEL_WITH_COUNTERS = "4.10"
HAS_WINDOW = 232
"""From this length on `tcp_info` has the receiver's window (`tcpi_snd_wnd`)."""

# `SK_MEMINFO_*`: place in the array of 32-bit numbers (man 8 ss, --memory).
_MEMORY = (("rmem_bytes", 0), ("rcvbuf_bytes", 1), ("device_bytes", 2), ("sndbuf_bytes", 3), ("write_queue_bytes", 5))
_HEADER = (
    ("family", "u1", 0), ("state", "u1", 1), ("id", "V48", 4), ("sport", ">u2", 4), ("dport", ">u2", 6), ("source", "V16", 8), ("destination", "V16", 24),
    ("cookie", "u8", 44), ("rqueue", "u4", 56), ("wqueue", "u4", 60), ("uid", "u4", 64), ("inode", "u4", 68),
)  # fmt: skip
HEADER_BYTES = 72
# A row has the kernel's structures one behind the other as they come: four copies make it, where one of each field would take ten times as long.
_INFO_AT = HEADER_BYTES
_MEMORY_AT = _INFO_AT + HAS_WINDOW
_CC_AT, _CC_BYTES = _MEMORY_AT + 24, 16
_LENGTH_AT = _CC_AT + _CC_BYTES
_FIELDS = (
    *_HEADER, *((name, kind, _INFO_AT + at) for name, kind, at in _INFO), *((name, "u4", _MEMORY_AT + 4 * at) for name, at in _MEMORY),
    ("cc", f"S{_CC_BYTES}", _CC_AT), ("info_bytes", "u2", _LENGTH_AT),
)  # fmt: skip
MEASURED: np.dtype[Any] = np.dtype({
    "names": [name for name, _, _ in _FIELDS], "formats": [kind for _, kind, _ in _FIELDS], "offsets": [at for _, _, at in _FIELDS],
    "itemsize": _LENGTH_AT + 8,
})  # fmt: skip
# States by their numbers in the kernel (man 8 ss): close-wait, last-ack and closing.
_PEER_HAS_CLOSED = (8, 9, 11)
UNLIMITED = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
"""A pacing rate that is none."""
NO_SSTHRESH = 0x7FFF_FFFF


def raw(rows: NDArray[Any]) -> NDArray[Any]:
    """The same rows as mere bytes: NumPy copies those as they are, and structures field by field, which takes ten times as long."""
    return rows.view(np.dtype(f"V{rows.dtype.itemsize}"))


def pick(rows: NDArray[Any], which: NDArray[Any]) -> NDArray[Any]:
    """Rows of a structured type by number or mask, copied."""
    return raw(rows)[which].view(rows.dtype)


def join(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Rows of one structured type, one part after another."""
    return parts[0] if len(parts) == 1 else np.concatenate([raw(part) for part in parts]).view(parts[0].dtype)


def unchanged(before: Sockets, after: Sockets) -> NDArray[np.bool_]:
    """Of which rows the kernel says the same as before, but for how long ago something was."""
    words: Any = np.dtype((np.uint64, (MEASURED.itemsize // 8,)))
    one: NDArray[np.uint64] = before.view(words)
    other: NDArray[np.uint64] = after.view(words)
    differs: NDArray[np.bool_] = np.any((one ^ other) & _SAID, axis=1)
    return ~differs


def _said() -> NDArray[np.uint64]:
    """The bits of a row that are the fields', without those that time alone changes."""
    bits = np.zeros(MEASURED.itemsize, dtype=np.uint8)
    for name, kind, at in _FIELDS:
        bits[at : at + np.dtype(kind).itemsize] = 0 if name == "last_ack_ms" else 255
    return bits.view(np.uint64)


_SAID = _said()


def measured(header: NDArray[np.uint8], info: NDArray[np.uint8], memory: NDArray[np.uint8] | None, cc: NDArray[np.uint8] | None) -> Sockets:
    """Rows of `MEASURED` from the kernel's structures, each of shape (connections, bytes), as far as they go.

    Args:
        header: `struct inet_diag_msg`.
        info: `struct tcp_info`.
        memory: of the socket. What it holds as `device_bytes` was given to the layers below and has not left the network card.
        cc: the name of the congestion control.

    """
    made = np.zeros((len(header), MEASURED.itemsize), dtype=np.uint8)
    for part, at, room in ((header, 0, HEADER_BYTES), (info, _INFO_AT, HAS_WINDOW), (memory, _MEMORY_AT, 24), (cc, _CC_AT, _CC_BYTES)):
        if part is not None:
            length = min(part.shape[1], room)
            made[:, at : at + length] = part[:, :length]
    rows: Sockets = made.view(MEASURED)[:, 0]
    rows["info_bytes"] = info.shape[1]
    # The peer's FIN takes a sequence number, which the kernel counts among the unread bytes until the application has read the end.
    rows["rqueue"] -= np.isin(rows["state"], _PEER_HAS_CLOSED) & (rows["rqueue"] > 0)
    return rows


def header(rows: NDArray[np.uint8]) -> Sockets:
    """Rows of which only the header is known."""
    return measured(rows, rows[:, :0], None, None)
