"""What a wheel is worth to somebody who has only Python: `make release-check`.

The wheel in `dist` is installed into a new environment, in a directory of its own, with a search path on which there is no compiler. There a study is run and reported, and where user-mode Linux
is installed a run on a real kernel. How long each took is told, and the sum up to the first answer is held against a minute. Nothing of this tree is imported: the tree is not there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from supply.licences import ROOT

MOST_SECONDS = 60.0
"""From the end of the installation to the first answer."""
_WITHOUT = ("cargo", "rustc", "maturin", "cc", "gcc", "zig")


def main() -> int:
    """Checks the wheel; 1 if it does not do what it should."""
    wheels = list((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        print(f"there are {len(wheels)} wheels in dist\nhint: `make wheel` makes one", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="sawtooth-release-") as scratch:
        place = Path(scratch)
        venv.create(place / "env", with_pip=True)
        environment = without_compilers(place)
        _timed("pip install", [place / "env/bin/python", "-m", "pip", "install", "--quiet", wheels[0]], environment)
        sawtooth = place / "env/bin/sawtooth"
        took = _timed("run", [sawtooth, "run", "hstcp", "--short"], environment)
        took += _timed("report", [sawtooth, "report", "results/hstcp-short"], environment)
        report = place / "results/hstcp-short/report/report.html"
        if not report.is_file():
            print("there is no report", file=sys.stderr)
            return 1
        _timed("schema", [sawtooth, "schema", "--out", "schema.json"], environment)
        _timed("list", [sawtooth, "list", "study"], environment)
        if not (place / "path/linux.uml").exists():
            print("user-mode Linux is not installed: no run on a real kernel")
        else:
            study = place / "real.toml"
            study.write_text(REAL, encoding="utf-8")
            _timed("run on a real kernel", [sawtooth, "run", study, "--backend", "uml"], environment)
        manual = place / "env/share/man/man1/sawtooth.1"
        if not manual.is_file():
            print("the manual page is not installed", file=sys.stderr)
            return 1
    print(f"first answer after {took:.1f} s; wanted: {MOST_SECONDS:.0f} s")
    return int(took > MOST_SECONDS)


REAL = """
name = "real"
scenario.duration = "2 s"
scenario.stack = "linux"
scenario.links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "50 packets" } }
scenario.flows = [{ path = ["l"], cc = "cubic" }]
"""


def without_compilers(place: Path) -> dict[str, str]:
    """An environment whose search path has what the system has, less what builds."""
    path = place / "path"
    path.mkdir()
    for directory in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for program in Path(directory).iterdir():
            link = path / program.name
            if program.name not in _WITHOUT and not link.is_symlink():
                link.symlink_to(program)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LANG", "LC_", "SSL_", "TMPDIR"))}
    return {**kept, "PATH": str(path), "HOME": str(place)}


def _timed(what: str, command: list[str | Path], environment: dict[str, str]) -> float:
    began = time.monotonic()
    ended = subprocess.run(command, cwd=environment["HOME"], env=environment, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if ended.returncode:
        print(f"{what} ended with status {ended.returncode}\n{ended.stdout}{ended.stderr}", file=sys.stderr)
        sys.exit(1)
    print(f"{what}: {took:.1f} s", flush=True)
    return took


if __name__ == "__main__":
    sys.exit(main())
