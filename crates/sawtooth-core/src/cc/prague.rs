//! Prague: DCTCP for the Internet, of which many small marks by an L4S queue ask for many small reductions.
//!
//! Specification: draft-briscoe-iccrg-prague-congestion-control §2 (its authors' text of November 2021, before -01); RFC 9331 §4.3.
//!
//! Model, in segments and seconds:
//! - `alpha += gain * (frac - alpha)` once per virtual round trip, with `frac` the share of its segments that were marked
//! - a mark: `ssthresh = cwnd = (1 - alpha / 2) * cwnd`, at most once per virtual round trip
//! - slow start: `cwnd += 1` for everything that counts, until the first mark or loss
//! - congestion avoidance: `cwnd += (counted - marked) * ai_per_rtt / cwnd`, also in the round trip after a reduction
//! - virtual round trip (that text's RTT_ref): `RTT_virt = max(srtt, rtt_virt_min)` and `ai_per_rtt = (srtt / RTT_virt)²`, after
//!   `rtt_scaling_rounds` round trips; before, `RTT_virt = srtt` and `ai_per_rtt = 1`
//! - loss: `ssthresh = cwnd = window * beta`; if marks have already reduced the window in this round trip, of what it was before that
//! - `pacing_rate = max(cwnd, inflight) / srtt`, twice that while `cwnd < ssthresh / 2`
//! - timeout: `ssthresh = window * beta`, `cwnd = 1`
//!
//! Deviations: the bursts that the draft allows are the stack's. A mark echoed once per window (RFC 3168) counts as a loss: the
//! fallback for queues that are not L4S's. Whole windows are the model's, rounded down: the draft asks for a fraction to be kept.
//!
//! Kernel equivalent: none in Linux; `prague` of L4STeam's branch.

use super::params::{BETA, SHARE, TIME_FROM_ZERO, parameters};
use super::smoothed::smooth;
use super::{
    AckedData, Algorithm, CongestionControl, CongestionWindow, ConnectionStart, EcnMode, Episode,
    Needs, Prescribed, Signal, VariableProbe, Windows,
};
use crate::registry::{Entry, Kind, Value};
use crate::units::{Rate, SegCount, SeqNum, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "prague",
    summary: "Prague: reductions in proportion to the share of marks of an L4S queue",
    specification: &[
        "draft-briscoe-iccrg-prague-congestion-control §2",
        "RFC 9331 §4.3",
    ],
    params: PragueParameters::PARAMS,
    new: Algorithm {
        needs: Needs {
            ecn: EcnMode::L4s,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| {
            Box::new(Prague::new(PragueParameters::from(params), start))
        })
    },
};

parameters! {
    struct PragueParameters {
        gain: f64 = Kind::Number { min: 1e-6, max: 1.0 } => Value::Number(1.0 / 16.0), "weight of a round trip in the moving average of the share of marks";
        initial_alpha: f64 = SHARE => Value::Number(1.0), "that average before the first mark";
        beta: f64 = BETA;
        rtt_virt_min: f64 = TIME_FROM_ZERO => Value::Duration(0.025), "shorter round-trip times behave like this one";
        rtt_scaling_rounds: u64 = Kind::Integer { min: 0, max: 1_000_000_000 } => Value::Integer(500), "from this many round trips on";
    }
}

/// A round trip: over when all that was outstanding when it began has been acknowledged, and its time, if it has one, has passed.
#[derive(Clone, Copy, Debug, Default)]
struct PragueRound {
    seq: SeqNum,
    earliest: f64,
}

impl PragueRound {
    fn over(&self, ack: &AckedData) -> bool {
        ack.snd_una >= self.seq && ack.now.secs() >= self.earliest
    }
}

/// A reduction that has not been followed by a round trip yet: "Congestion Window Reduced".
#[derive(Clone, Copy, Debug)]
struct PragueReduction {
    until: PragueRound,
    /// The window before it.
    from: f64,
}

