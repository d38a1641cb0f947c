"""Records the terminal sessions in docs/guides/stall.md: `python docs/stall_session.py`, as root, rewrites what lies between its marks.

A sender and a receiver, in namespaces that end with the script, have a path of 20 Mbit/s between them. The receiver reads as fast as it can, then pauses,
as one does that writes to a slow disk: after the first report of a session that is to show both, before the others. `sawtooth stall` watches on the sender.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
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
    """Reads until it is told to pause."""
    paused = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: paused.set())
    with socket.create_server((RECEIVER, PORT)) as server:
        connection, _ = server.accept()
        while not paused.is_set():
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
        threading.Thread(target=send, args=(connection,), daemon=True).start()
        time.sleep(3)
        if "--for" not in command:
            receiver.send_signal(signal.SIGUSR1)
            time.sleep(3)
        words = [sys.executable, "-m", "sawtooth.cli", *shlex.split(command)[1:]]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout
            first = watching.stdout.readline()
            receiver.send_signal(signal.SIGUSR1)
            print((first + watching.stdout.read()).rstrip())
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
