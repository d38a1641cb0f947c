"""What an explorer was started with."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = "127.0.0.1"
"""The only address it listens at: others reach it by a tunnel of their own, such as `ssh -L`."""
PORT = 8321


@dataclass(frozen=True)
class Settings:
    """What an explorer was started with.

    Attributes:
        folders: below which it may read files, and write with `allow_run`.
        port: that it listens at.
        allow_run: whether it may write studies and run them.
        token: that a browser has to show once; later a cookie shows it.

    """

    folders: Sequence[Path]
    port: int = PORT
    allow_run: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """What the user opens."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"
