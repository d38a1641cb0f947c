"""What tshark and tcptrace read of captures of simulated runs, beside what the runs recorded.

    .venv/bin/python bench/captures.py --write        (docs/validation/captures.md)

Each case is run once, with its packets captured whole at the senders and at the receivers. Both programs read the files that Sawtooth wrote, and are told nothing else.
"""

from __future__ import annotations

import argparse
import csv
import math
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import publish, table
from round_trips import PER_SEGMENT, RoundTripCount
from sawtooth import taps
from sawtooth.api import simulate

PAGE = Path(__file__).resolve().parents[1] / "docs/validation/captures.md"
PROGRAMS = ("tshark", "tcptrace")
CUT = {"numbers that wrap"}
"""Cases whose packets are not captured whole, for there are many: of these no program can verify the checksums of TCP."""


def scenario(**keys: Any) -> dict[str, Any]:
    """One flow over a bottleneck, unless something else is said: keys of links, of flows, and of the scenario."""
    link = {"rate": "10 Mbit/s", "delay": "15 ms", "queue": {"name": "drop_tail", "limit": "30 packets"}}
    flow = {"path": ["l"]}
    tree: dict[str, Any] = {"duration": "8 s", "stack": "linux", "cc": "reno"}
    for key, value in keys.items():
        if key in {"loss", "queue", "rate", "delay", "duplicate", "reorder", "corrupt", "jitter", "mtu", "outages"}:
            link[key] = value
        elif key in {"source", "count", "start", "transport"}:
            flow[key] = value
        else:
            tree[key] = value
    return {"links": {"l": link}, "flows": [flow], **tree}


_RED = {"name": "red", "limit": "60 packets", "min_threshold": "10 packets", "max_threshold": "30 packets"}
_STEP = {"name": "step", "limit": "100 packets", "mark_above": "10 packets"}
_MESSAGES = {"name": "messages", "size": "3 kB", "interval": "40 ms"}

CASES: dict[str, dict[str, Any]] = {
    "linux, reno": scenario(),
    "linux, cubic": scenario(cc="cubic"),
    "linux, bbr": scenario(cc="bbr"),
    "linux, vegas, 3 flows": scenario(cc="vegas", count=3),
    "linux, losses of 2 %": scenario(loss=0.02),
    "linux, cubic, losses of 5 %": scenario(cc="cubic", loss=0.05),
    "linux, lossy for a while": scenario(loss={"name": "gilbert_elliott", "p": 0.01, "r": 0.2, "loss_bad": 0.6}),
    "linux, doubled packets": scenario(duplicate=0.02),
    "linux, reordering": scenario(reorder={"name": "early", "probability": 0.02, "gap": 5}),
    "linux, losses and reordering": scenario(loss=0.01, reorder={"name": "early", "probability": 0.05, "gap": 3}),
    "linux, an outage": scenario(outages=[{"from": "2 s", "until": "4 s", "packets": "lost"}], cc="cubic"),
    "linux-3.2, cubic, losses": scenario(stack="linux-3.2", cc="cubic", loss=0.01),
    "linux-2.0.29, messages": scenario(stack="linux-2.0.29", source=_MESSAGES),
    "rfc, reno": scenario(stack="rfc"),
    "rfc, SACK, losses": scenario(stack="rfc", loss=0.02),
    "rfc, NewReno, losses": scenario(stack="rfc", loss=0.02, tcp={"recovery": "newreno"}),
    "rfc, Tahoe, losses": scenario(stack="rfc", loss=0.02, tcp={"recovery": "tahoe"}),
    "rfc, timestamps, losses": scenario(stack="rfc", loss=0.02, tcp={"timestamps": True, "header": "52 B", "ack_size": "52 B", "smss": "1448 B"}),
    "ns2, NewReno": scenario(stack="ns2"),
    "ns2, HighSpeed, SACK, losses": scenario(stack="ns2", cc="highspeed", loss=0.01, tcp={"recovery": "sack", "window_limit": "500 packets"}),
    "ns2, no handshake, losses": scenario(stack="ns2", loss=0.01, tcp={"handshake": False}),
    "ECN, RED, reno": scenario(queue={**_RED, "ecn": True}, tcp={"ecn": "classic"}, count=2),
    "ECN, dctcp": scenario(queue=_STEP, cc="dctcp"),
    "AccECN, prague": scenario(queue=_STEP, cc="prague"),
    "AccECN, prague, losses": scenario(queue=_STEP, cc="prague", loss=0.01),
    "short transfers": scenario(count=8, source={"name": "bulk", "size": "(i + 1) * 7 kB"}, start="i * 100 ms", loss=0.02),
    "partial packets, Nagle": scenario(source={"name": "messages", "size": "2000 B", "interval": "7 ms"}, tcp={"partial": "nagle"}, loss=0.01),
    "partial packets, no delay": scenario(source={"name": "messages", "size": "100 B", "interval": "5 ms"}, tcp={"partial": "nodelay"}, loss=0.02),
    "requests and responses": scenario(source={"name": "request_response", "request": "300 B", "response": "30 kB"}, loss=0.01),
    "small receive buffer": scenario(tcp={"receive_buffer_default": "16 kB", "receive_buffer_max": "16 kB"}, loss=0.005),
    "numbers that wrap": scenario(rate="10 Gbit/s", delay="50 us", duration="1 s", queue={"name": "drop_tail", "limit": "500 packets"}, tcp={"smss": "8948 B"}),
    "damaged packets": scenario(corrupt=0.02),
    "UDP beside TCP": scenario(),
}  # fmt: skip
CASES["UDP beside TCP"]["flows"].append(
    {"path": ["l"], "transport": "udp", "source": {"name": "poisson", "rate": "2 Mbit/s", "size": "200 B"}, "name": "calls"}
)


