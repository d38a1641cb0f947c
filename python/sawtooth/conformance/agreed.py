"""What a script says of a connection before it opens: system settings, options of sockets, and what the handshake agrees on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sawtooth.conformance.commands import Beyond, Effect, Setting
from sawtooth.conformance.endpoint import NotApplicable, constant
from sawtooth.conformance.script import Call, Inbound, Outbound, Script, Segment, Shell

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
    # A write is taken whole; scripts in which one is not are told of.
    "tcp_wmem",
    "tcp_notsent_lowat",
    # How often SYNs are sent again before a connection is given up, which no script waits for that opens one.
    "tcp_syn_retries",
    "tcp_synack_retries",
    # Fast Open (RFC 7413) is told of where a segment or a call asks for it.
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_fastopen_blackhole_timeout_sec",
    # Of accurate ECN, which `tcp_ecn` asks for.
    "tcp_ecn_option",
}
_COMMANDS_WITHOUT_EFFECT = {
    # It knows of no earlier connections, and nothing waits in a queue that it leaves at once.
    ("ip", "tcp_metrics", "flush", "all"),
    ("tc", "qdisc", "add", "dev", "tun0", "root", "pfifo"),
    # Its segments leave one by one.
    ("ip", "link", "set", "dev", "tun0", "gso_max_segs", "1"),
}
_SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    # Of each setting its values, and what they are of `tcp`.
    "tcp_early_retrans": {"0": {"tail_loss_probe": False}, "3": {"tail_loss_probe": True}, "4": {"tail_loss_probe": True}},
    "tcp_recovery": {"1": {}},
    "tcp_frto": {"0": {"frto": False}, "1": {"frto": True}, "2": {"frto": True}},
    "tcp_slow_start_after_idle": {"0": {"restart_after_idle": "off"}, "1": {"restart_after_idle": "decay"}},
    "tcp_window_scaling": {"0": {"window_scaling": False}, "1": {}},
    "tcp_thin_linear_timeouts": {"0": {}},
    "tcp_dsack": {"1": {}},
    "tcp_abort_on_overflow": {"0": {}},
}
SEND_BUFFER_BYTES = 4 * 2**20
"""Of every endpoint whose memory counts, so that no write of a script has to wait for memory."""
_ETHERNET_MSS = 1460
_DEFAULT_MSS = 536
_STAMPS = 12
_SIZES = 3
"""Of a buffer: the least, the default, the most."""


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
        max_segment: what the application says that a segment holds at most.

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
    max_segment: int = _ETHERNET_MSS


def agreed(script: Script) -> Agreed:
    """What a script comes to, for a simulated endpoint; `NotApplicable` if that has no such thing."""
    found = Agreed()
    _require(script)
    for event in script.events:
        match event.what:
            case Shell(effects=effects):
                found.sysctl |= _settings(effects)
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


def _require(script: Script) -> None:
    """What no simulated endpoint has, wherever it stands in a script."""
    opened = 0
    for event in script.events:
        match event.what:
            case Inbound(segment) if {"FO", "FOEXP"} & (segment.options or {}).keys():
                raise NotApplicable("Fast Open (RFC 7413)")
            case Outbound(segment) if {"FO", "FOEXP"} & (segment.options or {}).keys():
                raise NotApplicable("Fast Open (RFC 7413)")
            case Outbound(segment) if "R" in segment.flags:
                raise NotApplicable("a reset (RST)")
            case Call("setsockopt", (_, _, name, *_)) if str(name).startswith("TCP_FASTOPEN"):
                raise NotApplicable("Fast Open (RFC 7413)")
            case Call(arguments=arguments) if "MSG_FASTOPEN" in str(arguments[2:]):
                raise NotApplicable("Fast Open (RFC 7413)")
            case Call("listen") | Call("connect", result=0 | None) | Call("connect", error="EINPROGRESS"):
                opened += 1
            case _:
                pass
    if opened > 1:
        raise NotApplicable("more than one connection")


def _settings(effects: Sequence[Effect]) -> dict[str, str]:
    beyond = [effect for effect in effects if isinstance(effect, Beyond) and effect.words not in _COMMANDS_WITHOUT_EFFECT]
    if beyond:
        raise NotApplicable(str(beyond[0]))
    return {effect.name: effect.value for effect in effects if isinstance(effect, Setting)}


def _socket_option(found: Agreed, arguments: tuple[Any, ...]) -> None:
    name, value = str(arguments[2]), constant(arguments[3])
    match name:
        case "TCP_NODELAY":
            if value:
                found.tcp["partial"] = "nodelay"
        case "TCP_CONGESTION":
            found.congestion_control = bytes(value).decode() if isinstance(value, bytes) else str(value)
        case "TCP_MAXSEG" if isinstance(value, int):
            found.max_segment = value
        case "SO_SNDBUF" | "SO_REUSEADDR" | "SO_DEBUG" | "SO_LINGER" | "SO_RCVTIMEO" | "SO_SNDTIMEO" | "SO_REUSEPORT":
            pass
        case "TCP_INQ" | "IP_TOS" | "IP_FREEBIND" | "SO_MARK":
            pass
        case _:
            raise NotApplicable(f"the socket's option {name}")


def _system_setting(found: Agreed, name: str, value: str) -> None:
    if name in ("tcp_sack", "tcp_timestamps", "tcp_ecn", "tcp_congestion_control") or name in _WITHOUT_EFFECT:
        return
    if name == "tcp_rmem" and len(value.split()) == _SIZES:
        _, default, most = value.split()
        found.tcp |= {"receive_buffer_default": f"{default} B", "receive_buffer_max": f"{most} B"}
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
    if syn is None and not found.active:
        raise NotApplicable("a connection that is never opened")
    syn = syn or Segment("S.", 0, 0, 1)
    theirs = dict(syn.options or {})
    for kind in theirs:
        if kind not in ("mss", "sackOK", "TS", "wscale"):
            raise NotApplicable("Fast Open (RFC 7413)" if kind in ("FO", "FOEXP") else f"the option {kind} of TCP")
    ours = {"mss": min(_ETHERNET_MSS, found.max_segment), "sackOK": None, "TS": None, "wscale": 7}
    if found.sysctl.get("tcp_sack") == "0":
        del ours["sackOK"]
    if found.sysctl.get("tcp_timestamps") == "0":
        del ours["TS"]
    if found.sysctl.get("tcp_window_scaling") == "0":
        del ours["wscale"]
    both = ours.keys() & theirs.keys()
    found.offered = ours if found.active else {kind: ours[kind] for kind in ours if kind in both or kind == "mss"}
    smss = min(ours["mss"] or 0, theirs.get("mss", _DEFAULT_MSS))
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
