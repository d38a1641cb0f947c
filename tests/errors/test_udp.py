"""The exact text of every mistake about flows of UDP."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth import _core
from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study

PACKET_SOURCES = ", ".join(row["name"] for row in _core.registry()["packet_source"])
STUDY = """\
name = "udp"
question = "What is wrong?"
backend = "sim"
[scenario]
duration = "10 s"
links.l = { rate = "1 Gbit/s" }
[[scenario.flows]]
path = ["l"]
[[scenario.flows]]
path = ["l"]
transport = "udp"
FLOW
"""

# What is changed into what.
CASES = {
    "an unknown transport": (
        'transport = "udp"',
        'transport = "sctp"',
        """\
error: unknown transport `sctp`
  --> udp.toml:11:13
   |
11 | transport = "sctp"
   |             ^^^^^^
hint: known are tcp, udp""",
    ),
    "a congestion control": (
        "FLOW",
        'source = "poisson"\ncc = "reno"',
        """\
error: a flow of UDP has no `cc`: nothing is acknowledged, and nothing controls what it sends
  --> udp.toml:13:1
   |
13 | cc = "reno"
   | ^^
hint: leave it out; `source` says when packets leave""",
    ),
    "arrivals": (
        "FLOW",
        'source = "poisson"\narrivals = { load = 0.5 }',
        """\
error: a flow of UDP has no `arrivals`: they are connections that come and leave
  --> udp.toml:13:1
   |
13 | arrivals = { load = 0.5 }
   | ^^^^^^^^
hint: leave it out; the source `poisson` has packets that come at random, `count` several flows, `start` and `stop` their time""",
    ),
    "a negative delay": (
        "FLOW",
        'source = "poisson"\ndelay = "-5 ms"',
        """\
error: a delay cannot be negative: -0.005 s
  --> udp.toml:13:9
   |
13 | delay = "-5 ms"
   |         ^^^^^^^
hint: give a time of zero or more, or leave it out for zero""",
    ),
    "a delay without a unit": (
        "FLOW",
        'source = "poisson"\ndelay = 5',
        """\
error: expected a time such as `20 ms`, found a plain number
  --> udp.toml:13:9
   |
13 | delay = 5
   |         ^
hint: write the value with its unit, in quotes""",
    ),
    "packets larger than a link's mtu": (
        'rate = "1 Gbit/s" }',
        'rate = "1 Gbit/s", mtu = "1280 B" }\ntcp.smss = "1000 B"',
        """\
error: flow `flow2` of UDP sends packets of up to 1500 B, and link `l` carries 1280 B at most
 --> udp.toml:6:38
  |
6 | links.l = { rate = "1 Gbit/s", mtu = "1280 B" }
  |                                      ^^^^^^^^
