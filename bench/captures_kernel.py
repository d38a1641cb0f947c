"""What `sawtooth analyze` and tshark read of captures of real kernels, beside what the runs recorded.

    .venv/bin/python bench/captures_kernel.py --write        (docs/validation/captures-kernel.md)

Each case is run once on user-mode Linux in virtual time, all in one guest, with its packets captured whole at the senders and at the receivers. Records are what the sender's kernel says of its socket
(TCP_INFO) and what it has counted (nstat); nothing of them goes into the captures.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent))

from captures import FlowInCapture, Frame, faults_of, flow_in_capture, read_by_tshark, scenario
from pages import publish, table
from sawtooth import captures, taps
from sawtooth.backends import uml

PAGE = Path(__file__).resolve().parents[1] / "docs/validation/captures-kernel.md"
SENDER = "10.0.0.1"
FIRST_PORT = 20_000
"""Of the first flow; those of the others follow (`FIRST_PORT` in the agent)."""


def _case(**keys: Any) -> dict[str, Any]:
    """As those of simulated captures, but without a stack: the kernel has its own."""
    tree = scenario(**keys)
    del tree["stack"]
    return tree


_RED = {"name": "red", "limit": "60 packets", "min_threshold": "10 packets", "max_threshold": "30 packets", "ecn": True}
_STEP = {"name": "step", "limit": "100 packets", "mark_above": "10 packets"}

CASES: dict[str, dict[str, Any]] = {
    "reno": _case(),
    "cubic": _case(cc="cubic"),
    "bbr": _case(cc="bbr"),
    "vegas": _case(cc="vegas"),
    "htcp, gso off": _case(cc="htcp", kernel={"gso": False}),
    "cubic, 3 flows": _case(cc="cubic", count=3),
    "reno, losses of 2 %": _case(loss=0.02),
    "cubic, losses of 5 %": _case(cc="cubic", loss=0.05),
    "bbr, losses of 2 %": _case(cc="bbr", loss=0.02),
    "reno, lossy for a while": _case(loss={"name": "gilbert_elliott", "p": 0.01, "r": 0.2, "loss_bad": 0.6}),
    "cubic, an outage": _case(cc="cubic", outages=[{"from": "2 s", "until": "4 s", "packets": "lost"}]),
    "reno, reordering": _case(reorder={"name": "early", "probability": 0.02, "gap": 5}),
    "cubic, losses and reordering": _case(cc="cubic", loss=0.01, reorder={"name": "early", "probability": 0.05, "gap": 3}),
    "reno, doubled packets": _case(duplicate=0.02),
    "reno, damaged packets": _case(corrupt=0.01),
    "cubic, a small buffer": _case(cc="cubic", queue={"name": "drop_tail", "limit": "5 packets"}),
    "ECN, RED, cubic, 2 flows": _case(cc="cubic", queue=_RED, tcp={"ecn": "classic"}, count=2),
    "ECN, dctcp": _case(cc="dctcp", receiver_cc="dctcp", queue=_STEP, tcp={"ecn": "dctcp"}),
    "messages, no delay": _case(source={"name": "messages", "size": "100 B", "interval": "5 ms"}, tcp={"partial": "nodelay"}, loss=0.02),
    "short transfers, losses": _case(count=8, source={"name": "bulk", "size": "(i + 1) * 7 kB"}, start="i * 100 ms", loss=0.02),
    "requests and responses": _case(source={"name": "request_response", "request": "300 B", "response": "30 kB"}, loss=0.01),
    "a small receive buffer": _case(tcp={"receive_buffer_default": "16 kB", "receive_buffer_max": "16 kB"}, loss=0.005),
}  # fmt: skip

EQUAL = {
    "sent_packets": ("data_packets", "segments with data"),
    "retransmits": ("retransmits", "sent again"),
    "acked_bytes": ("acked_bytes", "bytes acknowledged"),
    "dsacks_in": ("dsacks_in", "DSACK"),
}
"""Columns of a run's flows, and what they are in a capture's."""
RTT_NS = 1000
"""The kernel tells round-trip times in whole microseconds."""
STAMP_NS = 1_000_000
"""The tick of the kernel's timestamps."""


class KernelFrame(Frame):
    """A frame between the two hosts that all flows share."""

    @property
    def is_out(self) -> bool:
        """Whether it comes from the beginning of a path."""
        return self["ip.src"] == SENDER


