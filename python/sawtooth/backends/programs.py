"""Packaged programs that run inside guests, with the libraries they need."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sawtooth.backends.images import File
from sawtooth.errors import BackendUnavailable

# What flows that are fetches are made of: program, package.
_HTTP = {Path("/usr/sbin/apache2"): "apache2-bin", Path("/usr/bin/wget"): "wget"}
_APACHE_MODULES = tuple(Path(f"/usr/lib/apache2/modules/mod_{name}.so") for name in ("mpm_prefork", "authz_core"))


def require_http() -> None:
    """Raises `BackendUnavailable` if the programs of `application = "http"` are not installed."""
    for program, package in _HTTP.items():
        if not program.is_file():
            raise BackendUnavailable(
                f'`application = "http"` needs {program.name}, which is not installed', f"install the package {package}"
            )


def http_files() -> list[File]:
    """The programs of `application = "http"` and all they need."""
    require_http()
    wanted = [*_HTTP, *_APACHE_MODULES]
    found = {path: File(str(path).lstrip("/"), path, executable=True) for path in wanted}
    for path in wanted:
        for library in _libraries(path):
            found[library] = File(str(library).lstrip("/"), library, executable=True)
    return list(found.values())


def _libraries(program: Path) -> list[Path]:
    """The files that the dynamic linker would load, itself included."""
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout
    return [Path(word) for line in said.splitlines() for word in line.split() if word.startswith("/")]
