"""Files that a user names to be written: what is replaced, followed and refused, in exact words."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sawtooth import cli, outputs, storage
from sawtooth.errors import DatasetError, StudyError
from tests.captures.test_fit import captured

OTHER = "hint: name a file that may be replaced, or a new one\n"
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    def say(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sawtooth", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, error = capsys.readouterr()
        return int(ended.value.code or 0), out, error

    return say


@pytest.fixture
def study(tmp_path: Path) -> Path:
    file = tmp_path / "own.toml"
    file.write_text(
        'name = "own"\n[scenario]\nduration = "1 s"\nlinks = { l = { rate = "8 Mbit/s", delay = "5 ms" } }\nflows = [{ path = ["l"] }]\n'
    )
    return file


def test_what_a_file_is_replaced_by(tmp_path: Path) -> None:
    file, link, chain = tmp_path / "file", tmp_path / "link", tmp_path / "chain"
    file.write_text("before")
    link.symlink_to("file")
    chain.symlink_to(link)
    for place in (file, link, chain, tmp_path / "new"):
        outputs.write(place, str(place).encode(), "a study")
        assert place.read_text() == str(place)
    assert (link.readlink(), chain.readlink(), file.is_symlink()) == (Path("file"), link, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chain", "file", "link", "new"]


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to pipe").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        for name, what in (("pipe", "a pipe"), ("to pipe", "a pipe"), ("folder", "a directory"), ("socket", "a socket")):
            with pytest.raises(StudyError) as raised:
                outputs.write(tmp_path / name, b"x", "a study")
            assert str(raised.value) == f"error: {tmp_path / name} is {what}, and a study is written to a file\n{OTHER}".rstrip("\n")
    (tmp_path / "lost").symlink_to("nowhere")
    with pytest.raises(StudyError) as raised:
        outputs.write(tmp_path / "lost", b"x", "a study")
    assert str(raised.value) == (
        f"error: {tmp_path / 'lost'} is a link to nowhere, which is not there\nhint: remove the link, or name another file"
    )
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "to pipe").is_symlink() and not (tmp_path / "nowhere").exists()


def test_a_full_disk_is_told_without_saying_that_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(outputs, "write_atomically", full)
    with pytest.raises(DatasetError) as raised:
        outputs.write(tmp_path / "x", b"x", "a study")
    assert str(raised.value) == (
        f"error: no space left to write {tmp_path / 'x'}\nhint: make room, or name another place, and run the same command again"
    )
    assert storage.writing(tmp_path).resumes


@pytest.mark.parametrize("option", ["--out", "--figure"])
def test_fit_does_not_replace_the_capture_that_it_reads(option: str, tmp_path: Path, said: Said) -> None:
    file = tmp_path / ("real.svg" if option == "--figure" else "real.pcap")
    file.write_bytes(b"a capture")
    link = tmp_path / "link.svg"
    link.symlink_to(file)
    hard = tmp_path / "hard.svg"
    hard.hardlink_to(file)
    what = "a figure" if option == "--figure" else "a study"
    for place in (file, link, hard):
        assert said("fit", file, option, place) == (
            2,
            "",
            f"error: {place} is what is read ({file}), and {what} would replace it\nhint: name another file\n",
        )
    assert file.read_bytes() == b"a capture"


def test_fit_replaces_its_own_studies_only(tmp_path: Path, said: Said) -> None:
    file, own, fitted = captured(tmp_path, "cubic", 0.0), tmp_path / "own.toml", tmp_path / "fitted.toml"
    own.write_text('name = "mine"\n')
    assert said("fit", file, "--out", own) == (
        2,
        "",
        f"error: {own} is there, and is no study that `sawtooth fit` wrote\nhint: name another file, or replace it with --force\n",
    )
    assert own.read_text() == 'name = "mine"\n'
    for arguments in ([fitted], [fitted], [own, "--force"]):
        assert said("fit", file, "--cc", "cubic", "--out", *arguments)[::2] == (0, "")
        assert Path(str(arguments[0])).read_text().startswith("# Fitted to ")


def test_fit_has_a_file_for_the_study_and_one_for_the_figure(tmp_path: Path, said: Said) -> None:
    place = tmp_path / "x.svg"
    assert said("fit", tmp_path / "no.pcap", "--out", place, "--figure", place) == (
        2,
        "",
        f"error: {place} is the name of the figure, too\nhint: name another file for the study, such as fitted.toml\n",
    )


@pytest.mark.parametrize(
    ("command", "option", "name", "what"),
    [
        ("trace", "--qlog", "x.sqlog", "qlog"),
        ("trace", "--flent", "x.flent", "flent's data"),
        ("animate", "--out", "x.html", "an animation"),
    ],
)
def test_exports_replace_neither_the_study_nor_a_pipe(
    command: str, option: str, name: str, what: str, study: Path, tmp_path: Path, said: Said
) -> None:
    before = study.read_text()
    place = tmp_path / name
    place.symlink_to(study)
    assert said(command, study, option, place) == (
        2,
        "",
        f"error: {place} is what is read ({study}), and {what} would replace it\nhint: name another file\n",
    )
    assert study.read_text() == before
    place.unlink()
    os.mkfifo(place)
    assert said(command, study, option, place) == (2, "", f"error: {place} is a pipe, and {what} is written to a file\n{OTHER}")
    assert place.is_fifo()


def test_a_link_to_a_qlog_is_followed(study: Path, tmp_path: Path, said: Said) -> None:
    (tmp_path / "kept").write_text("")
    (tmp_path / "x.sqlog").symlink_to("kept")
    assert said("trace", study, "--qlog", tmp_path / "x.sqlog", "--out", tmp_path / "drawn")[0] == 0
    assert (tmp_path / "x.sqlog").is_symlink()
    assert (tmp_path / "kept").read_text().startswith("\x1e{")


def test_a_schema_goes_to_a_file(tmp_path: Path, said: Said) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert said("schema", "--out", tmp_path / "pipe") == (
        2,
        "",
        f"error: {tmp_path / 'pipe'} is a pipe, and a schema is written to a file\n{OTHER}",
    )
