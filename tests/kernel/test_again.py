"""Runs on real kernels that a page does again: another run of the same scenario and seed, told as what it is, with a time-sequence graph of its own packets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sawtooth
from sawtooth import doctor
from sawtooth.backends import netns
from tests.conftest import PATIENCE
from tests.web.conftest import asking, serving, showing
from tests.web.test_pages import violations
from tests.web.test_runs import unpacked

STUDY = """
name = "{name}"
question = "What does this kernel do with a short queue?"
backend = "{backend}"
[scenario]
duration = "{duration}"
{sample}
links.l = {{ rate = "10 Mbit/s", delay = "20 ms", queue = {{ name = "drop_tail", limit = "50 packets" }} }}
flows = [{{ name = "bulk", path = ["l"], cc = "kernel:{cc}" }}]
"""
NETNS = doctor.netns_finding()
GUEST = doctor.guest_finding()
BACKENDS = [
    pytest.param("uml", marks=pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")),
    pytest.param(
        "netns",
        marks=[
            pytest.mark.xdist_group("real time"),
            pytest.mark.skipif(not NETNS.ok, reason=f"{NETNS.what}: {NETNS.detail}; {NETNS.advice}"),
        ],
    ),
]


def lab(folder: Path, backend: str, *, sample: str = "", duration: str = "3 s", run: bool = True) -> Path:
    """A folder with the results of a study of one run."""
    cc = netns.congestion_controls()[0] if backend == "netns" else "cubic"
    (folder / "lab").mkdir(parents=True, exist_ok=True)
    study = folder / "lab" / "kernels.toml"
    study.write_text(STUDY.format(name="kernels", backend=backend, duration=duration, sample=sample, cc=cc))
    if run:
        sawtooth.run(study, folder / "lab" / "results")
    return folder / "lab"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_of_which_nothing_was_stored_is_done_again_and_its_graph_has_its_packets(backend: str, tmp_path: Path) -> None:
    folder = lab(tmp_path, backend)
    query = {"of": "lab/results", "run": "0"}
    with asking(folder) as client:
        error = client.get("/api/run/series", params=query).json()["error"]
        assert error["message"] == "this run was on a real kernel, and no series of it was stored" and error["repeatable"] is True
        refused = client.get("/api/run/series", params={**query, "again": "1"})
        assert (refused.status_code, refused.json()["error"]["message"]) == (403, "this explorer may not do a run on a real kernel again")
    with asking(folder, allow_run=True) as client:
        head, columns = unpacked(client.get("/api/run/series", params={**query, "again": "1"}).content)
        assert head["again"] is True and head["backend"] == backend and head["links"] == []
        assert head["kernel"]["now"] and head["kernel"]["stored"] == [head["kernel"]["now"]] and not head["kernel"]["stored_series"]
        assert len(head["kernel"]["was"]) == 1 and head["kernel"]["was"][0].startswith("bulk: ")
        assert len(columns["bulk t"]) > 500 and float(np.nanmax(columns["bulk cwnd"])) > 14
        delivered = float(columns["bulk goodput"].sum() * head["step"] * 1e6 / 8)
        # The network carries 10 Mbit/s; how much of it comes through in real time depends on what else the machine does.
        assert 0.1 * 3.75e6 < delivered < 3.75e6
        # The graph is of this very run: at the sample with which the last step of goodput ends, it has what was delivered until then. A busy machine samples late.
        graph, packets = unpacked(client.get("/api/run/sequence", params={**query, "again": "1", "flow": "bulk"}).content)
        assert graph["flow"] == "bulk"
        ends = columns["bulk goodput t"][-1] + head["step"]
        sampled = columns["bulk t"][columns["bulk t"] <= ends + 1e-9][-1]
        until = packets["acked to"][packets["acked t"] <= sampled][-1]
        assert until == pytest.approx(delivered, rel=0.05)
        # Asked once more it is the same one: it was kept.
        _, once_more = unpacked(client.get("/api/run/series", params={**query, "again": "1"}).content)
        assert once_more["bulk t"].tobytes() == columns["bulk t"].tobytes()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_page_lays_the_run_done_again_beside_what_was_stored_and_says_what_it_is(backend: str, tmp_path: Path, browser: Any) -> None:
    folder = lab(tmp_path, backend, sample='sample = "50 ms"')
    with serving(folder, "--allow-run") as explorer, showing(browser, explorer) as page:
        page.goto("/run?of=lab/results&run=0")
        page.get_by_text("as it was stored", exact=False).first.wait_for()
        assert page.get_by_role("form", name="What if").count() == 0
        page.get_by_role("button", name="Do it again and lay it beside").click()
        page.get_by_text("bulk, run 0, done again", exact=False).first.wait_for(timeout=2 * PATIENCE)
        page.get_by_text("bulk, run 0 as stored", exact=False).first.wait_for()
        assert "beside=0&besideAgain=1" in page.url
        page.get_by_label("Time-sequence graph", exact=True).get_by_role("combobox").select_option("bulk, run 0, done again")
        page.get_by_role("img", name="Time-sequence graph of bulk", exact=False).wait_for()
        assert violations(page) == []
        page.get_by_role("button", name="Do it again in detail").click()
        page.get_by_text("This is another run than the one that was stored.").wait_for()
        page.get_by_text("Stored was: bulk:", exact=False).wait_for()
        page.get_by_role("button", name="Show what was stored").click()
        page.get_by_role("button", name="Do it again in detail").wait_for()
        assert violations(page) == []


@pytest.mark.skipif(not NETNS.ok, reason=f"{NETNS.what}: {NETNS.detail}; {NETNS.advice}")
def test_a_run_in_real_time_that_is_longer_than_a_page_waits_is_refused(tmp_path: Path) -> None:
    from sawtooth.plan import make_plan
    from sawtooth.results.dataset import Dataset
    from sawtooth.study import Study

    folder = lab(tmp_path, "netns", duration="200 s", run=False)
    Dataset.create(folder / "results", make_plan(Study.load(folder / "kernels.toml")))
    with asking(folder, allow_run=True) as client:
        error = client.get("/api/run/series", params={"of": "lab/results", "run": "0", "again": "1"}).json()["error"]
    assert error["message"].startswith("on its kernel this run takes about ") and error["message"].endswith("and pages wait 60 s for one")
    assert error["hint"] == "`sawtooth trace STUDY --run 0` has no such limit"
