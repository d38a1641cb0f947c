//! What a run measured: tables of plain columns with names, units and meanings.
//!
//! [`SCHEMA`] is the list of everything there is; documentation and readers walk it.

mod links;
mod rfc4898;

pub use rfc4898::{Alias, RFC4898};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    U64,
    I64,
    F64,
    Str,
}

/// One column: its name carries the unit where there is one.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    pub name: &'static str,
    pub unit: &'static str,
    pub summary: &'static str,
    pub kind: Type,
}

/// One table: what a row is, and its columns.
#[derive(Clone, Copy, Debug)]
pub struct TableSpec {
    pub name: &'static str,
    pub summary: &'static str,
    pub columns: &'static [ColumnSpec],
}

const fn column(
    name: &'static str,
    kind: Type,
    unit: &'static str,
    summary: &'static str,
) -> ColumnSpec {
    ColumnSpec {
        name,
        unit,
        summary,
        kind,
    }
}

use Type::{F64, I64, Str, U64};

/// Every table and column of [`Records`].
pub const SCHEMA: &[TableSpec] = &[
    TableSpec {
        name: "flows",
        summary: "one row per flow",
        columns: &[
            column("flow", Str, "", "the flow's name"),
            column("cc", Str, "", "congestion control that was active"),
            column("recovery", Str, "", "loss recovery that was active"),
            column(
                "start_ns",
                I64,
                "ns",
                "when the application opened the connection",
            ),
            column(
                "acked_packets",
                U64,
                "packet",
                "highest cumulatively acknowledged data packet, counted from 1",
            ),
            column(
                "acked_bytes",
                U64,
                "B",
                "application bytes cumulatively acknowledged to the sender",
            ),
            column(
                "delivered_bytes",
                U64,
                "B",
                "application bytes delivered in order to the receiving application",
            ),
            column(
                "throughput_bps",
                F64,
                "bit/s",
                "acked_packets x smss x 8 / (duration - start)",
            ),
            column(
                "goodput_bps",
                F64,
                "bit/s",
                "delivered_bytes x 8 / (duration - start)",
            ),
            column(
                "sent_packets",
                U64,
                "packet",
                "segments sent, retransmissions and SYN included",
            ),
            column(
                "retransmits",
                U64,
                "packet",
                "segments sent again (PktsRetrans)",
            ),
            column(
                "fast_retransmits",
                U64,
                "",
                "losses signalled by acknowledgements (FastRetran)",
            ),
            column(
                "timeouts",
                U64,
                "",
                "expirations of the retransmission timer (Timeouts)",
            ),
            column(
                "dupacks_in",
                U64,
                "",
                "duplicate acknowledgements received (DupAcksIn)",
            ),
            column(
                "sacks_in",
                U64,
                "",
                "acknowledgements with SACK blocks received",
            ),
            column(
                "dsacks_in",
                U64,
                "",
                "acknowledgements of segments received twice (DSACKDups), with SACK only",
            ),
            column(
                "congestion_signals",
                U64,
                "",
                "reductions of the window, of any cause (CongSignals)",
            ),
            column(
                "ce_in",
                U64,
                "packet",
                "data packets that the receiver got marked Congestion Experienced (CERcvd)",
            ),
            column(
                "ecn_signals",
                U64,
                "",
                "acknowledgements that told the sender of marks (ECNsignals)",
            ),
            column(
                "ecn_reductions",
                U64,
                "",
                "reductions of the window for marks, where the sender rather than the algorithm makes them; part of congestion_signals",
            ),
            column(
                "cwnd_mean_bytes",
                F64,
                "B",
                "congestion window, mean over the flow's time",
            ),
            column(
                "srtt_mean_ns",
                I64,
                "ns",
                "smoothed round-trip time, mean over samples; -1 without any",
            ),
            column(
                "min_rtt_ns",
                I64,
                "ns",
                "smallest round-trip sample; -1 without any",
            ),
            column(
                "completion_ns",
                I64,
                "ns",
                "start to last byte delivered, of a fixed-size transfer; -1 if not completed",
            ),
            column(
                "stall_ns",
                I64,
                "ns",
                "data stream stall; -1: not measured without a host model",
            ),
            column(
                "limited_cwnd_ns",
                I64,
                "ns",
                "time in which the congestion window held the sender back, the handshake included",
            ),
            column(
                "limited_rwnd_ns",
                I64,
                "ns",
                "time in which the receiver's window held the sender back",
            ),
            column(
                "limited_source_ns",
                I64,
                "ns",
                "time in which the application had nothing to send",
            ),
            column(
                "limited_send_buffer_ns",
                I64,
                "ns",
                "time in which the application had more to send and no room for it in the send buffer",
            ),
            column(
                "limited_pacing_ns",
                I64,
                "ns",
                "time in which the window had room and pacing held the sender back",
            ),
            column(
                "limited_recovery_ns",
                I64,
                "ns",
                "time between a loss and its recovery point, the repair after a timeout included",
            ),
            column(
                "limited_rto_ns",
                I64,
                "ns",
                "time in which nothing came until the retransmission timer expired",
            ),
            column(
                "limited_nagle_ns",
                I64,
                "ns",
                "time in which less than a segment was kept back for more",
            ),
            column(
                "lifetime_ns",
                I64,
                "ns",
                "start to the acknowledgement of everything, or to the end of the run; the sum of the limited_*_ns",
            ),
            column(
                "subsequent_timeouts",
                U64,
                "",
                "of the timeouts, those of a timer that had been backed off",
            ),
            column(
                "tail_loss_probes",
                U64,
                "",
                "probes sent because nothing came (RFC 8985 section 7)",
            ),
            column(
                "spurious",
                U64,
                "",
                "of the congestion signals, those that turned out to be needless and were undone",
            ),
            column("spurious_timeouts", U64, "", "of those, timeouts"),
            column("max_cwnd_bytes", F64, "B", "largest congestion window"),
            column(
                "srtt_ns",
                I64,
                "ns",
                "smoothed round-trip time at the end; -1 without a sample",
            ),
            column(
                "max_rtt_ns",
                I64,
                "ns",
                "largest round-trip sample; -1 without any",
            ),
            column("rtt_samples", U64, "", "round-trip times measured"),
            column(
                "stall_window_ns",
                I64,
                "ns",
                "the part of stall_ns in which packets queued behind a full window; -1 without a host model, as the next two",
            ),
            column(
                "stall_partial_ns",
                I64,
                "ns",
                "the part in which less than a segment was held back",
            ),
            column(
                "stall_memory_ns",
                I64,
                "ns",
                "the part in which the writer slept for lack of socket memory",
            ),
        ],
    },
    TableSpec {
        name: "stalls",
        summary: "one row per time in which a socket stalled, with record = [\"stalls\"]",
        columns: &[
            column(
                "flow",
                Str,
                "",
                "the flow's name; `NAME.requests` of the socket that sends the requests of `request_response`",
            ),
            column("from_ns", I64, "ns", "when the stopwatch started"),
            column("to_ns", I64, "ns", "when it was paused"),
            column(
                "cause",
                Str,
                "",
                "window, partial or memory: of those that hold, the one nearest to the wire",
            ),
        ],
    },
    TableSpec {
        name: "layers",
        summary: "one row per thing that happens to a packet at a layer of a host, with record = [\"layers\"]",
        columns: &[
            column("t_ns", I64, "ns", "when; one clock for all hosts"),
            column(
                "flow",
                Str,
                "",
                "the flow's name; `NAME.requests` of what carries the requests of `request_response`",
            ),
            column("host", Str, "", "the host's name"),
            column("layer", Str, "", "application, socket, tcp, driver or wire"),
            column(
                "event",
                Str,
                "",
                "application: write, written, read; socket: copied, sleep, wake, readable; tcp: send, receive; driver: send, handed, transmitted, receive; \
                 wire: begin, end, arrive",
            ),
            column(
                "packet",
                I64,
                "",
                "number of the packet among its flow's, acknowledgements included, from 1; -1 if it is about none",
            ),
            column(
                "kind",
                Str,
                "",
                "data or ack; empty if it is about no packet",
            ),
            column(
                "seq",
                I64,
                "",
                "number of the segment, or of an acknowledgement the next that is expected; -1 if there is none",
            ),
            column(
                "bytes",
                I64,
                "B",
                "application bytes that it is about, -1 of a write without end; of packets in the driver and on the wire, bytes of the packet",
            ),
        ],
    },
    links::LINKS,
    links::WAITS,
    links::LINK_FLOWS,
    links::PACKETS,
    TableSpec {
        name: "series",
        summary: "one row per flow and sample, when the scenario samples; the state just before t, or just after an acknowledgement with sample = \"ack\"",
        columns: &[
            column("t_ns", I64, "ns", "time of the sample"),
            column("flow", Str, "", "the flow's name"),
            column("cwnd_bytes", F64, "B", "congestion window"),
            column(
                "ssthresh_bytes",
                F64,
                "B",
                "slow-start threshold; infinite while arbitrarily high",
            ),
            column(
                "srtt_ns",
                I64,
                "ns",
                "smoothed round-trip time; -1 before a sample",
            ),
            column(
                "flight_bytes",
                U64,
                "B",
                "FlightSize: sent and not cumulatively acknowledged",
            ),
            column("acked_bytes", U64, "B", "cumulatively acknowledged so far"),
            column("delivered_bytes", U64, "B", "delivered in order so far"),
            column(
                "pipe_bytes",
                U64,
                "B",
                "considered in the path: what the recovery in force compares with the window (RFC 6675's pipe)",
            ),
            column(
                "pacing_rate_bps",
                F64,
                "bit/s",
                "how fast segments are let out; infinite where they are not paced",
            ),
            column(
                "sender_delivered_bytes",
                U64,
                "B",
                "known to the sender to have arrived, cumulatively or selectively, so far",
            ),
        ],
    },
    TableSpec {
        name: "queues",
        summary: "one row per link direction and sample, when the scenario samples; the state just before t",
        columns: &[
            column("t_ns", I64, "ns", "time of the sample"),
            column("link", Str, "", "the link's name"),
            column("direction", Str, "", "forward or reverse"),
            column(
                "backlog_packets",
                U64,
                "packet",
                "packets present, the one in transmission included",
            ),
            column("dropped_packets", U64, "packet", "dropped so far"),
        ],
    },
    TableSpec {
        name: "variables",
        summary: "one row per flow, sample and variable of its congestion control, by the name in its paper, with record = [\"variables\"]; taken with the rows of series",
        columns: &[
            column("t_ns", I64, "ns", "time of the sample"),
            column("flow", Str, "", "the flow's name"),
            column("variable", Str, "", "the algorithm's name for it"),
            column(
                "value",
                F64,
                "",
                "in the algorithm's unit: windows in segments, times in seconds, rates in segments per second",
            ),
        ],
    },
    TableSpec {
        name: "episodes",
        summary: "one row per loss episode of a flow, with record = [\"episodes\"]: from a reduction of the window to its recovery point",
        columns: &[
            column("flow", Str, "", "the flow's name"),
            column("start_ns", I64, "ns", "when the loss was found"),
            column(
                "end_ns",
                I64,
                "ns",
                "when the recovery point was reached, another episode began or the reduction was undone; -1: not by the end of the run",
            ),
            column(
                "cause",
                Str,
                "",
                "what found it: dupack, sack, rack, tail_loss_probe, rto; or ecn, a mark",
            ),
            column(
                "lost_packets",
                I64,
                "packet",
                "segments found lost; -1 of a recovery that does not judge segments (all but rack)",
            ),
            column("retransmits", U64, "packet", "segments sent again"),
            column(
                "timeouts",
                U64,
                "",
                "expirations of the retransmission timer",
            ),
            column("flight_bytes", U64, "B", "FlightSize when it began"),
            column("cwnd_before_bytes", F64, "B", "congestion window before"),
            column(
                "ssthresh_bytes",
                F64,
                "B",
                "slow-start threshold that it left; infinite while arbitrarily high",
            ),
            column(
                "cwnd_after_bytes",
                F64,
                "B",
                "congestion window when it ended",
            ),
            column(
                "spurious",
                U64,
                "",
                "1: it turned out to be needless and was undone",
            ),
        ],
    },
    TableSpec {
        name: "arrivals",
        summary: "one row per entry of flows that arrive and leave: all of them together",
        columns: &[
            column("flow", Str, "", "the entry's name"),
            column("cc", Str, "", "congestion control that was active"),
            column(
                "rate",
                F64,
                "1/s",
                "arrivals per second as given, or as the load makes it",
            ),
            column("started", U64, "", "flows that have arrived"),
            column(
                "completed",
                U64,
                "",
                "of them, those whose every byte has been delivered and acknowledged",
            ),
            column(
                "alive_mean",
                F64,
                "",
                "flows between arrival and the acknowledgement of everything, mean over the run's time",
            ),
            column("alive_max", U64, "", "the most at one time"),
            column(
                "offered_bytes",
                U64,
                "B",
                "application bytes of those that have arrived; 4e18 stands for all that is more",
            ),
            column(
                "delivered_bytes",
                U64,
                "B",
                "application bytes delivered in order",
            ),
            column(
                "sent_packets",
                U64,
                "packet",
                "segments sent, retransmissions, SYN and FIN included",
            ),
            column("retransmits", U64, "packet", "segments sent again"),
            column(
                "timeouts",
                U64,
                "",
                "expirations of the retransmission timer",
            ),
            column(
                "congestion_signals",
                U64,
                "",
                "reductions of the window, of any cause",
            ),
            column(
                "completion_mean_ns",
                I64,
                "ns",
                "start to last byte delivered, mean; -1 without any",
            ),
            column(
                "completion_p50_ns",
                I64,
                "ns",
                "its median, within 1/128; -1 without any",
            ),
            column("completion_p90_ns", I64, "ns", "its 90th percentile"),
            column("completion_p95_ns", I64, "ns", "its 95th percentile"),
            column("completion_p99_ns", I64, "ns", "its 99th percentile"),
            column("completion_p999_ns", I64, "ns", "its 99.9th percentile"),
            column("completion_max_ns", I64, "ns", "the longest"),
        ],
    },
    TableSpec {
        name: "completions",
        summary: "one row per entry of flows that arrive and bin of their sizes",
        columns: &[
            column("flow", Str, "", "the entry's name"),
            column("size_from_bytes", U64, "B", "the smallest size of the bin"),
            column(
                "size_below_bytes",
                U64,
                "B",
                "the smallest size of the next bin",
            ),
            column("started", U64, "", "flows of these sizes that have arrived"),
            column(
                "completed",
                U64,
                "",
                "of them, those whose every byte has been delivered and acknowledged",
            ),
            column(
                "completion_mean_ns",
                I64,
                "ns",
                "start to last byte delivered, mean; -1 without any",
            ),
            column(
                "completion_p50_ns",
                I64,
                "ns",
                "its median, within 1/128; -1 without any",
            ),
            column("completion_p90_ns", I64, "ns", "its 90th percentile"),
            column("completion_p95_ns", I64, "ns", "its 95th percentile"),
            column("completion_p99_ns", I64, "ns", "its 99th percentile"),
            column("completion_p999_ns", I64, "ns", "its 99.9th percentile"),
            column("completion_max_ns", I64, "ns", "the longest"),
        ],
    },
    TableSpec {
        name: "transfers",
        summary: "one row per flow that has arrived, with record = [\"transfers\"], in the order of their ends",
        columns: &[
            column("flow", Str, "", "the entry's name"),
            column("number", U64, "", "which of its flows, counted from 1"),
            column("start_ns", I64, "ns", "when it arrived"),
            column("size_bytes", U64, "B", "application bytes to transfer"),
            column(
                "delivered_bytes",
                U64,
                "B",
                "application bytes delivered in order",
            ),
            column(
                "completion_ns",
                I64,
                "ns",
                "start to last byte delivered; -1 if not completed",
            ),
            column(
                "sent_packets",
                U64,
                "packet",
                "segments sent, retransmissions, SYN and FIN included",
            ),
            column("retransmits", U64, "packet", "segments sent again"),
            column(
                "timeouts",
                U64,
                "",
                "expirations of the retransmission timer",
            ),
        ],
    },
    TableSpec {
        name: "exchanges",
        summary: "one row per flow whose source answers requests",
        columns: &[
            column("flow", Str, "", "the flow's name"),
            column("asked", U64, "", "requests written by the client"),
            column(
                "answered",
                U64,
                "",
                "of them, those whose response has arrived completely",
            ),
            column(
                "requested_bytes",
                U64,
                "B",
                "bytes of requests that have reached the server",
            ),
            column(
                "completion_mean_ns",
                I64,
                "ns",
                "request written to the response's last byte delivered, mean; -1 without any",
            ),
            column(
                "completion_p50_ns",
                I64,
                "ns",
                "its median, within 1/128; -1 without any",
            ),
            column("completion_p90_ns", I64, "ns", "its 90th percentile"),
            column("completion_p95_ns", I64, "ns", "its 95th percentile"),
            column("completion_p99_ns", I64, "ns", "its 99th percentile"),
            column("completion_p999_ns", I64, "ns", "its 99.9th percentile"),
            column("completion_max_ns", I64, "ns", "the longest"),
            column(
                "request_stall_ns",
                I64,
                "ns",
                "data-stream stall of the client's socket, which sends the requests, while the run lasted; -1 without a host model, as the next three",
            ),
            column(
                "request_stall_window_ns",
                I64,
                "ns",
                "the part of it in which packets queued behind a full window",
            ),
            column(
                "request_stall_partial_ns",
                I64,
                "ns",
                "the part in which less than a segment was held back",
            ),
            column(
                "request_stall_memory_ns",
                I64,
                "ns",
                "the part in which the writer slept for lack of socket memory",
            ),
        ],
    },
    TableSpec {
        name: "datagrams",
        summary: "one row per flow with transport = \"udp\": what its receiver got and how late; bytes are those of IP packets",
        columns: &[
            column("flow", Str, "", "the flow's name"),
            column("sent_packets", U64, "packet", "packets sent"),
            column("sent_bytes", U64, "B", "bytes sent, headers included"),
            column("delivered_packets", U64, "packet", "packets received"),
            column(
                "delivered_bytes",
                U64,
                "B",
                "bytes received, headers included",
            ),
            column(
                "lost_packets",
                I64,
                "packet",
                "packets that left before the last of those received and have not come themselves (RFC 3550 A.3, but one that comes twice hides none); -1 if none came",
            ),
            column(
                "late_packets",
                U64,
                "packet",
                "packets received after one that had left later",
            ),
            column(
                "delay_mean_ns",
                I64,
                "ns",
                "one-way delay, mean over packets; this and all other times -1 if none was received",
            ),
            column("delay_min_ns", I64, "ns", "smallest one-way delay"),
            column("delay_max_ns", I64, "ns", "largest one-way delay"),
            column(
                "delay_p50_ns",
                I64,
                "ns",
                "median of the one-way delay, within 1/128, as the other quantiles",
            ),
            column("delay_p95_ns", I64, "ns", "95 % had at most this one"),
            column("delay_p99_ns", I64, "ns", "99 % had at most this one"),
            column("delay_p999_ns", I64, "ns", "99.9 % had at most this one"),
            column(
                "jitter_ns",
                I64,
                "ns",
                "interarrival jitter at the end (RFC 3550 section 6.4.1)",
            ),
        ],
    },
    TableSpec {
        name: "sources",
        summary: "one row per flow with transport = \"udp\" and quantity that its source found itself to have, over the whole flow; docs/guides/background.md",
        columns: &[
            column("flow", Str, "", "the flow's name"),
            column(
                "quantity",
                Str,
                "",
                "of self_similar: periods, mean_wanted, mean and variance of the packets in a period as they are, share_empty and share_at_cap of the periods",
            ),
            column("value", F64, "", "in packets, or a share"),
        ],
    },
    TableSpec {
        name: "counters",
        summary: "one row per host and counter of its kernel that is not zero, with real kernels only (nstat(8))",
        columns: &[
            column("host", Str, "", "sender or receiver"),
            column(
                "counter",
                Str,
                "",
                "the kernel's name, such as TcpExtTCPTimeouts",
            ),
            column("value", U64, "", "at the end of the run"),
        ],
    },
];

