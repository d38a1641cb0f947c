"""Rules about paths: which link decides, and which does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sawtooth.linting.each import of_flows, of_setups, rate, time
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Flow, Quantity, Setup, Subject

_MEANT = re.compile(r"bottleneck", re.IGNORECASE)
_NEAR = 1.001
_BUSIER = 1.2
"""A medium's frames or cells make a packet longer on the link, by 10 % at ATM."""


def _tied(flow: Flow) -> Hit | None:
    """Two links of a path, neither of which has less for its flows than the other."""
    link = flow.bottleneck
    if link is None or link.rate_bps is None or not (flow.endless or flow.finite):
        return None
    least = link.rate_bps / max(link.crossing, 1.0)
    tied = [each for each in flow.links if (each.rate_bps or 0.0) / max(each.crossing, 1.0) <= least * _NEAR]
    names = list(dict.fromkeys(each.name for each in tied))
    if len(names) < 2:
        return None
    told = " and ".join(f"`{name}`" for name in names[:3])
    return Hit(
        f"{told} are equally slow for their flows ({rate(least)} each): which of them is the bottleneck is left to chance",
        f"{flow.at}.path",
        flow.setup,
    )


def _access(flow: Flow) -> Hit | None:
    """A link before the bottleneck that is as slow as it: alone, a flow builds no queue at the bottleneck."""
    link = flow.bottleneck
    if link is None or link.rate_bps is None or link.crossing < 2 or flow.udp:
        return None
    before = flow.links[: list(flow.links).index(link)]
    slow = next((each for each in before if each.rate_bps and each.rate_bps <= link.rate_bps * _NEAR), None)
    if slow is None:
        return None
    return Hit(
        f"`{slow.name}` has {rate(slow.rate_bps or 0.0)}, no more than `{link.name}` behind it: one flow alone will queue at the access link",
        f"links.{slow.name}.rate",
        flow.setup,
    )


def _elsewhere(setup: Setup) -> Iterator[Hit]:
    """A link that is called the bottleneck and is none for any flow."""
    called = {link.name for link in setup.links if _MEANT.search(link.name)}
    for name in sorted(called):
        across = [flow for flow in setup.flows if any(link.name == name for link in flow.links)]
        found = [flow.bottleneck for flow in across]
        if not across or None in found:
            continue
        if all(
            link is not None and link.name != name and _less(link.rate_bps, link.crossing, flow, name)
            for link, flow in zip(found, across, strict=True)
        ):
            other = found[0]
            assert other is not None
            yield Hit(
                f"`{name}` is not the bottleneck: `{other.name}` has less for each flow ({rate((other.rate_bps or 0.0) / max(other.crossing, 1.0))})",
                f"links.{name}",
                setup,
                key=True,
            )


def _less(bps: float | None, crossing: float, flow: Flow, name: str) -> bool:
    own = next(link for link in flow.links if link.name == name)
    return (bps or 0.0) / max(crossing, 1.0) * _NEAR < (own.rate_bps or 0.0) / max(own.crossing, 1.0)


def _acknowledgements(flow: Flow) -> Hit | None:
    """The direction of acknowledgements carries too few of them (RFC 3449 section 2.1: the normalised ratio k is above 1)."""
    if flow.udp or flow.rate_bps is None or flow.source["name"] == "request_response" or not (flow.endless or flow.finite):
        return None
    every, ack = flow.tcp("ack_every"), flow.tcp("ack_size")
    if not isinstance(every, Quantity) or not isinstance(ack, Quantity):
        return None
    segments = flow.rate_bps / 8 / (flow.smss + flow.header)
    needed = segments / max(every.value, 1.0) * ack.value * 8
    slow = next((link for link in flow.links if link.reverse_bps and link.reverse_bps < needed), None)
    if slow is None or slow.reverse_bps is None:
        return None
    return Hit(
        f"acknowledgements of {rate(flow.rate_bps)} need {rate(needed)}, and `{slow.name}` has {rate(slow.reverse_bps)} for them: it limits data, not the bottleneck",
        f"links.{slow.name}.reverse.rate", flow.setup,
    )  # fmt: skip


def _idle_queue(subject: Subject) -> Iterator[Hit]:
    """A queue that is varied, behind links that together are no faster than its own."""
    for path in subject.varied("queue"):
        name = path.split(".")[1] if path.startswith("links.") else ""
        if name and subject.setups and all(_never_fills(setup, name) for setup in subject.setups):
            yield Hit(
                f"the queue of `{name}` is varied, and what feeds `{name}` is no faster than it: nothing will wait there",
                f"links.{name}.queue",
                subject.setups[0],
            )


