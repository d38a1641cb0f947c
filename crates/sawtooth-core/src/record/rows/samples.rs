//! Of samples: the state of flows, queues and algorithms over time.

use crate::net::Port;
use crate::record::Text;
use crate::tcp::sender::Sender;
use crate::units::{ByteCount, Duration, Instant, Rate, WindowSize};

row! {
    SeriesRow: "series", "one row per flow and sample, when the scenario samples; the state just before t, or just after an acknowledgement with sample = \"ack\"";
    t_ns: i64, "ns", "time of the sample";
    flow: Text, "", "the flow's name";
    cwnd_bytes: Option<f64>, "B", "congestion window";
    ssthresh_bytes: Option<f64>, "B", "slow-start threshold; infinite while arbitrarily high";
    srtt_ns: Option<i64>, "ns", "smoothed round-trip time; null before a sample";
    flight_bytes: Option<u64>, "B", "FlightSize: sent and not cumulatively acknowledged";
    acked_bytes: Option<u64>, "B", "cumulatively acknowledged so far";
    delivered_bytes: u64, "B", "delivered in order so far";
    pipe_bytes: Option<u64>, "B", "considered in the path: what the recovery in force compares with the window (RFC 6675's pipe)";
    pacing_rate_bps: Option<f64>, "bit/s", "how fast segments are let out; infinite where they are not paced";
    sender_delivered_bytes: Option<u64>, "B", "known to the sender to have arrived, cumulatively or selectively, so far";
}

row! {
    QueueRow: "queues", "one row per link direction and sample, when the scenario samples; the state just before t";
    t_ns: i64, "ns", "time of the sample";
    link: Text, "", "the link's name";
    direction: Text, "", "forward or reverse";
    backlog_packets: u64, "packet", "packets present, the one in transmission included";
    dropped_packets: u64, "packet", "dropped so far";
    peak_packets: u64, "packet", "largest backlog since the sample before; beside a fluid the larger of the two samples";
}

row! {
    VariableRow: "variables", "one row per flow, sample and variable of its congestion control, by the name in its paper, with record = [\"variables\"]; taken with the rows of series";
    t_ns: i64, "ns", "time of the sample";
    flow: Text, "", "the flow's name";
    variable: Text, "", "the algorithm's name for it";
    value: f64, "", "in the algorithm's unit: windows in segments, times in seconds, rates in segments per second";
}

impl SeriesRow {
    /// What is known at a sender: without the flow's name and what its receiver has by then, which [`Self::completed`] adds.
    pub(crate) fn at_sender(sender: &Sender, time: Instant) -> Self {
        let smss = sender.config().smss;
        let bytes = |window: WindowSize| window.segments() * smss.as_f64();
        Self {
            t_ns: time.as_ns(),
            flow: Text::default(),
            cwnd_bytes: Some(bytes(sender.cwnd())),
            ssthresh_bytes: Some(bytes(sender.ssthresh())),
            srtt_ns: sender.srtt().map(Duration::as_ns),
            flight_bytes: Some((sender.flight_size() * smss).get()),
            acked_bytes: Some(sender.acked().get()),
            delivered_bytes: 0,
            pipe_bytes: Some((sender.pipe() * smss).get()),
            pacing_rate_bps: Some(sender.pacing_rate().map_or(f64::INFINITY, Rate::bps)),
            sender_delivered_bytes: Some(sender.delivered().get()),
        }
    }

    /// Of a flow of UDP, which has only a receiver: windows and acknowledgements are TCP's.
    pub(crate) fn of_udp(time: Instant) -> Self {
        Self {
            t_ns: time.as_ns(),
            ..Self::default()
        }
    }

    /// The whole row.
    pub(crate) fn completed(self, flow: &Text, delivered: ByteCount) -> Self {
        Self {
            flow: flow.clone(),
            delivered_bytes: delivered.get(),
            ..self
        }
    }
}

impl QueueRow {
    /// What is known at a port: without its name, which [`Self::completed`] adds.
    pub(crate) fn at_port(port: &mut Port, time: Instant) -> Self {
        Self {
            t_ns: time.as_ns(),
            link: Text::default(),
            direction: Text::default(),
            backlog_packets: port.backlog_at(time),
            dropped_packets: port.counters.dropped_packets,
            peak_packets: port.peak_since_sample(time),
        }
    }

    /// The whole row, of a port, by its link and direction.
    pub(crate) fn completed(self, [link, direction]: &[Text; 2]) -> Self {
        Self {
            link: link.clone(),
            direction: direction.clone(),
            ..self
        }
    }
}

impl VariableRow {
    /// Of a flow by name.
    pub(crate) fn of(flow: &Text, time: Instant, variable: &str, value: f64) -> Self {
        Self {
            t_ns: time.as_ns(),
            flow: flow.clone(),
            variable: variable.into(),
            value,
        }
    }
}