#[derive(Debug)]
pub(super) struct Prague {
    parameters: PragueParameters,
    start: ConnectionStart,
    alpha: f64,
    delivered: SegCount,
    marked: SegCount,
    virtual_round: PragueRound,
    real_round: PragueRound,
    rounds: u64,
    reduced: Option<PragueReduction>,
    srtt: Option<f64>,
    /// Segments in the path after the last acknowledgement.
    pipe: SegCount,
    window: CongestionWindow,
}

impl Prague {
    fn new(parameters: PragueParameters, start: ConnectionStart) -> Self {
        Self {
            parameters,
            start,
            alpha: parameters.initial_alpha,
            delivered: SegCount::ZERO,
            marked: SegCount::ZERO,
            virtual_round: PragueRound::default(),
            real_round: PragueRound::default(),
            rounds: 0,
            reduced: None,
            srtt: None,
            pipe: SegCount::ZERO,
            window: CongestionWindow::new(start),
        }
    }

    /// The virtual round-trip time, if it is longer than the real one.
    fn rtt_virt(&self) -> Option<f64> {
        let scaled = self.rounds >= self.parameters.rtt_scaling_rounds
            && self.srtt? < self.parameters.rtt_virt_min;
        scaled.then_some(self.parameters.rtt_virt_min)
    }

    /// Segments by which the window grows in a round trip: those of a flow of the virtual round-trip time, whose rate grows by
    /// 1 / RTT_virt² per second.
    fn ai_per_rtt(&self) -> f64 {
        match (self.srtt, self.rtt_virt()) {
            (Some(srtt), Some(rtt_virt)) => {
                let ratio = srtt / rtt_virt;
                ratio * ratio
            }
            _ => 1.0,
        }
    }

    fn round_from(&self, ack: &AckedData) -> PragueRound {
        PragueRound {
            seq: ack.snd_nxt,
            earliest: self
                .rtt_virt()
                .map_or(f64::NEG_INFINITY, |rtt| ack.now.secs() + rtt),
        }
    }

