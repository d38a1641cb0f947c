//! Veno: standard TCP that grows more slowly when segments queue, and gives up less at a loss when none do.
//!
//! Specification: Fu and Liew 2003, §II-A (distinguishing losses), §II-B (congestion control).
//!
//! Model, in segments:
//! - `N = cwnd / RTT (RTT - BaseRTT)`: the segments that are queued, as Vegas counts them; `RTT` is the latest round-trip time, `BaseRTT` the
//!   least since the last loss
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for everything that counts
//! - congestion avoidance: `cwnd += 1 / cwnd` for everything that counts if `N < beta`, otherwise `cwnd += queued_increase / cwnd`
//! - loss: `ssthresh = cwnd = window * random_factor` if `N < beta`: the loss is taken for random; otherwise `window * congestive_factor`
//! - timeout: `ssthresh = window * congestive_factor`, `cwnd = 1`
//!
//! Deviations: the paper lets every other acknowledgement count when `N >= beta`; here each counts half, which is as much. Without any
//! round-trip time since the last loss the rules are those of standard TCP.
//!
//! Kernel equivalent: `veno`, in whole segments. Measured of Linux 6.1, acknowledgement by acknowledgement (`tests/linux/packets/veno-*.json`): BaseRTT is kept over a loss, and forgotten when data leave while nothing is in the path; the first two samples
//! say nothing; `N` is compared in halves, rounded up, as it was when the window could last grow, after a timeout, too; a congested window grows in every other round trip, which lasts until as many segments as
//! it has are acknowledged, and one acknowledgement (11 segments for 10, then 27, 29 and 31 for 11, 12 and 13). Standard TCP's rules hold in disorder; of the acknowledgement that ends them the round-trip time is not
//! known, which tells of a path that is congested (7 segments leave 3, 6 leave 3); nor is it of one that gives no sample. The round-trip time is the least since the window could last grow.

use super::params::{
    BEGINS_AGAIN, BeginsAgain, COUNT, FACTOR, IN_DISORDER, InDisorder, parameters,
};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Needs, PathOrder,
    Signal, VariableProbe,
};
use crate::registry::{Entry, Kind, Value, Words, words};
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize, floor};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "veno",
    summary: "Veno: tells random losses from congestion by the number of queued segments",
    specification: &["Fu and Liew 2003 §II"],
    params: VenoParameters::PARAMS,
    new: Algorithm {
        linux: &[
            ("forget_base_rtt", Value::Bool(false)),
            ("difference", Value::Choice("halves")),
            ("queued_steps", Value::Choice("alternate")),
            ("min_samples", Value::Integer(3)),
            ("in_disorder", Value::Choice("standard")),
            ("begins_again", Value::Choice("empty_path")),
        ],
        needs: Needs {
            empty_path: true,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Veno::new(VenoParameters::from(params)))
        })
    },
};

words! {
    /// Which number of queued segments is compared.
    enum Difference {
        /// That of the latest round-trip time, when it is asked for.
        Exact = "exact",
        /// Halves of a segment, rounded up, as they were when the window could last grow.
        Halves = "halves",
    }
}

words! {
    /// How the window grows when the path is congested.
    enum QueuedSteps {
        /// By `queued_increase` in a round trip.
        Share = "share",
        /// By a segment in every other round trip, with the acknowledgement after it.
        Alternate = "alternate",
    }
}

parameters! {
    /// The algorithm's parameters.
    struct VenoParameters {
        beta: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(3.0), "from this many queued segments on the path is congested, segments";
        queued_increase: f64 = Kind::Number { min: 0.01, max: 1.0 } => Value::Number(0.5),
            "the window grows by this per round trip when the path is congested, segments";
        random_factor: f64 = FACTOR => Value::Number(0.8), "the window is multiplied by this at a loss when the path is not congested";
        congestive_factor: f64 = FACTOR => Value::Number(0.5), "the window is multiplied by this at a loss when it is";
        forget_base_rtt: bool = Kind::Bool => Value::Bool(true), "whether the least round-trip time is measured anew after every loss";
        difference: Difference = Kind::Choice(Difference::WORDS) => Value::Choice(Difference::Exact.word()),
            "which number of queued segments is compared: that of the latest round trip, or halves of a segment, rounded up, as they were when the window could last grow";
        queued_steps: QueuedSteps = Kind::Choice(QueuedSteps::WORDS) => Value::Choice(QueuedSteps::Share.word()),
            "how the window grows when the path is congested: by `queued_increase`, or by a segment in every other round trip";
        min_samples: i64 = COUNT => Value::Integer(1), "round-trip times without which the window grows as standard TCP's";
        in_disorder: InDisorder = IN_DISORDER;
        begins_again: BeginsAgain = BEGINS_AGAIN;
    }
}

