"""Scripts of packets, ours and public ones, on the simulated endpoint and on kernels of guests: docs/validation/conformance.md.

python bench/linux/conform.py --public DIR [--image 6.12-hz1000]... [--write]

DIR is a clone of https://github.com/google/packetdrill, or what `git archive` makes of one, then with `--commit`. Its scripts are GPL-2: they are run where they lie, and nothing of
them is kept but their names, the numbers of lines and what differed there.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth.cli.conform_text import Which
from sawtooth.cli.conform_text import run as run_here
from sawtooth.conformance import in_guest
from sawtooth.conformance.running import FAILED, NOT_APPLICABLE, PASSED, TOLERANCE_SECS
from sawtooth.conformance.told import INVALID, Told

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import publish, table

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests/conformance"
PAGE = ROOT / "docs/validation/conformance.md"
EXPLAINED = Path(__file__).with_name("conform.toml")
LATE_SECS = 0.07
"""What a kernel's timer may be late by: of seconds that wait, an eighth of the next power of two below (Linux's timer wheel), or a packaged guest's ticks."""
HZ = 1000
"""Ticks of the hosts that public scripts were written on, as their ranges of times show."""
DEFINED = {
    # What the public repository's runner gives its scripts for IPv4.
    "TFO_COOKIE": "3021b9d889017eeb",
    "CODE": "host_unreachable",
    "CMSG_LEVEL_IP": "SOL_IP",
    "CMSG_TYPE_RECVERR": "IP_RECVERR",
    "MSS": "1460",
}
LATE = "failed by time alone"
VERDICTS = (PASSED, LATE, FAILED, NOT_APPLICABLE)


@dataclass(frozen=True)
class Side:
    """An endpoint: its name, and what became of scripts, by their paths."""

    name: str
    own: dict[str, Told]
    public: dict[str, Told]


def main() -> None:
    """Runs all and prints the page, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, required=True, help="a clone of the public repository")
    parser.add_argument("--commit", default="", help="its commit, if DIR is no clone")
    parser.add_argument("--image", action="append", default=[], help="another kernel, as `sawtooth kernel list` shows")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    commit = options.commit or _git("-C", str(options.public), "rev-parse", "--short=8", "HEAD")
    sides = [simulated(options.public), *(kernel(options.public, image) for image in ["", *options.image])]
    publish(page(sides, commit, tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))), PAGE, write=options.write)


def simulated(public: Path) -> Side:
    """The simulated endpoint, of which public scripts get the ticks that they were written for."""

    def run(paths: Sequence[Path], tolerance: float, hz: int | None) -> list[Told]:
        return run_here(paths, Which(hz=hz), tolerance, DEFINED)

    return _side(
        "simulated", public, lambda paths, tolerance: run(paths, tolerance, None), lambda paths, tolerance: run(paths, tolerance, HZ)
    )


def kernel(public: Path, image: str) -> Side:
    """A guest's kernel, packaged or of an image."""
    releases: set[str] = set()

    def run(paths: Sequence[Path], tolerance: float) -> list[Told]:
        release, told = in_guest.run(paths, tolerance, image, DEFINED)
        releases.add(release)
        return told

    side = _side("", public, run, run)
    ticks = image.rpartition("-hz")[2] or "100"
    return Side(f"Linux {releases.pop()}, {ticks} Hz", side.own, side.public)


Runs = Callable[[Sequence[Path], float], list[Told]]


def _side(name: str, public: Path, runs_own: Runs, runs_public: Runs) -> Side:
    own = sorted(OWN.rglob("*.pkt"))
    told = _by_name(own, OWN, runs_own(own, TOLERANCE_SECS))
    theirs = sorted(public.rglob("*.pkt"))
    root = public / "gtests/net"
    found = _by_name(theirs, root, runs_public(theirs, TOLERANCE_SECS))
    failed = [path for path in theirs if found[str(path.relative_to(root))].verdict == FAILED]
    again = _by_name(failed, root, runs_public(failed, LATE_SECS))
    late = {name: found[name] for name, each in again.items() if each.verdict == PASSED}
    found |= {name: Told(each.script, LATE, each.reason, each.line, each.column) for name, each in late.items()}
    for path in theirs:
        if path.stem.endswith("v6"):
            # The runner's rule: such are for IPv6 alone.
            found[str(path.relative_to(root))] = Told(str(path), NOT_APPLICABLE, "IPv6")
    return Side(name, told, found)


def _by_name(paths: Iterable[Path], root: Path, told: Iterable[Told]) -> dict[str, Told]:
    return {str(path.relative_to(root)): each for path, each in zip(paths, told, strict=True)}


