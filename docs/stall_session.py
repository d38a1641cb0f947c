"""Records the terminal sessions in docs/guides/stall.md: `python docs/stall_session.py`, as root, rewrites what lies between its marks.

A sender and a receiver, in namespaces that end with the script, have a path of 20 Mbit/s between them. The receiver reads as fast as it can for some
seconds, then pauses, as one does that writes to a slow disk; `sawtooth stall` watches on the sender.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs/guides/stall.md"
NETWORK = ROOT / "tests/live/network.sh"
RECEIVER, PORT = "10.99.2.2", 5001
SESSIONS = {
    "pause": "sawtooth stall --port 5001 --for '4 s' --interval '2 s'",
    "exact": "sawtooth stall --port 5001 --exact --once --interval '3 s'",
    "json": "sawtooth stall --port 5001 --once --json",
}


def main() -> None:
    """Records all, or plays a part in one."""
    if sys.argv[1:] == ["receive"]:
        receive()
    elif sys.argv[1:2] == ["watch"]:
        watch(sys.argv[2])
    else:
        text = GUIDE.read_text(encoding="utf-8")
        for name, command in SESSIONS.items():
            said = subprocess.run(["unshare", "--net", "--mount", str(NETWORK), sys.executable, __file__, "watch", command],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True).stdout  # fmt: skip
            block = f"<!-- session {name} -->\n```console\n$ {command}\n{said.rstrip()}\n```\n<!-- end -->"
            text = re.sub(rf"<!-- session {name} -->.*?<!-- end -->", lambda _, block=block: block, text, flags=re.DOTALL)
        GUIDE.write_text(text, encoding="utf-8")


def receive() -> None:
    """Reads for some seconds from the first byte on, then pauses for the rest."""
    with socket.create_server((RECEIVER, PORT)) as server:
        connection, _ = server.accept()
        connection.recv(1)
        end = time.monotonic() + 4.5
        while time.monotonic() < end:
            connection.recv(65536)
        time.sleep(60)


def watch(command: str) -> None:
    """Sends, watches as the session says, and passes on what is said."""
    receiver = subprocess.Popen([*shlex.split(os.environ["RECEIVER"]), sys.executable, __file__, "receive"], stdin=subprocess.DEVNULL)
    try:
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        for _ in range(100):
            with contextlib.suppress(ConnectionRefusedError):
                connection.connect((RECEIVER, PORT))
                break
            time.sleep(0.05)
        began = time.monotonic()
        threading.Thread(target=send, args=(connection,), daemon=True).start()
        if "--for" not in command:
            time.sleep(max(0.0, 6 - (time.monotonic() - began)))
        words = [sys.executable, "-m", "sawtooth.cli", *shlex.split(command)[1:]]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
        print(done.stdout.rstrip())
    finally:
        receiver.kill()
        receiver.wait()


def send(connection: socket.socket) -> None:
    """Writes until the connection ends."""
    with contextlib.suppress(OSError):
        while True:
            connection.send(b"x" * 65536)


if __name__ == "__main__":
    main()
