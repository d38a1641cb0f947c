"""What tshark and tcptrace say of a capture."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def _tshark(capture: Path, *options: str) -> list[str]:
    command = ["tshark", "-n", "-r", str(capture), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def tshark_values(capture: Path, of: str, *, source: str, shown: str | None = None) -> list[str]:
    """Of packets of that source that a filter fits: the values of the field that it is, or of the one to be shown."""
    return _tshark(capture, "-Y", f"({of}) && ip.src == {source}", "-T", "fields", "-e", shown or of)


def tshark_count(capture: Path, of: str, *, source: str) -> int:
    """How many packets of that source a filter fits."""
    return len(tshark_values(capture, of, source=source, shown="frame.number"))


def tshark_fields(capture: Path, *fields: str) -> list[str]:
    """A line for each packet, its fields apart by tabs; sequence numbers from the first."""
    return _tshark(capture, "-T", "fields", *(part for field in fields for part in ("-e", field)))


def tcptrace(capture: Path) -> dict[str, tuple[str, str]]:
    """The long output for one connection: of each line its two values, those of the first packet's sender first."""
    text = subprocess.run(["tcptrace", "-l", "-r", "-n", str(capture)], check=True, capture_output=True, text=True).stdout
    rows: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        if pair := re.match(r"\s+(\S.*?):\s+(\S+)(?: \w+)?\s+(\S.*?):\s+(\S+)", line):
            rows.setdefault(pair[1], (pair[2], pair[4]))
    return rows
