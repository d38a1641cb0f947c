"""What `iperf3 -J` and `iperf3 --json-stream` write, of TCP, UDP and SCTP, forward, reverse and in both directions.

Rates are iperf3's own (`bits_per_second`), times its seconds and milliseconds in ns. What its fields mean is not always what they are called: `retransmits` is of the end that
sends; `snd_cwnd` and `rtt` are of iperf3's own socket, so that they tell of a flow only where that end sends it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sawtooth.errors import FileUnreadable, cut
from sawtooth.foreign.jsontext import Node, Text
from sawtooth.foreign.measured import Measured, flows_of, ns, series_of

_VERSION = re.compile(r"iperf (\d+)\.(\d+)")
_MAJOR = 3
_UNTOLD = (
    "iperf3 has no losses of TCP, duplicate acknowledgements, slow start threshold or flight size",
    "round-trip times are the kernel's smoothed ones at the ends of intervals, so their least is not the least of the path",
)
_OF_OTHER_END = "congestion window and round-trip times of what the other end sends are not told: that end's own output has them"
_NO_RTT = "UDP has no round-trip times or retransmissions; what arrived of each of several streams in one direction is not told"
_STREAMED = {"start", "interval", "end", "error", "server_output_text", "server_output_json"}


def is_one(values: Sequence[Node]) -> bool:
    """Whether a file is one of iperf3's."""
    first = values[0]
    if not isinstance(first.value, dict):
        return False
    event: object = first.member("event").value if first.has("event") else None
    return (isinstance(event, str) and event in _STREAMED) or (first.has("start") and (first.has("intervals") or first.has("end")))


def read(source: Text, values: Sequence[Node]) -> Measured:
    """What iperf3 measured.

    Args:
        source: the file.
        values: what stands in it: one object, or those of a stream.

    Raises:
        FileUnreadable: with file, line and column, for what iperf3 would not have written, or if nothing was measured.

    """
    if "event" in values[0].value:
        start, intervals, end, error = _streamed(values)
    else:
        if len(values) > 1:
            values[1].fail(
                "a second result begins here",
                "iperf3 adds to a log file that is there (`--logfile`); put each result into a file of its own",
            )
        whole = values[0]
        start, intervals, end, error = whole.object("start"), whole.list("intervals"), whole.object("end"), whole.text("error")
    version = _version(start)
    if not intervals and not end.list("streams"):
        raise FileUnreadable(f"{source.name}: nothing was measured{f': iperf3 says {cut_error(error)}' if error else ''}", "run it again")
    test = start.object("test_start")
    transport = (test.text("protocol") or "").lower() or None
    at_server = start.has("accepted_connection")
    control = end.text("sender_tcp_congestion")
    streams = _streams(intervals, end)
    facts = {
        "transport": transport,
        "streams": len(streams),
        "role": "server" if at_server else "client",
        "duration_ns": ns(test.number("duration")),
        "omitted_ns": ns(test.number("omit")),
        "target_bps": test.number("target_bitrate") or None,
        "block_bytes": test.count("blksize"),
        "mss_bytes": start.count("tcp_mss") or start.count("tcp_mss_default"),
        "time": start.object("timestamp").text("time"),
        "begun_s": start.object("timestamp").number("timesecs"),
        "cookie": start.text("cookie"),
        "congestion_control": control,
    }
    damage = f"iperf3 says {cut_error(error)}" if error else None if end.list("streams") else "it ends before iperf3 told its totals"
    names = {socket: f"stream {number}" for number, socket in enumerate(streams, 1)}
    alone = {flag: sum(_sends(each) == flag for each in streams.values()) == 1 for flag in (True, False)}
    rows = [
        _flow(names[socket], each, transport, control, at_server=at_server)
        | (_received(end, sends=_sends(each)) if transport == "udp" and alone[_sends(each)] else {})
        for socket, each in streams.items()
    ]
    series = [
        _interval(names[socket], each, streams[socket], transport)
        for interval in intervals
        for each in interval.list("streams")
        if (socket := _socket(each)) in names
    ]
    untold = [*(_UNTOLD if transport != "udp" else [_NO_RTT])]
    if transport != "udp" and any(not _sends(each) for each in streams.values()):
        untold.append(_OF_OTHER_END)
    return Measured(source.name, version, facts, flows_of(rows), series_of(series), untold, damage)


def cut_error(text: str) -> str:
    """What iperf3 says of a failure."""
    return text.strip().removesuffix(".")


def _streamed(values: Sequence[Node]) -> tuple[Node, Sequence[Node], Node, str | None]:
    """Start, intervals, end and error of a stream of events; what did not come any more is empty."""
    source = values[0].source
    parts = {"start": Node(source, [], {}), "end": Node(source, [], {})}
    intervals: list[Node] = []
    error: str | None = None
    for each in values:
        event = each.text("event")
        if event is None and "start" in each.value and "end" in each.value:
            # `--json-stream-full-output` tells everything a second time.
            continue
        if event not in _STREAMED:
            each.fail(f"`event` is {cut(str(event))!r}, which iperf3 3.x does not write", f"known are {', '.join(sorted(_STREAMED))}")
        if event == "error":
            error = each.text("data")
        elif event == "interval":
            intervals.append(each.member("data"))
        elif event in parts:
            parts[event] = each.member("data")
    return parts["start"], intervals, parts["end"], error


def _version(start: Node) -> str:
    text = start.text("version")
    if text is None:
        start.fail("`start` has no `version`", "is it whole, and iperf3's?")
    match = _VERSION.match(text)
    if match is None or int(match[1]) != _MAJOR:
        start.member("version").fail(f"it was written by {cut(text)!r}", "files of iperf 3 are read")
    return text


