"""What tshark and tcptrace count of real transfers between two kernels, beside ours: equal where definitions are, and where they part for the reason that is told."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from sawtooth import captures
from tests.captures import network, peers

pytestmark = pytest.mark.xdist_group("real time")
SENDER, RECEIVER = network.ADDRESSES
SIZE = 3_000_000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Transfers without loss, over a path that does everything, and that without SACK: NAME/sender.pcap and NAME/receiver.pcap."""
    network.need_network()
    directory = tmp_path_factory.mktemp("captures")
    paths = {"clean": network.Path2(loss=0, late=0, twice=0, queue=400), "lossy": network.Path2(), "nosack": network.Path2(seed=3)}
    for name, path in paths.items():
        (directory / name).mkdir()
        network.transfer(directory / name, path, SIZE, sack=name != "nosack")
    return directory


def of(capture: Path) -> dict[str, Any]:
    return captures.read(capture).flows.row(0, named=True)


@pytest.mark.parametrize("name", ["clean", "lossy", "nosack"])
def test_segments_bytes_and_acknowledgements_are_those_of_both(recorded: Path, name: str) -> None:
    network.need("tshark", "tcptrace")
    for where in ("sender", "receiver"):
        capture = recorded / name / f"{where}.pcap"
        ours, theirs = of(capture), peers.tcptrace(capture)
        assert ours["vantage"] == where
        assert ours["delivered_bytes"] == ours["unique_bytes"] == SIZE == int(theirs["unique bytes sent"][0])
        assert ours["data_packets"] == int(theirs["actual data pkts"][0])
        assert ours["sent_packets"] == int(theirs["total packets"][0]) == peers.tshark_count(capture, "tcp", source=SENDER)
        # Answers to needless copies come when nothing is outstanding, and both programs do not ask for that (RFC 5681 section 2 does).
        # tcptrace may take the receiver's FIN for one if it has the number of the acknowledgement before it.
        unasked, fins = not_outstanding(capture)
        assert peers.tshark_count(capture, "tcp.analysis.duplicate_ack", source=RECEIVER) == ours["dupacks_in"] + unasked
        assert 0 <= int(theirs["duplicate acks"][0]) - ours["dupacks_in"] - unasked <= fins
        assert ours["sacks_in"] == int(theirs["sack pkts sent"][1])
        assert ours["sacks_in"] == peers.tshark_count(capture, "tcp.options.sack_le", source=RECEIVER)
        edges = peers.tshark_values(capture, "tcp.options.sack_le", source=RECEIVER)
        assert ours["sack_blocks"] == sum(len(each.split(",")) for each in edges)
        assert ours["dsacks_in"] == int(theirs["dsack pkts sent"][1])
        assert (ours["sacks_in"] == 0) == (name != "lossy")
        if name == "clean":
            assert ours["dupacks_in"] == 0


@pytest.mark.parametrize("name", ["clean", "lossy", "nosack"])
def test_retransmissions_at_the_sender_are_those_of_tcptrace_and_of_both_names_of_tshark(recorded: Path, name: str) -> None:
    network.need("tshark", "tcptrace")
    capture = recorded / name / "sender.pcap"
    ours, theirs = of(capture), peers.tcptrace(capture)
    assert (ours["retransmits"] > 0) == (name != "clean")
    assert (ours["reordered_packets"], ours["duplicated_packets"], ours["retransmits_unseen"]) == (0, 0, 0)
    assert ours["retransmits"] == int(theirs["rexmt data pkts"][0])
    # tcptrace counts the number of a FIN that is sent again as a byte.
    fins = int(theirs["SYN/FIN pkts sent"][0].split("/")[1]) - 1
    assert ours["retransmitted_bytes"] == int(theirs["rexmt data bytes"][0]) - fins
    # tshark calls what comes soon after a hole was seen out of order, though both copies are there.
    again = peers.tshark_count(capture, "tcp.analysis.retransmission", source=SENDER)
    soon = peers.tshark_count(capture, "tcp.analysis.out_of_order", source=SENDER)
    assert ours["retransmits"] == again + soon


@pytest.mark.parametrize("name", ["lossy", "nosack"])
def test_at_the_receiver_what_was_sent_again_is_told_from_what_is_late_and_doubled(recorded: Path, name: str) -> None:
    """The sender's capture says which packets were sent again, by their identification: the receiver's is judged without it."""
    network.need("tshark")
    sender, receiver = recorded / name / "sender.pcap", recorded / name / "receiver.pcap"
    again = set(
        peers.tshark_values(sender, "ip.id && (tcp.analysis.retransmission || tcp.analysis.out_of_order)", source=SENDER, shown="ip.id")
    )
    rows = [line.split("\t") for line in peers.tshark_fields(receiver, "ip.src", "ip.id", "tcp.seq", "tcp.len")]
    arrived = [(number, int(seq), int(seq) + int(length)) for source, number, seq, length in rows if source == SENDER and length != "0"]
    ours = of(receiver)
    assert ours["duplicated_packets"] == len(arrived) - len({number for number, _, _ in arrived})
    # Where nothing above came before it, no capture at the receiver tells that the first copy was lost.
    told, highest = set[str](), 0
    for number, seq, end in arrived:
        if number in again and seq < highest:
            told.add(number)
        highest = max(highest, end)
    assert ours["retransmits"] == len(told)
    assert ours["reordered_packets"] > 0


