"""A connection that is held back by one thing, and what `sawtooth.live` says of it: `python traffic.py KIND [ADDRESS]` prints JSON.

With an address the receiver is a process of its own that the command in RECEIVER starts, else a thread on loopback.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import time

PORT = 15001
SECONDS = 3.0
SO_MAX_PACING_RATE = 47
PIECE = b"x" * 65536


def serve(kind: str, host: str) -> None:
    """Takes one connection and reads it, slowly if that is the kind; answers every 200 bytes if that is."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if kind == "rwnd":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    listener.bind((host, PORT))
    listener.listen()
    connection, _ = listener.accept()
    while data := connection.recv(200 if kind == "nagle" else 16384, socket.MSG_WAITALL if kind == "nagle" else 0):
        if kind == "rwnd":
            time.sleep(0.02)
        if kind == "nagle" and len(data) == 200:
            connection.send(b"y")


def connect(kind: str, host: str) -> socket.socket:
    """A connection with the options that its kind needs."""
    made = socket.socket()
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    if kind == "send_buffer":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(os.environ["SEND_BUFFER"]))
    if kind == "source":
        # Else a reader that gets no processor for a moment delays its acknowledgement, and Nagle's algorithm holds back the next piece: a stall.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if kind == "pacing":
        made.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1_000_000)
    for _ in range(100):
        try:
            made.connect((host, PORT))
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return made
    raise TimeoutError(host)


def send(kind: str, connection: socket.socket) -> None:
    """Writes until the connection ends."""
    with contextlib.suppress(OSError):
        write(kind, connection)


def write(kind: str, connection: socket.socket) -> None:
    while True:
        if kind == "source":
            connection.send(PIECE[:1000])
            time.sleep(0.01)
        elif kind == "nagle":
            # Write, write, read: the second piece waits for the acknowledgement of the first, which is delayed.
            connection.send(PIECE[:100])
            connection.send(PIECE[:100])
            connection.recv(1)
        else:
            connection.send(PIECE)


def main() -> None:
    kind = sys.argv[1]
    if kind == "serve":
        serve(sys.argv[2], sys.argv[3])
        return
    from sawtooth.live.causes import NAMES
    from sawtooth.live.exact import Exact
    from sawtooth.live.netlink import SockDiag
    from sawtooth.live.targets import Target
    from sawtooth.live.watch import Watch

    host = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
    receiver = None
    if host == "127.0.0.1":
        threading.Thread(target=serve, args=(kind, host), daemon=True).start()
    else:
        command = [*shlex.split(os.environ["RECEIVER"]), sys.executable, __file__, "serve", kind, host]
        receiver = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        connection = connect(kind, host)
        exact = Exact([], [PORT]) if os.environ.get("EXACT") else None
        threading.Thread(target=send, args=(kind, connection), daemon=True).start()
        time.sleep(0.5)
        watch = Watch(Target(ports=[PORT]), SockDiag())
        before = exact.totals() if exact else {}
        for _ in watch.intervals(1.0, SECONDS):
            pass
        time.sleep(0.2)
        mine = f":{connection.getsockname()[1]}"
        total = next(each for each in watch.totals() if each.connection.local.endswith(mine))
        cookie = total.connection.cookie
        answer = {
            "cause": total.cause.name, "says": total.cause.says(total.after), "try": total.cause.advice(total.after),
            "shares": {name: round(total.share(name), 3) for name in NAMES}, "busy": round(total.busy_ns / total.wall_ns, 3),
            "stall": round(total.stall_ns / total.wall_ns, 3), "bps": round(total.sent_bps),
        }  # fmt: skip
        if exact:
            answer["exact"] = round((exact.totals().get(cookie, 0) - before.get(cookie, 0)) / total.wall_ns, 3)
            causes = [cause for which, _, _, cause in exact.listed() if which == cookie]
            answer["exact_causes"] = {cause: causes.count(cause) for cause in set(causes)}
            exact.close()
        print(json.dumps(answer), flush=True)
    finally:
        if receiver:
            receiver.kill()
            receiver.wait()


if __name__ == "__main__":
    main()
