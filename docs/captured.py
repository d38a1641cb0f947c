"""Fills what guides show that commands print: of a capture that is simulated for them, of a file of iperf3's, of scripts: `python -m docs.captured [--check]`.

With --check nothing is written, and the pages must already be so. It takes some seconds.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from docs.blocks import console, filled, printed, said

ROOT = Path(__file__).parents[1]
GUIDES = Path(__file__).parent / "guides"
TRANSFER = """
name = "transfer"
seed = 3

[scenario]
duration = "30 s"
stack = "linux"
links.line = { rate = "8 Mbit/s", delay = "20 ms", loss = 0.0005, queue = { name = "drop_tail", limit = "60 kB" } }

[[scenario.flows]]
path = ["line"]
cc = "cubic"
source = { name = "bulk", size = "20 MB" }
"""
OTHERS = """
[[scenario.flows]]
path = ["line"]
transport = "udp"
source = { name = "constant_rate", rate = "3 Mbit/s", size = "1200 B" }
"""
OPENING = """0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
0.100 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
"""
"""How a script of a server begins."""
ICMP = f"{OPENING}+0 < icmp unreachable [1:1001(1000)]\n"
"""A script of what the simulated endpoint does not have."""
SCRIPT = "tests/conformance/rfc6298-timeout.pkt"
# What `fit` says of each property begins with its name; other lines are about files and about what else was near.
FITTED = ("rate", "delay", "buffer", "loss", "others", "cc", "study")


def blocks() -> dict[str, Mapping[str, str]]:
    """What each page shows; files are in the directory that this is called in."""
    _capture("transfer", TRANSFER)
    _capture("shared", TRANSFER + OTHERS)
    fitted = said("fit", "transfer.pcapng", "--out", "fitted.toml")
    shared = said("fit", "shared.pcapng", "--out", "shared.toml", "--force").splitlines()
    (at,) = (at for at, line in enumerate(shared) if line.startswith("others"))
    Path("tests").symlink_to(ROOT / "tests")
    Path("icmp.pkt").write_text(ICMP, encoding="utf-8")
    Path("measured.json").write_bytes(Path("tests/exchange/data/iperf3-two-streams.json").read_bytes())
    beside = ("--cc", "present", "--cc", "bbr", "--cc", "vegas", "--queue", "present", "--queue", "codel", "--beside", "cubic")
    return {
        "analyze": {"analyze": console("", said("analyze", "transfer.pcapng"))},
        "fit": {
            "fit": console("", "\n".join(line for line in fitted.splitlines() if line.startswith(FITTED))),
            "others": console("", "\n".join(shared[at : at + 2])),
        },
        "compare": {"beside": console("", said("compare", "transfer.pcapng", "fitted.toml").rpartition("\n\n")[0])},
        "advise": {
            "advise": console("", said("advise", "fitted.toml").partition("\ntimes: ")[0]),
            "neighbour": console("", said("advise", "fitted.toml", *beside, "--out", "beside").partition("\ntimes: ")[0]),
        },
        "exchange": {"iperf3": console("", said("analyze", "measured.json").partition("\n  note: ")[0])},
        "conform": {
            "conform": console("", printed("conform", SCRIPT, "tests/conformance/kernel-only", "icmp.pkt", exit_code=1)),
            "script": f"```text\n{Path(SCRIPT).read_text(encoding='utf-8')}```\n",
        },
    }


def _capture(name: str, study: str) -> None:
    Path(f"{name}.toml").write_text(study.lstrip(), encoding="utf-8")
    said("simulate", f"{name}.toml", "--pcap", f"{name}.pcapng")


def main() -> None:
    """Fills the pages, or says which are not as the capture is."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        made = blocks()
    for name, its in made.items():
        page = GUIDES / f"{name}.md"
        before = page.read_text(encoding="utf-8")
        after = filled(before, its)
        if "--check" not in sys.argv[1:]:
            page.write_text(after, encoding="utf-8")
        elif after != before:
            sys.exit(f"docs/guides/{name}.md is not what the capture shows: run `python -m docs.captured`")


if __name__ == "__main__":
    main()
