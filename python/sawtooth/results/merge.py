"""Results of one plan that were made apart, put together: batches are files of their own, so they are copied as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sawtooth.errors import DatasetError
from sawtooth.results.dataset import Dataset, is_results
from sawtooth.results.provenance import MADE
from sawtooth.sharing import Shard

_MANY = 5


@dataclass(frozen=True)
class Merged:
    """What came of it.

    Attributes:
        runs: that are there now.
        planned: that there are to be.
        missing: what is not there, in words: which shards, if that is known, or which batches.

    """

    runs: int
    planned: int
    missing: list[str]


def merge(directories: Sequence[Path], out: Path, *, wait: bool = True) -> Merged:
    """Puts the batches of results of one plan into a directory, which may have some of them.

    Args:
        directories: the results.
        out: where they go.
        wait: for another process that writes there.

    Raises:
        DatasetError: before anything is written, if results are damaged, are not of one plan, or differ in a batch that several have.

    """
    sources = [Dataset.open(directory) for directory in directories]
    first = sources[0]
    for other in sources[1:]:
        _require_same(first, other)
    if is_results(out):
        there = Dataset.open(out)
        _require_same(first, there)
        sources.insert(0, there)
    holders: dict[int, Dataset] = {}
    for source in sources:
        for batch in source.batches:
            _require_same_batch(batch, holders.setdefault(batch, source), source)
    dataset = first.like(out, _made_of(sources), wait=wait)
    with dataset.lock(wait=wait):
        for batch, holder in sorted(holders.items()):
            dataset.take(batch, holder)
        for source in sources:
            dataset.take_log(source)
    lacking = sorted(set(range(cast(int, first.manifest["batches"]))) - holders.keys())
    return Merged(dataset.status().height, dataset.runs.height, _missing(lacking, sources))


def _require_same(one: Dataset, other: Dataset) -> None:
    """Raises unless both are of one plan, with one study's text, and of the same kernels."""
    if not one.planned or not other.planned:
        which = other if one.planned else one
        raise DatasetError(f"{which.directory} holds what was watched, which has no plan", "merge results of `sawtooth run` alone")
    for key, what, hint in _ALIKE:
        if one.manifest.get(key) != other.manifest.get(key):
            raise DatasetError(f"{one.directory} and {other.directory} are not of {what}", hint)
    if not one.runs.equals(other.runs):
        raise DatasetError(
            f"{one.directory} and {other.directory} have different numbers of replicates, by the study's rule",
            "merge shards as they are, and run the study into the merged directory: it does those that the rule asks for",
        )
    if one.kernels and other.kernels and one.kernels != other.kernels:
        raise DatasetError(
            f"{one.directory} and {other.directory} hold runs of different kernels", "run them on machines with the same kernel"
        )


_ALIKE = (
    ("results_epoch", "the same results epoch", "make them with one version of Sawtooth"),
    (
        "plan_hash",
        "the same plan",
        "make them of one study file, with the same --set, --short and --backend, and the same files that it names",
    ),
    (
        "study_sha256",
        "the same text of the study",
        "run the study once more into each of them: what was edited is taken over, and no run done again",
    ),
)


def _require_same_batch(batch: int, one: Dataset, other: Dataset) -> None:
    a, b = one.checksums(batch), other.checksums(batch)
    if a != b:
        name = next(name for name in sorted({*a, *b}) if a.get(name) != b.get(name))
        raise DatasetError(
            f"{one.directory} and {other.directory} both have batch {batch}, and differ in {name}",
            "leave one of them out, if it is known which is right: a run has one result on every machine",
        )


def _made_of(sources: Sequence[Dataset]) -> list[dict[str, Any]]:
    """Where and by what each of the results was made, also those that were put together before; each once."""
    found: list[dict[str, Any]] = []
    for source in sources:
        own = {key: source.manifest[key] for key in ("shard", *MADE) if key in source.manifest}
        found += [each for each in cast(list[dict[str, Any]], source.manifest.get("merged", [own])) if each not in found]
    return found


def _missing(batches: Sequence[int], sources: Sequence[Dataset]) -> list[str]:
    """Batches that are not there, by the shards that they are of if all were made by the same number of those."""
    if not batches:
        return []
    told = {str(source.manifest["shards"]) for source in sources if "shards" in source.manifest}
    if len(told) != 1:
        named = ", ".join(map(str, batches[:_MANY])) + (f" and {len(batches) - _MANY} more" if len(batches) > _MANY else "")
        return [f"of {sources[0].manifest['batches']} batches {named}"]
    of = list(map(int, next(iter(told)).split()))
    total = next(Shard.parse(str(source.manifest["shard"])).of for source in sources if "shard" in source.manifest)
    gone, all_of = Counter(of[batch] for batch in batches), Counter(of)
    return [
        f"shard {number}/{total}"
        if gone[number] == all_of[number]
        else f"{gone[number]} of {all_of[number]} batches of shard {number}/{total}"
        for number in sorted(gone)
    ]
