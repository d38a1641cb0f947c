"""Single bits of the files of a results directory are flipped, one at a time.

Each is to be named when the results are opened, so that none is read, and healed or left out, and named, by the same command.

    python -m tests.robustness.flips --count 1000 --seed 1
    python -m tests.robustness.page
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from sawtooth.errors import DatasetError
from sawtooth.results.dataset import Dataset
from tests.robustness import page
from tests.robustness.laboratory import contents, do, plan, pretended

LOG = "log.jsonl"


@dataclass
class Outcome:
    """What became of the flips, by kind of file.

    Attributes:
        flips: bits flipped. refused: opening named the file, and refused. noted: opening named it, and read the rest.
        healed: the same command named it, and all is as it was. left_out: the same command named it, and left the line out.
        silent: any other.

    """

    flips: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    noted: Counter[str] = field(default_factory=Counter[str])
    healed: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
    silent: list[str] = field(default_factory=list[str])

    def rows(self) -> list[dict[str, str | int]]:
        """For the page."""
        return [
            {"file": name, "flips": self.flips[name], "refused": self.refused[name], "noted": self.noted[name],
             "healed": self.healed[name], "left_out": self.left_out[name]}
            for name in sorted(self.flips)
        ]  # fmt: skip


def flip(count: int, seed: int, work: Path) -> Outcome:
    """Flips `count` bits, each of a file chosen at random, of a copy of the same results."""
    chance = random.Random(seed)
    whole, copy = work / "whole", work / "copy"
    outcome = Outcome()
    with pretended():
        made = plan()
        do(made, whole)
        expected = contents(whole)
        files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file() and path.stat().st_size)
        for _ in range(count):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(whole, copy)
            victim = chance.choice(files)
            content = bytearray((copy / victim).read_bytes())
            bit = chance.randrange(8 * len(content))
            content[bit // 8] ^= 1 << bit % 8
            (copy / victim).write_bytes(content)
            kind = f"parts/{victim.stem.partition('-')[0]}{victim.suffix}" if victim.parts[0] == "parts" else victim.name
            outcome.flips[kind] += 1
            where = f"bit {bit} of {victim}"
            try:
                notes = Dataset.open(copy).notes
                if any(victim.name in note for note in notes):
                    outcome.noted[kind] += 1
                else:
                    outcome.silent.append(f"{where}: opened, with notes {notes}")
            except DatasetError as error:
                if victim.name in str(error):
                    outcome.refused[kind] += 1
                else:
                    outcome.silent.append(f"{where}: {error}")
            _, summary = do(made, copy)
            whole_again = contents(copy) == expected and not Dataset.open(copy).notes
            if victim.name in summary.damaged and whole_again:
                outcome.healed[kind] += 1
            elif victim.name == LOG and summary.log_lines and whole_again:
                outcome.left_out[kind] += 1
            else:
                outcome.silent.append(f"{where}: after the same command, which named {summary.damaged}, {summary.log_lines}")
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        outcome = flip(asked.count, asked.seed, Path(work))
    page.write("flips", {"seed": asked.seed, "rows": outcome.rows(), "silent": outcome.silent})
    print(page.flips(page.RESULTS))
    for line in outcome.silent:
        print(f"  {line}")
    sys.exit(1 if outcome.silent else 0)


if __name__ == "__main__":
    main()
