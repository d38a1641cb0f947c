"""The legend of swim lanes has each kind of packet once."""

from __future__ import annotations

from pathlib import Path

from sawtooth import layers
from sawtooth.plan import make_plan
from sawtooth.plots import swim_lanes
from sawtooth.study import Study
from tests.unit.test_layers import HOST, STUDY


def test_each_kind_of_packet_is_once_in_the_legend() -> None:
    text = STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"').replace("2000 B", "9000 B") + HOST
    plan = make_plan(Study.parse(text, Path("way.toml")))
    view = layers.view(*layers.take(plan, plan.runs[0]), None, None)
    made = swim_lanes.layers(view.events, view.packets, view.waits, (view.begin, view.end), view.origin, ["a title"], view.message)
    (legend,) = made.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names[:3] == ["data", "acknowledgement", "the message's last byte"] and len(set(names)) == len(names)
    assert "_" not in "".join(names)
