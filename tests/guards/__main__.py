"""Renewing what the guards hold: `python -m tests.guards sizes`, `structure` and `records [ENTRY...]`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tests.guards import records, sizes, structure

# Guards whose rows only fall, and what is printed where nothing is beyond its row.
LIMITS: dict[str, tuple[Any, str]] = {
    "sizes": (sizes, "every file is as small as its row says"),
    "structure": (structure, "nothing is further beyond a limit than its row says"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_subparsers(dest="which", required=True)
    which.add_parser("sizes", help="lower the rows of files that have shrunk")
    which.add_parser("structure", help="lower the rows of what is less beyond a limit of the crates' structure")
    of_records = which.add_parser("records", help="run every study's short form and write the hashes of its records")
    of_records.add_argument("entries", nargs="*", metavar="ENTRY[=PATTERN]",
                            help='entries under "Changed results" that say what changed, and why; with a pattern only what fits it, as `*flows.*rtt*`')  # fmt: skip
    options = parser.parse_args()
    if options.which in LIMITS:
        guard, kept = LIMITS[options.which]
        found = guard.found(records.ROOT)
        guard.TABLE.write_text(guard.renewed(found, guard.read(guard.TABLE.read_text())))
        said = guard.faults(found, guard.read(guard.TABLE.read_text()))
        print("\n".join(said) or kept)
        return 1 if said else 0
    before = records.read(records.TABLE.read_text()) if records.TABLE.is_file() else {}
    try:
        after = records.renewed(before, records.measured(), options.entries, records.CHANGELOG.read_text())
    except records.NotSaid as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    records.TABLE.write_text(records.show(after))
    print(f"{sum(map(len, after.values()))} hashes of {len(after)} studies and golden files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
