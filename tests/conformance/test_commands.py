"""Commands of the shell: which settings they make, by themselves and by files beside a script; nothing is executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.conformance.commands import Beyond, Setting, effects

_HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("sysctl -q net.ipv4.a=1 net.ipv4.b=2", [Setting("a", "1"), Setting("b", "2")]),
        (
            "sysctl -q net/ipv4/a=1; sysctl -w net.ipv4.b=2 && sysctl net.ipv4.c=3",
            [Setting("a", "1"), Setting("b", "2"), Setting("c", "3")],
        ),
        ('sysctl -q net.ipv4.a="4096 $((2 * (3+4))) 9" > /dev/null 2>&1  # why', [Setting("a", "4096 14 9")]),
        ("./set.py /proc/sys/net/ipv4/a=1 \\\n  /proc/sys/net/ipv4/b='2 3' \\", [Setting("a", "1"), Setting("b", "2 3")]),
        ("/tmp/sysctl_restore_${PPID}.sh\nnstat > /dev/null", []),
        ("# nothing\n\n", []),
        ("sysctl -q net.core.a=1", [Beyond(("sysctl", "-q", "net.core.a=1"))]),
        ("./set.py a=1", [Beyond(("./set.py", "a=1"))]),
        ("ip route change default", [Beyond(("ip", "route", "change", "default"))]),
        ("nstat | grep Tcp > /dev/null", [Beyond(("nstat", "|", "grep", "Tcp"))]),
        ("echo 3 > /sys/module/a", [Beyond(("echo", "3", ">", "/sys/module/a"))]),
    ],
)
def test_what_commands_come_to(command: str, found: list[object]) -> None:
    """Settings of net.ipv4; what is left are words."""
    assert list(effects(command, _HERE)) == found


def test_files_beside_a_script_are_read_and_not_executed(tmp_path: Path) -> None:
    """From the script's folder; what such a file cannot set, a shell would go on after."""
    common = tmp_path / "common"
    common.mkdir()
    (common / "all.sh").write_text("#!/bin/sh\nsysctl -q net.ipv4.a=1\n./more.sh\ntouch made\n")
    (tmp_path / "more.sh").write_text("sysctl -q net.ipv4.b=2\n")
    found = effects("common/all.sh\n./common/all.sh", tmp_path)
    once = (Setting("a", "1", must=False), Setting("b", "2", must=False), Beyond(("touch", "made")))
    assert found == (Beyond(("common/all.sh",)), *once)
    assert not list(tmp_path.rglob("made"))


def test_files_that_call_each_other_end(tmp_path: Path) -> None:
    """At some depth the call is told of as a command."""
    (tmp_path / "a.sh").write_text("./a.sh\n")
    assert effects("./a.sh", tmp_path) == (Beyond(("./a.sh",)),)