@dataclass(frozen=True)
class Row:
    """A flow: what was recorded, what its capture analyses to, what tshark's fields say."""

    flow: str
    record: Mapping[str, Any]
    seen: Mapping[str, Any]
    fields: FlowInCapture
    again: int

    @property
    def differences(self) -> list[str]:
        """What should be equal and is not."""
        pairs = {name: (self.record[name], self.seen[theirs]) for name, (theirs, _) in EQUAL.items()}
        pairs["tshark: sent again"] = (self.record["retransmits"], self.again)
        told = [f"{name}: {ours} recorded, {theirs} captured" for name, (ours, theirs) in pairs.items() if ours != theirs]
        if self.least_rtt == "other":
            told.append(f"min_rtt_ns: {self.record['min_rtt_ns']} recorded, {self.seen['min_rtt_ns']} captured")
        return told

    @property
    def least_rtt(self) -> str:
        """How the kernel has come by its least round-trip time: `same` as the capture's, by `sack`, by `timestamps`; or `other`."""
        ours, theirs = self.record["min_rtt_ns"], self.seen["min_rtt_ns"]
        if abs(ours - theirs) <= RTT_NS:
            return "same"
        if abs(ours - self.fields.least_rtt_s * 1e9) <= RTT_NS:
            return "sack"
        return "timestamps" if ours % STAMP_NS == 0 and theirs > ours and self.record["retransmits"] else "other"


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    case: str
    frames: int
    faults: Counter[str]
    rows: list[Row]
    counted: dict[str, tuple[int, int]]

    @property
    def differences(self) -> list[str]:
        """What should be equal and is not, of flows and of hosts."""
        of_flows = [f"{row.flow}, {text}" for row in self.rows for text in row.differences]
        of_hosts = [f"{name}: {ours} counted, {theirs} captured" for name, (ours, theirs) in self.counted.items() if ours != theirs]
        return of_flows + of_hosts


def outcomes(cases: Sequence[str], folder: Path) -> list[Outcome]:
    """Runs cases, one after the other in one guest, and reads what was captured."""
    texts = [json.dumps(CASES[case]) for case in cases]
    wanted = [taps.wanted(folder / str(number), ["sender", "receiver"], 0) for number in range(len(cases))]
    orders = [each.of_scenario(text, [case]) for each, text, case in zip(wanted, texts, cases, strict=True)]
    batch = uml.run_batch(texts, [1] * len(cases), orders)
    assert batch.errors == {}, batch.errors
    return [
        _outcome(case, {name: frame.filter(run=number) for name, frame in batch.tables.items()}, folder / str(number))
        for number, case in enumerate(cases)
    ]


def _outcome(case: str, tables: Mapping[str, pl.DataFrame], where: Path) -> Outcome:
    at_sender, at_receiver = (read_by_tshark(where / f"{end}.pcapng") for end in ("sender", "receiver"))
    faults = faults_of(at_sender, at_receiver, sum(tables["links"]["corrupted_packets"].to_list()))
    seen = captures.read(where / "sender.pcapng").flows
    rows: list[Row] = []
    for number, record in enumerate(tables["flows"].iter_rows(named=True)):
        frames = [KernelFrame(frame) for frame in at_sender if frame["frame.interface_name"] == record["flow"]]
        again = sum(frame.is_out and frame.is_again for frame in frames)
        rows.append(Row(record["flow"], record, _of_port(seen, FIRST_PORT + number), flow_in_capture(frames, "rack"), again))
    marked = sum(KernelFrame(frame).is_out and frame.number("ip.dsfield.ecn") == 3 for frame in at_receiver)
    counters = {(row["host"], row["counter"]): row["value"] for row in tables["counters"].iter_rows(named=True)}
    duplicates = (counters.get(("sender", f"TcpExtTCPDSACK{kind}Recv"), 0) for kind in ("", "Ofo"))
    counted = {
        "TCPDSACKRecv + TCPDSACKOfoRecv": (sum(duplicates), sum(row.seen["dsacks_in"] for row in rows)),
        "InCEPkts": (counters.get(("receiver", "IpExtInCEPkts"), 0), marked),
    }
    return Outcome(case, len(at_sender) + len(at_receiver), faults, rows, counted)


def _of_port(flows: pl.DataFrame, port: int) -> dict[str, Any]:
    """What a capture says of the flow from the sender at whose end, either of them, this port is."""
    mine = flows.filter(pl.col("flow").str.starts_with(f"{SENDER}:") & pl.col("flow").str.contains(rf":{port}\b"))
    (row,) = mine.iter_rows(named=True)
    return row