/// A column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Str(Vec<String>),
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    U64(u64),
    I64(i64),
    F64(f64),
    Str(String),
}

/// A table that is being filled, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: &'static str,
    /// In the order of the schema.
    pub columns: Vec<Data>,
}

impl Table {
    /// An empty table of the schema.
    ///
    /// # Panics
    /// If the schema has no such table: a programming error.
    pub fn new(name: &'static str) -> Self {
        let columns = spec(name)
            .columns
            .iter()
            .map(|column| match column.kind {
                U64 => Data::U64(Vec::new()),
                I64 => Data::I64(Vec::new()),
                F64 => Data::F64(Vec::new()),
                Str => Data::Str(Vec::new()),
            })
            .collect();
        Self { name, columns }
    }

    /// Adds a row; one cell per column, of its type.
    ///
    /// # Panics
    /// If the row does not fit the schema: a programming error.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            match (column, row.next().expect("a cell for every column")) {
                (Data::U64(values), Cell::U64(value)) => values.push(value),
                (Data::I64(values), Cell::I64(value)) => values.push(value),
                (Data::F64(values), Cell::F64(value)) => values.push(value),
                (Data::Str(values), Cell::Str(value)) => values.push(value),
                (column, cell) => {
                    unreachable!("{cell:?} does not fit into {column:?} of {}", self.name)
                }
            }
        }
        assert!(
            row.next().is_none(),
            "more cells than columns in {}",
            self.name
        );
    }

    /// The columns, with their names.
    pub fn named_columns(&self) -> impl Iterator<Item = (&'static str, &Data)> {
        let names = spec(self.name).columns.iter().map(|column| column.name);
        names.zip(&self.columns)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match &self.columns[0] {
            Data::U64(values) => values.len(),
            Data::I64(values) => values.len(),
            Data::F64(values) => values.len(),
            Data::Str(values) => values.len(),
        }
    }

    /// The column `name`.
    ///
    /// # Panics
    /// If there is none: a programming error.
    pub fn column(&self, name: &str) -> &Data {
        let index = spec(self.name)
            .columns
            .iter()
            .position(|column| column.name == name);
        &self.columns[index.unwrap_or_else(|| panic!("no column {name} in {}", self.name))]
    }
}

fn spec(name: &str) -> &'static TableSpec {
    SCHEMA
        .iter()
        .find(|table| table.name == name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

/// Everything one run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    pub tables: Vec<Table>,
}

impl Records {
    /// The table `name`, if the run filled it.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// What a run cost; it depends on the shortcuts in force, so it is no record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Events taken from the event queue.
    pub events: u64,
    /// Segments that reached their receiver.
    pub delivered_packets: u64,
    /// Packets that reached their host damaged.
    pub discarded_packets: u64,
    /// Places that flows have had: of those that arrive and leave, as many as were alive at one time.
    pub flow_places: u64,
}