    fn count_rounds(&mut self, ack: &AckedData) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if self.real_round.over(ack) {
            self.rounds += 1;
            self.real_round = PragueRound {
                seq: ack.snd_nxt,
                earliest: f64::NEG_INFINITY,
            };
        }
        if self.virtual_round.over(ack) && !self.delivered.is_zero() {
            let share = self.marked.as_f64() / self.delivered.as_f64();
            self.alpha += self.parameters.gain * (share.min(1.0) - self.alpha);
            (self.delivered, self.marked) = (SegCount::ZERO, SegCount::ZERO);
            self.virtual_round = self.round_from(ack);
        }
        if self.reduced.is_some_and(|reduced| reduced.until.over(ack)) {
            self.reduced = None;
        }
    }

    fn respond_to_marks(&mut self, ack: &AckedData) {
        if ack.marked.is_zero() || self.reduced.is_some() {
            return;
        }
        self.reduced = Some(PragueReduction {
            until: self.round_from(ack),
            from: self.window.cwnd,
        });
        let window = &mut self.window;
        window.ssthresh = ((1.0 - self.alpha / 2.0) * window.cwnd).max(2.0);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, ack: &AckedData) {
        if let Some(rtt) = ack.rtt {
            smooth(&mut self.srtt, rtt);
        }
        self.pipe = ack.pipe;
        self.respond_to_marks(ack);
        self.count_rounds(ack);
        if !ack.may_grow || !ack.cwnd_limited {
            return;
        }
        let counted = ack.counted.saturating_sub(ack.marked);
        let counted = self.window.start_slowly(counted);
        self.window.cwnd += counted.as_f64() * self.ai_per_rtt() / self.window.cwnd;
    }

    fn on_congestion(&mut self, episode: &Episode) {
        let timeout = episode.signal == Signal::Rto;
        // Marks that have reduced the window in this round trip are of the same congestion as a loss.
        let before = match self.reduced.take() {
            Some(reduced) if !timeout => {
                WindowSize::from_segments(reduced.from).max(episode.window)
            }
            _ => episode.window,
        };
        let left = (before * self.parameters.beta).min(episode.window);
        self.window.ssthresh = episode.threshold(left).segments();
        self.window.cwnd = if timeout { 1.0 } else { self.window.ssthresh };
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        self.window.prescribe(prescribed);
    }

    fn windows(&self) -> Windows {
        Windows {
            cwnd: WindowSize::from_segments(self.window.whole(self.window.cwnd)),
            ..self.window.windows()
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let gain = if self.window.cwnd < self.window.ssthresh / 2.0 {
            2.0
        } else {
            1.0
        };
        let segments = gain * self.window.cwnd.max(self.pipe.as_f64()) / self.srtt?;
        Some(Rate::from_bps(segments * self.start.smss.as_f64() * 8.0))
    }

    fn probe(&self, out: &mut VariableProbe<'_>) {
        out("alpha", self.alpha);
        out("ai_per_rtt", self.ai_per_rtt());
        out("rtt_virt", self.rtt_virt().or(self.srtt).unwrap_or(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::bbr::path::{Path, run};
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Params;

    fn prague(start: ConnectionStart) -> Prague {
        Prague::new(
            PragueParameters::from(&Params::defaults(ENTRY.params)),
            start,
        )
    }

    /// In congestion avoidance.
    fn avoiding(window: f64, alpha: f64) -> Prague {
        let mut prague = prague(ConnectionStart {
            ssthresh: WindowSize::from_segments(2.0),
            ..beginning(window)
        });
        prague.alpha = alpha;
        prague
    }

    /// Of ten segments, some of them marked, with a window outstanding.
    fn ack(secs: f64, una: u64, marked: u64) -> AckedData {
        AckedData {
            marked: SegCount::new(marked),
            snd_una: SeqNum::new(una),
            snd_nxt: SeqNum::new(una + 100),
            ..ack_at(secs, 10, 100)
        }
    }

    fn loss(window: f64) -> Episode {
        loss_at(1.0, window)
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs()
    }

    #[test]
    fn marks_reduce_by_half_of_alpha_once_per_round_trip_and_what_is_not_marked_adds() {
        let mut prague = avoiding(100.0, 0.2);
        // The first window ends with the first acknowledgement, the next one at 110.
        prague.on_ack(&ack(1.0, 10, 0));
        // alpha = 0.2 * 15 / 16 = 0.1875; ten add 10 / 100.
        assert!(close(prague.alpha, 0.1875) && close(prague.window.cwnd, 100.1));
        // To 100.1 * (1 - 0.09375), and seven add to that.
        prague.on_ack(&ack(1.01, 20, 3));
        let reduced = 100.1 * 0.90625;
        assert!(close(prague.window.ssthresh, reduced));
        assert!(close(prague.window.cwnd, reduced + 7.0 / reduced));
        // No second reduction before 120 is acknowledged.
        let window = prague.window.cwnd;
        prague.on_ack(&ack(1.02, 30, 10));
        assert!(close(prague.window.cwnd, window));
        // The window ended at 110: 13 of 30 were marked.
        prague.on_ack(&ack(1.10, 110, 0));
        assert!(close(prague.alpha, 0.1875 + (13.0 / 30.0 - 0.1875) / 16.0));
        prague.on_ack(&ack(1.12, 119, 10));
        assert!(prague.reduced.is_some());
        let window = prague.window.cwnd;
        prague.on_ack(&ack(1.13, 120, 0));
        prague.on_ack(&ack(1.14, 121, 10));
        assert!(prague.window.cwnd < window);
    }

    #[test]
    fn the_first_mark_ends_slow_start() {
        let mut prague = prague(beginning(10.0));
        prague.on_ack(&ack(1.0, 10, 0));
        assert!(close(prague.window.cwnd, 20.0));
        // One window without a mark has made 15 / 16 of alpha, so 17 / 32 of 20 segments are left; nine more in congestion avoidance.
        prague.on_ack(&ack(1.1, 110, 1));
        assert!(close(prague.window.ssthresh, 10.625));
        assert!(close(prague.window.cwnd, 10.625 + 9.0 / 10.625));
    }

    #[test]
    fn short_round_trips_grow_like_those_of_25_ms_after_500_of_them() {
        let mut prague = avoiding(100.0, 0.2);
        prague.srtt = Some(0.005);
        prague.rounds = 499;
        assert!(close(prague.ai_per_rtt(), 1.0));
        prague.rounds = 500;
        // (5 / 25)² = 0.04: in 25 ms, five round trips, 0.2 segments, of which 5 ms carry a fifth of what 25 ms do.
        assert!(close(prague.ai_per_rtt(), 0.04));
        // A reduction lasts 25 ms, though a round trip is over earlier.
        prague.on_ack(&ack(1.0, 10, 1));
        prague.on_ack(&ack(1.02, 200, 0));
        assert!(prague.reduced.is_some());
        prague.on_ack(&ack(1.026, 300, 0));
        assert!(prague.reduced.is_none());
        prague.srtt = Some(0.05);
        assert!(close(prague.ai_per_rtt(), 1.0));
    }

    #[test]
    fn a_loss_halves_the_window_and_with_marks_in_the_same_round_trip_no_more_than_that() {
        let mut prague = avoiding(100.0, 0.2);
        prague.on_loss(&loss(100.0));
        assert!(close(prague.window.cwnd, 50.0));
        prague.window.cwnd = 100.0;
        prague.on_ack(&AckedData {
            may_grow: false,
            ..ack(1.0, 10, 10)
        });
        assert!(close(prague.window.cwnd, 90.0));
        prague.on_loss(&loss(90.0));
        assert!(close(prague.window.cwnd, 50.0), "half of 100, not of 90");
    }

    #[test]
    fn it_paces_a_window_per_round_trip_and_twice_that_at_first() {
        let mut prague = prague(ConnectionStart {
            ssthresh: WindowSize::from_segments(100.0),
            ..beginning(49.0)
        });
        assert!(prague.pacing_rate().is_none());
        prague.srtt = Some(0.1);
        // 490 segments of 11 680 bits.
        assert!(close(
            prague.pacing_rate().expect("a time").bps(),
            2.0 * 490.0 * 11_680.0
        ));
        prague.window.cwnd = 50.0;
        assert!(close(
            prague.pacing_rate().expect("a time").bps(),
            500.0 * 11_680.0
        ));
        // What is in the path already paces, too, after a reduction.
        prague.pipe = segs(60);
        assert!(close(
            prague.pacing_rate().expect("a time").bps(),
            600.0 * 11_680.0
        ));
    }

    #[test]
    fn it_fills_a_path_whose_queue_marks_early() {
        for whole_windows in [false, true] {
            let mut prague = prague(ConnectionStart {
                whole_windows,
                ..beginning(10.0)
            });
            let path = Path {
                mark_above: 5.0,
                ..Path::new(1000.0, 0.02, 500.0)
            };
            let outcome = run(&mut prague, path, 60.0, 10.0);
            assert!(outcome.goodput > 950.0, "{outcome:?}");
            assert!(outcome.queue < 8.0, "{outcome:?}");
            assert!(outcome.marked > 0);
            assert_eq!(outcome.lost, 0);
        }
    }

    #[test]
    fn a_mark_leaves_two_segments_at_least() {
        let mut prague = avoiding(2.0, 1.0);
        prague.on_ack(&ack(1.0, 10, 10));
        assert_eq!((prague.window.cwnd, prague.window.ssthresh), (2.0, 2.0));
    }

    #[test]
    fn on_a_short_path_ten_segments_add_a_twenty_fifth_of_ten_per_window() {
        let mut prague = avoiding(100.0, 0.2);
        (prague.srtt, prague.rounds) = (Some(0.005), 500);
        prague.on_ack(&ack(1.0, 10, 0));
        assert!(close(prague.window.cwnd, 100.0 + 10.0 * 0.04 / 100.0));
    }
}