FIELDS = (
    "frame.interface_name", "frame.time_relative", "ip.src", "ip.dsfield.ecn", *(f"{protocol}.checksum{part}" for protocol in ("ip", "tcp", "udp") for part in ("", ".status", "_calculated")), "udp.length", "tcp.flags", "tcp.len",
    "tcp.seq_raw", "tcp.ack_raw", "tcp.options.sack_le", "tcp.options.sack_re", "tcp.options.sack.dsack_le", "tcp.options.timestamp.tsecr", "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order", "tcp.analysis.duplicate_ack", "tcp.analysis.ack_rtt", "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment", "_ws.malformed", "_ws.expert.severity",
)  # fmt: skip
FIN, SYN, ACK = 1, 2, 16
_BAD = "0"
"""What tshark calls a checksum that is wrong (`proto_checksum_vals`): 1 is right, 2 not verified."""
_ZEROS = {"0x0000", "0xffff"}
"""Of the ones' complement: both verify (RFC 1071), and which of them a sender writes is its own affair (RFC 1624, section 3)."""
_ERROR = 0x00800000
"""The severity of an error among Wireshark's expert information; a malformed packet is one."""
_AGAIN = ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
_SEQUENCE = 2**32


class Frame(dict[str, str]):
    """What tshark tells of a frame, by fields; of several values the first, unless `all` is asked."""

    def number(self, name: str) -> int:
        """0 if it has none."""
        text = self[name].partition(",")[0]
        return int(text, 0) if text else 0

    def all(self, name: str) -> list[int]:
        """All values."""
        return [int(text) for text in self[name].split(",") if text]

    @property
    def is_out(self) -> bool:
        """Whether it comes from the beginning of a path."""
        return self["ip.src"].startswith("10.0.")

    @property
    def is_segment(self) -> bool:
        """Whether it takes numbers of the sequence space, as a sender counts segments: data, a SYN that opens, a FIN."""
        flags = self.number("tcp.flags")
        return bool(self.number("tcp.len") or flags & FIN or (flags & SYN and not flags & ACK))

    @property
    def is_again(self) -> bool:
        """Whether tshark takes it for one that was sent before: sent again for any cause, or out of order."""
        return any(self[f"tcp.analysis.{name}"] for name in _AGAIN)

    @property
    def is_bad(self) -> bool:
        """Whether a checksum is wrong; one that is the other zero than tshark's is not."""
        return any(
            self[f"{protocol}.checksum.status"] == _BAD
            and {self[f"{protocol}.checksum"], self[f"{protocol}.checksum_calculated"]} != _ZEROS
            for protocol in ("ip", "tcp", "udp")
        )

    @property
    def is_malformed(self) -> bool:
        """Whether tshark cannot take it apart, or finds an error."""
        return bool(self["_ws.malformed"]) or self.number("_ws.expert.severity") >= _ERROR

    @property
    def misses(self) -> bool:
        """Whether tshark misses a segment before it, or one that it acknowledges."""
        return bool(self["tcp.analysis.lost_segment"] or self["tcp.analysis.ack_lost_segment"])


