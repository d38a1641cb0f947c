"""The language: what each form comes to, and errors that say where and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.conformance.commands import Setting
from sawtooth.conformance.parse import load, parse
from sawtooth.conformance.script import Call, Foreign, Inbound, Outbound, Script, Segment, Shell, When
from sawtooth.errors import StudyError


def _only(text: str) -> tuple[When, object]:
    (event,) = parse(text, "x.pkt").events
    return event.when, event.what


@pytest.mark.parametrize(
    ("time", "when"),
    [
        ("0.1", When(0.1, None, False)),
        ("+.05", When(0.05)),
        ("+0.1~+0.2", When(0.1, 0.2)),
        ("*", When(None)),
        ("0.1...0.2", When(0.1, 0.2, False, True)),
    ],
)
def test_times(time: str, when: When) -> None:
    """Absolute, relative, ranges, any, and calls that block."""
    assert _only(f"{time} close(3) = 0\n")[0] == when


def test_segments() -> None:
    """Flags, numbers, options and the ECN field."""
    _, what = _only("+0 > [ect0] FP. 1:101(100) ack 2 win 9 <mss 1460,nop,sackOK,TS val 1 ecr 2,wscale 7,sack 1:2 4:5>\n")
    options = {"mss": 1460, "sackOK": None, "TS": (1, 2), "wscale": 7, "sack": [(1, 2), (4, 5)]}
    assert what == Outbound(Segment("FP.", 1, 100, 2, 9, options, "ect0"))
    assert _only("+0 < S 0:0(0) win 5 <...>\n")[1] == Inbound(Segment("S", 0, 0, None, 5, None))
    assert _only("+0 < icmp unreachable [1:2(1)]\n")[1] == Foreign("icmp unreachable [1:2(1)]")


def test_calls_commands_and_comments() -> None:
    """What is passed and returned; comments may be anywhere."""
    text = "/* one\n two */ +0 poll([{fd=3, events=POLLIN|POLLOUT}], 1, 0x10) = -1 EAGAIN (Try again) // three\n"
    arguments = ([{"fd": 3, "events": ("POLLIN", "POLLOUT")}], 1, 16)
    assert _only(text)[1] == Call("poll", arguments, -1, "EAGAIN")
    script = parse("--tolerance_usecs=500\n`sysctl -q net.ipv4.tcp_sack=0`\n", "x.pkt")
    assert script == Script("x.pkt", {"tolerance_usecs": "500"}, script.events)
    assert script.events[0].what == Shell((Setting("tcp_sack", "0"),))


def test_structures_by_name_and_in_order() -> None:
    """As of messages, with what words are defined to be."""
    text = "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 7}], msg_control=[{cmsg_level=LEVEL, cmsg_data=9}]}, 0) = 7\n"
    (event,) = parse(text, "x.pkt", {"LEVEL": "SOL_TCP"}).events
    message = {"msg_name": ..., "msg_iov": [[..., 7]], "msg_control": [{"cmsg_level": "SOL_TCP", "cmsg_data": 9}]}
    assert event.what == Call("recvmsg", (4, message, 0), 7)


def test_words_that_are_defined_stand_in_options_and_packets() -> None:
    """Cookies of Fast Open, codes of ICMP and numbers."""
    defined = {"COOKIE": "00ff", "WHY": "port_unreachable", "SIZE": "700"}
    text = "+0 < S 5:5(0) win 9 <mss SIZE,FO COOKIE>\n+0 < icmp unreachable WHY\n+0 < U. 1:1(0) ack 1 win 9 urg 3\n"
    syn, icmp, urgent = (event.what for event in parse(text, "x.pkt", defined).events)
    assert syn == Inbound(Segment("S", 5, 0, None, 9, {"mss": 700, "FO": "00ff"}))
    assert icmp == Foreign("icmp unreachable port_unreachable")
    assert urgent == Inbound(Segment("U.", 1, 0, 1, 9, urgent=3))
    assert _only("+0 > encap psp spi 3 . 1:1(0) ack 1\n")[1] == Foreign("encap psp spi 3 . 1:1(0) ack 1", inbound=False)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("0 socket(.., X) = 3\n", 1, 10, "`..,` is not understood here: expected is"),
        ("+0 bind(3, ...) 0\n", 1, 17, "`0` is not understood here: expected is `=`"),
        ("\n+0 < Q 1:1(0)\n", 2, 6, "flags of SFRP.UEWA"),
        ("+0 > . 1:1001(1000) ack\n", 1, 24, "the script ends here: expected is a number"),
        ("+0 < . 1:1001(999) ack 1\n", 1, 8, "1:1001 are 1000 bytes, and 999 are said"),
        ("+0 write(4, ...) = 1\n", 1, 4, "write takes 3 arguments, and has 2"),
        ("+0 write(4, ..., ...) = 1\n", 1, 4, "argument 3 of write has to be a number"),
        ("+0 < S 0:0(0) win 70000\n", 1, 19, "70000 is more than its field of a header holds"),
        ("--tolerance_usecs=x\n", 1, 1, "`x` is no number of microseconds"),
        ("\n+0 < S 0:0(0) win 9 <mss SIZE>\n", 2, 26, "SIZE is no number"),
        ("\n`sysctl -q 'net.ipv4.x=1`\n", 2, 1, "the command is not understood: No closing quotation"),
        ("`sysctl -q net.ipv4.x=$((1 +))`\n", 1, 1, "`1 +` is no arithmetic of whole numbers"),
        ("+0 `./settings.sh`\n", 1, 4, "settings.sh cannot be read: No such file or directory"),
    ],
)
def test_mistakes_are_told_with_their_place(text: str, line: int, column: int, words: str) -> None:
    """File, line, column, and what was expected."""
    with pytest.raises(StudyError) as raised:
        parse(text, "x.pkt")
    place = raised.value.place
    assert place is not None
    assert (place.name, place.line, place.column) == ("x.pkt", line, column)
    assert words in str(raised.value)


@pytest.mark.parametrize("text", ["", "\n", "// a comment\n", "--tolerance_usecs=1000\n"])
def test_a_script_without_a_statement_is_a_mistake(text: str, tmp_path: Path) -> None:
    path = tmp_path / "e.pkt"
    path.write_text(text)
    told = CliRunner().invoke(app, ["conform", str(path)])
    assert told.exit_code == 2
    assert told.stdout.startswith(
        f"{path}: has a mistake\nerror: the script has no statement, so nothing would be tested\n --> {path}:1:1\n"
    )
    assert told.stdout.endswith("\nhint: such as: 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n1 has a mistake\n")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is told without a place."""
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        load(tmp_path / "none.pkt")