/// Round-trip times, seconds.
#[derive(Clone, Copy, Debug)]
struct VenoRtts {
    base: f64,
    latest: f64,
}

/// Where rules other than the algorithm's hold for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
enum VenoOrder {
    Kept,
    /// Segments were reported to have arrived out of order with the last acknowledgement: standard TCP's rules hold.
    Disordered,
    /// A recovery has ended since the last acknowledgement.
    Recovered,
    /// Other rules held until this acknowledgement came, whose round-trip time is not known.
    Restored,
}

#[derive(Debug)]
struct Veno {
    rules: VenoParameters,
    rtts: Option<VenoRtts>,
    /// Round-trip times so far.
    samples: i64,
    /// The least round-trip time since the window could last grow, seconds.
    since_growth: f64,
    order: VenoOrder,
    /// Halves of a segment that were queued when the window could last grow.
    halves: f64,
    /// Whether the next round trip with segments queued lets the window grow, where every other does.
    grows: bool,
}

impl Veno {
    fn new(rules: VenoParameters) -> Self {
        Self {
            rules,
            rtts: None,
            samples: 0,
            since_growth: f64::INFINITY,
            order: VenoOrder::Kept,
            halves: 0.0,
            grows: true,
        }
    }

    /// The segments that are queued, the paper's `N`, if that is known.
    fn queued(&self, window: &CongestionWindow) -> Option<f64> {
        self.rtts
            .map(|rtts| window.cwnd / rtts.latest * (rtts.latest - rtts.base))
    }

    /// The same as it is compared.
    fn judged(&self, window: &CongestionWindow) -> Option<f64> {
        match self.rules.difference {
            Difference::Exact => self.queued(window),
            Difference::Halves => Some(self.halves / 2.0),
        }
    }

    /// Congestion avoidance for `counted` segments.
    fn avoid_congestion(&mut self, window: &mut CongestionWindow, counted: SegCount) {
        let judged = self.judged(window);
        if judged.is_none_or(|queued| queued < self.rules.beta) {
            window.grow(counted, 1.0);
        } else if self.rules.queued_steps == QueuedSteps::Share {
            window.grow(counted, self.rules.queued_increase);
        } else {
            let grown = window.growth.afterwards(window.cwnd, counted, 1.0);
            if grown > window.cwnd {
                if self.grows {
                    window.cwnd = grown;
                }
                self.grows = !self.grows;
            }
        }
    }
}

impl Avoidance for Veno {
    fn measure(&mut self, _window: &mut CongestionWindow, ack: &AckedData) {
        if let Some(latest) = ack.rtt.map(Duration::secs) {
            let base = self.rtts.map_or(latest, |rtts| rtts.base.min(latest));
            self.rtts = Some(VenoRtts { base, latest });
            self.samples += 1;
            self.since_growth = self.since_growth.min(latest);
        }
        let standard = self.rules.in_disorder == InDisorder::Standard;
        self.order = match self.order {
            _ if !standard => VenoOrder::Kept,
            _ if ack.order == PathOrder::Disordered => VenoOrder::Disordered,
            VenoOrder::Disordered | VenoOrder::Recovered => VenoOrder::Restored,
            VenoOrder::Kept | VenoOrder::Restored => VenoOrder::Kept,
        };
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        if self.order == VenoOrder::Disordered {
            return window.grow_as_standard(ack);
        }
        let least = std::mem::replace(&mut self.since_growth, f64::INFINITY);
        if self.samples < self.rules.min_samples {
            return window.grow_as_standard(ack);
        }
        // All of the window, as far as a round trip that is not known tells.
        let in_path = self
            .rtts
            .filter(|_| self.order != VenoOrder::Restored && least.is_finite())
            .map_or(0.0, |rtts| {
                // Both count a microsecond more, so that none takes no time: a path of 36,376 us whose round trip takes 72,753 holds the half of five segments.
                let [base, least] = [rtts.base, least].map(|secs| (secs * 1e6).round() + 1.0);
                floor(window.cwnd * 2.0 * base / least)
            });
        self.halves = (window.cwnd * 2.0 - in_path).ceil();
        let counted = window.start_slowly(ack.counted);
        if !counted.is_zero() {
            self.avoid_congestion(window, counted);
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let exact = self.rules.difference == Difference::Exact;
        let random = self
            .judged(window)
            .is_some_and(|queued| queued < self.rules.beta);
        let factor = if random && (episode.signal != Signal::Rto || !exact) {
            self.rules.random_factor
        } else {
            self.rules.congestive_factor
        };
        if self.rules.forget_base_rtt {
            self.rtts = None;
        }
        episode.window * factor
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _now: Instant, _began: Signal) {
        self.order = VenoOrder::Recovered;
        self.since_growth = f64::INFINITY;
    }

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.rtts = None;
    }

