"""A build of the simulator that is guided by a profile: instrumented, run over a training set, and built again with what was counted.

    make guided            or            python -m supply.guided

The compiler then knows which way branches go, and lays code out so: the records are the same, of which `--check` makes sure. It needs a `llvm-profdata` that reads what
rustc's LLVM writes: that of the toolchain's own component `llvm-tools`, Debian's package `llvm-19` or a later one, or whatever `LLVM_PROFDATA` names. `make wheel` and `make bench`
guide where there is one, and say so where there is none.

The training set has no scenario of `instructions.py`, `speed.py` or `stacks.py`, so that what is won there is not won by heart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from supply.licences import ROOT

TARGET = ROOT / "target/guided"
PROFILE = TARGET / "merged.profdata"
# Flags in the environment replace those of the workspace.
FLAGS = " ".join(tomllib.loads((ROOT / ".cargo/config.toml").read_text(encoding="utf-8"))["build"]["rustflags"])
PROGRAMS = ("llvm-profdata", *(f"llvm-profdata-{version}" for version in range(30, 18, -1)))

# Runs in a process of its own: counts are written when it ends.
TRAINING = """
import json, sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_core", sys.argv[1])
_core = module_from_spec(spec)
spec.loader.exec_module(_core)
outcome = _core.simulate((trees := [json.dumps(tree) for tree in json.load(sys.stdin)]), [1] * len(trees))
assert not outcome["errors"], outcome["errors"]
for table, columns in sorted(outcome["tables"].items()):
    for name, column in sorted(columns.items()):
        print(table, name, *(part.hex() if isinstance(part, bytes) else part for part in column))
"""


def training() -> list[dict[str, Any]]:
    """Scenarios of every stack, recovery and the common algorithms, over dumbbells, with losses, short flows and an active queue."""
    ns2 = [
        dumbbell(flows, "45 Mbit/s", "30 ms", 40, {"stack": "ns2", "cc": cc, "tcp": {"recovery": recovery, "window_limit": "2000 packets"}})
        for flows, cc, recovery in (
            (1, "reno", "newreno"),
            (5, "reno", "newreno"),
            (12, "reno", "reno"),
            (6, "reno", "sack"),
            (4, "highspeed", "sack"),
        )
    ]
    linux = [dumbbell(4, "80 Mbit/s", "12 ms", 120, {"stack": "linux", "cc": cc}) for cc in ("reno", "cubic", "bbr", "vegas", "htcp")]
    lossy = dumbbell(3, "20 Mbit/s", "20 ms", 60, {"stack": "linux", "cc": "cubic"})
    lossy["links"]["bottleneck"]["loss"] = 0.005
    codel = dumbbell(6, "30 Mbit/s", "15 ms", 500, {"stack": "linux", "cc": "cubic"})
    codel["links"]["bottleneck"]["queue"] = {"name": "fq_codel"}
    short = dumbbell(30, "100 Mbit/s", "5 ms", 100, {"stack": "linux", "cc": "cubic"})
    short["flows"][0] |= {"source": {"name": "bulk", "size": "200 kB"}, "start": "i * 50 ms"}
    return [*ns2, *linux, lossy, codel, short]


def dumbbell(flows: int, rate: str, delay: str, queue: int, rest: dict[str, Any]) -> dict[str, Any]:
    """Flows over one bottleneck, each with links of its own before and behind it."""
    access = {"rate": "100 Mbit/s", "delay": "1 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}, "count": flows}
    return {
        **rest, "duration": "8 s",
        "links": {"near": access, "bottleneck": {"rate": rate, "delay": delay, "queue": {"name": "drop_tail", "limit": f"{queue} packets"}}, "far": access},
        "flows": [{"path": ["near[i]", "bottleneck", "far[i]"], "count": flows, "start": "i * 37 ms"}],
    }  # fmt: skip


class NoProfile(Exception):
    """What is missing to guide a build, and how to get it."""


def main() -> int:
    """Counts, builds with the counts, and installs or compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="build the library as usual, too, and compare what both record")
    parser.add_argument("--where-possible", action="store_true", help="where nothing can guide, build as wheels are built without it")
    options = parser.parse_args()
    try:
        profile()
    except NoProfile as missing:
        print(missing, file=sys.stderr)
        if not options.where_possible:
            return 2
        return install(FLAGS)
    if options.check:
        guided, usual = (
            hashlib.sha256(train(library(name, flags)).encode()).hexdigest()
            for name, flags in (("guided", guided_flags()), ("usual", FLAGS))
        )
        print(f"records of the guided build {guided[:12]}, of the usual one {usual[:12]}")
        return int(guided != usual)
    return install(guided_flags())


