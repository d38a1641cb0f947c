"""The cloud kernel is fetched once, whoever needs it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sawtooth.backends import debian


def test_who_needs_the_kernel_while_another_fetches_it_waits_and_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []

    def run(command: list[str], directory: Path) -> str:
        commands.append(command[1])
        if command[1] == "download":
            time.sleep(0.2)
            (directory / "kernel.deb").touch()
        if command[0] == "dpkg-deb":
            (directory / "root/boot").mkdir(parents=True)
            (directory / "root/boot/vmlinuz-6.1.0-9-cloud-amd64").touch()
            (directory / "root/lib/modules/6.1.0-9-cloud-amd64/kernel").mkdir(parents=True)
        return "Depends: linux-image-6.1.0-9-cloud-amd64"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(debian, "_ROOT", tmp_path / "nothing")
    monkeypatch.setattr(debian, "_run", run)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: debian.find().release, range(3)))
    assert found == ["6.1.0-9-cloud-amd64"] * 3
    assert commands == ["show", "download", "-x"]
