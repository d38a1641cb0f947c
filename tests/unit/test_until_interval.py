"""The table of replicates shows the interval that decided the rule, by its name: that of the replicates it looked at, in their order."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth import stats
from sawtooth.report.generic import build

STUDY = """
name = "until"
order = "{order}"
repeat = {{ until = "10 %", of = "goodput_bps", max = 40 }}
[scenario]
duration = "4 s"
links.l = {{ rate = "10 Mbit/s", delay = "10 ms", loss = 0.02 }}
flows = [{{ name = "bulk", path = ["l"] }}]
[arms]
reno = {{ "flows[0].cc" = "reno" }}
cubic = {{ "flows[0].cc" = "cubic" }}
"""


@pytest.mark.parametrize("order", ["plan", "blocks"])
def test_the_interval_is_the_one_that_decided(order: str, tmp_path: Path) -> None:
    path = tmp_path / "until.toml"
    path.write_text(STUDY.format(order=order) if order == "blocks" else STUDY.replace('order = "{order}"\n', "").format())
    dataset = sawtooth.run(path, tmp_path / "out")
    section = build(dataset).sections[-1]
    values = dataset.flows(factors=True).select("arm", "replicate", "goodput_bps").collect().sort("replicate")
    rows = section.grids[0].frame.to_dicts()
    fewer = 0
    for row in rows:
        own = values.filter(arm=row["arm"])["goodput_bps"].to_numpy()
        decided = stats.sequential(own, 0.1, most=40)
        assert row["runs"] == len(own)
        assert row["runs counted"] == decided.n
        shown = [1e6 * row[name] for name in ("mean (Mbit/s)", "low", "high")]
        assert shown == pytest.approx([decided.interval.estimate, decided.interval.low, decided.interval.high])
        assert row["within (%)"] == pytest.approx(100 * decided.share)
        assert row["interval"] == decided.interval.kind
        assert row["interval"].startswith("95% sequential ")
        fewer += decided.n < len(own)
    # One arm needed more than the other, or nothing were shown here.
    assert fewer == 1
