//! Of each flow: what it carried, what it met, and what held it back.
//!
//! Most is TCP's and unknown of flows of UDP; and a real kernel reports only a part of it.

use super::Stalls;
use crate::net::UdpFlow;
use crate::record::Text;
use crate::spec::{FlowSpec, Scenario, UdpSpec};
use crate::tcp::limits::SendLimit;
use crate::tcp::receiver::{InOrderDelivery, Receiver};
use crate::tcp::sender::Sender;
use crate::units::{Duration, Instant, mean_rate_bps};

row! {
    FlowRow: "flows", "one row per flow";
    flow: Text, "", "the flow's name";
    cc: Text, "", "congestion control that was active";
    recovery: Text, "", "loss recovery that was active";
    start_ns: i64, "ns", "when the application opened the connection";
    acked_packets: Option<u64>, "packet", "highest cumulatively acknowledged data packet, counted from 1";
    acked_bytes: Option<u64>, "B", "application bytes cumulatively acknowledged to the sender";
    delivered_bytes: u64, "B", "application bytes delivered in order to the receiving application";
    throughput_bps: Option<f64>, "bit/s", "acked_packets x smss x 8 / (duration - start): whole segments, acknowledged to the sender; what was delivered and is not yet acknowledged at the end is in goodput_bps alone";
    goodput_bps: f64, "bit/s", "delivered_bytes x 8 / (duration - start): bytes of the application, to the end of the run also where a transfer completed before";
    sent_packets: Option<u64>, "packet", "segments sent, retransmissions and SYN included";
    retransmits: Option<u64>, "packet", "segments sent again (SegsRetrans)";
    fast_retransmits: Option<u64>, "", "losses signalled by acknowledgements (FastRetran)";
    timeouts: Option<u64>, "", "expirations of the retransmission timer (Timeouts)";
    dupacks_in: Option<u64>, "", "duplicate acknowledgements received (DupAcksIn)";
    sacks_in: Option<u64>, "", "acknowledgements with SACK blocks received";
    dsacks_in: Option<u64>, "", "acknowledgements of segments received twice (DSACKDups), with SACK only";
    congestion_signals: Option<u64>, "", "reductions of the window, of any cause (CongSignals)";
    ce_in: Option<u64>, "packet", "data packets that the receiver got marked Congestion Experienced (CERcvd)";
    ecn_signals: Option<u64>, "", "acknowledgements that told the sender of marks (ECNsignals)";
    ecn_reductions: Option<u64>, "", "reductions of the window for marks, where the sender rather than the algorithm makes them; part of congestion_signals";
    cwnd_mean_bytes: Option<f64>, "B", "congestion window, mean over the flow's time";
    srtt_mean_ns: Option<i64>, "ns", "smoothed round-trip time, mean over samples; null without any";
    min_rtt_ns: Option<i64>, "ns", "smallest round-trip sample; null without any";
    completion_ns: Option<i64>, "ns", "start to last byte delivered, of a fixed-size transfer; null if not completed";
    stall_ns: Option<i64>, "ns", "data stream stall; null: not measured without a host model";
    limited_cwnd_ns: Option<i64>, "ns", "time in which the congestion window held the sender back, the handshake included";
    limited_rwnd_ns: Option<i64>, "ns", "time in which the receiver's window held the sender back";
    limited_source_ns: Option<i64>, "ns", "time in which the application had nothing to send";
    limited_send_buffer_ns: Option<i64>, "ns", "time in which the application had more to send and no room for it in the send buffer";
    limited_pacing_ns: Option<i64>, "ns", "time in which the window had room and pacing held the sender back";
    limited_recovery_ns: Option<i64>, "ns", "time between a loss and its recovery point, the repair after a timeout included";
    limited_rto_ns: Option<i64>, "ns", "time in which nothing came until the retransmission timer expired";
    limited_nagle_ns: Option<i64>, "ns", "time in which less than a segment was kept back for more";
    lifetime_ns: Option<i64>, "ns", "start to the acknowledgement of everything, or to the end of the run; the sum of the limited_*_ns";
    subsequent_timeouts: Option<u64>, "", "of the timeouts, those of a timer that had been backed off";
    tail_loss_probes: Option<u64>, "", "probes sent because nothing came (RFC 8985 section 7)";
    spurious: Option<u64>, "", "of the congestion signals, those that turned out to be needless and were undone";
    spurious_timeouts: Option<u64>, "", "of those, timeouts";
    max_cwnd_bytes: Option<f64>, "B", "largest congestion window";
    srtt_ns: Option<i64>, "ns", "smoothed round-trip time at the end; null without a sample";
    max_rtt_ns: Option<i64>, "ns", "largest round-trip sample; null without any";
    rtt_samples: Option<u64>, "", "round-trip times measured";
    stall_window_ns: Option<i64>, "ns", "the part of stall_ns in which packets queued behind a full window; null without a host model, as the next two";
    stall_partial_ns: Option<i64>, "ns", "the part in which less than a segment was held back";
    stall_memory_ns: Option<i64>, "ns", "the part in which the writer slept for lack of socket memory";
}