def read_by_tshark(path: Path) -> list[Frame]:
    """All frames of a capture, with checksums verified."""
    words = ["tshark", "-r", str(path), "-T", "fields", "-E", "occurrence=a", "-o", "tcp.relative_sequence_numbers:FALSE"]
    for protocol in ("ip", "tcp", "udp"):
        words += ["-o", f"{protocol}.check_checksum:TRUE"]
    for name in FIELDS:
        words += ["-e", name]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    return [Frame(zip(FIELDS, line.split("\t"), strict=True)) for line in ended.stdout.splitlines()]


def read_by_tcptrace(path: Path) -> dict[str, dict[str, int]]:
    """Numbers of the way from beginning to end of each connection, and of the way back, by the address of its beginning; of several connections of one address their sums."""
    ended = subprocess.run(["tcptrace", "-n", "-l", "-r", "--csv", str(path)], capture_output=True, text=True, check=True)
    lines = [line for line in ended.stdout.splitlines() if line and not line.startswith("#")]
    found: dict[str, dict[str, int]] = {}
    for row in csv.DictReader(lines, skipinitialspace=True):
        turned = not row["host_a"].startswith("10.0.")
        there, back = ("b2a", "a2b") if turned else ("a2b", "b2a")
        sums = found.setdefault(row["host_b" if turned else "host_a"], defaultdict(int))
        for name in ("actual_data_pkts", "unique_bytes_sent", "rexmt_data_pkts", "rexmt_data_bytes", "actual_data_bytes"):
            sums[name] += int(row[f"{name}_{there}"])
        # A SYN that is sent again is data to it.
        syns, _, _ = row[f"SYN/FIN_pkts_sent_{there}"].partition("/")
        sums["rexmt_data_pkts"] -= max(int(syns) - 1, 0)
        for name in ("sack_pkts_sent", "dsack_pkts_sent"):
            sums[name] += int(row[f"{name}_{back}"])
    return found


@dataclass
class Sent:
    """A segment in a capture: its numbers, and when it was sent."""

    start: int
    end: int
    times: list[float]


@dataclass
class FlowInCapture:
    """What a capture at its sender says of a flow, computed of tshark's fields.

    Attributes:
        again: segments that tshark takes for sent before.
        data: segments with data, and data_again, bytes: those of them that were sent before, and their bytes once each.
        dupacks: by RFC 5681 §2 without its rule (e), which asks for the same window, and without those that only report a duplicate; theirs: by tshark.
        samples: round trips by the rule of the flow's recovery (`round_trips.py`); least_rtt_s: the shortest time from when a segment that was sent once left until it was acknowledged, or reported by SACK.

    """

    segments: int = 0
    again: int = 0
    data: int = 0
    data_again: int = 0
    bytes: int = 0
    acked_bytes: int = 0
    dupacks: int = 0
    theirs: int = 0
    sacks: int = 0
    dsacks: int = 0
    samples: int = 0
    least_rtt_s: float = math.inf


