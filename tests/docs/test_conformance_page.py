"""The page of scripts of packets, as far as it can be held without kernels and without the public scripts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sawtooth.conformance.parse import load
from sawtooth.conformance.running import PASSED, run
from sawtooth.conformance.simulated import SimulatedEndpoint

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/validation/conformance.md").read_text(encoding="utf-8")
EXPLAINED = tomllib.loads((ROOT / "bench/linux/conform.toml").read_text(encoding="utf-8"))["public"]


def test_our_scripts_came_to_what_the_page_says() -> None:
    """On the simulated endpoint, each by itself; none is missing."""
    folder = ROOT / "tests/conformance"
    said = dict(re.findall(r"^\| `([\w/-]+\.pkt)` \| (passed|failed) \|", PAGE, re.MULTILINE))
    assert set(said) == {str(path.relative_to(folder)) for path in folder.rglob("*.pkt")}
    for name, verdict in said.items():
        script = load(folder / name)
        outcome = run(script, lambda script=script: SimulatedEndpoint(script, "linux"))
        assert (outcome.verdict == PASSED) == (verdict == PASSED), outcome


def test_each_failure_is_explained() -> None:
    """As in the table of the program that writes the page, which has no other."""
    rows = dict(re.findall(r"^\| `([\w/.-]+\.pkt)` \| .*line \d.* \| (.*) \|$", PAGE, re.MULTILINE))
    assert rows
    assert "Not known." not in rows.values()
    for name, why in EXPLAINED.items():
        assert rows.get(name, why) == why


def test_shares_that_are_wanted_are_reached() -> None:
    """Of public scripts that apply at least 80 % pass, on each endpoint."""
    shares = [int(share) for share in re.findall(r"^\| .* \| public \| .* \| (\d+)% \|$", PAGE, re.MULTILINE)]
    assert len(shares) >= 2
    assert min(shares) >= 80
