"""Scripts on the kernel that this is called on, a guest's in virtual time: what `in_guest` has a guest run.

python -m sawtooth.conformance.inside JOB     what has become of each script, and this kernel's release, as JSON

The job is JSON, too: `paths`, `tolerance` and what words are `defined` to be.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from sawtooth.conformance.kernel import KernelEndpoint
from sawtooth.conformance.told import of_path


def main() -> None:
    """Runs the scripts of the command line."""
    job = json.loads(sys.argv[1])
    # The clock stands still while a guest computes: nothing is late, and who waited for a time by looking at the clock would wait for ever.
    found = [
        of_path(Path(path), lambda script: KernelEndpoint(script, spin_secs=0), job["tolerance"], job["defined"]) for path in job["paths"]
    ]
    print(json.dumps({"release": os.uname().release, "scripts": [asdict(told) for told in found]}))


if __name__ == "__main__":
    main()