def _streams(intervals: Sequence[Node], end: Node) -> dict[int, Mapping[str, Any]]:
    """By socket, in the order of the file: what is known of each at the end, or else that there was one."""
    found: dict[int, Mapping[str, Any]] = {}
    for each in end.list("streams"):
        sides = {name: each.object(name) for name in ("sender", "receiver", "udp") if each.has(name)}
        if not sides:
            each.fail("a stream has neither `sender` and `receiver` nor `udp`")
        socket = _socket(next(iter(sides.values())))
        found[socket] = sides
    if not found:
        for interval in intervals[:1]:
            found = {_socket(each): {"interval": each} for each in interval.list("streams")}
    return found


def _socket(node: Node) -> int:
    """The number by which iperf3 calls a stream everywhere."""
    number = node.count("socket")
    if number is None:
        node.fail("a stream has no `socket`", "is it whole, and iperf3's?")
    return number


def _sends(stream: Mapping[str, Any]) -> bool:
    """Whether the end that wrote the file sends the stream; versions before 3.7 had no other, but for those that they received."""
    flag = next((node.flag("sender") for node in stream.values() if node.has("sender")), None)
    return True if flag is None else flag


def _direction(stream: Mapping[str, Any], *, at_server: bool) -> str:
    """`upload` is from iperf3's client to its server."""
    return "upload" if _sends(stream) != at_server else "download"


def _flow(name: str, stream: Mapping[str, Any], transport: str | None, control: str | None, *, at_server: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "flow": name,
        "transport": transport,
        "direction": _direction(stream, at_server=at_server),
        "tool": "iperf3",
        "start_ns": 0,
    }
    sends = _sends(stream)
    # A server is not told what its clients counted, and has zeros there.
    sender_known = sends or not at_server
    sender, receiver, udp = stream.get("sender"), stream.get("receiver"), stream.get("udp")
    if sender is not None and sender_known:
        row |= {"sent_bytes": sender.count("bytes")}
        row |= {"sending_bps": sender.number("bits_per_second"), "retransmits": _retransmits(sender)}
        row |= {"lifetime_ns": _lasted(sender), "cc": control}
        if sends and sender.count("max_rtt"):
            row |= {"srtt_mean_ns": _us(sender, "mean_rtt"), "srtt_min_ns": _us(sender, "min_rtt"), "srtt_max_ns": _us(sender, "max_rtt")}
        if sends:
            row["cwnd_most_bytes"] = sender.count("max_snd_cwnd") or None
    if receiver is not None:
        row |= {"delivered_bytes": receiver.count("bytes"), "goodput_bps": receiver.number("bits_per_second")}
        row["lifetime_ns"] = _lasted(receiver) or row.get("lifetime_ns")
    if udp is not None:
        row |= {"lifetime_ns": _lasted(udp), "jitter_ns": _ms(udp, "jitter_ms"), "sent_packets": udp.count("packets")}
        row |= {"lost_packets": _lost(udp), "received_late_packets": udp.count("out_of_order")}
        if sender_known:
            row |= {"sent_bytes": udp.count("bytes"), "sending_bps": udp.number("bits_per_second")}
    return row


def _received(end: Node, *, sends: bool) -> dict[str, Any]:
    """What arrived of the only stream of UDP in its direction: of several there is only the sum."""
    # The sums of what the other end sends have a name of their own only where both do.
    reverse = end.object("sum_received_bidir_reverse")
    total = reverse if not sends and reverse.value else end.object("sum_received")
    return {"delivered_bytes": total.count("bytes"), "goodput_bps": total.number("bits_per_second")}


def _interval(name: str, each: Node, stream: Mapping[str, Any], transport: str | None) -> dict[str, Any]:
    sends = each.flag("sender") if each.has("sender") else _sends(stream)
    begin, end = each.number("start"), each.number("end")
    if begin is not None and end is not None and end < begin:
        each.fail(f"an interval ends at {end:g} s, before it begins at {begin:g} s")
    row: dict[str, Any] = {
        "flow": name,
        "from_ns": ns(begin),
        "t_ns": ns(end),
        "throughput_bps": each.number("bits_per_second"),
    }
    row |= {
        "sent_bytes" if sends else "delivered_bytes": each.count("bytes"),
        "omitted": each.flag("omitted"),
        "packets": each.count("packets"),
    }
    if sends and transport != "udp":
        row |= {
            "retransmits": _retransmits(each),
            "cwnd_bytes": each.count("snd_cwnd"),
            "window_bytes": each.count("snd_wnd"),
            "srtt_ns": _us(each, "rtt"),
        }
    if not sends and transport == "udp":
        row |= {"jitter_ns": _ms(each, "jitter_ms"), "lost_packets": _lost(each)}
    return row


def _retransmits(node: Node) -> int | None:
    """Segments sent again; -1 stands for a system that does not tell."""
    return None if node.value.get("retransmits") == -1 else node.count("retransmits")


def _lost(node: Node) -> int | None:
    """Packets that were lost; of fewer than none, as iperf3 counts what comes late, nothing is known."""
    told = node.value.get("lost_packets")
    return None if isinstance(told, int) and told < 0 else node.count("lost_packets")


def _lasted(side: Node) -> int | None:
    """From start to end: what its `bits_per_second` is over (`seconds` may be of the other end)."""
    first, last = side.number("start"), side.number("end")
    return None if first is None or last is None else ns(last - first)


def _us(node: Node, name: str) -> int | None:
    return ns(node.number(name), 1e3)


def _ms(node: Node, name: str) -> int | None:
    return ns(node.number(name), 1e6)
