//! The tables of links: what has come to each, waited there and gone.

use super::Type::{F64, I64, Str, U64};
use super::{TableSpec, column};

pub(super) const LINKS: TableSpec = TableSpec {
    name: "links",
    summary: "one row per direction of a link",
    columns: &[
        column("link", Str, "", "the link's name"),
        column("direction", Str, "", "forward or reverse"),
        column(
            "arrived_packets",
            U64,
            "packet",
            "packets that came to the queue",
        ),
        column("arrived_bytes", U64, "B", "bytes that came to the queue"),
        column(
            "dropped_packets",
            U64,
            "packet",
            "packets dropped by the queue",
        ),
        column("dropped_bytes", U64, "B", "bytes dropped by the queue"),
        column(
            "lost_packets",
            U64,
            "packet",
            "packets transmitted and lost on the wire",
        ),
        column(
            "corrupted_packets",
            U64,
            "packet",
            "packets transmitted and damaged on the wire; their hosts discard them",
        ),
        column(
            "duplicated_packets",
            U64,
            "packet",
            "packets that the wire has delivered twice",
        ),
        column(
            "reordered_packets",
            U64,
            "packet",
            "packets that arrived before one that was transmitted earlier",
        ),
        column(
            "marked_packets",
            U64,
            "packet",
            "packets transmitted that the queue has marked Congestion Experienced",
        ),
        column(
            "peak_packets",
            U64,
            "packet",
            "largest backlog, the packet in transmission included",
        ),
        column(
            "utilisation",
            F64,
            "",
            "bits accepted / (rate x duration); above 1 if a backlog remains at the end; -1 of a link that could send nothing before the end",
        ),
        column(
            "wait_mean_ns",
            I64,
            "ns",
            "arrival to start of transmission, mean over accepted packets",
        ),
        column(
            "backlog_mean_packets",
            F64,
            "packet",
            "packets that wait, without the one in transmission, mean over the run's time",
        ),
        column(
            "backlog_mean_bytes",
            F64,
            "B",
            "bytes that wait, without the packet in transmission, mean over the run's time",
        ),
    ],
};

pub(super) const WAITS: TableSpec = TableSpec {
    name: "waits",
    summary: "one row per direction of a link, with record = [\"waits\"]: how waits and backlogs are distributed, percentiles within 1/128",
    columns: &[
        column("link", Str, "", "the link's name"),
        column("direction", Str, "", "forward or reverse"),
        column(
            "started_packets",
            U64,
            "packet",
            "packets whose transmission has started; the waits are theirs",
        ),
        column(
            "wait_mean_ns",
            I64,
            "ns",
            "arrival to start of transmission, mean; -1 without any",
        ),
        column("wait_p50_ns", I64, "ns", "its median; -1 without any"),
        column("wait_p90_ns", I64, "ns", "its 90th percentile"),
        column("wait_p95_ns", I64, "ns", "its 95th percentile"),
        column("wait_p99_ns", I64, "ns", "its 99th percentile"),
        column("wait_p999_ns", I64, "ns", "its 99.9th percentile"),
        column("wait_max_ns", I64, "ns", "the longest"),
        column(
            "found_mean_packets",
            F64,
            "packet",
            "packets that an arriving one has found, the one in transmission included, mean over all arrivals",
        ),
        column("found_p50_packets", U64, "packet", "its median"),
        column("found_p90_packets", U64, "packet", "its 90th percentile"),
        column("found_p95_packets", U64, "packet", "its 95th percentile"),
        column("found_p99_packets", U64, "packet", "its 99th percentile"),
        column("found_max_packets", U64, "packet", "the most"),
    ],
};

pub(super) const LINK_FLOWS: TableSpec = TableSpec {
    name: "link_flows",
    summary: "one row per direction of a link and flow, or entry of flows that arrive, whose packets have come there, with record = [\"link_flows\"]",
    columns: &[
        column("link", Str, "", "the link's name"),
        column("direction", Str, "", "forward or reverse"),
        column("flow", Str, "", "the flow's name, or the entry's"),
        column(
            "arrived_packets",
            U64,
            "packet",
            "its packets that came to the queue",
        ),
        column(
            "arrived_bytes",
            U64,
            "B",
            "its bytes that came to the queue",
        ),
        column(
            "dropped_packets",
            U64,
            "packet",
            "its packets dropped by the queue",
        ),
        column("dropped_bytes", U64, "B", "its bytes dropped by the queue"),
        column(
            "lost_packets",
            U64,
            "packet",
            "its packets transmitted and lost on the wire",
        ),
        column(
            "marked_packets",
            U64,
            "packet",
            "its packets transmitted that the queue has marked Congestion Experienced",
        ),
        column(
            "wait_mean_ns",
            I64,
            "ns",
            "arrival to start of transmission, mean over those whose transmission has started; -1 without any",
        ),
    ],
};

pub(super) const PACKETS: TableSpec = TableSpec {
    name: "packets",
    summary: "one row per packet and direction of a link to which it has come, in the order in which they came, with record = [\"packets\"]; of those that are there at any time from `record_from` to `record_until`",
    columns: &[
        column("link", Str, "", "the link's name"),
        column("direction", Str, "", "forward or reverse"),
        column("flow", Str, "", "the flow's name, or the entry's"),
        column("kind", Str, "", "data, ack or datagram"),
        column(
            "number",
            I64,
            "",
            "of data the segment's number, of an acknowledgement the next segment that is expected, both from 0; of datagrams their number",
        ),
        column("bytes", U64, "B", "on the wire, headers included"),
        column(
            "retransmission",
            U64,
            "",
            "1 if it carries what has been sent before, else 0",
        ),
        column(
            "marked",
            U64,
            "",
            "1 if the queue has marked it Congestion Experienced, else 0",
        ),
        column(
            "fate",
            Str,
            "",
            "arrived, doubled (it arrives twice), damaged (it arrives, and its host discards it), dropped by the queue, lost on the wire, or unfinished: the run ended before",
        ),
        column("arrived_ns", I64, "ns", "when it came to the queue"),
        column(
            "dropped_ns",
            I64,
            "ns",
            "when the queue dropped it; -1 if it did not",
        ),
        column(
            "started_ns",
            I64,
            "ns",
            "when its transmission began; -1 if it did not within the run",
        ),
        column(
            "sent_ns",
            I64,
            "ns",
            "when its last bit had left, also where that is after the run; -1 if it never has",
        ),
        column(
            "delivered_ns",
            I64,
            "ns",
            "when its last bit was at the far end, also where that is after the run; -1 if it never was",
        ),
    ],
};
