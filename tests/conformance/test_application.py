"""System calls as a script writes them, on this machine's kernel over its loopback device."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address

import pytest

from sawtooth.conformance.application import Application
from sawtooth.conformance.constants import number
from sawtooth.conformance.endpoint import NotApplicable, OtherOutput, Returned
from sawtooth.conformance.parse import parse
from sawtooth.conformance.script import Call


def _call(text: str) -> Call:
    (event,) = parse(f"+0 {text}\n", "x.pkt").events
    assert isinstance(event.what, Call)
    return event.what


@pytest.fixture
def connected() -> Iterator[Application]:
    """Its socket 3 listens, 4 has connected to it and 5 is the other end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = IPv4Address("127.0.0.1"), int(probe.getsockname()[1])
    application = Application(address, address, 0.0)
    for text in (
        "socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
        "bind(3, ..., ...) = 0",
        "listen(3, 1) = 0",
        "socket(..., SOCK_STREAM, IPPROTO_TCP) = 4",
        "connect(4, ..., ...) = 0",
        "accept(3, ..., ...) = 5",
    ):
        call = _call(text)
        assert application.call(call, blocks=True) == Returned(call.result or 0)
    yield application
    application.close()


@pytest.mark.parametrize(
    "text",
    [
        "write(4, ..., 9) = 9",
        "sendto(4, ..., 9, MSG_DONTWAIT|MSG_NOSIGNAL, ..., ...) = 9",
        "write(4, NULL, 9) = -1 EFAULT",
        "read(4, ..., 9) = -1 EAGAIN",
        "write(9, ..., 9) = -1 EBADF",
        "sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 4}, {..., 5}], msg_flags=0}, 0) = 9",
        "recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 4}], msg_flags=0, msg_control=[]}, 0) = -1 EAGAIN",
        "setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0",
        "setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0",
        "getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0",
        "fcntl(4, F_GETFL) = 2",
        "ioctl(4, SIOCINQ, [0]) = 0",
        "poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1",
        "epoll_create(1) = 6",
        "pipe([6, 7]) = 0",
        "shutdown(4, SHUT_WR) = 0",
        "close(4) = 0",
    ],
)
def test_a_call_returns_what_a_kernel_says(connected: Application, text: str) -> None:
    """Numbers of files are the script's."""
    call = _call(text)
    assert connected.call(call, blocks=False) == Returned(call.result or 0, call.error)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ioctl(4, SIOCINQ, [7]) = 0", "ioctl"),
        ("getsockopt(4, SOL_TCP, TCP_NODELAY, [1], [4]) = 0", "getsockopt"),
        ("poll([{fd=4, events=POLLOUT, revents=POLLIN}], 1, 0) = 1", "poll"),
    ],
)
def test_what_a_call_fills_in_is_compared(connected: Application, text: str, what: str) -> None:
    """It is said of which call that is."""
    with pytest.raises(OtherOutput) as raised:
        connected.call(_call(text), blocks=False)
    assert raised.value.what == what


def test_events_of_a_set_are_compared(connected: Application) -> None:
    """Those of the script, in order."""
    for text in ("epoll_create(1) = 6", "epoll_ctl(6, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLOUT, fd=4}) = 0"):
        connected.call(_call(text), blocks=False)
    assert connected.call(_call("epoll_wait(6, {events=EPOLLOUT, fd=4}, 1, 0) = 1"), blocks=False) == Returned(1)
    with pytest.raises(OtherOutput, match="epoll_wait"):
        connected.call(_call("epoll_wait(6, {events=EPOLLIN, fd=4}, 1, 0) = 1"), blocks=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("psp_rx_assoc(4, [7]) = 0", "the call psp_rx_assoc"),
        ("socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) = 6", "IPv6"),
        ("setsockopt(4, SOL_TCP, TCP_NO_SUCH, [1], 4) = 0", "the name TCP_NO_SUCH"),
        ("sendmsg(4) = 0", "the call sendmsg with these arguments"),
        ("bind(4, {sa_family = AF_INET}, ...) = 0", "an address of bind"),
    ],
)
def test_what_there_is_not_is_named(connected: Application, text: str, reason: str) -> None:
    """And is no failure."""
    with pytest.raises(NotApplicable) as raised:
        connected.call(_call(text), blocks=False)
    assert str(raised.value) == reason


def test_names_are_numbers() -> None:
    """One, several, and numbers as they are."""
    assert number("MSG_ZEROCOPY") == 0x4000000
    assert number(("EPOLLIN", "EPOLLOUT")) == 5
    assert number(7) == number("7") == 7
