"""Names of constants in scripts, and what they are to this machine's kernel: numbers of its interface to programs, of which Python knows most."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import socket
from typing import Any, cast

from sawtooth.conformance.endpoint import NotApplicable

_UNKNOWN_TO_PYTHON = {
    "FIONREAD": 0x541B,
    "IP_FREEBIND": 15,
    "IP_MTU_DISCOVER": 10,
    "IP_PMTUDISC_DONT": 0,
    "IP_PMTUDISC_WANT": 1,
    "IP_PMTUDISC_DO": 2,
    "IP_PMTUDISC_PROBE": 3,
    "IP_RECVERR": 11,
    "MSG_FASTOPEN": 0x20000000,
    "MSG_ZEROCOPY": 0x4000000,
    "SCM_TIMESTAMPING": 37,
    "SCM_TSTAMP_SND": 0,
    "SCM_TSTAMP_SCHED": 1,
    "SCM_TSTAMP_ACK": 2,
    "SIOCINQ": 0x541B,
    "SIOCOUTQ": 0x5411,
    "SIOCOUTQNSD": 0x894B,
    "SOL_IP": 0,
    "SOL_TCP": 6,
    "SO_EE_CODE_ZEROCOPY_COPIED": 1,
    "SO_EE_ORIGIN_LOCAL": 1,
    "SO_EE_ORIGIN_ICMP": 2,
    "SO_EE_ORIGIN_TIMESTAMPING": 4,
    "SO_EE_ORIGIN_ZEROCOPY": 5,
    "SO_TIMESTAMPING": 37,
    "SO_ZEROCOPY": 60,
    "TCP_CM_INQ": 36,
    "TCP_FASTOPEN_CONNECT": 30,
    "TCP_FASTOPEN_KEY": 33,
    "TCP_FASTOPEN_NO_COOKIE": 34,
    "TCP_INQ": 36,
    "TCP_REPAIR": 19,
    "TCP_TIMESTAMP": 24,
    "TCP_TX_DELAY": 37,
} | {
    f"SOF_TIMESTAMPING_{name}": 1 << bit
    for bit, name in enumerate(
        [
            "TX_HARDWARE",
            "TX_SOFTWARE",
            "RX_HARDWARE",
            "RX_SOFTWARE",
            "SOFTWARE",
            "SYS_HARDWARE",
            "RAW_HARDWARE",
            "OPT_ID",
            "TX_SCHED",
            "TX_ACK",
            "OPT_CMSG",
            "OPT_TSONLY",
            "OPT_STATS",
            "OPT_PKTINFO",
            "OPT_TX_SWHW",
        ]
    )
}


def number(given: Any) -> int:
    """What a number, a name or several joined by `|` come to; `NotApplicable` for a name that means nothing here."""
    if isinstance(given, tuple):
        total = 0
        for each in cast("tuple[Any, ...]", given):
            total |= number(each)
        return total
    if isinstance(given, int):
        return given
    text = str(given)
    if text.removeprefix("-").isdecimal():
        return int(text)
    if text in _UNKNOWN_TO_PYTHON:
        return _UNKNOWN_TO_PYTHON[text]
    for module in (socket, select, fcntl, os, errno):
        found = getattr(module, text, None)
        if isinstance(found, int):
            return int(found)
    raise NotApplicable(f"the name {text}")
