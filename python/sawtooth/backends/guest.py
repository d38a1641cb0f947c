"""Runs on real kernels, whichever backend starts them.

The runs of a batch are grouped by what they ask of the guest, and every group is one boot. A guest that ends in mid-run takes only
that run with it: the others go on in another boot.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sawtooth import _core
from sawtooth.backends import processes
from sawtooth.backends.batch import Batch
from sawtooth.backends.launcher import Launcher, Machine, Settings, guests_that_fit
from sawtooth.errors import BackendUnavailable
from sawtooth.recorded import schema
from sawtooth.tables import as_table

_BUILT = Path(__file__).resolve().parent.parent / "guest"
AGENT = _BUILT / "sawtooth-agent"
CLOCK = _BUILT / "libsawtooth_clock.so"
TURNS = _BUILT / "libsawtooth_turns.so"

# A guest that has finished no run for this long, in seconds of the host, is given up ...
_PATIENCE = 120.0
# ... and for each segment of its longest run this much longer: ten times what a segment takes.
_PATIENCE_PER_SEGMENT = 3e-3
# With this much memory every kernel boots: one that does not tells of the machine, not of the study.
_ENOUGH_MEMORY = 128 << 20
# What a guest takes besides its own memory.
_OVERHEAD = 96 << 20
_TAIL = 600
# How often a guest that is killed meanwhile is inspected.
_INSPECTIONS = 4
# Results of no run: that jobs are about to be done, and that all are.
_SIGNS = ("begun", "done")
_CAPTURE = ".pcapng"
# How a process ends that somebody kills, such as a kernel that is short of memory; or its parent tells so.
_KILLED = {-signal.SIGKILL, -signal.SIGBUS, 128 + signal.SIGKILL, 128 + signal.SIGBUS}
# To user-mode Linux every process of a guest is one of the host. If somebody kills that, the guest's process ends by such a signal: of a run the agent tells
# (`why` in batch.rs; of SIGKILL, which is the guest's own lack of memory, it tells otherwise), and of the first process the kernel.
_RUN_CUT_OFF = "the run's process ended by SIG"
_INIT_CUT_OFF = "Attempted to kill init"

Outcome = dict[str, Any]
Jobs = Mapping[str, Mapping[str, Any]]


def run_batch(launcher: Launcher, scenarios: Sequence[str], seeds: Sequence[int], captures: Sequence[_core.CaptureRequest] = ()) -> Batch:
    """Runs scenarios (JSON text) with their seeds on a kernel. A run that fails is reported; the others go on. `captures`: what is captured of the first of them.

    Raises:
        BackendUnavailable: if no guest can be started here.

    """
    # The names are in the order of the batch, and runs are done in the order of the names.
    names = [f"{at:05}.json" for at in range(len(scenarios))]
    jobs = {name: {"scenario": json.loads(text), "seed": seed} for name, text, seed in zip(names, scenarios, seeds, strict=True)}
    wanted = dict(zip(names, captures, strict=False))
    outcomes = run_jobs(launcher, {name: {**job, **_order(wanted.get(name))} for name, job in jobs.items()}, wanted)
    return _to_batch([outcomes[name] for name in names])


def run_jobs(launcher: Launcher, jobs: Jobs, captures: Mapping[str, _core.CaptureRequest] | None = None) -> dict[str, Outcome]:
    """Runs jobs of any kind, each with its `scenario` and `seed`; what each measured, or its `error`, by name. `captures`: where files go that they make.

    Raises:
        BackendUnavailable: if no guest can be started here.

    """
    texts = {name: json.dumps(job["scenario"]) for name, job in jobs.items()}
    groups: dict[Settings, list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(Settings.of(_core.kernel_settings(text)), []).append(name)
    algorithms = _algorithms(list(texts.values()))
    machines = [(settings, members, launcher.machine(settings, algorithms[settings])) for settings, members in groups.items()]
    outcomes: dict[str, Outcome] = {}
    for settings, members, machine in machines:
        patience = _PATIENCE + _PATIENCE_PER_SEGMENT * max(_core.estimate(texts[name], kernel=True) for name in members)
        if not launcher.virtual(settings):
            patience += max(_core.kernel_settings(texts[name])["duration_secs"] for name in members)
        outcomes |= _run(launcher, machine, settings, {name: jobs[name] for name in members}, patience, captures or {})
    return outcomes


def _order(capture: _core.CaptureRequest | None) -> dict[str, Any]:
    """What a job says of its captures (`capture.rs`)."""
    return {"captures": {"points": capture.points, "snap": capture.snap, "comments": capture.comments}} if capture else {}


def parallel(launcher: Launcher, scenarios: Sequence[str]) -> int:
    """How many batches can be run at once: real time allows one, as guests would take it from each other."""
    settings = list(_algorithms(scenarios))
    return guests_that_fit(settings, _OVERHEAD) if all(launcher.virtual(each) for each in settings) else 1


def provenance(launcher: Launcher, scenarios: Sequence[str]) -> list[dict[str, Any]]:
    """Which kernels scenarios run on, one entry for each guest's settings, with what its hosts are like (`inspection.rs`) in the first of them."""
    first: dict[Settings, str] = {}
    for text in scenarios:
        first.setdefault(Settings.of(_core.kernel_settings(text)), text)
    entries: list[dict[str, Any]] = []
    for settings, names in _algorithms(scenarios).items():
        scenario = json.loads(first[settings])
        found = _inspect(launcher, scenario)
        # A guest that cannot even be inspected has no runs that succeed: those will say why.
        inspection = None if "error" in found else {"of": scenario.get("kernel", {}), **found}
        entries.append({**launcher.provenance(settings, names), "inspection": inspection})
    return entries


