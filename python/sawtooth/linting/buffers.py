"""Rules about buffers: windows, socket buffers and queues, against what the path holds."""

from __future__ import annotations

from collections.abc import Iterator

from sawtooth.linting.each import of_flows, of_setups, rate, size, time
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Flow, Link, Quantity, Setup, default

_FULL = 0.95
_RECOVERABLE = 4


def _capped(setup: Setup) -> Iterator[Hit]:
    """All flows across a link together cannot fill it, for their windows or buffers."""
    told: set[str] = set()
    for link in {id(flow.bottleneck): flow.bottleneck for flow in setup.flows if flow.bottleneck}.values():
        across = [flow for flow in setup.flows if link in flow.links]
        if any(not flow.endless or flow.window_bytes is None or flow.bottleneck is not link for flow in across) or not link.rate_bps:
            continue
        most = sum(8 * _window(flow) / flow.rtt_s * (flow.number if link.label == link.name else 1.0) for flow in across)
        carried = link.rate_bps * min(flow.smss / (flow.smss + flow.header) for flow in across)
        first = min(across, key=_window)
        window = first.window_bytes
        if most < _FULL * carried and window and first.at not in told:
            told.add(first.at)
            flows = "the flow" if sum(flow.number for flow in across) < 2 else "the flows together"
            yield Hit(
                f"{flows} can carry {rate(most)} of the {rate(carried)} of `{link.label}`: {size(window[0])} may be outstanding (`{window[1]}`), and the path holds {size(link.rate_bps * first.rtt_s / 8)}",
                _where(first, window[1]), setup,
                hint=None if window[1] == "window_limit" else f"set `tcp.{window[1]}` to some times what the path and its queue hold",
            )  # fmt: skip


def _window(flow: Flow) -> float:
    return flow.window_bytes[0] if flow.window_bytes else 0.0


def _where(flow: Flow, name: str) -> str:
    """Where a TCP parameter is set; of one that is not, the flow."""
    if name in flow.tree.get("tcp", {}):
        return f"{flow.at}.tcp.{name}"
    return f"tcp.{name}" if name in flow.setup.tree.get("tcp", {}) else flow.at


def _few_segments(flow: Flow) -> Hit | None:
    window = None if flow.udp else flow.window_bytes
    if window is None or window[0] >= _RECOVERABLE * flow.smss:
        return None
    return Hit(
        f"a window of {size(window[0])} is {window[0] / flow.smss:.1f} segments of {size(flow.smss)}: three duplicate acknowledgements cannot come, so each loss waits for the timer",
        _where(flow, window[1]), flow.setup,
    )  # fmt: skip


def _burst(flow: Flow) -> Hit | None:
    """The first flight, or a burst of offloaded segments, is longer than the queue of the link that it meets first."""
    if flow.udp or not flow.links or not (flow.endless or flow.finite):
        return None
    link = flow.links[0]
    slowest = flow.bottleneck
    limit = flow.setup.queue_bytes(link, flow.smss + flow.header) if link.queue["name"] == "drop_tail" else None
    if limit is None or slowest is None or link is not slowest:
        return None
    room = limit / (flow.smss + flow.header) + 1
    initial = flow.bytes_of("initial_window")
    burst, what = (initial / flow.smss, "initial window") if initial else (0.0, "")
    if flow.tcp("segmentation_offload") == "true" and flow.share_bps:
        interval, most = flow.tcp("tso_interval"), flow.bytes_of("tso_max_bytes")
        if isinstance(interval, Quantity) and most and (sent := min(flow.share_bps / 8 * interval.value, most) / flow.smss) > burst:
            burst, what = sent, "burst of offloaded segments"
    if flow.finite and flow.size_bytes is not None:
        burst = min(burst, flow.size_bytes / flow.smss)
    if burst <= room:
        return None
    return Hit(
        f"the {what} of {burst:.0f} segments meets a queue with room for {room:.0f}: its end is lost before congestion control has a say",
        f"links.{link.name}.queue.limit",
        flow.setup,
    )


def _target(setup: Setup) -> Iterator[Hit]:
    for link in {link.name: link for link in setup.links}.values():
        yield from _of_target(setup, link)


def _of_target(setup: Setup, link: Link) -> Iterator[Hit]:
    name = link.queue["name"]
    if name not in ("codel", "cobalt", "fq_codel", "pie", "fq_pie") or not link.rate_bps:
        return
    target = setup.quantity(link.queue.get("target", default("queue", name, "target")))
    sizes = [flow.smss + flow.header for flow in setup.flows if link in flow.links and not flow.udp]
    if target and sizes and (sending := 8 * max(sizes) / link.rate_bps) > target.value:
        yield Hit(
            f"a packet takes {time(sending)} on `{link.name}`, more than the target of {time(target.value)}: the queue drops although one packet waits",
            f"links.{link.name}.queue",
            setup,
        )


RULES = (
    Rule(
        "SW401", "window-limited", "warning", "flows whose windows or buffers are too small to fill their bottleneck",
        "They never lose a packet, so their congestion controls do nothing: a flow over 1 Gbit/s and 85 ms that stops at 297 Mbit/s shows Linux's default buffers. A published study "
        "reads its receive window's limit as an effect of the algorithm.",
        "Raise the buffers above what the path and its queue hold, or say in `[lint]`, `ignore = { SW401 = \"why\" }` that the window is what is studied.",
        check=of_setups(_capped),
    ),
    Rule(
        "SW402", "window-below-four-segments", "warning", "windows of less than four segments",
        "Three duplicate acknowledgements need three segments after the lost one (RFC 5681 section 3.2): fast retransmit is impossible. In the published study of Tahoe and Reno a window "
        "of 2000 bytes is three segments of 512.",
        "Allow for four segments or more, or leave these cells out.",
        check=of_flows(_few_segments),
    ),
    Rule(
        "SW403", "queue-below-burst", "warning", "a drop-tail queue at the bottleneck that a first flight or a burst overflows",
        "Each flow begins with a loss that says nothing about congestion.",
        "Give the queue room for a burst, lower `initial_window`, or pace.",
        check=of_flows(_burst),
    ),
    Rule(
        "SW404", "target-below-packet", "warning", "a delay target that is less than one packet takes on the link",
        "The discipline drops although no more than one packet waits; RFC 8289 section 4.2 asks for a target of at least that.",
        "Raise `target` to at least one and a half packets' time.",
        check=of_setups(_target),
    ),
    Rule(
        "SW405", "unheard-marks", "warning", "ECN, or a congestion control for marks, where none are made, or where none are heard as it needs them",
        "It is another algorithm then: without marks DCTCP is Reno.",
        "Use a queue that marks, and the feedback that the algorithm is made for.",
        says=("no queue on the path", "hears of no marks", "hears of one mark", "takes all that is echoed"),
    ),
)  # fmt: skip
