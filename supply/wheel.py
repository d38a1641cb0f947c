"""A wheel in `dist` that needs neither a compiler nor this tree: `make wheel`.

In it are the extension for every CPython from 3.11 on (abi3), the program and the libraries that real kernels take, all studies, and the manual page. It is linked by zig against
the symbols of glibc 2.17 (`manylinux2014`), whatever the C library of this machine; the program for guests is static. Where there is an `llvm-profdata`, the extension is guided by a profile.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from supply import guided
from supply.licences import ROOT

GLIBC = "2.17"
COMPATIBILITY = "manylinux2014"
DIST = ROOT / "dist"
GUEST = ROOT / "python/sawtooth/guest"
BIN = ROOT / ".venv/bin"
LIBRARIES = ("clock", "turns")


def main() -> int:
    """Builds it and says what it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain", action="store_true", help="without a profile, which takes two builds less")
    options = parser.parse_args()
    flags, how = guided.FLAGS, "not guided"
    if not options.plain:
        try:
            guided.profile()
            flags, how = guided.guided_flags(), "guided by a profile"
        except guided.NoProfile as missing:
            print(missing, file=sys.stderr)
    libraries()
    shutil.rmtree(DIST, ignore_errors=True)
    command = [BIN / "maturin", "build", "--quiet", "--release", "--locked", "--strip", "--zig", "--compatibility", COMPATIBILITY]
    _run([*command, "--target", guided.host(), "--out", DIST], {"RUSTFLAGS": flags})
    (wheel,) = DIST.glob("*.whl")
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB, glibc {GLIBC} or later, {how}")
    return 0


def libraries() -> None:
    """What is preloaded into kernels and emulators, for as old a glibc."""
    packages = [word for name in LIBRARIES for word in ("-p", f"sawtooth-{name}")]
    target = guided.host()
    _run(
        [BIN / "cargo-zigbuild", "zigbuild", "--quiet", "--release", "--locked", *packages, "--target", f"{target}.{GLIBC}"],
        {"CARGO_PROFILE_RELEASE_STRIP": "symbols"},
    )
    built = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / target / "release"
    for name in LIBRARIES:
        shutil.copy2(built / f"libsawtooth_{name}.so", GUEST)


def _run(command: list[str | Path], environment: dict[str, str]) -> None:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path, **environment}, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
