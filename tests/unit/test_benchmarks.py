"""What benchmarks run in processes of their own still fits the library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import instructions
import pgo
import speed


def test_the_process_that_is_timed_beside_ns2_simulates() -> None:
    tree = json.dumps({**instructions.study(2), "duration": "1 s"})
    ended = subprocess.run([sys.executable, "-c", speed.OUR_PROCESS], input=tree, capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    assert len(found["acked"]) == 2 and found["deliveries"] >= sum(found["acked"]) > 0


def test_the_training_set_of_guided_builds_has_no_scenario_of_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = [tree for case in instructions.cases().values() for tree in (case.short, case.long)]
    assert len(pgo.training()) > 10 and not any(tree in timed for tree in pgo.training())
    short = [{**tree, "duration": "100 ms"} for tree in pgo.training()]
    monkeypatch.setattr(pgo, "training", lambda: short)
    library = next((ROOT / "python/sawtooth").glob("_core*.so"))
    assert " acked_packets " in pgo.train(library)


def test_a_program_too_old_for_the_compilers_counts_is_not_taken(tmp_path: Path) -> None:
    for name, said, expected in (("old", "Debian LLVM version 14.0.6", 14), ("new", "LLVM version 22.1.2-rust", 22), ("other", "1.2", 0)):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{said}'\n")
        program.chmod(0o755)
        assert pgo.version(str(program)) == expected
