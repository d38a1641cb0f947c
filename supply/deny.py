"""Whether what Sawtooth is made of may be: licences, sources, and known vulnerabilities where they can be looked up. `make deny`.

Crates are checked by cargo-deny and `deny.toml`, Python distributions by their metadata and `uv audit`. Where a database of vulnerabilities
cannot be reached, a line says so, and the rest counts. Exit code 1 if anything may not be.
"""

from __future__ import annotations

import subprocess
import sys

from supply import licences
from supply.licences import ROOT

UV = ROOT / ".venv/bin/uv"
# What the two programs say when they cannot reach their databases, in lower case.
_UNREACHABLE = ("failed to fetch advisory database", "failed to get 'fetch_head' metadata", "error sending request")


def main() -> int:
    """Checks everything, and says of each what came of it."""
    passed = [crates(), advisories_of_crates(), distributions(), advisories_of_distributions()]
    return 0 if all(passed) else 1


def crates() -> bool:
    """Licences, bans and sources of the crates."""
    checked = _run("cargo-deny", "--all-features", "check", "licenses", "bans", "sources")
    print(f"crates: {_last(checked.stderr + checked.stdout)}")
    if checked.returncode:
        print(checked.stderr, file=sys.stderr)
    return checked.returncode == 0


def advisories_of_crates() -> bool:
    """Known vulnerabilities of the crates, yanked ones, and those that nobody looks after."""
    checked = _run("cargo-deny", "--all-features", "check", "advisories")
    if checked.returncode and _is_unreachable(checked.stderr):
        # Perhaps there is one from an earlier time.
        checked = _run("cargo-deny", "--all-features", "--offline", "check", "advisories")
        if checked.returncode and _is_unreachable(checked.stderr):
            print("advisories of crates: not looked at, the RustSec database cannot be reached")
            return True
    print(f"advisories of crates: {_last(checked.stderr + checked.stdout)}")
    if checked.returncode:
        print(checked.stderr, file=sys.stderr)
    return checked.returncode == 0


def distributions() -> bool:
    """Licences of the Python distributions, and of what is in the explorer's pages."""
    every, refused = licences.distributions(), licences.refused()
    absent = [each.name for each in every if not each.licence]
    note = f"; not installed here, so not read: {', '.join(absent)}" if absent else ""
    told = f"{len(every) - len(absent)} read{note}; and {len(licences.pages())} packages of the explorer's pages"
    print(f"distributions: {'licenses FAILED' if refused else 'licenses ok'} ({told})")
    for each in refused:
        print(f"  {each.name} {each.version}: `{each.licence}` is not allowed; see deny.toml and supply/licences.py", file=sys.stderr)
    return not refused


def advisories_of_distributions() -> bool:
    """Known vulnerabilities of the Python distributions."""
    checked = _run(str(UV), "audit", "--frozen", "--preview-features", "audit", "--no-progress")
    if checked.returncode and _is_unreachable(checked.stderr):
        print("advisories of distributions: not looked at, the OSV database cannot be reached")
        return True
    print(f"advisories of distributions: {_last(checked.stdout or checked.stderr)}")
    if checked.returncode:
        print(checked.stdout + checked.stderr, file=sys.stderr)
    return checked.returncode == 0


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _is_unreachable(text: str) -> bool:
    return any(words in text.lower() for words in _UNREACHABLE)


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing to say"


if __name__ == "__main__":
    sys.exit(main())