def test_the_same_capture_in_other_formats_has_the_same_tables(recorded: Path, tmp_path: Path) -> None:
    """Wireshark's editcap writes them: pcapng, and pcap of nanoseconds."""
    network.need("editcap")
    first = captures.read(recorded / "lossy" / "sender.pcap")
    for kind in ("pcapng", "nsecpcap"):
        other = tmp_path / kind
        subprocess.run(["editcap", "-F", kind, str(recorded / "lossy" / "sender.pcap"), str(other)], check=True)
        second = captures.read(other)
        for table in captures.TABLES:
            assert getattr(first, table).equals(getattr(second, table)), f"{kind} {table}"
        assert second.facts["begin_ns"] == first.facts["begin_ns"]


def test_without_loss_round_trips_are_those_of_both(recorded: Path) -> None:
    network.need("tshark", "tcptrace")
    capture = recorded / "clean" / "sender.pcap"
    ours, theirs = of(capture), peers.tcptrace(capture)
    assert ours["rtt_samples"] == int(theirs["RTT samples"][0])
    for column, name in (("receiver_rtt_min_ns", "RTT min"), ("receiver_rtt_max_ns", "RTT max"), ("receiver_rtt_mean_ns", "RTT avg")):
        assert ours[column] / 1e6 == pytest.approx(float(theirs[name][0]), abs=0.051)
    times = [float(value) for value in peers.tshark_values(capture, "tcp.analysis.ack_rtt", source=RECEIVER)]
    assert ours["rtt_samples"] == len(times)
    assert ours["min_rtt_ns"] == round(min(times) * 1e9)
    assert ours["max_rtt_ns"] == round(max(times) * 1e9)
    assert ours["receiver_rtt_mean_ns"] == pytest.approx(sum(times) / len(times) * 1e9, rel=1e-6)


@pytest.mark.parametrize("name", ["lossy", "nosack"])
def test_with_losses_round_trips_follow_karns_rule_which_lies_between_tcptraces_and_tsharks(recorded: Path, name: str) -> None:
    network.need("tshark", "tcptrace")
    capture = recorded / name / "sender.pcap"
    ours, theirs = of(capture), peers.tcptrace(capture)
    assert ours["rtt_samples"] == karn(capture)
    # tcptrace also leaves out acknowledgements of what was sent before another segment was sent again; tshark times those of what was sent twice.
    assert int(theirs["RTT samples"][0]) <= ours["rtt_samples"] <= int(theirs["RTT samples"][0]) + int(theirs["post-loss acks"][0])
    assert ours["rtt_samples"] < peers.tshark_count(capture, "tcp.analysis.ack_rtt", source=RECEIVER)
    assert ours["receiver_rtt_min_ns"] / 1e6 == pytest.approx(float(theirs["RTT min"][0]), abs=0.051)


def not_outstanding(capture: Path) -> tuple[int, int]:
    """How many of the duplicate acknowledgements that tshark names came when all that had been sent was acknowledged, and no data since the acknowledgement before; and FINs that acknowledge nothing new."""
    fields = ("ip.src", "tcp.seq", "tcp.len", "tcp.ack", "tcp.flags.syn", "tcp.flags.fin", "tcp.analysis.duplicate_ack")
    unasked, fins, highest, acked, is_due = 0, 0, 0, -1, False
    for line in peers.tshark_fields(capture, *fields):
        source, seq, length, ack, syn, fin, duplicate = line.split("\t")
        is_fin = fin in ("1", "True")
        if source == SENDER:
            highest = max(highest, int(seq) + int(length) + is_fin + (syn in ("1", "True")))
            is_due |= length != "0"
            continue
        unasked += bool(duplicate) and int(ack) >= highest and not is_due
        fins += is_fin and int(ack) == acked
        acked, is_due = int(ack), False
    return unasked, fins


def karn(capture: Path) -> int:
    """Acknowledgements of something new of which nothing was sent twice, counted byte by byte (RFC 6298 section 3)."""
    rows = [
        line.split("\t")
        for line in peers.tshark_fields(capture, "ip.src", "tcp.seq", "tcp.len", "tcp.ack", "tcp.flags.syn", "tcp.flags.fin")
    ]
    copies: dict[int, int] = {}
    acked, samples = 0, 0
    for source, seq, length, ack, syn, fin in rows:
        if source == SENDER:
            for number in range(int(seq), int(seq) + int(length) + (syn in ("1", "True")) + (fin in ("1", "True"))):
                copies[number] = copies.get(number, 0) + 1
        elif int(ack) > acked:
            samples += all(copies.get(number) == 1 for number in range(acked, int(ack)))
            acked = int(ack)
    return samples
