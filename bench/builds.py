"""What the builds of the extension cost and give: processor time to build each from nothing, and instructions per packet.

    python bench/builds.py            needs valgrind, and for the guided build an llvm-profdata

`quick` is what `make` installs, `release` what a wheel has without a profile, `guided` with one. The cases are those of `instructions.py`, run through Python.
Processor time is of this machine, and instructions are of this compiler; the table says which.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import instructions
from markdown import table
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
            counts = list(workers.map(lambda library, pair=pair: per_unit(library, pair), made.values()))
        rows.append([f"{case}, for each {pair.unit}", *(f"{count:.0f}" for count in counts)])
    print(table([f"Instructions, {instructions.compiler()}", *builds], rows, "l" + "r" * len(builds)))
    return 0


def per_unit(library: Path, case: instructions.Case) -> float:
    """Instructions of the longer run less those of the shorter, for each unit that it has more."""
    (short, short_packets), (long, long_packets) = count(library, case.short), count(library, case.long)
    units = long_packets - short_packets if case.unit == "packet" else instructions.flows(case.long) - instructions.flows(case.short)
    return (long - short) / units


def count(library: Path, tree: object) -> tuple[int, int]:
    """Instructions of one run, and segments that it delivered."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", sys.executable, "-c", PROCESS, str(library)]
        # Without a seed of its own Python's tables lie otherwise in each process.
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
        ran = subprocess.run(command, input=json.dumps(tree), capture_output=True, text=True, env=environment, check=True)
        total = re.search(r"^(?:summary|totals): (\d+)", Path(scratch, "out").read_text(encoding="utf-8"), re.MULTILINE)
    assert total
    return int(total[1]), int(ran.stdout)


def _spent() -> float:
    """Processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