    fn on_empty_path(&mut self, _now: Instant, _since: Duration, _next: SeqNum) {
        if self.rules.begins_again == BeginsAgain::EmptyPath {
            self.rtts = None;
            self.since_growth = f64::INFINITY;
            self.grows = true;
        }
    }

    fn probe(&self, window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if let (Some(rtts), Some(queued)) = (self.rtts, self.queued(window)) {
            out("base_rtt", rtts.base);
            out("n", queued);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Params;

    /// In congestion avoidance with a window of 20 segments, after round-trip times of 100 ms and `rtt`.
    fn veno(rtt: f64) -> ClassicControl<Veno> {
        let own = Veno::new(VenoParameters::from(&params(&ENTRY, &[])));
        let mut veno = ClassicControl::new(avoiding(20.0), own);
        for rtt in [0.1, rtt] {
            veno.on_ack(&AckedData {
                may_grow: false,
                ..timed(rtt)
            });
        }
        veno
    }

    fn timed(rtt: f64) -> AckedData {
        AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            ..ack()
        }
    }

    #[test]
    fn fu2003_a_loss_without_a_queue_is_random() {
        // N = 20 / 0.115 * 0.015 = 2.6 < 3: four fifths of 20.
        let mut random = veno(0.115);
        random.on_loss(&whole_loss(20.0));
        assert_eq!((random.cwnd(), random.ssthresh()), (16.0, 16.0));
        // N = 20 / 0.12 * 0.02 = 3.3: half.
        let mut congestive = veno(0.12);
        congestive.on_loss(&whole_loss(20.0));
        assert_eq!((congestive.cwnd(), congestive.ssthresh()), (10.0, 10.0));
    }

    #[test]
    fn fu2003_a_timeout_halves_in_any_case() {
        let mut veno = veno(0.1);
        veno.on_rto(&whole_loss(20.0));
        assert_eq!((veno.cwnd(), veno.ssthresh()), (1.0, 10.0));
    }

    #[test]
    fn fu2003_growth_is_half_as_fast_when_segments_queue() {
        let grown = |rtt| {
            let mut veno = veno(rtt);
            veno.on_ack(&timed(rtt));
            veno.cwnd() - 20.0
        };
        // 1/20, and half of it.
        assert!((grown(0.115) - 0.05).abs() < 1e-12);
        assert!((grown(0.12) - 0.025).abs() < 1e-12);
    }

    /// As in Linux, with a window of 5 segments and a path of 36.376 ms.
    fn linux() -> ClassicControl<Veno> {
        let mut params = Params::defaults(ENTRY.params);
        ENTRY.new.set_as_in("linux", &mut params);
        let own = Veno::new(VenoParameters::from(&params));
        let mut veno = ClassicControl::new(avoiding(5.0), own);
        for _ in 0..3 {
            veno.on_ack(&AckedData {
                may_grow: false,
                ..timed(0.036_376)
            });
        }
        veno.own.since_growth = f64::INFINITY;
        veno
    }

    #[test]
    fn in_linux_both_round_trips_count_a_microsecond_more() {
        let mut veno = linux();
        veno.on_ack(&timed(0.072_753));
        assert_eq!(veno.own.halves, 5.0);
        veno.on_ack(&timed(0.072_756));
        assert_eq!(veno.own.halves, 6.0);
    }

    #[test]
    fn in_linux_an_empty_path_is_measured_anew() {
        let mut veno = linux();
        veno.on_empty_path(
            Instant::from_secs(2.0),
            Duration::from_secs(0.1),
            SeqNum::new(9),
        );
        veno.on_ack(&timed(0.1));
        assert_eq!(
            (veno.own.rtts.expect("one").base, veno.own.halves),
            (0.1, 0.0)
        );
    }

    #[test]
    fn base_rtt_is_measured_anew_after_a_loss() {
        let mut veno = veno(0.2);
        veno.on_loss(&whole_loss(20.0));
        assert_eq!(veno.own.queued(&veno.window), None);
        // Nothing is known: half, as standard TCP.
        veno.on_loss(&whole_loss(20.0));
        assert_eq!(veno.cwnd(), 10.0);
        veno.on_ack(&timed(0.2));
        assert_eq!(veno.own.queued(&veno.window), Some(0.0));
        veno.on_loss(&whole_loss(20.0));
        assert_eq!(veno.cwnd(), 16.0);
    }
}
