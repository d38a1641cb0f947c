//! For tests of algorithms that need delivery rates: a path with one bottleneck and one flow, whose acknowledgements bring rate samples.

use std::collections::VecDeque;

use super::model::real;
use crate::cc::testing::{self, *};
use crate::cc::{AckedData, CongestionControl, RateSample};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Segments per second, and seconds there and back without a queue.
    pub rate: f64,
    pub rtt: f64,
    /// Segments that the queue holds, and from which on it marks.
    pub buffer: f64,
    pub mark_above: f64,
    /// Bytes in a segment, to turn rates of pacing into segments.
    pub smss: u32,
}

impl Path {
    pub(crate) const fn new(rate: f64, rtt: f64, buffer: f64) -> Self {
        Self {
            rate,
            rtt,
            buffer,
            mark_above: f64::INFINITY,
            smss: 1460,
        }
    }
}

/// What came of a run, in segments, or of its time since `watch_from`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub delivered: u64,
    pub lost: u64,
    pub marked: u64,
    /// Segments per second delivered.
    pub goodput: f64,
    /// Mean of what each segment found queued.
    pub queue: f64,
    pub smallest_cwnd: f64,
}

#[derive(Clone, Copy)]
struct Flying {
    seq: u64,
    sent_at: f64,
    acked_at: f64,
    lost: bool,
    marked: bool,
    /// When it was sent: the segments delivered, when the last was, when the first of its flight was sent, the losses, the pipe.
    delivered: u64,
    delivered_at: f64,
    first_sent_at: f64,
    total_lost: u64,
    pipe: u64,
}

/// Sends for `secs` seconds, as long as the window and the pacing allow; lost segments are not sent again.
#[expect(clippy::too_many_lines, reason = "one event after the other")]
pub(crate) fn run(
    cc: &mut dyn CongestionControl,
    path: Path,
    secs: f64,
    watch_from: f64,
) -> Outcome {
    let mut flying: VecDeque<Flying> = VecDeque::new();
    let (mut next_send, mut free_at) = (0.0_f64, 0.0_f64);
    let (mut seq, mut delivered, mut lost, mut pipe) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut delivered_at, mut first_sent_at) = (0.0, 0.0);
    let mut recovers_at: Option<u64> = None;
    let mut outcome = Outcome {
        smallest_cwnd: f64::INFINITY,
        ..Outcome::default()
    };
    let (mut backlog, mut sends) = (0.0, 0_u64);
    let mut now = 0.0_f64;
    while now < secs {
        let ack_at = flying
            .iter()
            .find(|segment| !segment.lost)
            .map_or(f64::INFINITY, |segment| segment.acked_at);
        let send_at = if real(pipe) < cc.cwnd().floor() {
            next_send.max(now)
        } else {
            f64::INFINITY
        };
        assert!(ack_at.min(send_at).is_finite(), "stalled at {now}");
        now = ack_at.min(send_at);
        if send_at < ack_at {
            if pipe == 0 {
                (first_sent_at, delivered_at) = (now, now);
            }
            let queued = ((free_at - now) * path.rate).max(0.0);
            let dropped = queued >= path.buffer;
            if !dropped {
                free_at = free_at.max(now) + 1.0 / path.rate;
            }
            pipe += 1;
            flying.push_back(Flying {
                seq,
                sent_at: now,
                acked_at: free_at + path.rtt,
                lost: dropped,
                marked: queued > path.mark_above,
                delivered,
                delivered_at,
                first_sent_at,
                total_lost: lost,
                pipe,
            });
            seq += 1;
            if now >= watch_from {
                backlog += queued;
                sends += 1;
            }
            if let Some(rate) = cc.pacing_rate() {
                next_send = now + f64::from(path.smss) * 8.0 / rate.bps();
            }
            continue;
        }
        // An acknowledgement: what was sent before it and has not arrived is lost.
        let mut newly_lost = 0;
        while flying.front().is_some_and(|segment| segment.lost) {
            flying.pop_front();
            newly_lost += 1;
        }
        let flight_size = pipe;
        let segment = flying.pop_front().expect("it was found above");
        pipe -= 1 + newly_lost;
        lost += newly_lost;
        delivered += 1;
        let interval = (segment.sent_at - segment.first_sent_at).max(now - segment.delivered_at);
        (delivered_at, first_sent_at) = (now, segment.sent_at);
        let at = Instant::from_secs(now);
        if newly_lost > 0 && recovers_at.is_none() {
            recovers_at = Some(seq);
            cc.on_loss(&loss_at(now, cc.cwnd()));
        }
        let recovered = recovers_at.is_some_and(|until| segment.seq + 1 >= until);
        if recovered {
            recovers_at = None;
            cc.on_recovered(at, Signal::Loss);
        }
        cc.on_ack(&AckedData {
            lost: segs(newly_lost),
            marked: segs(segment.marked.into()),
            pipe: segs(pipe),
            snd_una: SeqNum::new(segment.seq + 1),
            snd_nxt: SeqNum::new(seq),
            rtt: Some(Duration::from_secs(now - segment.sent_at)),
            may_grow: recovers_at.is_none(),
            rate: Some(RateSample {
                delivered: segs(delivered - segment.delivered),
                interval: Duration::from_secs(interval),
                prior_delivered: segs(segment.delivered),
                total_delivered: segs(delivered),
                lost: segs(lost - segment.total_lost),
                total_lost: segs(lost),
                pipe_at_send: segs(segment.pipe),
                app_limited: false,
            }),
            ..testing::ack_at(now, 1, flight_size)
        });
        if now >= watch_from {
            outcome.delivered += 1;
            outcome.lost += newly_lost;
            outcome.marked += u64::from(segment.marked);
            outcome.smallest_cwnd = outcome.smallest_cwnd.min(cc.cwnd());
        }
    }
    outcome.goodput = real(outcome.delivered) / (secs - watch_from);
    outcome.queue = backlog / real(sends.max(1));
    outcome
}