/// A connection of a run that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpFlow<'a> {
    pub spec: &'a FlowSpec,
    pub sender: &'a Sender,
    pub receiver: &'a Receiver,
    /// What the application has read, if it is on a host; otherwise it has what its TCP has.
    pub read: Option<InOrderDelivery>,
    pub stalls: Stalls,
    /// Of the run.
    pub end: Instant,
}

impl FlowRow {
    /// Of a connection.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) fn of_tcp(flow: &TcpFlow) -> Self {
        let TcpFlow {
            spec,
            sender,
            receiver,
            read,
            stalls,
            end,
        } = *flow;
        let (counters, limits, config) = (sender.counters(), sender.limits(), sender.config());
        let smss = config.smss.as_f64();
        let delivered = read.unwrap_or(receiver.delivered);
        // No transfer is complete that the application has not read to its end.
        let done = sender.is_done() && delivered.bytes == sender.acked();
        let lifetime = (end - spec.start).secs();
        let acked = sender.acked_segments();
        let round_trips = sender.round_trips();
        let sampled = |time: Duration| (round_trips.samples > 0).then(|| time.as_ns());
        let limited = |limit| Some(limits.spent_ns(limit));
        Self {
            flow: spec.name.as_str().into(),
            cc: spec.cc.name.into(),
            recovery: config.recovery.word().into(),
            start_ns: spec.start.as_ns(),
            acked_packets: Some(acked.get()),
            acked_bytes: Some(sender.acked().get()),
            delivered_bytes: delivered.bytes.get(),
            throughput_bps: Some(mean_rate_bps((acked * config.smss).get(), lifetime)),
            goodput_bps: mean_rate_bps(delivered.bytes.get(), lifetime),
            sent_packets: Some(counters.sent_packets),
            retransmits: Some(counters.retransmits),
            fast_retransmits: Some(counters.fast_retransmits),
            timeouts: Some(counters.timeouts),
            dupacks_in: Some(counters.dupacks_in),
            sacks_in: Some(counters.sacks_in),
            dsacks_in: Some(counters.dsacks_in),
            congestion_signals: Some(counters.congestion_signals),
            ce_in: Some(receiver.marks.ce_in.get()),
            ecn_signals: Some(counters.ecn_signals),
            ecn_reductions: Some(counters.ecn_reductions),
            cwnd_mean_bytes: (lifetime > 0.0)
                .then(|| sender.mean_cwnd(Duration::from_secs(lifetime)).segments() * smss),
            srtt_mean_ns: sampled(round_trips.srtt_sum / round_trips.samples as f64),
            min_rtt_ns: sampled(round_trips.min),
            completion_ns: done.then(|| (delivered.last - spec.start).as_ns()),
            stall_ns: stalls.all_ns,
            limited_cwnd_ns: limited(SendLimit::Cwnd),
            limited_rwnd_ns: limited(SendLimit::Rwnd),
            limited_source_ns: limited(SendLimit::Source),
            limited_send_buffer_ns: limited(SendLimit::SendBuffer),
            limited_pacing_ns: limited(SendLimit::Pacing),
            limited_recovery_ns: limited(SendLimit::Recovery),
            limited_rto_ns: limited(SendLimit::Rto),
            limited_nagle_ns: limited(SendLimit::Nagle),
            lifetime_ns: Some(limits.lifetime_ns()),
            subsequent_timeouts: Some(counters.subsequent_timeouts),
            tail_loss_probes: Some(counters.probes),
            spurious: Some(counters.spurious),
            spurious_timeouts: Some(counters.spurious_timeouts),
            max_cwnd_bytes: Some(sender.max_cwnd().segments() * smss),
            srtt_ns: sender.srtt().map(Duration::as_ns),
            max_rtt_ns: sampled(round_trips.max),
            rtt_samples: Some(round_trips.samples),
            stall_window_ns: stalls.window_ns,
            stall_partial_ns: stalls.partial_ns,
            stall_memory_ns: stalls.memory_ns,
        }
    }

    /// Of a flow of UDP in a run until `end`: what is TCP's is not there.
    fn of_udp(spec: &UdpSpec, flow: &UdpFlow, end: Instant) -> Self {
        let lifetime = (end - spec.start).max(Duration::ZERO);
        let payload = flow.received.payload().get();
        Self {
            flow: spec.name.as_str().into(),
            start_ns: spec.start.as_ns(),
            sent_packets: Some(flow.sent_packets()),
            delivered_bytes: payload,
            goodput_bps: mean_rate_bps(payload, lifetime.secs()),
            ..Self::default()
        }
    }
}

/// Of a scenario's flows of UDP, which are given in their order.
pub fn udp_flow_rows<'a>(
    scenario: &'a Scenario,
    flows: impl IntoIterator<Item = &'a UdpFlow>,
) -> impl Iterator<Item = FlowRow> {
    let end = Instant::START + scenario.duration;
    let specs = scenario.udp.iter().zip(flows);
    specs.map(move |(spec, flow)| FlowRow::of_udp(spec, flow, end))
}