def _inspect(launcher: Launcher, scenario: dict[str, Any]) -> Outcome:
    found: Outcome = {}
    for _ in range(_INSPECTIONS):
        found = run_jobs(launcher, {"inspection": {"kind": "inspection", "scenario": scenario, "seed": 1}})["inspection"]
        if not found.get("lost"):
            return found
    raise BackendUnavailable(f"no guest of `{launcher.name}` lived to be inspected: {found['error']}", "the same command tries again")


def _algorithms(scenarios: Sequence[str]) -> dict[Settings, frozenset[str]]:
    """The congestion controls that guests of each settings need."""
    found: dict[Settings, frozenset[str]] = {}
    for text in scenarios:
        keys = _core.kernel_settings(text)
        settings = Settings.of(keys)
        found[settings] = found.get(settings, frozenset()) | frozenset(keys["algorithms"])
    return found


def require_built(*programs: Path) -> None:
    """Raises `BackendUnavailable` if programs for guests have not been built."""
    for path in programs:
        if not path.is_file():
            raise BackendUnavailable(f"{path.name} has not been built", "`make guest` builds it")


def tail(console: str) -> str:
    """The end of what a guest said."""
    return console[-_TAIL:].strip() or "nothing"


def _run(
    launcher: Launcher, machine: Machine, settings: Settings, jobs: Jobs, patience: float, captures: Mapping[str, _core.CaptureRequest]
) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    while len(outcomes) < len(jobs):
        left = {name: job for name, job in jobs.items() if name not in outcomes}
        results, console, killed = boot(launcher.name, machine, left, patience, captures)
        outcomes |= {name: _as_lost_or_not(outcome) for name, outcome in results.items() if name in left}
        missing = [name for name in left if name not in outcomes]
        if not missing:
            break
        said = f"its console ended with: {tail(console)}"
        if "begun" not in results and (killed or _INIT_CUT_OFF in console):
            outcomes[missing[0]] = {"error": f"the guest was killed before it had booted; {said}", "lost": True}
        elif "begun" not in results:
            problem = f"the guest of `{launcher.name}` did not boot; {said}"
            if settings.memory_bytes >= _ENOUGH_MEMORY:
                raise BackendUnavailable(problem, "`sawtooth doctor` shows what this machine can run")
            hint = f"it had {settings.memory_mib} MiB of memory; 128 MiB suffice for a boot"
            outcomes |= {name: {"error": f"{problem} ({hint})"} for name in missing}
        else:
            # Runs are done in order: the first without a result is the one during which the guest ended.
            outcomes[missing[0]] = {"error": f"the guest ended before this run did; {said}", "lost": True}
    return outcomes


def _as_lost_or_not(outcome: Outcome) -> Outcome:
    return {**outcome, "lost": True} if str(outcome.get("error", "")).startswith(_RUN_CUT_OFF) else outcome


