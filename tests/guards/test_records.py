"""No result changes unsaid: `records.py`. The short forms themselves are run, and held against the file, by `tests/studies`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sawtooth
from tests.guards import records
from tests.guards.records import Row

CHANGELOG = """\
# Changelog

## Unreleased

### Changed results

- [tail] The tail is counted.
- None.

### Fixed

- [fixed] Something else.

## 0.1.0

### Changed results

- [clock] Times are exact.
"""


@pytest.fixture(scope="module")
def rows() -> records.Rows:
    return records.read(records.TABLE.read_text())


def test_every_study_of_the_simulator_and_every_golden_file_has_hashes(rows: records.Rows) -> None:
    assert sorted(rows) == sorted([*records.studies(), *records.golden()])


def test_golden_files_are_as_their_hashes_say(rows: records.Rows) -> None:
    faults = [said for name, digests in records.golden().items() for said in records.faults(name, digests, rows)]
    assert not faults, "\n".join(faults)


def test_every_entry_that_a_hash_names_is_in_the_changelog(rows: records.Rows) -> None:
    unnamed = records.unnamed(rows, records.CHANGELOG.read_text())
    assert not unnamed, 'not under "Changed results" in the changelog: ' + ", ".join(unnamed)


def test_entries_are_those_under_changed_results_of_any_release() -> None:
    assert records.entries(CHANGELOG) == {"tail", "clock"}


def test_the_file_is_read_as_it_was_written() -> None:
    rows = {"studies/b.toml": {"flows.acked_packets": Row.of("-", "1")}, "golden/a.txt": {"linux rack bbr": Row.of("tail", "2")}}
    assert records.read(records.show(rows)) == rows


def test_a_changed_hash_needs_an_entry_that_the_changelog_has() -> None:
    rows = {"s": {"flows.a": Row.of("-", "1"), "flows.b": Row.of("-", "1")}}
    found = {"s": {"flows.a": "2", "flows.b": "1"}}
    assert records.faults("s", found["s"], rows) == [f"s: flows.a changed: if that is meant, {records.RENEW}"]
    for given in ([], ["tail=s: flows.b"]):
        with pytest.raises(records.NotSaid, match=r"1 hashes changed:\n  s: flows\.a\n"):
            records.renewed(rows, found, given, CHANGELOG)
    for entry in ("fixed", "unsaid"):
        with pytest.raises(records.NotSaid, match=rf"there is no entry \[{entry}\]"):
            records.renewed(rows, found, [entry], CHANGELOG)
    after = records.renewed(rows, found, ["clock=*: links.*", "tail"], CHANGELOG)
    assert after == {"s": {"flows.a": Row.of("tail", "2"), "flows.b": Row.of("-", "1")}}
    assert records.faults("s", found["s"], after) == []
    # What was said of one change does not cover the next.
    with pytest.raises(records.NotSaid, match=r"\[tail\] has changed `s: flows\.a` once already"):
        records.renewed(after, {"s": {"flows.a": "3", "flows.b": "1"}}, ["tail"], CHANGELOG)


def test_a_hash_that_is_copied_without_its_entry_does_not_fit() -> None:
    assert not Row("-", Row.of("tail", "2").sealed).holds("2")
    assert records.unnamed({"s": {"flows.a": Row.of("unsaid", "2")}}, CHANGELOG) == ["unsaid"]


def test_new_columns_and_studies_change_nothing_that_was() -> None:
    rows = {"s": {"flows.a": Row.of("tail", "1"), "flows.gone": Row.of("-", "1")}}
    found = {"s": {"flows.a": "1", "flows.new": "1"}, "t": {"flows.a": "1"}}
    assert [said.split(":")[1] for said in records.faults("s", found["s"], rows)] == [
        " flows.new has no hash yet",
        " flows.gone is there no more",
    ]
    after = records.renewed(rows, found, [], CHANGELOG)
    assert after == {
        "s": {"flows.a": Row.of("tail", "1"), "flows.new": Row.of("-", "1")},
        "t": {"flows.a": Row.of("-", "1")},
    }


# --- a planted fault, of one packet or one bit


def digests(study: Path, out: Path, *options: str, jobs: int = 1) -> records.Digests:
    return records.of_dataset(sawtooth.run(study, out, jobs=jobs, options=options))


def test_the_same_runs_have_the_same_hashes_whatever_the_threads(study_file: Path, tmp_path: Path) -> None:
    options = ["scenario.sample=100 ms"]
    one = digests(study_file, tmp_path / "one", *options)
    assert one == digests(study_file, tmp_path / "four", *options, jobs=4)
    assert {"flows.acked_packets", "links.link", "series.cwnd_bytes"} <= set(one)


def test_a_queue_of_one_packet_more_is_seen_in_the_columns_that_it_changes(study_file: Path, tmp_path: Path) -> None:
    before = digests(study_file, tmp_path / "before")
    after = digests(study_file, tmp_path / "after", "scenario.links.bottleneck.queue.limit=11 packets")
    changed = {what for what in before if before[what] != after[what]}
    assert {"flows.sent_packets", "links.dropped_packets"} <= changed
    assert "flows.start_ns" not in changed


def test_one_bit_of_a_golden_file_is_seen_in_its_row(tmp_path: Path, rows: records.Rows) -> None:
    planted = tmp_path / "windows.txt"
    shutil.copy(records.GOLDEN / planted.name, planted)
    lines = planted.read_text().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if line.startswith("linux rack bbr "))
    lines[at] = lines[at].replace("1", "2", 1)
    said = records.faults("golden/windows.txt", records.of_golden("".join(lines)), rows)
    assert said == [f"golden/windows.txt: linux rack bbr changed: if that is meant, {records.RENEW}"]