def _never_fills(setup: Setup, name: str) -> bool:
    feeding: dict[str, float] = {}
    number = 0.0
    for flow in setup.flows:
        at = next((k for k, link in enumerate(flow.links) if link.name == name), None)
        if at is None:
            continue
        number += flow.number
        before = min(flow.links[:at], key=lambda link: link.rate_bps or float("inf"), default=None)
        if before is None or before.rate_bps is None:
            return False
        feeding[before.label] = before.rate_bps * (flow.number if before.label != before.name else 1.0)
    own = [link for link in setup.links if link.name == name and link.rate_bps]
    return bool(feeding) and len(own) == 1 and sum(feeding.values()) <= (own[0].rate_bps or 0.0)


def _host(flow: Flow) -> Hit | None:
    """A host of the model that needs longer for a packet than the bottleneck."""
    if flow.rate_bps is None or flow.udp:
        return None
    segment = flow.smss
    for key, costs, bytes_ in (
        ("host", ("send_packet_cost", "driver_send_packet_cost"), ("driver_send_byte_cost", "write_byte_cost")),
        ("receiver_host", ("receive_packet_cost", "driver_receive_packet_cost"), ("driver_receive_byte_cost", "read_byte_cost")),
    ):
        name = flow.tree.get(key, flow.setup.tree.get(key))
        if name is None and key == "receiver_host":
            name = flow.tree.get("host", flow.setup.tree.get("host"))
        host = flow.setup.tree.get("hosts", {}).get(str(name).partition("[")[0])
        if not host:
            continue
        fixed = sum(_seconds(flow, host.get(cost)) for cost in costs)
        busy = fixed + segment * sum(_seconds(flow, host.get(cost)) for cost in bytes_)
        sending = 8 * (segment + flow.header) / flow.rate_bps
        if busy > _BUSIER * sending:
            word = str(name).partition("[")[0]
            return Hit(
                f"`{word}` is busy for {time(busy)} with a segment, and the slowest link for {time(sending)}: the host is the bottleneck",
                f"hosts.{word}",
                flow.setup,
                key=True,
            )
    return None


def _seconds(flow: Flow, value: object) -> float:
    found = flow.setup.quantity(value, flow.variables) if value is not None else None
    return found.value if found else 0.0


RULES = (
    Rule(
        "SW301", "two-bottlenecks", "warning", "a path with two links that are equally slow for their flows",
        "Which queue fills, and which discipline acts, is decided by small things then. All links of the published HighSpeed study have one rate.",
        "Make all links of a path faster than the one that is studied, as far as real access links are.",
        check=of_flows(_tied),
    ),
    Rule(
        "SW302", "slow-access", "note", "a link before a shared bottleneck that is no faster than it",
        "A burst is spread by the first slow link: alone, a flow queues there and not at the bottleneck, whose queue only fills when flows meet.",
        "Make access links some times faster, unless they are as the network has them.",
        check=of_flows(_access),
    ),
    Rule(
        "SW303", "bottleneck-elsewhere", "warning", "a link called bottleneck that is not the bottleneck of any flow across it",
        "What the study varies at it reaches little, and the report names the wrong place.",
        "Make it slower, or the other link faster; or call it something else.",
        check=of_setups(_elsewhere),
    ),
    Rule(
        "SW304", "unused-link", "warning", "a link that no flow crosses",
        "It does nothing. Usually a path lacks it, so that flows see another network than the one that is meant.",
        "Name it in the `path` of a flow, or leave it out.",
        says=("no flow crosses",),
    ),
    Rule(
        "SW305", "loop", "warning", "a path that crosses a link twice",
        "Packets wait twice in one queue. Acknowledgements take the same links back by themselves.",
        "List each link once.",
        says=("the path crosses",),
    ),
    Rule(
        "SW306", "slow-acknowledgements", "warning", "a reverse direction that is too slow for the acknowledgements of a full link",
        "Data is paced by the acknowledgements that get through (RFC 3449 section 2.1), and the forward link never fills.",
        "Raise the rate of `reverse`; if the study is about asymmetric lines, say so in `[lint]`, `ignore = { SW306 = \"why\" }`.",
        check=of_flows(_acknowledgements),
    ),
    Rule(
        "SW307", "idle-queue", "warning", "a queue that is varied, at a link that is fed by no faster ones",
        "Nothing ever waits there, so levels of its limit or discipline differ by nothing.",
        "Vary the queue of the bottleneck.",
        check=_idle_queue,
    ),
    Rule(
        "SW308", "no-shaping", "warning", "a token bucket that fills as fast as its link sends",
        "It holds nothing back: the study has a shaper that does not shape.",
        "Set its `rate` below the link's.",
        says=("the bucket fills",),
    ),
    Rule(
        "SW309", "host-bottleneck", "warning", "a host of the model that needs longer for a segment than the slowest link",
        "What is measured is the host, whatever the links and algorithms do.",
        "Lower the host's costs, or the link's rate; if the study is about hosts, say so in `[lint]`, `ignore = { SW309 = \"why\" }`.",
        check=of_flows(_host),
    ),
)  # fmt: skip