def page(sides: Sequence[Side], commit: str, explained: dict[str, dict[str, str]]) -> str:
    """The page of what became of all scripts."""
    own = [[f"`{name}`", *(side.own[name].verdict for side in sides)] for name in sides[0].own]
    return f"""<!-- Written by bench/linux/conform.py --write; edit that. -->

# Scripts of packets, ours and public ones, on the simulated endpoint and on kernels

{datetime.datetime.now(tz=datetime.UTC).date()}, commit `{_git("rev-parse", "--short=8", "HEAD")}`. [How to run scripts](../guides/conform.md); how these were run:

- Kernels are those of guests of user-mode Linux, in virtual time: {", and ".join(side.name for side in sides[1:])}.
- Public scripts are those of [packetdrill](https://github.com/google/packetdrill)'s repository, commit `{commit}`, in IPv4, with the words that its runner defines. They are run as they are, with {1e3 * TOLERANCE_SECS:g} ms of tolerance
  where a script does not say another. They are for kernels as they are developed, so a kernel of a release may fail some, and a kernel that came later others.
- A script that fails is run again with {1e3 * LATE_SECS:g} ms of tolerance. If it passes then, it *failed by time alone*: Linux's timers are late by up to an eighth, and a guest's ticks are another reason.
- Of scripts that apply, a share passes; what is not applicable is none of them. The simulated endpoint has {HZ} ticks a second for public scripts, and where PSH stands in its bursts is not compared.
- The one script of ours that fails on the simulated endpoint is in `kernel-only`, which is for such.

{_shares(sides)}

{_apart(sides)}

## Ours

{table(["Script", *(side.name for side in sides)], own)}

## Public ones, by folder

Passed / failed by time alone / failed / not applicable.

{_folders(sides)}

## What is not applicable, and why

{_reasons(sides)}

## What failed

By name and number of the line, what differs there, and why, as far as it is known.

{_failures(sides, explained)}
"""


def _shares(sides: Sequence[Side]) -> str:
    rows: list[list[str]] = []
    for side in sides:
        for which, told in (("ours", side.own), ("public", side.public)):
            counts = Counter(each.verdict for each in told.values())
            applicable = sum(counts[verdict] for verdict in (PASSED, LATE, FAILED, INVALID))
            rows.append([side.name, which, *(str(counts[verdict]) for verdict in VERDICTS), f"{counts[PASSED] / max(1, applicable):.0%}"])
    return table(["Endpoint", "Scripts", *VERDICTS, "passed of those that apply"], rows, "llrrrrr")


def _apart(sides: Sequence[Side]) -> str:
    """What fails on the simulated endpoint, and how much of it on a kernel just so."""
    failing = {name: each for name, each in sides[0].public.items() if each.verdict in (FAILED, LATE, INVALID)}
    as_kernels = sum(
        any((side.public[name].line, side.public[name].reason) == (each.line, each.reason) for side in sides[1:])
        for name, each in failing.items()
    )
    return (
        f"Public scripts that fail on the simulated endpoint: {len(failing)}. Of these a kernel fails at the same line by the same: {as_kernels}. "
        f"What parts the simulator from Linux is in the others: {len(failing) - as_kernels}."
    )


def _folders(sides: Sequence[Side]) -> str:
    folders = sorted({str(Path(name).parent) for name in sides[0].public})
    rows: list[list[str]] = []
    for folder in folders:
        names = [name for name in sides[0].public if str(Path(name).parent) == folder]
        rows.append([f"`{folder}`"] + [_four(side.public[name].verdict for name in names) for side in sides])
    rows.append(["**all**"] + [_four(each.verdict for each in side.public.values()) for side in sides])
    return table(["Folder", *(side.name for side in sides)], rows, "l" + "r" * len(sides))


def _four(verdicts: Iterable[str]) -> str:
    counts = Counter(verdicts)
    return " / ".join(str(counts[verdict]) for verdict in VERDICTS)


def _reasons(sides: Sequence[Side]) -> str:
    counts = [Counter(_shortened(each.reason) for each in side.public.values() if each.verdict == NOT_APPLICABLE) for side in sides]
    reasons = sorted({reason for count in counts for reason in count}, key=lambda reason: ([-count[reason] for count in counts], reason))
    return table(
        ["Reason", *(side.name for side in sides)],
        [[reason, *(str(count[reason] or "") for count in counts)] for reason in reasons],
        "l" + "r" * len(sides),
    )


def _shortened(reason: str) -> str:
    """Of a command its first two words, and no more of a script's text."""
    head, found, command = reason.partition("`")
    if not found:
        return reason
    words = command.partition("`")[0].partition("|")[0].split()
    return f"{head}`{' '.join(words[: 3 if words[0] == 'tc' else 2])}`".replace("`echo 3`", "`echo`")


def _failures(sides: Sequence[Side], explained: dict[str, dict[str, str]]) -> str:
    rows: list[list[str]] = []
    for name in sides[0].public:
        failed = [side for side in sides if side.public[name].verdict in (FAILED, LATE, INVALID)]
        if not failed:
            continue
        where = "; ".join(f"{side.name}: line {side.public[name].line}, {side.public[name].reason}" for side in failed)
        late = [side for side in failed if side.public[name].verdict == LATE]
        of_late = "Timers that are late by less than the longer tolerance." if late == failed else ""
        why = explained.get("public", {}).get(name, "") or of_late or "Not known."
        rows.append([f"`{name}`", where, why])
    return table(["Script", "Where", "Why"], rows)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


if __name__ == "__main__":
    main()
