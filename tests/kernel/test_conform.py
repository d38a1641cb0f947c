"""Scripts of packets on a guest's kernel, in virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import doctor
from sawtooth.cli import app

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")

_SCRIPTS = Path(__file__).resolve().parents[1] / "conformance"


def test_scripts_pass_on_a_guests_kernel(tmp_path: Path) -> None:
    """All but those of accurate ECN, which no packaged kernel has; a mistake in one and a failure of another take nothing from the rest."""
    (tmp_path / "mistake.pkt").write_text("0 what is this\n")
    (tmp_path / "failure.pkt").write_text("0 close(3) = 0\n")
    ended = CliRunner().invoke(app, ["conform", str(_SCRIPTS), str(tmp_path), "--backend", "uml", "--json"])
    assert ended.exit_code == 2, ended.output
    told = {Path(each["script"]).name: each for each in json.loads(ended.stdout)}
    assert told.pop("mistake.pkt")["verdict"] == "has a mistake"
    failure = told.pop("failure.pkt")
    assert (failure["verdict"], failure["line"], failure["expected"], failure["came"]) == ("failed", 1, "0", "-1 EBADF")
    lacking = {name for name, each in told.items() if each["verdict"] == "not applicable"}
    assert lacking == {"rfc9768-receiver.pkt", "rfc9768-sender.pkt"}
    assert {each["verdict"] for name, each in told.items() if name not in lacking} == {"passed"}


def test_an_image_that_is_not_there_is_told() -> None:
    """And one for a backend that has none."""
    for words, said in [
        (["--backend", "uml", "--image", "9.9-hz1"], "9.9-hz1"),
        (["--image", "6.1-hz250"], "`--backend sim` has no kernel of an image"),
    ]:
        ended = CliRunner().invoke(app, ["conform", str(_SCRIPTS), *words])
        assert said in str(ended.exception)


_SETTINGS = """\
#!/bin/sh
# Both ends of a buffer, and what the guest's kernel has no such setting for.
sysctl -q net.ipv4.tcp_rmem="4096 300000 $((8*1024*1024))"
sysctl -q net.ipv4.tcp_no_such_setting=1
ip tcp_metrics flush all
"""
_CALLS = """\
// What a server is told by calls: how much waits, when, and of an error that a packet of ICMP brings.
`./settings.sh`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 8
+0 setsockopt(8, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(8, ..., ...) = 0
+0 listen(8, 1) = 0
+.1 < S 5000:5000(0) win 50000 <mss 900,nop,wscale 6>
+0 > S. 0:0(0) ack 5001 <mss 1460,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 900
+0...0.05 accept(8, ..., ...) = 9
+0 epoll_create(1) = 10
+0 epoll_ctl(10, EPOLL_CTL_ADD, 9, {events=EPOLLIN, fd=9}) = 0
+0 epoll_wait(10, {events=0, ptr=0}, 1, 0) = 0
+0 setsockopt(9, SOL_TCP, TCP_INQ, [1], 4) = 0
+.05 < P. 1:301(300) ack 1 win 900
+0 > . 1:1(0) ack 301
+0 epoll_wait(10, {events=EPOLLIN, fd=9}, 1, 0) = 1
+0 ioctl(9, SIOCINQ, [300]) = 0
+0 recvmsg(9, {msg_name(...)=..., msg_iov(1)=[{..., 120}], msg_flags=0, msg_control=[
    {cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=180}]}, 0) = 120
+0 write(9, ..., 5400) = 5400
+0 > P. 1:5401(5400) ack 301
+.05 < . 301:301(0) ack 5401 win 900
+0 < icmp unreachable CODE [5401:5402(1)]
+0 close(9) = 0
+0 > R. 5401:5401(0) ack 301
"""
_FAST_OPEN = """\
// RFC 7413 §4.1: a client asks for a cookie, and has data in its next SYN; what leaves of the first connection meanwhile is not looked at.
`sysctl -q net.ipv4.tcp_fastopen=1 net.ipv4.tcp_timestamps=0`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 sendto(3, ..., 300, MSG_FASTOPEN, ..., ...) = -1 EINPROGRESS
+0 > S 0:0(0) <mss 1460,nop,nop,sackOK,nop,wscale 7,FO,nop,nop>
+.02 < S. 70:70(0) ack 1 win 9000 <mss 1000,nop,nop,sackOK,FO 0011223344556677,nop,nop>
+0 > . 1:1(0) ack 1
+0 close(3) = 0
+.02 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 sendto(3, ..., 300, MSG_FASTOPEN, ..., ...) = 300
+0 > S 0:300(300) <mss 1460,nop,nop,sackOK,nop,wscale 7,FO 0011223344556677,nop,nop>
+.02 < S. 900:900(0) ack 301 win 9000 <mss 1000,nop,nop,sackOK>
+0 > . 301:301(0) ack 1
+0 %{ assert tcpi_options & TCPI_OPT_SYN_DATA, tcpi_options }%
"""


def test_calls_options_and_settings_of_files(tmp_path: Path) -> None:
    """Those that sockets of this machine's own have, in one guest; what it lacks is named, each by itself."""
    (tmp_path / "settings.sh").write_text(_SETTINGS)
    for name, text in {
        "calls": _CALLS,
        "fast-open": _FAST_OPEN,
        "lacking": _CALLS.replace("./settings.sh", "sysctl -q net.ipv4.tcp_no_such_setting=1"),
        "command": _CALLS.replace("./settings.sh", "mount -a"),
        "ipv6": f"--ip_version=ipv6\n{_CALLS}",
    }.items():
        (tmp_path / f"{name}.pkt").write_text(text)
    ended = CliRunner().invoke(app, ["conform", str(tmp_path), "--backend", "uml", "-D", "CODE=port_unreachable", "--json"])
    told = {Path(each["script"]).stem: each for each in json.loads(ended.stdout)}
    assert ended.exit_code == 0, ended.output
    assert {name: each["reason"] for name, each in told.items() if each["verdict"] == "not applicable"} == {
        "lacking": "the setting net.ipv4.tcp_no_such_setting = 1 (No such file or directory)",
        "command": "the command `mount -a`",
        "ipv6": "IPv6",
    }
    assert {told[name]["verdict"] for name in ("calls", "fast-open")} == {"passed"}
