"""Which connections are meant: by port, process, peer, or all; and whose they are."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sawtooth.live.netlink import FAMILIES, Listener, LiveError
from sawtooth.live.tcp_info import Sockets, pick

_PROC = Path("/proc")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Peer:
    """Addresses of a network, and the peer's port if one is meant."""

    network: ipaddress.IPv4Network | ipaddress.IPv6Network
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Peer:
        """`192.0.2.7`, `192.0.2.0/24`, `192.0.2.7:443`, `2001:db8::1` or `[2001:db8::1]:443`.

        Raises:
            LiveError: if it is none of these.

        """
        host, port = text, None
        if text.startswith("["):
            host, _, rest = text[1:].partition("]")
            port = rest.removeprefix(":") or None
        elif text.count(":") == 1:
            host, port = text.split(":")
        try:
            return cls(ipaddress.ip_network(host, strict=False), None if port is None else _port(port))
        except ValueError:
            raise LiveError(f"`{text}` is no peer", "such as 192.0.2.7, 192.0.2.0/24, 192.0.2.7:443 or [2001:db8::1]:443") from None


def _port(text: str) -> int:
    if not (text.isdigit() and 0 < int(text) < 65536):
        raise ValueError(text)
    return int(text)


@dataclass
class Target:
    """The connections that fit every kind that is named, and one of each kind; all if nothing is.

    Attributes:
        ports: local or the peer's.
        pids: of the processes that have them open.
        peers: whom they go to.

    """

    ports: Sequence[int] = ()
    pids: Sequence[int] = ()
    peers: Sequence[Peer] = field(default_factory=tuple[Peer, ...])

    def __str__(self) -> str:
        kinds = [
            " or ".join(f"port {port}" for port in self.ports),
            " or ".join(f"process {pid}" for pid in self.pids),
            " or ".join(f"peer {peer.network.with_prefixlen.removesuffix('/32').removesuffix('/128')}"
                        f"{'' if peer.port is None else f' port {peer.port}'}" for peer in self.peers),
        ]  # fmt: skip
        return " and ".join(kind for kind in kinds if kind) or "this machine"

    def choose(self, sockets: Sockets) -> Sockets:
        """Those that are meant.

        Raises:
            LiveError: if a process is not there, or may not be looked into.

        """
        wanted: NDArray[np.bool_] = np.ones(len(sockets), dtype=np.bool_)
        if self.ports:
            wanted &= np.isin(sockets["sport"], self.ports) | np.isin(sockets["dport"], self.ports)
        if self.pids:
            inodes = [inode for pid in self.pids for inode in inodes_of(pid)]
            wanted &= np.isin(sockets["inode"], np.array(inodes, dtype=np.uint32))
        if self.peers:
            among = [any(_fits(peer, family, address, port) for peer in self.peers) for family, address, port in
                     zip(sockets["family"].tolist(), sockets["destination"].tolist(), sockets["dport"].tolist(), strict=True)]  # fmt: skip
            wanted &= np.array(among, dtype=np.bool_)
        return sockets if wanted.all() else pick(sockets, wanted)

    def check(self, listeners: Sequence[Listener], found: int) -> str | None:
        """Why nothing was found, in words; None if something was."""
        if found:
            return None
        where = str(self)
        listening = sorted({listener.port for listener in listeners} & set(self.ports))
        if listening:
            return f"no connection of {where}: a server listens on {' and '.join(map(str, listening))}, and nobody is connected"
        if self.ports and not self.pids and not self.peers:
            return f"no connection of {where}: nothing here listens on it, and nothing is connected to it"
        return f"no connection of {where}"


def _fits(peer: Peer, family: int, raw: bytes, port: int) -> bool:
    found = address(family, raw)
    return found.version == peer.network.version and found in peer.network and peer.port in (None, port)


def address(family: int, raw: bytes) -> Address:
    """An address as sock_diag has it; IPv4 in IPv6 is IPv4."""
    if family == FAMILIES[0]:
        return ipaddress.IPv4Address(raw[:4])
    found = ipaddress.IPv6Address(raw)
    return found.ipv4_mapped or found


def inodes_of(pid: int) -> list[int]:
    """Inodes of the sockets that a process has open.

    Raises:
        LiveError: if there is no such process, it may not be looked into, or it is in another network namespace.

    """
    try:
        found = _inodes(pid)
        elsewhere = (_PROC / str(pid) / "ns/net").readlink() != (_PROC / "self/ns/net").readlink()
    except (FileNotFoundError, ProcessLookupError):
        raise LiveError(f"there is no process {pid}", "`ss -tp` lists processes with their connections") from None
    except PermissionError:
        if os.geteuid() == 0:
            raise LiveError(
                f"process {pid} may not be looked into, not even by this root: which connections it has open cannot be seen",
                "in a container, root needs CAP_SYS_PTRACE for that; or name its --port: the connections themselves anyone may see",
            ) from None
        raise LiveError(
            f"process {pid} is another user's: which connections it has open may not be seen",
            "run as that user or as root (sudo), or name its --port: the connections themselves anyone may see",
        ) from None
    if elsewhere:
        raise LiveError(
            f"process {pid} is in another network namespace (a container?), whose connections cannot be seen from here",
            f"as root: nsenter --target {pid} --net sawtooth stall --pid {pid}",
        )
    return found


def _inodes(pid: int) -> list[int]:
    found: list[int] = []
    directory = f"{_PROC}/{pid}/fd"
    for entry in os.listdir(directory):  # noqa: PTH208 - a thousand paths would cost more than the rest
        with contextlib.suppress(FileNotFoundError):
            name = os.readlink(f"{directory}/{entry}")  # noqa: PTH115 - likewise
            if name.startswith("socket:["):
                found.append(int(name[8:-1]))
    return found


def owners() -> dict[int, tuple[int, str]]:
    """Inode to process and its name, of those processes that this user may look into."""
    found: dict[int, tuple[int, str]] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            inodes = _inodes(int(entry.name))
            if inodes:
                # A process may call itself whatever it likes, also what a terminal takes for a command.
                raw = (entry / "comm").read_bytes().decode(errors="replace").strip()
                name = "".join(letter if letter.isprintable() else "?" for letter in raw)
                found |= dict.fromkeys(inodes, (int(entry.name), name))
    return found