def flow_in_capture(frames: Iterable[Frame], recovery: str) -> FlowInCapture:
    """Of all frames of one flow, whose sender repairs losses by this recovery."""
    seen = FlowInCapture()
    round_trips = RoundTripCount(recovery in PER_SEGMENT)
    first: int | None = None
    end = acked = 0
    fin: int | None = None
    outstanding: dict[int, Sent] = {}

    def near(number: int, to: int) -> int:
        """A number of 32 bits as one that counts on, near another."""
        assert first is not None
        return to + (number - first - to + _SEQUENCE // 2) % _SEQUENCE - _SEQUENCE // 2

    answers = 0
    for frame in frames:
        flags, length, time = frame.number("tcp.flags"), frame.number("tcp.len"), float(frame["frame.time_relative"])
        if frame.is_out:
            if not frame.is_segment:
                answers += bool(flags & SYN)
                continue
            opens = bool(flags & SYN)
            if first is None:
                first = (frame.number("tcp.seq_raw") - (not opens)) % _SEQUENCE
            start = near(frame.number("tcp.seq_raw"), end)
            fin = start + length if flags & FIN else fin
            last = start + length + bool(flags & (SYN | FIN))
            seen.segments += 1
            seen.again += frame.is_again
            if length:
                seen.data += 1
                seen.data_again += start < end
                seen.bytes += length if start >= end else 0
            outstanding.setdefault(start, Sent(start, last, [])).times.append(time)
            round_trips.on_sent(last, time, highest=end if start < end else None)
            end = max(end, last)
            continue
        if flags & ACK and answers:
            # The handshake of a connection that the other side opens is a round trip, too.
            round_trips.on_handshake(answers)
            answers = 0
        if not flags & ACK or first is None:
            continue
        seen.theirs += bool(frame["tcp.analysis.duplicate_ack"])
        edges = list(zip(frame.all("tcp.options.sack_le"), frame.all("tcp.options.sack_re"), strict=True))
        has_dsack = bool(frame["tcp.options.sack.dsack_le"])
        seen.dsacks += has_dsack
        seen.sacks += len(edges) > has_dsack
        ack = near(frame.number("tcp.ack_raw"), acked)
        repeats = ack == acked and not length and not flags & (SYN | FIN) and end > acked > 0
        acked = max(acked, ack)
        blocks = [(near(left, acked), near(right, acked)) for left, right in edges]
        delivered = _delivered(outstanding, acked, blocks)
        seen.dupacks += repeats and (bool(delivered) or not has_dsack)
        round_trips.on_ack(ack, time, delivered, has_echo=bool(frame["tcp.options.timestamp.tsecr"]))
        news = [sent for sent in delivered if len(sent.times) == 1]
        if news:
            seen.least_rtt_s = min(seen.least_rtt_s, time - max(sent.times[0] for sent in news))
    seen.samples = round_trips.samples
    if acked:
        seen.acked_bytes = acked - 1 - (fin is not None and acked > fin)
    return seen


def _delivered(outstanding: dict[int, Sent], acked: int, blocks: Sequence[tuple[int, int]]) -> list[Sent]:
    """Takes out what an acknowledgement says that has arrived."""
    news: list[Sent] = []
    for start, sent in list(outstanding.items()):
        if sent.end <= acked or any(left <= start and sent.end <= right for left, right in blocks):
            news.append(outstanding.pop(start))
        elif not blocks and start >= acked:
            # Dictionaries keep the order in which segments were sent, and none behind this one is acknowledged alone.
            break
    return news


@dataclass(frozen=True)
class Row:
    """A flow of a case: what was recorded, what tshark's fields say, what tcptrace says."""

    case: str
    flow: str
    record: Mapping[str, Any]
    seen: FlowInCapture
    traced: Mapping[str, int]
    marked: int

    @property
    def differences(self) -> list[str]:
        """What should be equal and is not."""
        record, seen, traced = self.record, self.seen, self.traced
        pairs: dict[str, tuple[Any, Any]] = {
            "segments": (record["sent_packets"], seen.segments),
            "bytes acknowledged": (record["acked_bytes"], seen.acked_bytes),
            "sent again": (record["retransmits"], seen.again),
            "marked": (record["ce_in"], self.marked),
            "duplicate acknowledgements": (record["dupacks_in"], seen.dupacks),
            "round trips": (record["rtt_samples"], seen.samples),
            "tcptrace: data segments": (seen.data, traced["actual_data_pkts"]),
            "tcptrace: bytes": (seen.bytes, traced["unique_bytes_sent"]),
            "tcptrace: sent again": (seen.data_again, traced["rexmt_data_pkts"]),
        }
        if record["recovery"] in {"sack", "fack", "rack"}:
            pairs["SACK"] = (record["sacks_in"], seen.sacks)
            pairs["DSACK"] = (record["dsacks_in"], seen.dsacks)
        return [f"{name}: {ours} and {theirs}" for name, (ours, theirs) in pairs.items() if ours != theirs]


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    case: str
    frames: int
    faults: Counter[str]
    rows: list[Row]
    datagrams: tuple[int, int]


def faults_of(at_sender: Sequence[Frame], at_receiver: Sequence[Frame], damaged: int) -> Counter[str]:
    """What tshark objects to in the captures of both ends of a run; `damaged` packets should have a wrong checksum."""
    return Counter({
        "wrong checksums": sum(frame.is_bad for frame in (*at_sender, *at_receiver)) - damaged,
        "malformed, or another error": sum(frame.is_malformed and not frame.is_bad for frame in (*at_sender, *at_receiver)),
        "missed": sum(frame.misses for frame in at_sender),
    })  # fmt: skip


def outcome(case: str, folder: Path) -> Outcome:
    """Runs a case, captures it at both ends and has both programs read that."""
    where = folder / str(len(list(folder.iterdir())))
    wanted = taps.wanted(where, ["sender", "receiver"], 96 if case in CUT else 0)
    records = simulate(CASES[case], captures=wanted)
    at_sender, at_receiver = (read_by_tshark(where / f"{end}.pcapng") for end in ("sender", "receiver"))
    traced = read_by_tcptrace(where / "sender.pcapng")
    faults = faults_of(at_sender, at_receiver, sum(records.links["corrupted_packets"].to_list()))
    rows: list[Row] = []
    of_flows: dict[str, list[Frame]] = defaultdict(list)
    for frame in at_sender:
        of_flows[frame["frame.interface_name"]].append(frame)
    marked = Counter(frame["frame.interface_name"] for frame in at_receiver if frame.is_out and frame.number("ip.dsfield.ecn") == 3)
    sent = 0
    for record in records.flows.iter_rows(named=True):
        frames = of_flows[record["flow"]]
        if frames and frames[0]["udp.length"]:
            sent += record["sent_packets"]
            continue
        host = next(frame["ip.src"] for frame in frames if frame.is_out)
        rows.append(Row(case, record["flow"], record, flow_in_capture(frames, record["recovery"]), traced[host], marked[record["flow"]]))
    datagrams = sum(bool(frame["udp.length"]) for frame in at_sender)
    return Outcome(case, len(at_sender) + len(at_receiver), faults, rows, (sent, datagrams))


def total(rows: Sequence[Row], read: Callable[[Row], int | None]) -> int:
    """Over the flows of a case."""
    return sum(read(row) or 0 for row in rows)


def agreement(found: Sequence[Outcome]) -> str:
    """A row for each case: what is equal has one number, which is the record's and the programs'."""
    header = [
        "Case", "flows", "frames read", "segments", "bytes acknowledged", "sent again", "SACK", "DSACK", "marked",
        "round trips", "duplicate acknowledgements: recorded / by RFC 5681 / tshark", "least RTT, us: recorded / computed",
    ]  # fmt: skip
    rows: list[list[str]] = []
    for each in found:
        flows = each.rows
        recorded = [
            total(flows, lambda row, name=name: row.record[name])
            for name in ("sent_packets", "acked_bytes", "retransmits", "sacks_in", "dsacks_in", "ce_in", "rtt_samples")
        ]
        dupacks = [
            total(flows, lambda row: row.record["dupacks_in"]),
            sum(row.seen.dupacks for row in flows),
            sum(row.seen.theirs for row in flows),
        ]
        least = flows[0]
        rows.append([
            each.case, str(len(flows)), f"{each.frames:,}", *(f"{number:,}" for number in recorded), " / ".join(f"{number:,}" for number in dupacks),
            f"{least.record['min_rtt_ns'] / 1e3:,.1f} / {least.seen.least_rtt_s * 1e6:,.1f}",
        ])  # fmt: skip
    return table(header, rows, "lrrrrrrrrrrr")


def page(found: Sequence[Outcome]) -> str:
    """What is written."""
    rows = [row for each in found for row in each.rows]
    faults: Counter[str] = sum((each.faults for each in found), Counter[str]())
    different = [f"- {row.case}, {row.flow}: {', '.join(row.differences)}" for row in rows if row.differences]
    dupacks = sum(row.record["dupacks_in"] == row.seen.dupacks for row in rows)
    theirs = sum(row.record["dupacks_in"] == row.seen.theirs for row in rows)
    trips = sum(row.record["rtt_samples"] == row.seen.samples for row in rows)
    least = sum(abs(row.record["min_rtt_ns"] - row.seen.least_rtt_s * 1e9) <= 2 for row in rows)
    sent, datagrams = (sum(each.datagrams[at] for each in found) for at in (0, 1))
    versions = [
        subprocess.run(words, capture_output=True, text=True, check=False) for words in (["tshark", "--version"], ["tcptrace", "-v"])
    ]
    tshark = " ".join(versions[0].stdout.split(" (Git", 1)[0].split())
    tcptrace = next(line for line in (versions[1].stdout + versions[1].stderr).splitlines() if "version" in line).split("--")[1].strip()
    return f"""# Do tshark and tcptrace read in captures what the runs recorded?

Written by `python bench/captures.py --write`; [the guide](../guides/captures.md) says how packets are captured. Read by {tshark} and tcptrace {tcptrace}.

Each of {len(found)} cases is run once, with its packets captured at the senders and at the receivers, whole but for {" and ".join(sorted(CUT))}, of which there are many packets. tshark verifies the checksums of IP,
TCP and UDP. `tests/peers/test_captures.py` holds it.

## What was found

In {sum(each.frames for each in found):,} frames there are {faults["wrong checksums"]} wrong checksums (but for packets that a wire has damaged, all of which have one), {faults["malformed, or another error"]} that are malformed or of which
Wireshark's expert information has an error, and {faults["missed"]} before which tshark misses a segment, or that acknowledge one that it has not seen.

Equal to what was recorded in {len(rows) - len(different)} of {len(rows)} flows, each number exactly:

- by tshark's fields: segments (`sent_packets`), bytes acknowledged (`acked_bytes`), acknowledgements with SACK blocks (`sacks_in`) and with a DSACK block (`dsacks_in`), marked packets at the receiver (`ce_in`); duplicate acknowledgements (`dupacks_in`) and round trips (`rtt_samples`), by the record's rules below
- by tshark's analysis: segments sent again (`retransmits`), which it calls retransmission, fast or spurious retransmission or out of order: at the sender all of these were sent before
- by tcptrace, beside the same fields: segments with data, bytes that are sent at least once, segments with data that are sent again

Packets of UDP: {sent:,} sent, {datagrams:,} captured.
{chr(10).join(different)}

## Where definitions part

| Number | Recorded | The programs | What is compared |
|---|---|---|---|
| segments | with the SYN and the FIN, without the handshake's third packet | frames | frames with data, a FIN or a SYN that opens |
| sent again | every segment | tcptrace: those with data | of tcptrace, those with data |
| duplicate acknowledgements | RFC 5681 §2 without its rule (e): the window may be another one. One that only reports a duplicate (DSACK), and nothing new, is none | tshark: with rule (e), and with those of DSACK | counted of tshark's fields by the record's rule: equal in {dupacks} of {len(rows)} flows, by tshark's own in {theirs} |
| round trips | without timestamps one segment at a time (RFC 6298 §3); with timestamps in their ticks, also of segments that were sent again; `rack` and `fack`: each acknowledgement, also by SACK, of a segment that was sent once; of requests and responses also the handshake's | tshark and tcptrace: each acknowledgement of a segment that was sent once; neither knows SACK | counted of tshark's fields by the record's rule (`bench/round_trips.py`): equal in {trips} of {len(rows)} flows. The least time from when a segment that was sent once left to when it was acknowledged or reported: equal to 2 ns in {least}; in the others timestamps measure it, whose ticks are longer |

## Each case

Numbers are of the records, summed over flows; those of the programs are the same, but for the last two columns.

{agreement(found)}
"""


def main() -> None:
    """Runs all cases and prints or writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} rather than print it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = page([outcome(case, Path(folder)) for case in CASES])
    publish(text, PAGE, write=options.write)


if __name__ == "__main__":
    main()
