//! A connection: two directions, and what both together tell.

use std::net::SocketAddr;

use super::feedback::{AgreedFeedback, FeedbackAgreement};
use super::half::{Half, Step, Surroundings};
use super::limits::{CapturedLimits, HeldBy};
use super::rows::{CapturedEpisodeRow, CapturedFlowRow};
use super::series::Point;
use super::vantage::{SenderAnswers, Vantage};
use crate::read::Sighting;
use crate::segment::Flags;

/// A segment that a host sends has no more by default: of receivers whose SYN was not seen.
const USUAL_SEGMENT: i64 = 1460;

/// Two ends and what went between them.
#[derive(Debug)]
pub(super) struct CapturedConnection {
    pub number: u64,
    /// Where its first packet was captured.
    pub interface: usize,
    /// How many connections between these ends came before.
    pub earlier: u32,
    ends: [SocketAddr; 2],
    begin_ns: i64,
    last_ns: i64,
    /// Of each end its last packet.
    heard_ns: [Option<i64>; 2],
    /// Of each end the least time in which it echoed a timestamp.
    echo_ns: [Option<i64>; 2],
    answers: [SenderAnswers; 2],
    /// Of each end's SYN what it offered.
    offered: [SynOffer; 2],
    has_syn_ack: bool,
    feedback: FeedbackAgreement,
    pub halves: [Half; 2],
    limits: [CapturedLimits; 2],
    /// Places of the directions in the series, once they carry data.
    pub places: [Option<usize>; 2],
    progress_ns: [i64; 2],
}

/// What a SYN offers.
#[derive(Clone, Copy, Debug)]
struct SynOffer {
    /// To shift windows, and by how many bits.
    scale: ScaleOffer,
    /// Whether it permits SACK (RFC 2018 §2), or is not known not to.
    has_sack: bool,
}

/// What a SYN says of window scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScaleOffer {
    Unseen,
    Refused,
    Bits(u8),
}

impl CapturedConnection {
    /// It begins with a packet of this sender.
    pub(super) fn begun_by(first: &Sighting, number: u64, earlier: u32, interface: usize) -> Self {
        Self {
            number,
            interface,
            earlier,
            ends: [first.segment.source, first.segment.destination],
            begin_ns: first.time_ns,
            last_ns: first.time_ns,
            heard_ns: [None; 2],
            echo_ns: [None; 2],
            answers: [SenderAnswers::default(); 2],
            offered: [SynOffer {
                scale: ScaleOffer::Unseen,
                has_sack: true,
            }; 2],
            has_syn_ack: false,
            feedback: FeedbackAgreement::default(),
            halves: [Half::default(), Half::default()],
            limits: [CapturedLimits::default(), CapturedLimits::default()],
            places: [None; 2],
            progress_ns: [first.time_ns; 2],
        }
    }

    /// Which of its ends sent this.
    pub(super) fn end_of(&self, sighting: &Sighting) -> usize {
        usize::from(self.ends[0] != sighting.segment.source)
    }

    pub(super) fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// Whether this begins another connection between the same ends.
    pub(super) fn is_followed_by(&self, sighting: &Sighting) -> bool {
        let segment = &sighting.segment;
        let half = &self.halves[self.end_of(sighting)];
        segment.flags.has(Flags::SYN) && half.is_other_beginning(segment.seq)
    }

