"""Every study of the project runs in its short form and ends in a report."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from sawtooth import doctor
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped
from tests.guards import records

KERNELS = {"uml": doctor.guest_finding, "qemu": partial(doctor.qemu_finding, fetch=True), "netns": doctor.netns_finding}


@pytest.mark.parametrize("study", shipped.studies())
def test_its_short_form_ends_in_a_report(study: str, short_form: Callable[[str], Path]) -> None:
    finding = KERNELS.get(str(tomllib.loads(shipped.studies()[study].read_text()).get("backend")))
    if finding and not finding().ok:
        pytest.skip(f"{finding().what}: {finding().detail}; {finding().advice}")
    out = short_form(study)
    dataset = Dataset.open(out)
    assert dataset.complete
    assert set(dataset.status()["status"]) == {"ok"}
    if study in records.studies():
        faults = records.faults(study, records.of_dataset(dataset), records.read(records.TABLE.read_text()))
        assert not faults, "\n".join(faults)
    page = (out / "report/report.html").read_text()
    assert "nan" not in re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(script|style|svg).*?</\1>", "", page)).lower().split()
    # Self-contained: nothing is loaded from elsewhere.
    assert not re.search(r"""(?:src|href)=["'](?!#|data:|tables/|figures/)""", page)
    for figure in re.findall(r"figures/([a-z0-9_]+)\.svg", page):
        assert (out / f"report/figures/{figure}.png").stat().st_size > 1000
    for table in re.findall(r"tables/([a-z0-9_]+)\.csv", page):
        assert pl.read_csv(out / f"report/tables/{table}.csv", infer_schema_length=None).height > 0
