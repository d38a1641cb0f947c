"""The numbers of figures say what they are in, as tables do: CSV files outlive the report that has the axes."""

from __future__ import annotations

import pytest

import sawtooth
from sawtooth import Dataset, Study

STUDY = """
name = "s"
repeat = 2
[draws]
S = { distribution = "uniform", low = "0 ms", high = "500 ms" }
[scenario]
duration = "2 s"
sample = "100 ms"
stack = "linux"
record = ["episodes"]
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], start = "S" }]
[sweep]
"links.l.rate" = ["5 Mbit/s", "10 Mbit/s"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("units")
    (folder / "s.toml").write_text(STUDY)
    return sawtooth.run(Study.load(folder / "s.toml"), out=folder / "out", jobs=1)


@pytest.mark.parametrize(
    ("kind", "keys", "units"),
    [
        ("levels", {"x": "rate"}, {"unit": "bit/s"}),
        ("levels", {"x": "rate", "metric": "goodput_bps / 1 Mbit/s"}, {"unit": ""}),
        ("heatmap", {"x": "rate", "y": "arm"}, {"unit": "bit/s"}),
        ("box", {"x": "rate"}, {"unit": "bit/s"}),
        ("cdf", {"panels": "rate"}, {"unit": "bit/s"}),
        ("difference", {"x": "rate"}, {"unit": "bit/s"}),
        ("difference", {"x": "rate", "form": "ratio"}, {"unit": ""}),
        ("paired", {"panels": "rate"}, {"unit": "bit/s"}),
        ("paired", {"panels": "rate", "form": "ratio"}, {"unit": ""}),
        ("plane", {"panels": "rate", "against": "srtt_mean_ns"}, {"x_unit": "ns", "y_unit": "bit/s"}),
        ("scatter", {"panels": "rate", "against": "srtt_mean_ns"}, {"x_unit": "ns", "y_unit": "bit/s"}),
        ("shares", {"x": "rate", "parts": "arm"}, {"unit": ""}),
        ("time", {"panels": "rate", "metric": "series.cwnd_bytes"}, {"unit": "B"}),
        ("lanes", {"panels": "rate", "y": "arm", "metric": "episodes.end_ns - episodes.start_ns"}, {"unit": "ns"}),
        ("effects", {"show": "means"}, {"unit": "bit/s"}),
    ],
)
def test_numbers_have_their_unit_beside_them(kind: str, keys: dict[str, str], units: dict[str, str], results: Dataset) -> None:
    numbers = results.figure(**{"kind": kind, "metric": "goodput_bps", **keys}).numbers  # type: ignore[arg-type]
    assert numbers is not None and numbers.height
    for name, unit in units.items():
        assert numbers[name].unique().to_list() == [unit]
