"""Where a report's numbers come from, and how they are made again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from sawtooth import _core, estimates
from sawtooth.counted import counted, form, plural
from sawtooth.display import first_of
from sawtooth.results import changes
from sawtooth.results.dataset import Dataset
from sawtooth.study.model import count_of_arms


@dataclass(frozen=True)
class Source:
    """A reference: what the study calls it, its file, where its numbers are from, and the hash of its text."""

    name: str
    file: str
    source: str
    sha256: str


@dataclass(frozen=True)
class Origin:
    """Provenance.

    Attributes:
        facts: what, and what it is, in the order in which they are told; `hashes`, too.
        references: the tables that the study is held against.
        rerun: the command that makes the results again.

    """

    facts: Mapping[str, str]
    hashes: Mapping[str, str]
    references: list[Source]
    rerun: str


def origin(dataset: Dataset) -> Origin:
    """Where a dataset comes from."""
    manifest = dataset.manifest
    versions, machine = (cast(dict[str, Any], manifest[key]) for key in ("versions", "machine"))
    commit = f" ({manifest['commit']})" if manifest.get("commit") else ""
    facts = {
        "measured by": ", ".join(sorted({str(file["program"]) for file in dataset.files})),
        "files": first_of([file["file"] for file in dataset.files]),
        "imported by"
        if dataset.files
        else "runs made by": f"Sawtooth {versions['sawtooth']}{commit}, Python {versions['python']}, polars {versions['polars']}",
        "report made by": f"Sawtooth {_core.version()}",
        "imported on" if dataset.files else "machine": f"{machine['system']}, {machine['cpus']} processors",
        "started": str(manifest["started"]),
        "backend": str(manifest["backend"]),
        "put together of": _merged(manifest),
        "kernels": "; ".join(_kernels(dataset)),
        "seed": "" if dataset.files else _seeds(dataset),
        "results epoch": str(manifest["results_epoch"]),
        "options": ", ".join(cast(list[str], manifest.get("options", []))),
        "form": "short" if is_short(dataset) else "",
        "claims after the runs": changes.listed(dataset.changes),
    }
    hashes = {"results": dataset.digest, "plan": str(manifest["plan_hash"]), "study file": str(manifest["study_sha256"])}
    hashes |= changes.first(dataset.changes)
    entries = cast(dict[str, dict[str, str]], manifest.get("references", {}))
    sources = [Source(name, entry["file"], entry["source"], entry["sha256"]) for name, entry in entries.items()]
    again = {**manifest, "command": _whole(cast(list[str], manifest.get("command", [])))} if "merged" in manifest else manifest
    return Origin({name: text for name, text in facts.items() if text}, hashes, sources, rerun(again))


def _merged(manifest: Mapping[str, Any]) -> str:
    """What made each of the results that were put together, by its command, when, and on what; empty if they were made in one place."""
    made = cast(list[dict[str, Any]], manifest.get("merged", []))
    told = (f"`{rerun({**manifest, **each})}` ({each['started']}, {each['machine']['system']})" for each in made)
    return f"{len(made)} results: {'; '.join(told)}" if made else ""


def _whole(command: Sequence[str]) -> list[str]:
    """The command of a shard as it is of all of them."""
    own = ("--shard", "--out")
    given = [word for at, word in enumerate(command) if word not in own and (at == 0 or command[at - 1] not in own)]
    return [word for word in given if not word.startswith(tuple(f"{option}=" for option in own))]


def rerun(manifest: Mapping[str, Any]) -> str:
    """The command that made the results; of those that a program made, the one that would."""
    command = cast(list[str], manifest.get("command", []))
    if len(command) > 1 and command[0] == "sawtooth":
        return shlex.join(command)
    options = [word for option in cast(list[str], manifest.get("options", [])) for word in ("--set", option)]
    short = ["--short"] if manifest.get("short") else []
    return shlex.join(["sawtooth", "run", str(manifest["study_path"]), *short, *options])


def counts(dataset: Dataset) -> dict[str, int]:
    """How many runs were planned, done, and failed."""
    status = dataset.status()
    failed = status.filter(pl.col("status") != "ok").height
    return {"planned": dataset.runs.height, "done": status.height, "failed": failed}


def design(dataset: Dataset) -> str:
    """How many cells, arms and replicates: as many as there are, where a rule made them."""
    manifest = dataset.manifest
    made = dataset.runs.group_by("cell", maintain_order=True).agg(pl.col("replicate").max())["replicate"]
    own = cast(dict[str, int], manifest.get("own_repeats", {}))
    counts = {arm: own.get(arm, cast(int, manifest["repeat"])) for arm in cast(list[str], manifest["arms"]) or [""]}
    replicates = estimates.number(set(made)) if "until" in manifest else count_of_arms(counts)
    arms = len(cast(list[str], manifest["arms"])) or 1
    said = ((str(manifest["cells"]), "cell"), (str(arms), "arm"), (replicates, "replicate"))
    # A number may be followed by those of some arms.
    parts = (number.partition(" (") for number, _ in said)
    return " x ".join(
        f"{number} {form(number, what, plural(what))}{brace}{rest}" for (number, brace, rest), (_, what) in zip(parts, said, strict=True)
    )


def runs(dataset: Dataset) -> str:
    """How many runs were done and failed, of which form of the study."""
    number = counts(dataset)
    of = " of the short form" if is_short(dataset) else ""
    return f"{number['done']:,} of {counted(number['planned'], 'run')}{of} done, {number['failed']:,} failed"


def is_short(dataset: Dataset) -> bool:
    """Whether these are runs of a study's short form; results of older versions have only the command that says it."""
    manifest = dataset.manifest
    return bool(manifest.get("short", "--short" in cast(list[str], manifest.get("command", []))))


def warnings(dataset: Dataset, number: Mapping[str, int]) -> list[str]:
    """What a reader must know of these results before anything that is said of them; `number` is its `counts`."""
    unfinished = f"{number['done']:,} of {counted(number['planned'], 'run')} {form(number['done'], 'is done: verdicts are of it', 'are done: verdicts are of those')}, and may change."
    return [*([] if number["done"] == number["planned"] else [unfinished]), *filter(None, [changes.words(dataset.changes)])]


def failures(dataset: Dataset) -> str:
    """How many runs failed and why the first did; empty if none did."""
    found = dataset.status().filter(pl.col("status") != "ok")
    if found.is_empty():
        return ""
    return f"{counted(found.height, 'run')} of {dataset.runs.height:,} failed and {form(found.height, 'is', 'are')} left out; the first: {found['message'][0]}"


def _seeds(dataset: Dataset) -> str:
    """The study's seed; of the runs there are too many to be told, and they are made of it."""
    seeds = dataset.runs["seed"].n_unique()
    return f"{dataset.manifest['seed']}, of which {seeds:,} {form(seeds, 'seed of runs is', 'seeds of runs are')} made (`seed` in runs.parquet)"


def _kernels(dataset: Dataset) -> list[str]:
    """One line for each kernel and clock that runs were done on."""
    lines: dict[str, None] = {}
    for kernel in dataset.kernels:
        configuration = str(kernel.get("config_sha256") or "unknown")[:12]
        line = f"{kernel['backend']}: {kernel['release']} ({kernel['version']}), configuration {configuration}, {kernel['time']} time"
        lines[line] = None
    return list(lines)