def page(found: Sequence[Outcome]) -> str:
    """What is written."""
    rows = [row for each in found for row in each.rows]
    faults: Counter[str] = sum((each.faults for each in found), Counter[str]())
    different = [f"- {each.case}: {text}" for each in found for text in each.differences]
    equal = sum(not row.differences for row in rows)
    least = Counter(row.least_rtt for row in rows)
    return f"""# Does a capture of a real kernel analyse to what the run recorded?

Written by `python bench/captures_kernel.py --write`; [the guide](../guides/captures.md) says how packets are captured.

Each of {len(found)} cases is run once on user-mode Linux (Linux {uml.release()}) in virtual time, with its packets captured whole at the senders and at the receivers. `sawtooth analyze` and tshark read the files and are told nothing
else. The records are what the sender's kernel says of its sockets (TCP_INFO) and has counted (nstat). `tests/kernel/test_captures.py` holds it, and that the records are the same to the bit with and without a capture at hosts.

## What was found

In {sum(each.frames for each in found):,} frames there are {faults["wrong checksums"]} wrong checksums (but for packets that a wire has damaged), {faults["malformed, or another error"]} that are malformed or of which Wireshark's expert
information has an error, and {faults["missed"]} before which tshark misses a segment. No frame is longer than the MTU: segments that TCP hands down together are apart where they are captured, and have their checksums.

{equal} of {len(rows)} flows are equal in all columns that both define, and so are the hosts' counters in {sum(not any(a != b for a, b in each.counted.values()) for each in found)} of {len(found)} cases.
{chr(10).join(different)}

## Which columns are equal?

| Column of the run | Column of the capture | Equal |
|---|---|---|
| `sent_packets` (`data_segs_out`) | `data_packets` | exactly: segments with data |
| `retransmits` (`total_retrans`) | `retransmits`, and what tshark calls sent again | exactly |
| `acked_bytes` (`bytes_acked` without SYN and FIN) | `acked_bytes` | exactly |
| `dsacks_in` (`dsack_dups`) | `dsacks_in` | exactly |
| `min_rtt_ns` (`min_rtt`) | `min_rtt_ns` | to {RTT_NS / 1000:.0f} us, in which the kernel tells it: {least["same"]} of {len(rows)} flows. In {least["sack"]} more the kernel's is that of a segment that was reported by SACK, having overtaken others, and equal to what tshark's fields say of that; a capture's times are of cumulative acknowledgements. In {least["timestamps"]} more it is that of a segment that was sent again, by timestamps, in whole milliseconds; a capture takes none of such a segment |
| nstat of the sender: TCPDSACKRecv and TCPDSACKOfoRecv | `dsacks_in` | exactly |
| nstat of the receiver: InCEPkts | packets marked at the receiver | exactly |

## Which differ by definition?

| Column | The run | The capture |
|---|---|---|
| `sent_packets` | segments with data | all frames of the sender, with SYN, FIN and acknowledgements alone; compare `data_packets` |
| `delivered_bytes` | what the application at the receiver has read by the end | what the sender has seen acknowledged |
| `completion_ns` | to the last reading at the receiver | to the last acknowledgement at the sender, so a way back later |
| `goodput_bps`, `throughput_bps` | over the flow's time in the run | over the connection's lifetime in the capture |
| `limited_rwnd_ns` | time in which the kernel had data and no window, in its ticks of 10 ms | time in which the window had no room for a segment |
| `start_ns` | as the scenario says, since the run's beginning | the first packet, since that of the first of the capture |
| `dupacks_in`, `sacks_in`, `timeouts`, `fast_retransmits`, `srtt_ns`, `ce_in` | null: the kernel does not tell them of a connection | told |

## Each case

Numbers are of the records, summed over flows; those of the captures are the same unless named above. The least round-trip times are those of the first flow.

{agreement(found)}
"""


def agreement(found: Sequence[Outcome]) -> str:
    """A row for each case."""
    header = ["Case", "flows", "frames read", *(words for _, words in EQUAL.values()), "marked", "least RTT, us: recorded / captured"]
    rows = [
        [
            each.case, str(len(each.rows)), f"{each.frames:,}",
            *(f"{sum(row.record[name] for row in each.rows):,}" for name in EQUAL), f"{each.counted['InCEPkts'][0]:,}",
            f"{each.rows[0].record['min_rtt_ns'] / 1e3:,.0f} / {each.rows[0].seen['min_rtt_ns'] / 1e3:,.1f}",
        ]
        for each in found
    ]  # fmt: skip
    return table(header, rows, "lrrrrrrrr")


def main() -> None:
    """Runs all cases and prints or writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} rather than print it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = page(outcomes(list(CASES), Path(folder)))
    publish(text, PAGE, write=options.write)


if __name__ == "__main__":
    main()
