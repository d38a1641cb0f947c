"""What the builds of the extension cost and give: processor time to build each from nothing, and instructions per packet.

    python bench/builds.py            needs valgrind, and for the guided build an llvm-profdata

`quick` is what `make` installs, `release` what a wheel has without a profile, `guided` with one. The cases are those of `instructions.py`, run through Python.
Processor time is of this machine, and instructions are of this compiler; the table says which.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import instructions
from pages import table
from supply import guided

# Deliveries of a run; loading Python and the extension is in the shorter run, too.
PROCESS = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_core", sys.argv[1])
_core = module_from_spec(spec)
spec.loader.exec_module(_core)
outcome = _core.simulate([sys.stdin.read()], [1])
assert not outcome["errors"], outcome["errors"]
print(outcome["efforts"][0][2])
"""


def main() -> int:
    """Prints the table."""
    builds: dict[str, tuple[str, str]] = {"quick": (guided.FLAGS, "quick"), "release": (guided.FLAGS, "release")}
    try:
        guided.profile()
        builds["guided"] = (guided.guided_flags(), "release")
    except guided.NoProfile as missing:
        print(missing, file=sys.stderr)
    made: dict[str, Path] = {}
    seconds: dict[str, float] = {}
    for name, (flags, profile) in builds.items():
        print(f"building {name}", file=sys.stderr, flush=True)
        shutil.rmtree(guided.TARGET / name, ignore_errors=True)
        before = _spent()
        made[name] = guided.library(name, flags, profile)
        seconds[name] = _spent() - before
    rows = [["built in, CPU s", *(f"{seconds[name]:.0f}" for name in builds)]]
    for case, pair in instructions.cases().items():
        print(f"counting {case}", file=sys.stderr, flush=True)
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            figures = workers.map(
                lambda library, pair=pair: instructions.measure([sys.executable, "-c", PROCESS, library], pair), made.values()
            )
            rows.append([f"{case}, for each {pair.unit}", *(f"{figure.instructions:.0f}" for figure in figures)])
    print(table([f"Instructions, {instructions.compiler()}", *builds], rows, "l" + "r" * len(builds)))
    return 0


def _spent() -> float:
    """Processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
