"""How long messages of the data-stream-stall study take, with some of its parameters changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sawtooth.backends import sim

Variant = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""A case of the study's interfaces, its host's parameters, and keys of `tcp`."""


def times(scenario: dict[str, Any], variants: Sequence[Variant], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Nanoseconds by variant and size, shape (variants, sizes).

    Raises:
        SystemExit: with the words of the first run that failed.

    """
    texts: list[str] = []
    for case, host, tcp in variants:
        nic = case["scenario.host"]
        own = {key.removeprefix("links.lan."): value for key, value in case.items() if key.startswith("links.lan.")}
        tree = {**scenario, "vars": {"cable": case["vars.cable"]}, "host": nic, "hosts": {nic: host}, "tcp": {**scenario["tcp"], **tcp}}
        tree["links"] = {"lan": {**scenario["links"]["lan"], **own}}
        for size in sizes:
            flow = {**scenario["flows"][0], "source": {"name": "messages", "count": 1, "size": f"{size} B"}}
            texts.append(json.dumps({**tree, "flows": [flow]}))
    batch = sim.run_batch(texts, [1] * len(texts))
    if batch.errors:
        raise SystemExit(f"a run failed: {next(iter(batch.errors.values()))}")
    took = batch.tables["flows"].sort("run")["completion_ns"].to_numpy().reshape(len(variants), -1)
    return np.asarray(took, dtype=np.float64)
