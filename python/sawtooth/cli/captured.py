"""What commands take and say of captures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sawtooth.plan import Plan
    from sawtooth.taps import Wanted


def wanted(where: Path | None, points: Sequence[str] | None, snap: int | None, plan: Plan | None = None) -> Wanted | None:
    """What is to be captured, if anything is, of the runs of a plan.

    Raises:
        StudyError: if that cannot be.

    """
    from sawtooth import taps
    from sawtooth.errors import StudyError

    if where is None:
        if points or snap is not None:
            raise StudyError(f"{'--pcap-at' if points else '--snap'} is for --pcap", hint="packets are captured with both")
        return None
    on_kernels = plan is not None and plan.study.on_kernels
    return taps.wanted(where, points or (), taps.SNAP if snap is None else snap, on_kernels=on_kernels)


def tell(captured: Wanted | None) -> None:
    """Says what was written."""
    from sawtooth import taps
    from sawtooth.counted import counted, form

    if captured is None:
        return
    paths, wanted = captured.written(), len(captured.files)
    lines = taps.lines(paths) if paths else []
    if not wanted:
        lines = ["captures: no run was done now, so there are none; runs that are stored are not done again for them"]
    elif len(paths) < wanted:
        missing = "none was" if not paths else f"{wanted - len(paths):,} {form(wanted - len(paths), 'was', 'were')} not"
        lines.append(f"captures: of {counted(wanted, 'file')} {missing} written, for their runs failed or were interrupted")
    for line in lines:
        print(line, file=sys.stderr)
