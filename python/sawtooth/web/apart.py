"""What a process of its own finds out, line by line, for threads that wait for one of its answers each."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from sawtooth.errors import DatasetError
from sawtooth.web.children import tied


class Apart:
    """A module that writes `{NAME: ANSWER}` a line, or `{"error": problem}`; it is started when something is first asked of it, and again after it has failed.

    Attributes:
        told: what it has said so far, the last of each name.

    """

    def __init__(self, module: str, words: Sequence[str], answers: Sequence[str], purpose: str, settings: Mapping[str, str]) -> None:
        self._module, self._words, self._answers, self._purpose, self._settings = module, words, answers, purpose, settings
        self._changed = threading.Condition()
        self._process: subprocess.Popen[bytes] | None = None
        self._running = self._ended = False
        self._failed: DatasetError | None = None
        self.told: dict[str, Any] = {}

    def __call__(self, answer: str) -> Any:
        """One of its answers, as soon as it is there.

        Raises:
            DatasetError: if it says so, or ends without it.

        """
        with self._changed:
            if answer not in self.told and not self._running:
                self._begin()
            self._changed.wait_for(lambda: answer in self.told or not self._running)
            if answer in self.told:
                return self.told[answer]
            assert self._failed is not None
            raise self._failed

    def end(self) -> None:
        """Ends it: whoever waits is told."""
        with self._changed:
            self._ended = True
            if self._process is not None:
                self._process.terminate()

    def _begin(self) -> None:
        if self._ended:
            raise _written()
        self._running, self._failed = True, None
        # The thread that starts it is there as long as it is: the system takes its end for the explorer's.
        threading.Thread(target=self._run, name=f"to {self._purpose}", daemon=True).start()

    def _run(self) -> None:
        failed = None
        try:
            failed = self._listen()
        except OSError as error:
            failed = self._without(error.strerror or "no process")
        finally:
            with self._changed:
                self._running, self._process, self._failed = False, None, failed or self._without("no answer")
                self._changed.notify_all()

    def _listen(self) -> DatasetError | None:
        """Hears it to its end; what went wrong."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                tied(self._module, self._words), env={**os.environ, **self._settings}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=complaints, start_new_session=True,
            )  # fmt: skip
            with process:
                with self._changed:
                    self._process = process
                    if self._ended:
                        process.terminate()
                assert process.stdout is not None
                for line in process.stdout:
                    self._hear(line)
            if self._ended:
                return _written()
            error = self.told.pop("error", None)
            if error is not None:
                return DatasetError(str(error["message"]), error["hint"])
            complaints.seek(0)
            last = complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
            return None if all(name in self.told for name in self._answers) else self._without(last or f"code {process.returncode}")

    def _hear(self, line: bytes) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            return
        with self._changed:
            self.told |= found
            self._changed.notify_all()

    def _without(self, why: str) -> DatasetError:
        return DatasetError(f"what was to {self._purpose} ended: {why}", "`sawtooth report` says what its verdicts are")


def _written() -> DatasetError:
    return DatasetError("these results were written to while they were judged", "ask again")
