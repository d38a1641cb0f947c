"""A network namespace of a script's own, whose one device is a TUN that the script is at the other end of, and what commands do in there."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from ipaddress import IPv4Address
from pathlib import Path

from sawtooth.conformance.commands import Beyond, Effect, Setting
from sawtooth.conformance.endpoint import NotApplicable
from sawtooth.errors import BackendUnavailable

TUN = Path("/dev/net/tun")
_GATEWAY = IPv4Address("192.168.0.2")
_OTHER_GATEWAY = IPv4Address("192.168.0.254")
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 1, 0x1000
_TUNSETOFFLOAD, _CHECKSUMS_AND_SEGMENTATION = 0x400454D0, 0xF
_NEW_NETWORK = 0x40000000
_SETTINGS = Path("/proc/sys/net/ipv4")
_INSIDE = (
    # Beginnings of commands that change nothing but the namespace; `ip netns exec` and `tc -batch` are none.
    ("ip", "link", "set", "dev", "tun0", "gso_max_segs"),
    ("ip", "route", "change"),
    ("ip", "route", "replace"),
    ("ip", "tcp_metrics", "flush"),
    ("tc", "qdisc", "add", "dev", "tun0"),
    ("tc", "qdisc", "replace", "dev", "tun0"),
    ("tc", "qdisc", "delete", "dev", "tun0"),
)
_SIOCETHTOOL = 0x8946
_FEATURES = {"tso": 0x1F, "gso": 0x24}
"""Of `ethtool -K`, and the number by which each is set."""


def leave() -> None:
    """This process is in a new network namespace from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:
        raise BackendUnavailable(f"no network namespace can be made: {os.strerror(ctypes.get_errno())}", "use `--backend sim`")


def tun(local: IPv4Address, remote: IPv4Address) -> int:
    """The device, with a host's address and a way to another; what it sends is read from it as a card with segmentation offload would get it."""
    device = os.open(TUN, os.O_RDWR)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"tun0", _IFF_TUN | _IFF_NO_PI))
    fcntl.ioctl(device, _TUNSETOFFLOAD, _CHECKSUMS_AND_SEGMENTATION)
    gateway = _GATEWAY if local != _GATEWAY else _OTHER_GATEWAY
    commands = [
        "ip link set dev lo up",
        f"ip addr add {local}/24 dev tun0",
        "ip link set dev tun0 up",
        f"ip route add {remote} via {gateway}",
    ]
    for command in commands:
        subprocess.run(command.split(), check=True, capture_output=True)
    return device


def setting(name: str, value: str) -> None:
    """Sets net.ipv4.NAME of the namespace."""
    path = _SETTINGS / name
    if path.read_text().split() != value.split():
        # Namespaces of others than root may not write what may well be set already.
        path.write_text(value)


def apply(effect: Effect) -> None:
    """Does in the namespace what a command of a script says; `NotApplicable` if this kernel cannot, or if it would change more than the namespace."""
    match effect:
        case Setting(name, value, must):
            try:
                setting(name, value)
            except FileNotFoundError as error:
                if must:
                    raise NotApplicable(f"the setting net.ipv4.{name} = {value} ({error.strerror})") from None
            except OSError as error:
                raise NotApplicable(f"the setting net.ipv4.{name} = {value} ({error.strerror})") from None
        case Beyond(("ethtool", "-K", "tun0", *features)) if set(features[::2]) <= _FEATURES.keys() and set(features[1::2]) <= {
            "on",
            "off",
        }:
            for feature, state in zip(features[::2], features[1::2], strict=True):
                _set_feature(_FEATURES[feature], on=state == "on")
        case Beyond(words) if any(words[: len(known)] == known for known in _INSIDE):
            _run(words, effect)
        case Beyond():
            raise NotApplicable(str(effect))


def _set_feature(number: int, *, on: bool) -> None:
    """As `ethtool` does, which not every machine has."""
    value = ctypes.create_string_buffer(struct.pack("=II", number, int(on)))
    request = struct.pack("16sP16x", b"tun0", ctypes.addressof(value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SIOCETHTOOL, request)


def _run(words: tuple[str, ...], effect: Beyond) -> None:
    try:
        ended = subprocess.run(words, check=False, capture_output=True, text=True)
    except OSError as error:
        raise NotApplicable(f"{effect} ({error.strerror})") from None
    # A queue that is not there cannot be deleted, which is as well.
    if ended.returncode != 0 and "delete" not in words:
        raise NotApplicable(f"{effect} ({ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else ended.returncode})")
