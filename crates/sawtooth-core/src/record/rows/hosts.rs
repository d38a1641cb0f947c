//! Of hosts: when sockets stalled, and what happened to packets at each layer.

use crate::host::layers::Happening;
use crate::host::stopwatch::{Interval, StallCause, Stopwatch};
use crate::record::Text;
use crate::units::Instant;

row! {
    StallRow: "stalls", "one row per time in which a socket stalled, with record = [\"stalls\"]";
    flow: Text, "", "the flow's name; `NAME.requests` of the socket that sends the requests of `request_response`";
    from_ns: i64, "ns", "when the stopwatch started";
    to_ns: i64, "ns", "when it was paused";
    cause: Text, "", "window, partial or memory: of those that hold, the one nearest to the wire";
}

row! {
    LayerRow: "layers", "one row per thing that happens to a packet at a layer of a host, with record = [\"layers\"]";
    t_ns: i64, "ns", "when; one clock for all hosts";
    flow: Text, "", "the flow's name; `NAME.requests` of what carries the requests of `request_response`";
    host: Text, "", "the host's name";
    layer: Text, "", "application, socket, tcp, driver or wire";
    event: Text, "", "application: write, written, read; socket: copied, sleep, wake, readable; tcp: send, receive; driver: send, handed, transmitted, receive; wire: begin, end, arrive";
    packet: Option<i64>, "", "number of the packet among its flow's, acknowledgements included, from 1; null if it is about none";
    kind: Text, "", "data or ack; empty if it is about no packet";
    seq: Option<i64>, "", "number of the segment, or of an acknowledgement the next that is expected; null if there is none";
    bytes: Option<i64>, "B", "application bytes that it is about, null of a write without end; of packets in the driver and on the wire, bytes of the packet";
}

impl StallRow {
    /// Of a flow by name.
    pub(crate) fn of(flow: &str, interval: &Interval) -> Self {
        Self {
            flow: flow.into(),
            from_ns: interval.from,
            to_ns: interval.to,
            cause: interval.cause.name().into(),
        }
    }
}

impl LayerRow {
    /// Of a flow and a host by name.
    pub(crate) fn of(flow: &str, host: &str, happening: &Happening) -> Self {
        let kind = match happening.packet {
            Some((_, true)) => "data",
            Some((_, false)) => "ack",
            None => "",
        };
        Self {
            t_ns: happening.time.as_ns(),
            flow: flow.into(),
            host: host.into(),
            layer: happening.layer.name().into(),
            event: happening.event.into(),
            packet: happening.packet.map(|(id, _)| i64::from(id)),
            kind: kind.into(),
            seq: happening.seq.map(|seq| seq.get().cast_signed()),
            bytes: i64::try_from(happening.bytes.get()).ok(),
        }
    }
}

/// A socket's data-stream stall and its parts by cause, in ns; unknown where no host is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// All of it, whatever the cause.
    pub all_ns: Option<i64>,
    /// While the transmission window was full.
    pub window_ns: Option<i64>,
    /// While a packet of less than a segment was held back.
    pub partial_ns: Option<i64>,
    /// While socket memory was exhausted and the writer slept.
    pub memory_ns: Option<i64>,
}

impl Stalls {
    /// Those of a socket until `end`.
    pub(crate) fn of(watch: &Stopwatch, end: Instant) -> Self {
        let of = |cause| Some(watch.read_of(end.as_ns(), cause));
        Self {
            all_ns: Some(watch.read(end.as_ns())),
            window_ns: of(StallCause::Window),
            partial_ns: of(StallCause::Partial),
            memory_ns: of(StallCause::Memory),
        }
    }
}