def profile() -> Path:
    """Counts the training set, and where that is written.

    Raises:
        NoProfile: without a program that reads counts.

    """
    profdata = reader()
    if profdata is None:
        raise NoProfile(
            f"not guided, for want of a llvm-profdata for {llvm()}: install the toolchain's component llvm-tools or Debian's llvm-22, or name one by LLVM_PROFDATA"
        )
    if shutil.which(profdata) is None:
        raise NoProfile(f"LLVM_PROFDATA names {profdata}, which is no program")
    counts = TARGET / "counts"
    print("building with counters", flush=True)
    counting = library("counting", f"{FLAGS} -Cprofile-generate={counts}")
    print("running the training set", flush=True)
    shutil.rmtree(counts, ignore_errors=True)
    train(counting)
    subprocess.run([profdata, "merge", "-o", PROFILE, *counts.glob("*.profraw")], check=True)
    return PROFILE


def install(flags: str) -> int:
    """Builds the extension of the environment as a wheel has it, with these flags."""
    print("building the package", flush=True)
    command = [".venv/bin/maturin", "develop", "--uv", "--quiet", "--locked", "--skip-install", "--release", "--target", host()]
    environment = {**os.environ, "RUSTFLAGS": flags, "VIRTUAL_ENV": str(ROOT / ".venv")}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.DEVNULL).returncode


def guided_flags() -> str:
    """The flags of the compiler with the profile."""
    return f"{FLAGS} -Cprofile-use={PROFILE}"


def library(name: str, flags: str, profile: str = "release") -> Path:
    """The extension, built with these flags of the compiler and this profile of cargo."""
    command = [
        "cargo",
        "build",
        "--profile",
        profile,
        "--locked",
        "--quiet",
        "--lib",
        "--features",
        "pyo3/extension-module",
        "--target-dir",
        str(TARGET / name),
    ]
    # With a target of its own, what runs while building has neither counters nor a profile.
    where = ["--manifest-path", "crates/sawtooth-python/Cargo.toml", "--target", host()]
    subprocess.run([*command, *where], cwd=ROOT, env={**os.environ, "RUSTFLAGS": flags}, check=True)
    return next((TARGET / name / host() / profile).glob("lib*.so"))


def train(path: Path) -> str:
    """Runs the training set with a library; what it recorded."""
    command = [sys.executable, "-c", TRAINING, str(path)]
    return subprocess.run(command, input=json.dumps(training()), text=True, check=True, stdout=subprocess.PIPE).stdout


def reader() -> str | None:
    """A program that reads what rustc's LLVM writes: its own, or one that says that it can."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    own = [str(path) for path in Path(sysroot).glob("lib/rustlib/*/bin/llvm-profdata")]
    named = [os.environ["LLVM_PROFDATA"]] if "LLVM_PROFDATA" in os.environ else []
    found = [path for name in PROGRAMS if (path := shutil.which(name)) is not None and version(path) >= 19]
    return next(iter([*named, *own, *found]), None)


def version(program: str) -> int:
    """The major version of an LLVM program; raw counts have had one format since 19."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    after = said.partition("LLVM version ")[2]
    return int(after.partition(".")[0]) if after[:1].isdigit() else 0


def llvm() -> str:
    """What rustc is made with."""
    return f"LLVM {compiler()['LLVM version']}"


def host() -> str:
    """The target that is this machine."""
    return compiler()["host"]


@cache
def compiler() -> dict[str, str]:
    """What rustc says of itself."""
    lines = subprocess.run(["rustc", "--version", "--verbose"], capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


if __name__ == "__main__":
    sys.exit(main())
