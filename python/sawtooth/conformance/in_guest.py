"""The kernel of a guest of user-mode Linux, in virtual time: no root, no device of this machine's, and the same times whatever else the machine does.

The guest sees this machine's files, read only, and runs this same program on its own kernel.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sawtooth.backends import guest
from sawtooth.backends.launcher import Settings
from sawtooth.backends.uml import LAUNCHER
from sawtooth.conformance.told import Told
from sawtooth.errors import BackendUnavailable

_MEMORY_BYTES = 256 << 20
_PATIENCE_SECS = 120.0
_PATIENCE_SECS_PER_SCRIPT = 10.0
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_DEFAULT = "cubic"
"""The congestion control of hosts that nobody has told another."""


def run(paths: Sequence[Path], tolerance: float, image: str, defined: Mapping[str, str]) -> tuple[str, list[Told]]:
    """Its kernel's release, and what has become of scripts in one guest, of the packaged kernel or of an `image` of `sawtooth kernel build`.

    Raises:
        BackendUnavailable: if no guest can be started here, or it did not come to the end of the scripts.

    """
    settings = Settings(image=image, memory_bytes=_MEMORY_BYTES, cpus=1, virtual=True, http=False, modules=("tun",))
    machine = LAUNCHER.machine(settings, frozenset({_DEFAULT}))
    patience = _PATIENCE_SECS + _PATIENCE_SECS_PER_SCRIPT * len(paths)
    results, console, _ = guest.boot(LAUNCHER.name, machine, {"scripts": _job(paths, tolerance, defined)}, patience)
    ended: Mapping[str, Any] = results.get("scripts", {})
    if ended.get("code") != 0:
        said = ended.get("error") or ended.get("stderr") or guest.tail(console)
        raise BackendUnavailable(
            f"the guest did not come to the end of the scripts; it said: {said.strip()}",
            "`sawtooth doctor` shows what this machine can run",
        )
    said = json.loads(ended["stdout"])
    return said["release"], [Told(**told) for told in said["scripts"]]


def _job(paths: Sequence[Path], tolerance: float, defined: Mapping[str, str]) -> dict[str, Any]:
    here = {"PATH": _PATH, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    job = {"paths": list(map(str, paths)), "tolerance": tolerance, "defined": dict(defined)}
    words = [sys.executable, "-m", "sawtooth.conformance.inside", json.dumps(job)]
    return {"kind": "program", "seed": 1, "words": words, "directory": str(Path.cwd()), "environment": here}
