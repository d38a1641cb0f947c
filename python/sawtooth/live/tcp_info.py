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
_HEADER = np.dtype({
    "names": ["family", "state", "id", "sport", "dport", "source", "destination", "cookie", "rqueue", "wqueue", "uid", "inode"],
    "formats": ["u1", "u1", "V48", ">u2", ">u2", "V16", "V16", "u8", "u4", "u4", "u4", "u4"],
    "offsets": [0, 1, 4, 4, 6, 8, 24, 44, 56, 60, 64, 68],
    "itemsize": 72,
})  # fmt: skip
MEASURED = np.dtype([
    ("family", "u1"), ("state", "u1"), ("id", "V48"), ("sport", "u2"), ("dport", "u2"), ("source", "V16"), ("destination", "V16"),
    ("cookie", "u8"), ("rqueue", "u4"), ("wqueue", "u4"), ("uid", "u4"), ("inode", "u4"), ("info_bytes", "u2"), ("cc", "S16"),
    *((name, kind) for name, kind, _ in _INFO), *((name, "u4") for name, _ in _MEMORY),
])  # fmt: skip
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


def header(rows: NDArray[np.uint8]) -> NDArray[Any]:
    """The header's fields, from rows of which it is the beginning."""
    return np.ascontiguousarray(rows[:, : _HEADER.itemsize]).view(_HEADER)[:, 0]


def take_header(made: Sockets, rows: NDArray[np.uint8]) -> None:
    """Fills in what the header says."""
    head = header(rows)
    for name in _HEADER.names or ():
        made[name] = head[name]


def take_info(made: Sockets, rows: NDArray[np.uint8]) -> None:
    """Fills in what `tcp_info` says, as far as it goes."""
    length = rows.shape[1]
    known = [entry for entry in _INFO if entry[2] + int(entry[1][1]) <= length]
    kind: Any = np.dtype({
        "names": [name for name, _, _ in known], "formats": [kind for _, kind, _ in known], "offsets": [at for _, _, at in known],
        "itemsize": length,
    })  # fmt: skip
    info = np.ascontiguousarray(rows).view(kind)[:, 0]
    for name, _, _ in known:
        made[name] = info[name]
    made["info_bytes"] = length


def take_memory(made: Sockets, rows: NDArray[np.uint8]) -> None:
    """Fills in what the socket holds: `device_bytes` is what was given to the layers below and has not left the network card."""
    memory = np.ascontiguousarray(rows).view("u4")
    for name, at in _MEMORY:
        if at < memory.shape[1]:
            made[name] = memory[:, at]
