"""What is done with counted instructions (`bench/instructions.py`): the counting itself is `make instructions`."""

from __future__ import annotations

import csv
import sys

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import instructions
from instructions import Figure


@pytest.mark.parametrize(
    ("before", "now", "said", "fails"),
    [
        (100.0, 102.9, "", False),
        (100.0, 103.1, "more than 3% above the table", True),
        (100.0, 97.1, "", False),
        (100.0, 96.9, "lower the table: --write", False),
        (None, 100.0, "new: --write", True),
        (100.0, None, "is no case any more: --write", True),
    ],
)
def test_three_percent_more_fails_and_three_percent_less_is_told(before: float | None, now: float | None, said: str, fails: bool) -> None:
    def figures(each: float | None) -> dict[str, Figure]:
        return {} if each is None else {"case": Figure("packet", each, 1000, "rustc 1.95.0")}

    text, failed = instructions.comparison(figures(before), figures(now))
    assert failed == fails
    assert text.splitlines()[-1].split("|")[-2].strip() == said


def test_the_table_has_every_case() -> None:
    with instructions.TABLE.open(newline="") as file:
        assert [row["case"] for row in csv.DictReader(file)] == list(instructions.cases())


def test_profiles_of_the_environment_do_not_reach_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CARGO_PROFILE_RELEASE_LTO", "CARGO_INCREMENTAL", "RUSTFLAGS"):
        monkeypatch.setenv(name, "off")
    monkeypatch.setenv("CARGO_HOME", "kept")
    kept = instructions.shipping_environment()
    assert kept["CARGO_HOME"] == "kept"
    assert not {"CARGO_PROFILE_RELEASE_LTO", "CARGO_INCREMENTAL", "RUSTFLAGS"} & set(kept)