    /// A segment; what it made known of the data of its sender, and of that of the other end.
    pub(super) fn on_segment(&mut self, sighting: &Sighting) -> [Step; 2] {
        let (time, segment) = (sighting.time_ns, &sighting.segment);
        let from = self.end_of(sighting);
        let to = 1 - from;
        let held = [self.held(0), self.held(1)];
        let stretch = time - self.last_ns;
        if segment.flags.has(Flags::SYN) {
            self.on_syn(sighting, from);
        }
        if let Some((_, echo)) = segment.options.timestamps
            && segment.flags.has(Flags::ACK)
            && let Some(took) = self.halves[to].echoes.echoed(echo, time)
        {
            let took = took.max(0);
            self.echo_ns[from] = Some(self.echo_ns[from].map_or(took, |least| least.min(took)));
            // Of who waits for nothing the application decides when it answers.
            if segment.payload > 0 && !self.halves[from].is_all_acked() {
                let other = self.answer_ns(to);
                self.answers[from].add(time, took, other);
            }
        }
        if segment.payload > 0 {
            self.answers[from].passes(time);
        }
        let signal = self.feedback.on_segment(from, segment);
        let around = Surroundings {
            signal,
            unheard: time - self.heard_ns[to].unwrap_or(self.begin_ns),
            silence: stretch,
            sender_side: self.answer_ns(from).unwrap_or(0),
            has_sack: self.offered.iter().all(|offer| offer.has_sack),
        };
        let mut steps = [Step::default(), Step::default()];
        self.halves[from].on_sent(sighting, around, &mut steps[from]);
        self.halves[to].on_acknowledgement(sighting, signal, &mut steps[to]);
        for half in [0, 1] {
            let held = if half == from && steps[from].is_timeout {
                HeldBy::Rto
            } else {
                held[half]
            };
            self.limits[half].add(held, stretch);
            if steps[half].is_progress {
                self.limits[half].on_progress();
                self.progress_ns[half] = self.progress_ns[half].max(time);
            }
        }
        self.heard_ns[from] = Some(time);
        self.last_ns = self.last_ns.max(time);
        steps
    }

    fn on_syn(&mut self, sighting: &Sighting, from: usize) {
        let segment = &sighting.segment;
        self.offered[from] = SynOffer {
            scale: match segment.options.window_scale {
                Some(bits) => ScaleOffer::Bits(bits),
                None if sighting.are_options_cut => ScaleOffer::Unseen,
                None => ScaleOffer::Refused,
            },
            has_sack: segment.options.sack_permitted || sighting.are_options_cut,
        };
        self.has_syn_ack |= segment.flags.has(Flags::ACK);
        self.halves[1 - from].window.largest_segment = segment.options.maximum_segment_size;
        // Windows are shifted if both SYNs had the option; a SYN with ACK has it only if the other did (RFC 7323 §2.2).
        let refused = self
            .offered
            .iter()
            .any(|offer| offer.scale == ScaleOffer::Refused);
        let agreed = self.has_syn_ack && !refused;
        for receiver in [0, 1] {
            let scale = match self.offered[receiver].scale {
                _ if refused => Some(0),
                ScaleOffer::Bits(bits) if agreed => Some(bits),
                _ => None,
            };
            self.halves[1 - receiver].window.scale = scale;
        }
    }

    /// The least time in which an end answered.
    fn answer_ns(&self, end: usize) -> Option<i64> {
        let of_data = self.halves[1 - end].round_trips.least_ns();
        match (of_data, self.echo_ns[end]) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// What holds a direction back, in the state that it is in.
    fn held(&self, half: usize) -> HeldBy {
        let half = &self.halves[half];
        let segment = half.window.largest_segment.map_or(USUAL_SEGMENT, i64::from);
        let end = half.acked().map(|acked| acked + half.flight());
        if half.losses.is_open() {
            HeldBy::Recovery
        } else if half.is_all_acked() {
            HeldBy::Source
        } else if half
            .window
            .edge
            .zip(end)
            .is_some_and(|(edge, end)| end + segment > edge)
        {
            HeldBy::Rwnd
        } else {
            HeldBy::Other
        }
    }

    /// The state of a direction for the series.
    pub(super) fn point(&self, half: usize, time_ns: i64, step: &Step) -> Point {
        let half = &self.halves[half];
        Point {
            t_ns: time_ns,
            flight: half.flight(),
            acked: half.acked(),
            sacked: half.sacked(),
            fresh: step.fresh.clone(),
            edge: half.window.edge,
            rtt_ns: step.rtt_ns,
            srtt_ns: half.round_trips.smoothed_ns(),
            retransmits: half.counts.again.retransmits,
        }
    }

    /// Name of a direction.
    pub(super) fn name(&self, half: usize) -> String {
        let name = format!("{} > {}", self.ends[half], self.ends[1 - half]);
        match self.earlier {
            0 => name,
            earlier => format!("{name} #{}", earlier + 1),
        }
    }

    fn handshake(&self) -> &'static str {
        match self.halves.each_ref().map(|half| half.counts.syn_ns) {
            [Some(_), Some(_)] => "whole",
            [None, None] => "none",
            _ => "part",
        }
    }