def boot(
    kind: str, machine: Machine, jobs: Jobs, patience: float, captures: Mapping[str, _core.CaptureRequest] | None = None
) -> tuple[dict[str, Outcome], str, bool]:
    """Starts a guest for `jobs`; what it handed out by name, the console's text, and whether it was killed.

    Raises:
        StoppedError: if guests are to be given up.

    """
    processes.require_wanted()
    with processes.scratch(kind) as directory:
        results = directory / "results"
        results.mkdir()
        # One seed for a guest: the kernel's own randomness; that of a run is in its job.
        seed = next((int(job["seed"]) for job in jobs.values()), 1)
        command = machine.prepare(directory, jobs, seed)
        with processes.running(command.words, command.environment, directory) as process:
            _wait(process, results, patience)
            killed = process.poll() in _KILLED
        found = _collect(results)
        return keep_captures(found, results, captures or {}), processes.console(directory), killed


def _wait(process: subprocess.Popen[bytes], results: Path, patience: float) -> None:
    """Waits for the guest's end, as long as it goes on handing out results."""
    progress, since, pause = 0, time.monotonic(), 0.02
    while time.monotonic() - since < patience:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(pause)
            return
        processes.require_wanted()
        pause = min(2 * pause, 0.2)
        now = sum(1 + entry.stat().st_size for entry in results.iterdir())
        if now != progress:
            progress, since = now, time.monotonic()


def _collect(results: Path) -> dict[str, Outcome]:
    """What is complete: files with JSON text called like the job, or all of them in one stream."""
    contents: dict[str, bytes] = {}
    for path in results.iterdir():
        if path.name == "stream":
            contents |= _split(path.read_bytes())
            for name in [name for name in contents if name.endswith(_CAPTURE)]:
                (results / name).write_bytes(contents.pop(name))
        elif path.suffix != _CAPTURE:
            contents[path.name] = path.read_bytes()
    found: dict[str, Outcome] = {}
    for name, content in contents.items():
        if not content and name not in _SIGNS:
            # Its guest ended between making the file and filling it.
            continue
        with contextlib.suppress(ValueError):
            found[name] = json.loads(content or "{}")
    return found


def keep_captures(outcomes: dict[str, Outcome], results: Path, captures: Mapping[str, _core.CaptureRequest]) -> dict[str, Outcome]:
    """Gives the captures of runs that came to their end their names; a run whose captures cannot be written has failed."""
    for name, outcome in outcomes.items():
        if name not in captures or "error" in outcome:
            continue
        for number, path in enumerate(captures[name].paths):
            try:
                _move(results / f"{name}.{number}{_CAPTURE}", Path(path))
            except OSError as error:
                outcomes[name] = {"error": f"{path} cannot be written: {(error.strerror or str(error)).lower()}"}
                break
        if missing := outcome.pop("uncaptured", 0):
            print(
                f"warning: {missing} packets are in none of {', '.join(captures[name].paths)}: there was no room for them", file=sys.stderr
            )
    return outcomes


def _move(found: Path, path: Path) -> None:
    """To another file system, perhaps; under its name it is whole."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        shutil.copyfile(found, unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    found.unlink()


def _split(stream: bytes) -> dict[str, bytes]:
    """Contents by name, each after a line with its name and its length."""
    contents: dict[str, bytes] = {}
    at = 0
    while (end := stream.find(b"\n", at)) >= 0:
        name, _, length = stream[at:end].decode().partition(" ")
        at = end + 1 + int(length)
        if at > len(stream):
            break
        contents[name] = stream[end + 1 : at]
    return contents


def _to_batch(outcomes: Sequence[Outcome]) -> Batch:
    """The records in the simulator's tables; what a kernel does not tell is null."""
    errors = {at: str(outcome["error"]) for at, outcome in enumerate(outcomes) if "error" in outcome}
    lost = frozenset(at for at in errors if outcomes[at].get("lost"))
    rows: dict[str, list[dict[str, Any]]] = {}
    for run, outcome in enumerate(outcomes):
        for name, table in outcome.items():
            if run not in errors and name in schema():
                rows.setdefault(name, []).extend({"run": run, **row} for row in table)
    tables = {name: as_table(name, table) for name, table in rows.items() if table}
    packets = sum(row.get("arrived_packets", 0) for row in rows.get("links", []))
    return Batch(tables, errors, deliveries=packets, events=0, lost=lost)
