"""What a manifest says: of what, by what, where and when results were made."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import _core, analyses, reference_files
from sawtooth.plan import RESULTS_EPOCH, Plan
from sawtooth.study import Study


def plan_hash(plan: Plan) -> str:
    """A hash of everything that decides the results: every run's id and the batches; of replicates by a rule those of the first round, and the rule."""
    first = [run.id for run in plan.runs if run.round == 1]
    batches = [f"{batch.start}-{batch.stop}" for batch in plan.batches if batch.start < len(first)]
    rule = [json.dumps(plan.study.until.facts, sort_keys=True)] if plan.study.until else []
    text = "\n".join([*first, *batches, *rule])
    return hashlib.sha256(text.encode()).hexdigest()


def of_plan(plan: Plan, identity: str) -> dict[str, Any]:
    """What a manifest says of the plan."""
    study = plan.study
    return {
        "name": study.name,
        "question": study.question,
        "report": study.report,
        "backend": study.backend,
        "study_path": study.path.name,
        "study_sha256": hashlib.sha256(study.document.text.encode()).hexdigest(),
        "options": list(study.document.options),
        "short": study.short,
        "plan_hash": identity,
        "results_epoch": RESULTS_EPOCH,
        "runs": len(plan.runs),
        "batches": len(plan.batches),
        "cells": len(plan.cells),
        "arms": list(study.arms),
        "repeat": study.repeat,
        # Of every batch the shard that does it, so that it can be told which is missing.
        **({"shard": str(plan.shard), "shards": " ".join(map(str, plan.shards))} if plan.shard else {}),
        **({"until": study.until.facts} if study.until else {}),
        **({"own_repeats": dict(study.own_repeats)} if study.own_repeats else {}),
        "seed": study.seed,
        "references": references(study),
        "analysis": analysis(study),
    }


def references(study: Study) -> dict[str, dict[str, str]]:
    """The references of a study by name: `file`, `source`, `sha256` of the text, and the `text`, so that a report needs the file no more.

    They decide nothing about the runs, and so they are no part of the plan's hash.

    Raises:
        StudyError: with its place, for a file that cannot be read.

    """
    told = {str(entry["name"]): entry for entry in study.tree.get("references", [])}
    return {
        name: {
            "file": str(told[name]["file"]), "source": str(told[name].get("source", "")),
            "sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text,
        }
        for name, text in reference_files.texts(study).items()
    }  # fmt: skip


def analysis(study: Study) -> dict[str, str] | None:
    """The study's own analysis with its text, so that a report is made of what was planned; None if it has none.

    Raises:
        StudyError: with its place, for a file that cannot be read.

    """
    found = analyses.read(study)
    return None if found is None else found.kept


OF_A_SHARD = ("shard", "shards")
"""What a manifest says of a shard alone."""
MADE = ("versions", "commit", "machine", "command", "started")
"""What a manifest says of where and by what results are made."""


def surroundings(command: Sequence[str]) -> dict[str, Any]:
    """Where and by what results are made."""
    return {
        "versions": {
            "sawtooth": _core.version(),
            "python": platform.python_version(),
            "polars": pl.__version__,
        },
        "commit": _commit(),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cpus": os.cpu_count()},
        "command": list(command) or [Path(sys.argv[0]).name, *sys.argv[1:]],
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@functools.cache
def _commit() -> str | None:
    """The commit of the checkout this package is used from, if it is."""
    try:
        found = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
