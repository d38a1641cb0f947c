"""What a script says of a connection before it opens: system settings, options of sockets, and what the handshake agrees on."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from sawtooth.conformance.endpoint import NotApplicable, constant
from sawtooth.conformance.script import Call, Inbound, Outbound, Script, Segment, Shell

_SYSCTL = re.compile(r"(?:net\.ipv4\.)(\w+)\s*=\s*(\S+)")
_WITHOUT_EFFECT = {
    # Of what the simulated endpoint has nothing: memory of sockets is as its stack has it.
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_limit_output_bytes",
    "tcp_autocorking",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_min_tso_segs",
    "tcp_tso_win_divisor",
    "tcp_invalid_ratelimit",
    "tcp_fack",
    "tcp_syncookies",
    "tcp_moderate_rcvbuf",
}
_SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    # Of each setting its values, and what they are of `tcp`.
    "tcp_early_retrans": {"0": {"tail_loss_probe": False}, "3": {"tail_loss_probe": True}},
    "tcp_recovery": {"1": {}},
    "tcp_frto": {"0": {"frto": False}, "1": {"frto": True}, "2": {"frto": True}},
    "tcp_slow_start_after_idle": {"0": {"restart_after_idle": "off"}, "1": {"restart_after_idle": "decay"}},
    "tcp_window_scaling": {"0": {"window_scaling": False}, "1": {}},
    "tcp_thin_linear_timeouts": {"0": {}},
    "tcp_fastopen": {"0": {}, "1": {}},
    "tcp_dsack": {"1": {}},
    "tcp_ecn_option": {"0": {}},
    "tcp_abort_on_overflow": {"0": {}},
}
SEND_BUFFER_BYTES = 4 * 2**20
"""Of every endpoint whose memory counts, so that no write of a script has to wait for memory."""
_ETHERNET_MSS = 1460
_DEFAULT_MSS = 536
_STAMPS = 12


@dataclass
class Agreed:
    """What both ends know once the connection is open.

    Args:
        active: the endpoint opens it.
        offered: options of the endpoint's SYN, or of what it answers one with.
        borders: where the peer's segments begin and end.
        tcp: what it comes to of a scenario's `tcp`.
        congestion_control: what an option of the socket asks for.
        sysctl: settings of net.ipv4.
        peer_scale: the shift of the peer's windows (RFC 7323 §2).
        scale: that of the endpoint's.
        ecn: whether ECN is in force (RFC 3168, or RFC 9768 if `accurate`).
        asks_ecn: whether the endpoint's SYN asks for it.
        accurate: whether marks are counted (RFC 9768).
        syn_field: with which ECN field the peer's SYN has come.

    """

    active: bool = False
    offered: dict[str, Any] = field(default_factory=dict[str, Any])
    borders: list[int] = field(default_factory=list[int])
    tcp: dict[str, Any] = field(default_factory=dict[str, Any])
    congestion_control: str | None = None
    sysctl: dict[str, str] = field(default_factory=dict[str, str])
    peer_scale: int = 0
    scale: int = 0
    ecn: bool = False
    asks_ecn: bool = False
    accurate: bool = False
    syn_field: str = "noecn"


def settings(command: str) -> dict[str, str]:
    """What a command of the shell sets of net.ipv4; `NotApplicable` if it does something else."""
    found: dict[str, str] = {}
    for part in re.split(r"[;\n]|&&", command):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            raise NotApplicable(f"the command `{part.strip()}`") from None
        if not words:
            continue
        if words[0] != "sysctl":
            raise NotApplicable(f"the command `{part.strip()}`")
        given = " ".join(word for word in words[1:] if not word.startswith("-"))
        pairs = _SYSCTL.findall(given)
        if not pairs:
            raise NotApplicable(f"the command `{part.strip()}`")
        found.update(pairs)
    return found


def agreed(script: Script) -> Agreed:
    """What a script comes to, for a simulated endpoint; `NotApplicable` if that has no such thing."""
    found = Agreed()
    for event in script.events:
        match event.what:
            case Shell(command):
                found.sysctl.update(settings(command))
            case Call(name="connect"):
                found.active = True
            case Call(name="setsockopt", arguments=arguments):
                _socket_option(found, arguments)
            case _:
                pass
    for name, value in found.sysctl.items():
        _system_setting(found, name, value)
    segments = [event.what.segment for event in script.events if isinstance(event.what, Inbound)]
    _handshake(found, segments)
    answers = [event.what.segment for event in script.events if isinstance(event.what, Outbound) and "S" in event.what.segment.flags]
    for answer in answers[:1]:
        found.scale = (answer.options or {}).get("wscale", 0) if "wscale" in found.offered else 0
    bounds = {0, 1}
    for segment in segments:
        if segment.taken and "R" not in segment.flags:
            bounds |= {segment.start, segment.start + segment.taken}
    found.borders = sorted(bounds)
    return found


def _socket_option(found: Agreed, arguments: tuple[Any, ...]) -> None:
    name, value = str(arguments[2]), constant(arguments[3])
    match name:
        case "TCP_NODELAY":
            if value:
                found.tcp["partial"] = "nodelay"
        case "TCP_CONGESTION":
            found.congestion_control = bytes(value).decode() if isinstance(value, bytes) else str(value)
        case "SO_REUSEADDR" | "SO_DEBUG" | "SO_LINGER" | "SO_RCVTIMEO" | "SO_SNDTIMEO" | "SO_REUSEPORT":
            pass
        case _:
            raise NotApplicable(f"the socket's option {name}")


def _system_setting(found: Agreed, name: str, value: str) -> None:
    if name in ("tcp_sack", "tcp_timestamps", "tcp_ecn", "tcp_congestion_control") or name in _WITHOUT_EFFECT:
        return
    if name == "tcp_reordering" and value.isdecimal():
        found.tcp["dup_thresh"] = int(value)
        return
    values = _SETTINGS.get(name)
    if values is None or value not in values:
        raise NotApplicable(f"the setting net.ipv4.{name} = {value}")
    found.tcp.update(values[value])


def _handshake(found: Agreed, segments: list[Segment]) -> None:
    syn = next((segment for segment in segments if "S" in segment.flags), None)
    if syn is None:
        raise NotApplicable("a connection that is never opened")
    theirs = dict(syn.options or {})
    for kind in theirs:
        if kind not in ("mss", "sackOK", "TS", "wscale"):
            raise NotApplicable(f"the option {kind} of TCP")
    ours = {"mss": _ETHERNET_MSS, "sackOK": None, "TS": None, "wscale": 7}
    if found.sysctl.get("tcp_sack") == "0":
        del ours["sackOK"]
    if found.sysctl.get("tcp_timestamps") == "0":
        del ours["TS"]
    if found.sysctl.get("tcp_window_scaling") == "0":
        del ours["wscale"]
    both = ours.keys() & theirs.keys()
    found.offered = ours if found.active else {"mss": _ETHERNET_MSS} | {kind: ours[kind] for kind in ours if kind in both}
    smss = min(_ETHERNET_MSS, theirs.get("mss", _DEFAULT_MSS))
    stamped = "TS" in both
    found.tcp["smss"] = f"{smss - _STAMPS if stamped else smss} B"
    found.tcp["timestamps"] = stamped
    if "sackOK" not in both:
        found.tcp["recovery"] = "newreno"
    found.peer_scale = theirs.get("wscale", 0) if "wscale" in both else 0
    wanted = found.sysctl.get("tcp_ecn", "2")
    found.asks_ecn = found.active and wanted == "1"
    answered = "E" in syn.flags and "W" not in syn.flags
    asked = "E" in syn.flags and "W" in syn.flags
    found.ecn = found.asks_ecn and answered if found.active else wanted in ("1", "2") and asked
    accurate = wanted == "3" and {"E", "W", "A"} <= set(syn.flags)
    if accurate and not found.active:
        found.ecn = found.accurate = True
        found.tcp["ecn"] = "accurate"
        found.syn_field = syn.ecn or "noecn"
    elif wanted == "3":
        raise NotApplicable("asking for accurate ECN feedback (RFC 9768), or falling back from it")
    elif found.ecn:
        found.tcp["ecn"] = "classic"
