"""What `sawtooth stall` costs: processor time over wall time, watching 1000 connections at 1 Hz.

    python bench/stall.py [--connections 1000] [--busy 0.1] [--seconds 82]

The connections are on loopback; a share of them sends 1 kB ten times a second, from a process of their own. The watch is the command itself, in each
of its forms; what it takes to start (loading Python and Polars) is left out: time counts from its first reports on. It is processor time, of all its
threads and in user and kernel mode, so others on the same processors make it larger only by what they take of its caches. A recording of a thousand
connections is written every 40 s, so fewer seconds than two of those say nothing of it. Another line says what pyroute2 takes for one list of the
same sockets, where it is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pty
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from sawtooth.live.netlink import SockDiag

BAR = 0.02
FORMS = {"table": [], "JSON": ["--json"], "table, recorded": ["--record"], "JSON, recorded": ["--json", "--record"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--busy", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=82)
    asked = parser.parse_args()
    if asked.connections < 0:
        hold(-asked.connections, asked.busy)
        return
    command = [sys.executable, __file__, "--connections", str(-asked.connections), "--busy", str(asked.busy)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    try:
        port = int(holder.stdout.readline())
        print(f"{len(SockDiag().connections())} connections, {asked.busy:.0%} of them busy; bar: {BAR:.0%} of a core at 1 Hz")
        for name, options in FORMS.items():
            with tempfile.TemporaryDirectory() as directory:
                extra = [*options, str(Path(directory) / "live")] if "--record" in options else options
                share = cost(["--port", str(port), *extra], asked.seconds)
            print(f"{name:16} {share:.2%} of a core{'' if share < BAR else '  ABOVE THE BAR'}", flush=True)
        one_list()
    finally:
        holder.kill()
        holder.wait()


def hold(connections: int, busy: float) -> None:
    """Holds that many connections (both ends of half as many), and sends 1 kB on a share of them every tenth of a second."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * connections + 100, 2 * connections + 100))
    server = socket.create_server(("127.0.0.1", 0), backlog=connections)
    pairs: list[tuple[socket.socket, socket.socket]] = []
    for _ in range(connections // 2):
        client = socket.create_connection(server.getsockname())
        pairs.append((client, server.accept()[0]))
    print(server.getsockname()[1], flush=True)
    while True:
        for client, accepted in pairs[: round(busy * len(pairs))]:
            client.send(b"x" * 1000)
            accepted.recv(1000)
        time.sleep(0.1)


def cost(arguments: list[str], seconds: float) -> float:
    """Share of a processor that the command takes, on a terminal of its own, from its first report on."""
    main_end, terminal = pty.openpty()
    command = [sys.executable, "-m", "sawtooth.cli", "stall", *arguments, "--for", f"{seconds + 5} s"]
    out = terminal if "--json" not in arguments else subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
    os.close(terminal)
    threading.Thread(target=drain, args=(main_end,), daemon=True).start()
    try:
        # Started, and past the first interval, when connections are met and their processes looked for.
        wait_for_start(process.pid)
        time.sleep(2.5)
        used, at = processor_seconds(process.pid), time.monotonic()
        time.sleep(seconds)
        return (processor_seconds(process.pid) - used) / (time.monotonic() - at)
    finally:
        process.kill()
        process.wait()
        os.close(main_end)


def drain(terminal: int) -> None:
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass


def wait_for_start(pid: int) -> None:
    """Until the process has opened its netlink socket."""
    sockets = {line.split()[9] for line in Path("/proc/net/netlink").read_text().splitlines()[1:]}
    for _ in range(600):
        now = {line.split()[9] for line in Path("/proc/net/netlink").read_text().splitlines()[1:] if line.split()[1] == "4"}
        if now - sockets:
            return
        time.sleep(0.05)
    raise TimeoutError(f"process {pid} does not begin to watch")


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_list() -> None:
    """Processor time of one list of all sockets with their tcp_info, here and by pyroute2."""
    diag = SockDiag()
    print(f"one list of them: {spent(diag.connections) * 1e3:.1f} ms", end="")
    try:
        from pyroute2 import DiagSocket  # type: ignore[import-not-found]
    except ImportError:
        print("; pyroute2 is not installed")
        return
    with DiagSocket() as other:
        other.bind()
        print(f"; by pyroute2 {spent(lambda: list(other.get_sock_stats(family=socket.AF_INET, extensions=0b1000010))) * 1e3:.1f} ms")


def spent(what: object, times: int = 5) -> float:
    assert callable(what)
    before = time.process_time()
    for _ in range(times):
        what()
    return (time.process_time() - before) / times


if __name__ == "__main__":
    main()