hint: set a larger `mtu`, or source.size = "1280 B\"""",
    ),
    "no source": (
        "FLOW",
        "",
        """\
error: a flow of UDP needs a `source`
 --> udp.toml:9:1
  |
9 | [[scenario.flows]]
  | ^^^^^^^^^^^^^^^^^^
hint: for example source = { name = "constant_rate", rate = "1 Mbit/s" }; there are """
        + PACKET_SOURCES,
    ),
    "a source of connections": (
        "FLOW",
        'source = { name = "bulk" }',
        """\
error: `bulk` writes into a connection of TCP, and this is a flow of UDP
  --> udp.toml:12:19
   |
12 | source = { name = "bulk" }
   |                   ^^^^^^
hint: for UDP there are """
        + PACKET_SOURCES,
    ),
    "an unknown source": (
        "FLOW",
        'source = { name = "self_similiar" }',
        """\
error: unknown source of packets `self_similiar`
  --> udp.toml:12:19
   |
12 | source = { name = "self_similiar" }
   |                   ^^^^^^^^^^^^^^^
hint: did you mean `self_similar`? `sawtooth list packet_source` shows all""",
    ),
    "a source of packets in a connection": (
        'transport = "udp"\nFLOW',
        'source = { name = "self_similar" }',
        """\
error: `self_similar` says when packets leave, and of a connection TCP decides that
  --> udp.toml:11:19
   |
11 | source = { name = "self_similar" }
   |                   ^^^^^^^^^^^^^^
hint: add transport = "udp" to the flow; `sawtooth list source` shows what writes into connections""",
    ),
    "Hurst parameter 1": (
        "FLOW",
        'source = { name = "self_similar", hurst = 1 }',
        """\
error: with a Hurst parameter of 1 all periods have the same number of packets
  --> udp.toml:12:43
   |
12 | source = { name = "self_similar", hurst = 1 }
   |                                           ^
hint: at 1 nothing varies within a run: it is the limit, and is published as a rounded figure; take 0.5 to 0.95, as the study `self-similar-background` does, or 0.99""",
    ),
    "Hurst parameter above 1": (
        "FLOW",
        'source = { name = "self_similar", hurst = 1.2 }',
        """\
error: a Hurst parameter is above 0 and below 1, found 1.2: no other stationary noise is self-similar
  --> udp.toml:12:43
   |
12 | source = { name = "self_similar", hurst = 1.2 }
   |                                           ^^^
hint: 0.5 is without memory, and measured traffic has 0.7 to 0.9""",
    ),
    "more than the cap": (
        "FLOW",
        'source = { name = "self_similar", mean = "950 Mbit/s", period = "1476 us", cap = "100 packets" }',
        """\
error: 116.85 packets per period in the mean, and `cap` allows 100
  --> udp.toml:12:42
   |
12 | source = { name = "self_similar", mean = "950 Mbit/s", period = "1476 us", cap = "100 packets" }
   |                                          ^^^^^^^^^^^^
hint: raise `cap`, or lower `mean`""",
    ),
    "a mean in bytes": (
        "FLOW",
        'source = { name = "self_similar", mean = "950 kB" }',
        """\
error: expected a rate such as `400 Mbit/s`, or `50 packets`, found a number of bytes
  --> udp.toml:12:42
   |
12 | source = { name = "self_similar", mean = "950 kB" }
   |                                          ^^^^^^^^""",
    ),
    "too many periods": (
        "FLOW",
        'source = { name = "self_similar", period = "1 us" }',
        """\
error: the flow has 10000000 periods, and its noise is made as a whole, of at most 8388608
  --> udp.toml:12:44
   |
12 | source = { name = "self_similar", period = "1 us" }
   |                                            ^^^^^^
hint: take a longer period or a shorter run""",
    ),
    "a packet smaller than its headers": (
        "FLOW",
        'source = { name = "constant_rate", size = "20 B" }',
        """\
error: a packet of UDP has from 28 to 65535 bytes, found 20
  --> udp.toml:12:43
   |
12 | source = { name = "constant_rate", size = "20 B" }
   |                                           ^^^^^^
hint: `size` is that of the IP packet, its headers included""",
    ),
    "a negative rate": (
        "FLOW",
        'source = { name = "constant_rate", rate = "-1 Mbit/s" }',
        """\
error: `rate` cannot be negative, found -1000000 bit/s
  --> udp.toml:12:43
   |
12 | source = { name = "constant_rate", rate = "-1 Mbit/s" }
   |                                           ^^^^^^^^^^^
hint: `rate`: how fast it writes, application bytes alone (rate; by default 1000000 bit/s)""",
    ),
    "tails that are not heavy": (
        "FLOW",
        'source = { name = "pareto_on_off", alpha = 2.5 }',
        """\
error: `alpha` is above 1 and below 2, found 2.5
  --> udp.toml:12:44
   |
12 | source = { name = "pareto_on_off", alpha = 2.5 }
   |                                            ^^^
hint: alpha = 3 - 2 H: 1.4 for a Hurst parameter of 0.8""",
    ),
    "a stop before the start": (
        "FLOW",
        'source = "poisson"\nstart = "5 s"\nstop = "3 s"',
        """\
error: a flow stops after its start, which is at 5 s, found 3 s
  --> udp.toml:14:8
   |
14 | stop = "3 s"
   |        ^^^^^
hint: both count from the start of the run""",
    ),
    "a stop of a connection": (
        'transport = "udp"\nFLOW',
        'stop = "3 s"',
        """\
error: unknown key `stop`
  --> udp.toml:11:1
   |
11 | stop = "3 s"
   | ^^^^
hint: known here: name, path, direction, transport, model, cc, receiver_cc, tcp, source, start, delay, count, arrivals, host, receiver_host""",
    ),
    "no connection on a kernel": (
        '[[scenario.flows]]\npath = ["l"]\n[[',
        "[[",
        """\
error: a real kernel needs a connection of TCP, and here is only UDP
 --> udp.toml:7:1
  |
7 | [[scenario.flows]]
  | ^^^^^^^^^^^^^^^^^^
hint: leave it to the simulator: no kernel has a part in UDP flows""",
    ),
    "the kernel's shaper": (
        "[scenario]\n",
        '[scenario]\nkernel = { shaper = "kernel" }\n',
        """\
error: the kernel's shaper carries no flows of UDP
 --> udp.toml:5:21
  |
5 | kernel = { shaper = "kernel" }
  |                     ^^^^^^^^
hint: leave out kernel.shaper: the simulator's own links can do it""",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_mistake_about_udp_is_told_with_place_and_remedy(case: str) -> None:
    old, new, expected = CASES[case]
    text = STUDY.replace('backend = "sim"', 'backend = "uml"') if "kernel" in case else STUDY
    assert old in text
    text = text.replace(old, new, 1).replace("FLOW", 'source = "poisson"')
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(text, Path("udp.toml"), short=False, options=()))
    assert str(raised.value) == expected


def test_packets_of_random_sizes_need_an_mtu_for_the_largest() -> None:
    text = STUDY.replace('rate = "1 Gbit/s" }', 'rate = "1 Gbit/s", mtu = "9000 B" }')
    text = text.replace("FLOW", 'source = { name = "poisson", sizes = "exponential" }')
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(text, Path("udp.toml"), short=False, options=()))
    assert (
        str(raised.value)
        == """\
error: flow `flow2` of UDP sends packets of up to 65535 B, and link `l` carries 9000 B at most
 --> udp.toml:6:38
  |
6 | links.l = { rate = "1 Gbit/s", mtu = "9000 B" }
  |                                      ^^^^^^^^
hint: set a larger `mtu`, or a source with packets of one size"""
    )