    fn closed(&self) -> &'static str {
        let [one, other] = self.halves.each_ref().map(|half| &half.counts);
        match (one.fin, other.fin) {
            _ if one.is_reset || other.is_reset => "reset",
            (Some(_), Some(_)) => "fin",
            (None, None) => "open",
            _ => "half",
        }
    }

    /// How the sender of a direction answered, if it is near.
    pub(super) fn near_answers(&self, which: usize) -> Option<SenderAnswers> {
        let near = Vantage::of(self.answer_ns(which), self.answer_ns(1 - which));
        (near == Vantage::Sender).then_some(self.answers[which])
    }

    /// The round trip as both ends of it were seen to answer.
    pub(super) fn both_answers_ns(&self) -> Option<i64> {
        self.answer_ns(0)
            .zip(self.answer_ns(1))
            .map(|(one, other)| one + other)
    }

    /// The row of a direction, times since `first_ns`.
    pub(super) fn row(&self, which: usize, first_ns: i64) -> CapturedFlowRow {
        let half = &self.halves[which];
        let counts = &half.counts;
        let (sent, again, acks) = (&counts.sent, &counts.again, &counts.acknowledged);
        let answers = [self.answer_ns(which), self.answer_ns(1 - which)];
        let vantage = Vantage::of(answers[0], answers[1]).with(self.answers[which]);
        let at_sender = vantage == Vantage::Sender;
        let lifetime = self.progress_ns[which] - self.begin_ns;
        let rate = |bytes: u64| (lifetime > 0).then(|| bits_per_second(bytes, lifetime));
        let delivered = half.delivered().map(bytes);
        let is_complete = half.is_complete();
        let is_accurate = self.feedback.agreed == AgreedFeedback::Accurate;
        let trips = &half.round_trips;
        let limited = |held| at_sender.then(|| self.limits[which].spent_ns(held));
        CapturedFlowRow {
            flow: self.name(which),
            transport: "tcp".into(),
            connection: self.number,
            start_ns: self.begin_ns - first_ns,
            delivered_bytes: delivered,
            acked_bytes: delivered,
            goodput_bps: delivered.and_then(rate),
            wire_bps: rate(sent.ip_bytes),
            lifetime_ns: Some(lifetime),
            completion_ns: counts
                .acked_ns
                .filter(|_| is_complete)
                .map(|acked| acked - self.begin_ns),
            sent_packets: Some(sent.packets),
            data_packets: Some(sent.data_packets),
            sent_bytes: Some(sent.bytes),
            unique_bytes: Some(bytes(sent.unique_bytes)),
            ip_bytes: sent.ip_bytes,
            retransmits: Some(again.retransmits),
            retransmitted_bytes: Some(bytes(again.bytes)),
            retransmits_unseen: Some(again.unseen),
            retransmits_needless: Some(again.needless),
            reordered_packets: Some(again.reordered),
            duplicated_packets: Some(again.duplicated),
            probes: Some(again.probes),
            missed_bytes: half.acked().map(|_| bytes(counts.missed_bytes)),
            fast_retransmits: Some(half.losses.fast),
            timeouts: Some(half.losses.timeouts),
            tail_loss_probes: Some(half.losses.probes),
            dupacks_in: half.acked().map(|_| acks.dupacks),
            sacks_in: half
                .acked()
                .map(|_| acks.sacks)
                .filter(|_| !acks.are_options_cut),
            sack_blocks: half
                .acked()
                .map(|_| acks.blocks)
                .filter(|_| !acks.are_options_cut),
            dsacks_in: half
                .acked()
                .map(|_| acks.dsacks)
                .filter(|_| !acks.are_options_cut),
            ce_in: Some(sent.ce),
            ect_packets: Some(sent.ect),
            ecn_feedback: self.feedback.agreed.name().into(),
            ecn_signals: half.acked().map(|_| acks.ecn_signals),
            ce_reported: half
                .acked()
                .map(|_| acks.marks.packets)
                .filter(|_| is_accurate),
            ce_reported_bytes: acks.marks.bytes.filter(|_| !acks.are_options_cut),
            cwr_packets: Some(sent.cwr).filter(|_| !is_accurate),
            zero_windows: half.acked().map(|_| acks.zero_windows),
            rtt_samples: at_sender.then(|| trips.times.count()),
            min_rtt_ns: if at_sender {
                trips.least_ns()
            } else {
                self.both_answers_ns()
            },
            max_rtt_ns: trips.most_ns().filter(|_| at_sender),
            srtt_mean_ns: trips.smoothed_mean_ns().filter(|_| at_sender),
            srtt_ns: trips.smoothed_ns().filter(|_| at_sender),
            receiver_rtt_samples: Some(trips.times.count()),
            receiver_rtt_min_ns: trips.least_ns(),
            receiver_rtt_mean_ns: trips.mean_ns(),
            receiver_rtt_p50_ns: trips.quantile_ns(0.5),
            receiver_rtt_p95_ns: trips.quantile_ns(0.95),
            receiver_rtt_p99_ns: trips.quantile_ns(0.99),
            receiver_rtt_max_ns: trips.most_ns(),
            timestamp_rtt_samples: Some(half.timestamp_round_trips.times.count()),
            timestamp_rtt_min_ns: half.timestamp_round_trips.least_ns(),
            timestamp_rtt_mean_ns: half.timestamp_round_trips.mean_ns(),
            sender_rtt_min_ns: answers[0],
            vantage: vantage.name().into(),
            handshake: self.handshake().into(),
            window_scale: half.window.scale.map(u64::from),
            mss_bytes: half.window.largest_segment.map(u64::from),
            max_flight_bytes: half.acked().map(|_| bytes(counts.max_flight)),
            limited_rwnd_ns: limited(HeldBy::Rwnd).filter(|_| half.window.scale.is_some()),
            limited_source_ns: limited(HeldBy::Source),
            limited_recovery_ns: limited(HeldBy::Recovery),
            limited_rto_ns: limited(HeldBy::Rto),
            limited_other_ns: limited(HeldBy::Other),
            closed: self.closed().into(),
        }
    }

    /// The loss episodes of a direction, which are over now.
    pub(super) fn episode_rows(&mut self, which: usize, first_ns: i64) -> Vec<CapturedEpisodeRow> {
        let name = self.name(which);
        let losses = &mut self.halves[which].losses;
        losses.finish();
        let rows = losses.episodes.iter().map(|episode| CapturedEpisodeRow {
            flow: name.clone(),
            start_ns: episode.start_ns - first_ns,
            end_ns: episode.end_ns.map(|end| end - first_ns),
            cause: episode.cause.name().into(),
            retransmits: episode.retransmits,
            timeouts: episode.timeouts,
            flight_bytes: bytes(episode.beginning.flight),
            dupacks: episode.beginning.dupacks,
            silence_ns: episode.beginning.silence_ns,
        });
        rows.collect()
    }
}

fn bytes(number: i64) -> u64 {
    number.max(0).cast_unsigned()
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub(super) fn bits_per_second(bytes: u64, time_ns: i64) -> f64 {
    bytes as f64 * 8e9 / time_ns as f64
}
