"""`python -m tests.fuzz`: tries random inputs of all kinds for a time, side by side; exit code 1 if one did what none may.

Every stretch is a process of its own with bounded memory. One that dies, or that stays with an input for longer than `--patience`, is a failure
of the input it was trying; so is whatever the kind itself finds. Failures are saved below `--out` with the command that tries them again.

Counts are saved after every stretch, so that a campaign can be cut in pieces: `--more` adds to those that are there. Ctrl-C ends it at once.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from tests.fuzz import counts, page
from tests.fuzz.campaign import Asked, Campaign
from tests.fuzz.kinds import named, names, prepare
from tests.fuzz.stretch import bound_memory, stretch


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, in all")
    parser.add_argument("--inputs", type=int, default=None, help="end earlier, when so many have been tried")
    parser.add_argument("--seed", type=int, default=None, help="of the first stretch; by default another every time, with --more the next")
    parser.add_argument("--kind", action="append", choices=names(), help="only this one; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds of a processor that one input may take")
    parser.add_argument("--out", type=Path, default=Path("results/fuzz"), help="where failures and counts.json go")
    parser.add_argument("--more", action="store_true", help="add to the counts that are there")
    parser.add_argument("--replay", type=Path, metavar="SAVED", help="try this saved input of --kind once more")
    parser.add_argument("--page", type=Path, nargs="+", metavar="COUNTS", help=f"write what campaigns have come to into {page.PAGE}")
    parser.add_argument("--stretch", nargs=3, metavar=("KIND", "SEED", "WORK"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.stretch:
        name, seed, work = asked.stretch
        return stretch(named(name), int(seed), asked.seconds, Path(work))
    if asked.replay:
        if not asked.kind:
            parser.error("--replay needs --kind")
        kind = named(asked.kind[0])
        prepare(kind)
        with tempfile.TemporaryDirectory() as work:
            bound_memory()
            kind.replay(asked.replay, Path(work))
        print("nothing is wrong with it")
        return 0
    if asked.page:
        page.write(asked.page)
        return 0
    before = asked.out / "counts.json"
    known = counts.load(before) if asked.more and before.exists() else counts.Counts()
    seed = asked.seed
    if seed is None:
        seed = known.runs[-1].last + 1 if known.runs else random.SystemRandom().randrange(2**32)
    chosen = [named(name) for name in asked.kind or names()]
    return Campaign(chosen, Asked(asked.seconds, asked.inputs, asked.jobs, asked.patience, asked.out), seed, known).run()


if __name__ == "__main__":
    sys.exit(main())
