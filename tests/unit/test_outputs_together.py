"""What a command line names to be written: folders on the way are made, files that belong together are written together, and an empty word names nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth import StudyError, arguments, outputs
from sawtooth.kinds import Kind, kind


def test_folders_on_the_way_to_a_file_are_made_also_behind_a_link(tmp_path: Path) -> None:
    outputs.write(tmp_path / "a" / "b" / "c.csv", b"1", "a table")
    assert (tmp_path / "a" / "b" / "c.csv").read_bytes() == b"1"
    (tmp_path / "to").symlink_to(tmp_path / "a")
    outputs.write(tmp_path / "to" / "d" / "e.csv", b"2", "a table")
    assert (tmp_path / "a" / "d" / "e.csv").read_bytes() == b"2"


def test_who_interrupts_is_told_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = outputs.write_atomically

    def stopped(path: Path, content: bytes) -> None:
        if path.name == "b.svg":
            raise KeyboardInterrupt
        honest(path, content)

    monkeypatch.setattr(outputs, "write_atomically", stopped)
    with pytest.raises(KeyboardInterrupt):
        outputs.write_all(tmp_path / "out", {"a.csv": b"1", "b.svg": b"2", "b.png": b"3"})
    assert capsys.readouterr().err == f"stopped: not written to {tmp_path / 'out'}: b.svg, b.png\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "a.toml", "--pcap", ""], "`--pcap` is given nothing"),
        (["run", "a.toml", "--out="], "`--out` is given nothing"),
        (["run", " "], "an argument is empty"),
        (["compare", "a", "b", "--value", "x", "--unit", "", "--csv", ""], "`--csv` is given nothing"),
    ],
)
def test_an_empty_word_names_nothing(words: list[str], message: str) -> None:
    with pytest.raises(StudyError) as refused:
        arguments.require_words(words)
    assert str(refused.value) == f"error: {message}\nhint: write a value, or leave it out; is a variable of the shell not set?"


def test_numbers_may_be_without_a_unit_and_other_words_are_left_alone() -> None:
    words = ["run", "a.toml", "--set", "a==", "--unit", "", "--unit=", "-"]
    assert arguments.require_words(words) is None


def test_what_a_path_is_is_told_by_its_name_and_how_it_begins(tmp_path: Path) -> None:
    for name, content in (
        ("a.json", b' {"a": 1}'),
        ("a.csv", b"a,b"),
        ("b.csv", b'{"a": 1}'),
        ("a.toml", b""),
        ("a", b"x"),
        ("a.pcap", b"{"),
    ):
        (tmp_path / name).write_bytes(content)
    found = {name: kind(tmp_path / name) for name in ("a.json", "a.csv", "b.csv", "a.toml", "a", "a.pcap", "gone.pcapng", "gone.csv", "..")}
    assert found == {
        "a.json": Kind.JSON, "a.csv": Kind.TABLE, "b.csv": Kind.JSON, "a.toml": Kind.STUDY, "a": Kind.CAPTURE, "a.pcap": Kind.CAPTURE,
        "gone.pcapng": Kind.CAPTURE, "gone.csv": Kind.NOTHING, "..": Kind.DIRECTORY,
    }  # fmt: skip
