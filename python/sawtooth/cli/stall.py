"""`sawtooth stall`: what holds live connections back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def stall(
    ports: Annotated[
        list[int] | None,
        typer.Option("--port", metavar="N", min=1, max=65535, help="Local or the peer's. May be repeated.", show_default=False),
    ] = None,
    pids: Annotated[
        list[int] | None,
        typer.Option("--pid", metavar="N", min=1, help="Connections that this process has open. May be repeated.", show_default=False),
    ] = None,
    peers: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="ADDRESS", help="Address, network or ADDRESS:PORT. May be repeated.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every connection of this machine.")] = False,
    interval: Annotated[str, typer.Option(metavar="TIME", help="Between two reports.")] = "1 s",
    total: Annotated[str | None, typer.Option("--for", metavar="TIME", help="How long to watch.", show_default="until Ctrl-C")] = None,
    once: Annotated[bool, typer.Option("--once", help="Watch for one interval, print it, end.")] = False,
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep it as results: `sawtooth report DIR`, `sawtooth compare DIR OTHER`.", show_default=False),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Measure stalls at the kernel's tracepoints: needs root and bpftrace.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON per connection and interval.")] = False,
) -> None:
    """Watch TCP connections of this machine, and say what holds each of them back.

    Of every interval: how long a connection was busy; the share of the time that the application, the receiver's window, the send
    buffer, the congestion window or pacing held it back; and its stall: time in which something waited to be sent and nothing was
    done for it. The main cause comes in words, with what to try.

    Ports, processes and peers may be combined: then connections fit all of them. No root is needed to see connections, only to
    see which are another user's process's, and for --exact. Exit code 1 if nothing was seen, 130 if Ctrl-C cut --for short.

    Example: sawtooth stall --port 443 --for '1 min' --record results/https
    """
    from sawtooth.live import screen, session
    from sawtooth.live.netlink import LiveError
    from sawtooth.live.targets import Peer, Target
    from sawtooth.quantities import seconds

    if not (ports or pids or peers or everything):
        raise LiveError("which connections?", "name a --port, a --pid or a --peer, or take --all; `ss -tp` lists what there is")
    if everything and (ports or pids or peers):
        raise LiveError("--all are all: there is nothing to choose with --port, --pid or --peer")
    if once and total is not None:
        raise LiveError("--once is one interval: --for has nothing to say", "--interval says how long that is")
    step = seconds(interval)
    whole = step if once else None if total is None else seconds(total)
    if step < 0.05:
        raise LiveError(f"`{interval}` is too short", "an interval takes 50 ms at least: the kernel counts in ticks of some ms")
    if whole is not None and whole <= 0:
        raise LiveError(f"`{total}` is no time to watch for", "such as '10 s'; without --for it watches until Ctrl-C")
    target = Target(ports or (), pids or (), [Peer.parse(peer) for peer in peers or ()])
    asked = session.Asked(target, step, whole, record, exact)
    with screen.output(str(target), as_json=as_json) as show:
        ending = session.watch(asked, show)
    if ending.why:
        print(ending.why, file=sys.stderr)
    if not ending.totals:
        print(f"no connection of {target} was seen", file=sys.stderr)
        raise typer.Exit(1)
    if not (as_json or once):
        screen.print_totals(ending.totals, str(target))
    if record is not None:
        print(f"recorded in {record}; `sawtooth report {record}` shows it", file=sys.stderr)
    if ending.hidden:
        print("which processes of other users have them open may not be seen: that needs root", file=sys.stderr)
    if ending.interrupted and whole is not None:
        raise typer.Exit(130)
