"""User-mode Linux: the distribution's packaged kernel as a process, without root, in virtual time.

A batch is one boot. Its clock stands still while the guest computes and jumps when it idles (see the crate `sawtooth-clock`), so the
host's load does not change what is measured, and idle time costs nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import _core
from sawtooth.backends import guest
from sawtooth.backends.batch import Batch
from sawtooth.errors import BackendUnavailable

_KERNEL = "linux.uml"
_MODULES = Path("/usr/lib/uml/modules")
_MEMORY = "192M"
# A guest that has finished no run for this long, in seconds of the host, is given up.
_PATIENCE = 120.0
_CONSOLE_TAIL = 600


def modules() -> guest.Modules:
    """The modules of the packaged kernel.

    Raises:
        BackendUnavailable: if it is not installed.

    """
    found = sorted(_MODULES.glob("*/modules.dep"))
    if shutil.which(_KERNEL) is None or not found:
        raise BackendUnavailable(
            "user-mode Linux is not installed", "install the package user-mode-linux; `sawtooth doctor` shows what is there"
        )
    return guest.Modules(found[-1].parent)


def run_batch(scenarios: Sequence[str], seeds: Sequence[int]) -> Batch:
    """Runs scenarios (JSON text) in a guest. A run that fails is reported; the others go on, in another guest if need be."""
    guest.require_built()
    kernel = modules()
    jobs = {f"{at:05}.json": {"scenario": json.loads(text)} for at, text in enumerate(scenarios)}
    wanted = sorted({name for text in scenarios for name in _core.kernel_algorithms(text)} - {"reno", "cubic"})
    files = kernel.with_dependencies(["tun", *(f"tcp_{name}" for name in wanted)])
    outcomes: dict[str, dict[str, Any]] = {}
    while len(outcomes) < len(jobs):
        left = {name: job for name, job in jobs.items() if name not in outcomes}
        done, console = _boot(files, left, seeds[0])
        outcomes |= done
        if len(done) < len(left):
            # Jobs run in order: the first without a result is the one during which the guest ended.
            failed = next(name for name in left if name not in done)
            outcomes[failed] = {"error": f"the guest ended before this run did; its console: {console[-_CONSOLE_TAIL:].strip()}"}
    return _batch([outcomes[name] for name in sorted(outcomes)])


@contextlib.contextmanager
def _directory() -> Generator[Path]:
    path = Path(tempfile.mkdtemp(prefix="sawtooth-uml-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _boot(files: Sequence[Path], jobs: dict[str, dict[str, Any]], seed: int) -> tuple[dict[str, dict[str, Any]], str]:
    """Boots a guest for `jobs`; what each that finished measured, and the console's text."""
    with _directory() as directory:
        share = directory / "share"
        share.mkdir()
        (share / "sawtooth-virtual-time").touch()
        (directory / "initrd").write_bytes(guest.archive(share, files, jobs))
        # No path and no number of this boot on the command line: the kernel makes entropy of it.
        command = [*_in_a_process_namespace(), _KERNEL, f"mem={_MEMORY}", "initrd=initrd", "con=null", "con0=null,fd:1", "rdinit=/init", "quiet",
                   "norandmaps", "lpj=1000000", "random.trust_bootloader=on"]  # fmt: skip
        environment = {"LD_PRELOAD": str(guest.CLOCK), "PATH": os.environ.get("PATH", ""), "TMPDIR": str(directory),
                       "HOME": str(directory), "SAWTOOTH_SEED": str(seed)}  # fmt: skip
        console = directory / "console"
        with console.open("wb") as out:
            process = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
            try:
                _wait(process, share)
            finally:
                # Its helpers are in its session; after an orderly end there are none.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        results: dict[str, dict[str, Any]] = {}
        for name in jobs:
            with contextlib.suppress(OSError, ValueError):
                results[name] = json.loads((share / name).read_text())
        return results, console.read_text(errors="replace")


def _in_a_process_namespace() -> list[str]:
    """A prefix to the command: when its first process ends, or this program is killed, all of the kernel's processes do."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    return ["unshare", *user, "--pid", "--fork", "--kill-child=KILL", "--"]


def _wait(process: subprocess.Popen[bytes], share: Path) -> None:
    """Waits for the guest's end, as long as it goes on finishing runs."""
    finished, since = 0, time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
            return
        now = len(list(share.iterdir()))
        if now != finished:
            finished, since = now, time.monotonic()
        elif time.monotonic() - since > _PATIENCE:
            return


def _batch(outcomes: Sequence[dict[str, Any]]) -> Batch:
    """The records in the simulator's tables; what a kernel does not tell is null."""
    errors = {at: str(outcome["error"]) for at, outcome in enumerate(outcomes) if "error" in outcome}
    rows: dict[str, list[dict[str, Any]]] = {"flows": [], "links": [], "series": []}
    for run, outcome in enumerate(outcomes):
        if run not in errors:
            for name, table in rows.items():
                table += [{"run": run, **row} for row in outcome[name]]
    tables: dict[str, pl.DataFrame] = {}
    for name, table in rows.items():
        if table:
            tables[name] = pl.DataFrame(table, schema_overrides={"run": pl.UInt32}, infer_schema_length=None)
            known = {column["name"]: _TYPES[column["type"]] for column in _core.schema()[name]["columns"]}
            tables[name] = tables[name].select(
                "run",
                *(pl.col(key).cast(kind) if key in tables[name].columns else pl.lit(None, kind).alias(key) for key, kind in known.items()),
            )
    packets = sum(row["arrived_packets"] for row in rows["links"])
    return Batch(tables, errors, deliveries=packets, events=0)


_TYPES: dict[str, Any] = {"u64": pl.UInt64, "i64": pl.Int64, "f64": pl.Float64, "str": pl.String}
