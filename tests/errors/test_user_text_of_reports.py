"""Every kind of report with names that begin with `_` or hold `$`: they are shown as they are written, or the report says that it has no words for them."""

from __future__ import annotations

import html
import re
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import sawtooth
from sawtooth.errors import DatasetError
from sawtooth.plots import style
from sawtooth.report import KINDS, report
from sawtooth.report.document import Report
from sawtooth.results import lock
from sawtooth.results.dataset import Dataset, Observation
from sawtooth.tables import as_status, as_table

NAMES = ("_first", "$x", "$y$", "_$z$")
STUDY = """\
name = "names"
question = "What of _$q$?"
report = "KIND"
[scenario]
duration = "0.3 s"
stack = "linux"
record = ["layers"]
hosts = { "_$host$" = {}, "$other" = {} }
links."_$l$" = { rate = "10 Mbit/s", delay = "1 ms" }
FLOWS
[sweep]
"links._$l$.delay" = ["1 ms", "2 ms"]
[arms]
ARMS
[[figures]]
name = "took"
metric = "mean(messages.total_ns)"
x = "delay"
curves = "item"
panels = "arm"
[[figures]]
name = "layers"
kind = "shares"
metric = ["mean(messages.way_ns)", "mean(messages.transmission_ns)"]
x = "delay"
panels = "arm"
rows = "item"
"""
FLOW = """\
[[scenario.flows]]
name = "NAME"
path = ["_$l$"]
host = "_$host$"
receiver_host = "$other"
source = { name = "messages", size = "3 kB", count = 2, interval = "50 ms" }
"""


def study(kind: str) -> str:
    flows = "".join(FLOW.replace("NAME", name) for name in NAMES)
    arms = "\n".join(f'"{name}" = {{ "tcp.initial_window" = "{at + 2} packets" }}' for at, name in enumerate(NAMES))
    return STUDY.replace("KIND", kind).replace("FLOWS", flows).replace("ARMS", arms)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    directory = tmp_path_factory.mktemp("names")
    (directory / "names.toml").write_text(study("generic"))
    return sawtooth.run(directory / "names.toml", directory / "out")


def shown(made: Report, directory: Path) -> set[str]:
    """The words of a report's figures, which are drawn; every curve with a name is in its legend, and no name is taken for a formula."""
    page = made.write(directory).read_text(encoding="utf-8")
    assert str(made.dataset.manifest["question"]) in html.unescape(page)
    found: set[str] = set()
    for plot in [plot for section in made.sections for plot in section.plots]:
        style.svg(plot.figure)
        found |= _words(plot.figure)
    return found


def _words(drawn: Figure) -> set[str]:
    for axes in drawn.axes:
        for artist in axes.get_children():
            # What matplotlib itself has named is nobody's.
            assert not re.match(r"_(?!child\d+$|nolegend_$|container\d+$)", str(artist.get_label())), artist.get_label()
    texts: list[Text] = [text for text in drawn.findobj(Text) if text.get_visible()]
    for text in texts:
        # What is drawn as a formula is a number at a tick.
        formula = text.get_parse_math() and "$" in text.get_text().replace(r"\$", "")
        assert not formula or "mathdefault" in text.get_text(), text
    return {text.get_text().replace(r"\$", "$") for text in texts}


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_shows_names_or_has_no_words_for_them(
    kind: str, results: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = {**results.manifest, "report": kind}
    monkeypatch.setattr(results, "manifest", manifest)
    try:
        made = report(results)
    except DatasetError as error:
        assert kind != "generic"
        assert error.hint
        assert not re.search(r"NoneType|has no attribute|polars|unable to", error.message), error.message
        return
    assert kind == "generic"
    words = "\n".join(shown(made, tmp_path))
    assert all(style.plain(name) in words for name in NAMES)


def test_the_report_of_live_connections_shows_their_names(tmp_path: Path) -> None:
    observed, run, held = Dataset.observe(tmp_path / "live", Observation("live", "What of _$q$?", "live", "kernel", 'name = "live"\n'))
    lock.release(held)
    rows = [
        {"run": run, "flow": name, "start_ns": at * 10**9, "t_ns": (at + 1) * 10**9, "interval_bytes": 10**6, **_causes(at)}
        for name in NAMES
        for at in range(3)
    ]
    frame = pl.DataFrame(rows).with_columns(pl.col("run").cast(pl.UInt32))
    flows = pl.DataFrame(
        [{"run": run, "flow": name, "goodput_bps": 8e6, "lifetime_ns": 3 * 10**9, "stall_ns": 0, **_causes(0)} for name in NAMES]
    )
    who = pl.DataFrame([
        {"run": run, "flow": name, "cause": "cwnd", "says": name, "try": name, "local": name, "remote": name, "process": name, "pid": 1, "ended": False}
        for name in NAMES
    ]).with_columns(pl.col("run").cast(pl.UInt32))  # fmt: skip
    tables = {"flows": as_table("flows", flows), "limits": frame, "series": as_table("series", frame), "connections": who}
    observed.write_batch(0, tables, as_status([run], ["ok"], [None]))
    words = "\n".join(shown(report(Dataset.open(tmp_path / "live")), tmp_path / "report"))
    assert all(name in words for name in NAMES)


def _causes(at: int) -> dict[str, int]:
    causes = ("source", "rwnd", "send_buffer", "cwnd", "pacing", "nagle", "recovery", "rto", "device")
    return {f"limited_{cause}_ns": 10**8 for cause in causes} | {"stall_ns": at * 10**7, "busy_ns": 9 * 10**8}
