"""What a kernel says of a connection: the fields of `struct tcp_info`, in their order (linux/tcp.h, which programs include)."""

from __future__ import annotations

import socket
import struct

_WORDS = (
    "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv last_ack_recv pmtu rcv_ssthresh rtt rttvar "
    "snd_ssthresh snd_cwnd advmss reordering rcv_rtt rcv_space total_retrans"
)
_GROUPS = (
    ("B", "state ca_state retransmits probes backoff options wscale app_limited"),
    ("I", _WORDS),
    ("Q", "pacing_rate max_pacing_rate bytes_acked bytes_received"),
    ("I", "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out"),
    ("Q", "delivery_rate busy_time rwnd_limited sndbuf_limited"),
    ("I", "delivered delivered_ce"),
    ("Q", "bytes_sent bytes_retrans"),
    ("I", "dsack_dups reord_seen"),
)
_NAMES = [f"tcpi_{name}" for _, names in _GROUPS for name in names.split()]
_FORMAT = "=" + "".join(f"{len(names.split())}{letter}" for letter, names in _GROUPS)


def tcp_info(connection: socket.socket) -> dict[str, int]:
    """The fields that this kernel knows."""
    size = struct.calcsize(_FORMAT)
    data = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, size)
    return dict(zip(_NAMES, struct.unpack(_FORMAT, data.ljust(size, b"\0")), strict=True))
