//! Congestion control: hears what happened to a flow, answers how much may be in flight and how fast.
//!
//! The transport detects losses and says what it saw in event structs; the algorithm owns its window and nobody else
//! writes it, except where a loss recovery's own specification prescribes a window ([`CongestionControl::set_cwnd`]).
//! Windows are in segments of SMSS bytes and may be fractional.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod bbr;
mod bbr3;
mod bic;
mod cdg;
mod copa;
mod cubic;
mod dctcp;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod hystart_plus_plus;
mod illinois;
mod ledbat;
mod linux;
mod lp;
mod nv;
mod prague;
mod reno;
mod scalable;
mod vegas;
mod veno;
mod westwood;
mod yeah;

pub use linux::set_as_in_linux;

use std::fmt::Debug;

use crate::registry::{Entry, Kind, Param, Params, Value};
use crate::units::{Instant, Rate, floor};

/// Constructor of a table row.
pub type New = fn(&Params, Start) -> Box<dyn CongestionControl>;

/// All congestion controls.
pub const TABLE: &[Entry<New>] = &[
    reno::ENTRY,
    cubic::ENTRY,
    highspeed::ENTRY,
    scalable::ENTRY,
    bic::ENTRY,
    htcp::ENTRY,
    vegas::ENTRY,
    veno::ENTRY,
    westwood::ENTRY,
    yeah::ENTRY,
    lp::ENTRY,
    nv::ENTRY,
    hybla::ENTRY,
    illinois::ENTRY,
    cdg::ENTRY,
    dctcp::ENTRY,
    ledbat::ENTRY,
    bbr::ENTRY,
    bbr3::ENTRY,
    copa::ENTRY,
    prague::ENTRY,
];

/// What the first of two parameters has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Below the second: at equality a curve between the two has no slope.
    Below,
    /// No more than the second: at equality what they bound is a constant, or a step.
    AtMost,
}

/// Names of a lower and an upper parameter.
type Pair = (&'static str, &'static str);

/// Parameters in order, by the algorithm's name.
const ORDERED: &[(&str, Order, &[Pair])] = &[
    (
        "highspeed",
        Order::Below,
        &[("low_window", "high_window"), ("high_p", "low_p")],
    ),
    ("bic", Order::AtMost, &[("s_min", "s_max")]),
    (
        "illinois",
        Order::AtMost,
        &[
            ("alpha_min", "alpha_max"),
            ("beta_min", "beta_max"),
            ("eta_1", "eta_2"),
            ("eta_2", "eta_3"),
        ],
    ),
    (
        "htcp",
        Order::AtMost,
        &[("beta_min", "beta_max"), ("rtt_scale_min", "rtt_scale_max")],
    ),
];

/// A parameter's name and value.
pub type Set = (&'static str, f64);

/// The first two parameters of an algorithm that are not in order, and the order.
pub fn out_of_order(name: &str, params: &Params) -> Option<(Set, Order, Set)> {
    let (_, order, pairs) = ORDERED.iter().find(|(known, ..)| *known == name)?;
    pairs.iter().find_map(|(low, high)| {
        let (Value::Number(least), Value::Number(most)) = (params.get(low), params.get(high))
        else {
            // Not set, it follows from others.
            return None;
        };
        let kept = match order {
            Order::Below => least < most,
            Order::AtMost => least <= most,
        };
        (!kept).then_some(((*low, least), *order, (*high, most)))
    })
}

/// What a connection starts with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Initial window, segments.
    pub cwnd: f64,
    /// Initial slow-start threshold, segments; infinite when "arbitrarily high" (RFC 5681 §3.1).
    pub ssthresh: f64,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
    /// Whether windows are whole segments, which grow by one when enough has been acknowledged, as in kernels.
    pub whole_windows: bool,
    /// A kernel's tick, in which algorithms that say so measure time, seconds; 0: none.
    pub tick: f64,
    /// Application bytes in a full segment, for algorithms that think in rates.
    pub smss: u32,
    /// Of the random numbers of algorithms that draw any.
    pub seed: u64,
}

impl Start {
    /// That of a connection with a window of `cwnd` segments and no threshold, for tests.
    pub const fn at(cwnd: f64) -> Self {
        Self {
            cwnd,
            ssthresh: f64::INFINITY,
            ns2: false,
            whole_windows: false,
            tick: 0.0,
            smss: 1460,
            seed: 1,
        }
    }
}

/// A segment left.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    pub now: Instant,
    pub seq: u64,
    pub retransmission: bool,
}

/// New data was acknowledged, or reported to have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Instant,
    /// Segments newly acknowledged, cumulatively.
    pub acked: u64,
    /// What counts for the growth of the window, segments: 1 for an acknowledgement (RFC 5681 §3.1), or `acked` (RFC 3465).
    pub counted: u64,
    /// Segments newly known to have arrived, cumulatively or selectively (RFC 6937's DeliveredData).
    pub delivered: u64,
    /// Segments that this acknowledgement showed to be lost.
    pub lost: u64,
    /// Of those delivered, how many arrived with Congestion Experienced (RFC 3168).
    pub marked: u64,
    /// Segments outstanding before this acknowledgement.
    pub flight_size: u64,
    /// Segments considered in the path after it (RFC 6675 §4's pipe).
    pub pipe: u64,
    /// The first segment not acknowledged, and one past the last one sent: a round trip has passed when the first reaches what the
    /// second was.
    pub snd_una: u64,
    pub snd_nxt: u64,
    /// A round-trip time sample, seconds, if this acknowledgement gave one.
    pub rtt_secs: Option<f64>,
    /// Whether the loss recovery in force lets the window grow: not between a loss and its recovery point.
    pub may_grow: bool,
    /// Whether the window limited what was sent, rather than the application or the receiver (RFC 7661 §4.1).
    pub cwnd_limited: bool,
    /// How fast data was delivered, where the stack measures that.
    pub rate: Option<RateSample>,
}

impl Ack {
    /// An acknowledgement of `acked` segments, all of which count, of a sender limited by its window of `flight_size`; for tests and
    /// for recoveries that know no more.
    pub fn of(now: Instant, acked: u64, flight_size: u64) -> Self {
        Self {
            now,
            acked,
            counted: acked,
            delivered: acked,
            lost: 0,
            marked: 0,
            flight_size,
            pipe: flight_size.saturating_sub(acked),
            snd_una: 0,
            snd_nxt: 0,
            rtt_secs: None,
            may_grow: true,
            cwnd_limited: true,
            rate: None,
        }
    }
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02 §3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered over the interval.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged, seconds.
    pub interval_secs: f64,
    /// Segments that had been delivered, over the connection's life, when the last segment delivered now was sent; and now.
    pub prior_delivered: u64,
    pub total_delivered: u64,
    /// Segments lost over the same interval, and over the connection's life.
    pub lost: u64,
    pub total_lost: u64,
    /// Segments in the path when that segment had been sent.
    pub pipe_at_send: u64,
    /// Whether the application did not have enough to send then: the path may be faster than this.
    pub app_limited: bool,
}

impl RateSample {
    /// Segments per second.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn segments_per_sec(&self) -> f64 {
        self.delivered as f64 / self.interval_secs
    }
}

/// Additive growth of a window: by `increase` segments when a window has been acknowledged.
///
/// Fractional windows grow with every acknowledgement; whole ones when enough has been counted, as RFC 5681 §3.1 recommends for equation 3.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    whole: bool,
    count: f64,
}

impl Growth {
    pub fn new(whole: bool) -> Self {
        Self { whole, count: 0.0 }
    }

    /// What has been counted for the window before a reduction does not count for the one after it, as measured of Linux 6.1: after a mark at 23
    /// segments its window of 11 grows when 11 have been acknowledged, after a loss at 53 its window of 26 when 26 have.
    pub fn restart(&mut self) {
        self.count = 0.0;
    }

    /// The window after `counted` more segments have been acknowledged.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn add(&mut self, cwnd: f64, counted: u64, increase: f64) -> f64 {
        if !self.whole {
            return cwnd + counted as f64 * increase / cwnd;
        }
        let per = cwnd / increase;
        self.count += counted as f64;
        let steps = floor(self.count / per);
        self.count -= steps * per;
        cwnd + steps
    }

    /// The same where a step is taken with the acknowledgement after those that make it up: neither it nor what they were too many counts towards the
    /// next. Measured of Linux's `htcp`: segments acknowledged from step to step are 20, 21, 22, 23, 25, 26, 27, 27, 28, 29 and 31 for windows of 18 to 28.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn afterwards(&mut self, cwnd: f64, counted: u64, increase: f64) -> f64 {
        if !self.whole {
            return self.add(cwnd, counted, increase);
        }
        if self.count * increase >= cwnd {
            self.count = 0.0;
            return cwnd + 1.0;
        }
        self.count += counted as f64;
        cwnd
    }

    /// The whole window after `counted` more segments have been acknowledged, where it grows by one with every `per` of them, and `per`
    /// changes: what was counted towards a slower growth is worth one segment at most. Measured of Linux 6.1: 350 segments after CUBIC's
    /// last step its growth becomes one segment with every 8; one is added at once, and the next when 8 more have arrived.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn every(&mut self, mut cwnd: f64, counted: u64, per: f64) -> f64 {
        if self.count >= per {
            self.count = 0.0;
            cwnd += 1.0;
        }
        self.count += counted as f64;
        let steps = floor(self.count / per);
        if steps > 0.0 {
            self.count -= steps * per;
        }
        cwnd + steps
    }
}

/// Slow start (RFC 5681 §3.1, with RFC 3465's counting): the window after `counted` segments, and what of them is left when it reaches the threshold.
#[inline]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are positive and far below 2^53"
)]
pub fn slow_start(cwnd: f64, ssthresh: f64, counted: u64) -> (f64, u64) {
    let grown = cwnd + counted as f64;
    // One acknowledgement that counts as one is all slow start's, as RFC 5681 has it.
    if counted <= 1 || grown <= ssthresh {
        return (grown, 0);
    }
    let used = (ssthresh - cwnd).ceil().max(0.0);
    (cwnd + used, counted - used as u64)
}

/// An acknowledgement, whatever it means.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now: Instant,
    /// Segments acknowledged cumulatively; 0: it repeats the last one.
    pub acked: u64,
    /// As in [`Ack`], where the recovery measures before it decides.
    pub rtt_secs: Option<f64>,
}

/// What an acknowledgement says of marks.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub now: Instant,
    /// Segments that it shows to have arrived, and those of them that came marked.
    pub delivered: u64,
    pub marked: u64,
    /// As in [`Ack`].
    pub snd_una: u64,
    pub snd_nxt: u64,
}

/// The first sign of a loss episode (RFC 5681's "congestion event").
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    pub now: Instant,
    /// The window that a multiplicative decrease starts from, segments: FlightSize (RFC 5681 equation 4), or the usable
    /// window where the stack reduces that.
    pub window: f64,
    /// Segments sent and not cumulatively acknowledged.
    pub flight_size: u64,
    /// Whether the slow-start threshold is rounded down to whole segments.
    pub whole_ssthresh: bool,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
}

impl Episode {
    /// `window`, as a slow-start threshold: rounded where the stack rounds, and at least 2 segments (RFC 5681 equation 4).
    pub fn threshold(&self, window: f64) -> f64 {
        let window = if self.whole_ssthresh {
            window.trunc()
        } else {
            window
        };
        window.max(2.0)
    }

    /// The congestion window after a loss that leaves `window`: the slow-start threshold (RFC 5681 §3.2 step 3, without the inflation).
    /// ns-2 leaves the window itself: unrounded, and down to half a segment.
    pub fn reduced(&self, window: f64) -> f64 {
        if self.ns2 {
            window
        } else {
            self.threshold(window)
        }
    }
}

/// The windows that a spurious loss reduced, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    pub cwnd: f64,
    pub ssthresh: f64,
}

/// What the algorithm called `name` makes of Explicit Congestion Notification.
pub fn ecn_of(name: &str, params: &Params) -> Ecn {
    ask(name, params, Ecn::Classic, |cc| cc.ecn())
}

/// What the algorithm called `name` makes of delivery rates.
pub fn rates_of(name: &str, params: &Params) -> Rates {
    ask(name, params, Rates::Unused, |cc| cc.rates())
}

/// What an algorithm answers before there is a connection; `otherwise` for one that is not in the table.
fn ask<T>(
    name: &str,
    params: &Params,
    otherwise: T,
    question: impl Fn(&dyn CongestionControl) -> T,
) -> T {
    let entry = TABLE.iter().find(|entry| entry.name == name);
    entry.map_or(otherwise, |entry| {
        question(&*(entry.new)(params, Start::at(10.0)))
    })
}

/// What an algorithm makes of delivery rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rates {
    Unused,
    /// It has something else where they are not measured.
    Used,
    /// Its window stays a few segments without them.
    Needed,
}

/// How an algorithm wants to hear of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Once per window, as of a loss: `on_ecn` (RFC 3168 §6.1.2). Only where the stack negotiates ECN.
    Classic,
    /// Of every mark, by `on_marks`, and besides that as `Classic`; packets are ECT(0) (RFC 8257).
    Every,
    /// Of every mark, in [`Ack::marked`], and it decides itself when to reduce; packets are ECT(1) (RFC 9331). Without a count of marks:
    /// `Classic`.
    L4s,
}

/// Alternative Backoff with ECN (RFC 8511): a mark comes from a queue that is kept short, and takes less of the window than a loss.
const BETA_ECN: Param = Param {
    name: "beta_ecn",
    summary: "the window is multiplied by this at a mark in congestion avoidance (ABE, RFC 8511: 0.8, or 0.85 for CUBIC); `none`: as at a loss",
    kind: Kind::Number {
        min: 0.01,
        max: 0.99,
    },
    default: Value::None,
};

/// The value of [`BETA_ECN`].
fn beta_ecn(params: &Params) -> Option<f64> {
    match params.get(BETA_ECN.name) {
        Value::Number(beta) => Some(beta),
        _ => None,
    }
}

/// Receives an algorithm's own variables by their names in its paper.
pub type Probe<'a> = dyn FnMut(&'static str, f64) + 'a;

/// A congestion control algorithm for one connection.
pub trait CongestionControl: Debug + std::marker::Send {
    /// New data was acknowledged.
    fn on_ack(&mut self, ack: &Ack);

    /// Loss detected by duplicate or selective acknowledgements, once per recovery point.
    fn on_loss(&mut self, loss: &Episode);

    /// Congestion Experienced was echoed, once per window.
    fn on_ecn(&mut self, mark: &Episode) {
        self.on_loss(mark);
    }

    /// An acknowledgement arrives, before anything is made of it.
    fn on_arrival(&mut self, _arrival: &Arrival) {}

    /// With ECN, of every acknowledgement and before anything is made of it: how much of what it has delivered was marked. Of
    /// algorithms of [`Ecn::Every`].
    fn on_marks(&mut self, _marks: &Marks) {}

    /// The retransmission timer expired.
    fn on_rto(&mut self, rto: &Episode);

    /// The last episode was spurious (RFC 4015 §3.2): the windows are to be what they were before it, or more.
    fn on_undo(&mut self, before: Windows) {
        self.set_cwnd(self.cwnd().max(before.cwnd));
        self.set_ssthresh(self.ssthresh().max(before.ssthresh));
    }

    /// The handshake is over: the window with which data begins.
    fn on_established(&mut self, initial_window: f64) {
        self.set_cwnd(initial_window);
    }

    /// How long the handshake took, before `on_established`; not told where the SYN was sent again.
    fn on_handshake(&mut self, _now: Instant, _rtt_secs: f64) {}

    /// Everything that was outstanding when the last loss was found has arrived.
    fn on_recovered(&mut self, _now: Instant) {}

    /// The connection begins to send again after `idle_secs` with nothing outstanding.
    fn on_restart(&mut self, _now: Instant, _idle_secs: f64) {}

    /// A segment left.
    fn on_send(&mut self, _send: &Send) {}

    /// A window that the loss recovery's specification prescribes (RFC 6582 §3.2 steps 3 and 5, RFC 6937, or Tahoe's restart).
    fn set_cwnd(&mut self, cwnd: f64);

    /// A slow-start threshold that is not the algorithm's own: one from before a spurious loss, or remembered from another connection.
    fn set_ssthresh(&mut self, ssthresh: f64);

    /// Whether the algorithm sets its window in a recovery, too, and no recovery prescribes one.
    fn rules_recovery(&self) -> bool {
        false
    }

    /// What the algorithm makes of [`Ack::rate`], which is measured only if it makes anything of it.
    fn rates(&self) -> Rates {
        Rates::Unused
    }

    /// What the algorithm makes of Explicit Congestion Notification.
    fn ecn(&self) -> Ecn {
        Ecn::Classic
    }

    /// The congestion window, segments.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold, segments; infinite before the first loss unless set.
    fn ssthresh(&self) -> f64;

    /// How fast to send, if the algorithm paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Reports the algorithm's own variables.
    fn probe(&self, _out: &mut Probe<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Algorithms that own a window, which RFC 5681 governs beside their own rules: all but those with a model of the path.
    fn with_windows() -> impl Iterator<Item = &'static Entry<New>> {
        let models = ["bbr", "bbr3", "copa"];
        TABLE
            .iter()
            .filter(move |entry| !models.contains(&entry.name))
    }

    fn made(entry: &Entry<New>, cwnd: f64, ssthresh: f64) -> Box<dyn CongestionControl> {
        let start = Start {
            ssthresh,
            ..Start::at(cwnd)
        };
        (entry.new)(&Params::defaults(entry.params), start)
    }

    fn episode(window: f64) -> Episode {
        Episode {
            now: Instant::from_secs(1.0),
            window,
            flight_size: 64,
            whole_ssthresh: false,
            ns2: false,
        }
    }

    #[test]
    fn rfc5681_3_1_after_a_timeout_the_window_is_one_segment_and_the_threshold_lower_but_two_at_least()
     {
        for entry in with_windows() {
            let mut cc = made(entry, 64.0, 32.0);
            cc.on_rto(&episode(64.0));
            let (cwnd, ssthresh) = (cc.cwnd(), cc.ssthresh());
            assert_eq!(cwnd, 1.0, "{}", entry.name);
            assert!((2.0..64.0).contains(&ssthresh), "{} {ssthresh}", entry.name);
            cc.on_rto(&episode(1.0));
            assert_eq!(cc.ssthresh(), 2.0, "{}", entry.name);
        }
    }

    #[test]
    fn rfc5681_3_2_after_a_loss_window_and_threshold_are_one_and_lower_but_two_at_least() {
        for entry in with_windows() {
            let mut cc = made(entry, 64.0, 32.0);
            cc.on_loss(&episode(64.0));
            let (cwnd, ssthresh) = (cc.cwnd(), cc.ssthresh());
            assert_eq!(cwnd, ssthresh, "{}", entry.name);
            assert!((2.0..64.0).contains(&ssthresh), "{} {ssthresh}", entry.name);
            cc.set_cwnd(2.0);
            cc.on_loss(&episode(2.0));
            assert_eq!(cc.ssthresh(), 2.0, "{}", entry.name);
        }
    }

    #[test]
    fn windows_that_are_prescribed_are_taken_over() {
        for entry in with_windows() {
            let mut cc = made(entry, 10.0, f64::INFINITY);
            cc.set_cwnd(17.0);
            cc.set_ssthresh(23.0);
            assert_eq!((cc.cwnd(), cc.ssthresh()), (17.0, 23.0), "{}", entry.name);
        }
    }

    #[test]
    fn rfc7661_4_1_a_window_that_limits_nothing_or_recovers_does_not_grow() {
        let ack = Ack::of(Instant::from_secs(1.0), 8, 64);
        for entry in with_windows() {
            for ssthresh in [2.0, 1000.0] {
                let mut cc = made(entry, 64.0, ssthresh);
                cc.on_ack(&Ack {
                    cwnd_limited: false,
                    ..ack
                });
                assert!(cc.cwnd() <= 64.0, "{} {ssthresh}", entry.name);
                cc.on_ack(&Ack {
                    may_grow: false,
                    ..ack
                });
                assert!(cc.cwnd() <= 64.0, "{} {ssthresh}", entry.name);
            }
        }
    }

    #[test]
    fn growth_adds_the_increase_per_window_at_once_or_in_whole_steps() {
        // Ten segments more, each worth 2 / 40 of a segment.
        assert_eq!(Growth::new(false).add(40.0, 10, 2.0), 40.5);
        // Whole: a step with every 40 / 2 = 20 segments, of which what is left over counts on.
        let mut growth = Growth::new(true);
        assert_eq!(growth.add(40.0, 19, 2.0), 40.0);
        assert_eq!(growth.add(40.0, 2, 2.0), 41.0);
        assert_eq!(growth.count, 1.0);
        assert_eq!(growth.add(40.0, 59, 2.0), 43.0);
        growth.add(40.0, 5, 2.0);
        growth.restart();
        assert_eq!(growth.count, 0.0);
    }

    #[test]
    fn a_step_that_is_taken_afterwards_forgets_what_was_too_much() {
        // Ten segments make up a step; it comes with the acknowledgement after them.
        let mut growth = Growth::new(true);
        assert_eq!(growth.afterwards(20.0, 9, 2.0), 20.0);
        assert_eq!(growth.afterwards(20.0, 4, 2.0), 20.0);
        assert_eq!(growth.afterwards(20.0, 4, 2.0), 21.0);
        assert_eq!(growth.count, 0.0);
        assert_eq!(Growth::new(false).afterwards(40.0, 10, 2.0), 40.5);
    }

    #[test]
    fn what_counted_towards_slower_growth_is_one_segment_at_most() {
        // As measured: 350 segments of a slow growth, then one with every 8.
        let mut growth = Growth::new(true);
        assert_eq!(growth.every(100.0, 350, 1000.0), 100.0);
        assert_eq!(growth.every(100.0, 1, 8.0), 101.0);
        assert_eq!(growth.every(101.0, 6, 8.0), 101.0);
        assert_eq!(growth.every(101.0, 1, 8.0), 102.0);
        assert_eq!(growth.every(102.0, 17, 8.0), 104.0);
        assert_eq!(growth.count, 1.0);
    }

    #[test]
    fn rfc5681_3_1_slow_start_adds_what_counts_up_to_the_threshold() {
        assert_eq!(slow_start(10.0, f64::INFINITY, 4), (14.0, 0));
        assert_eq!(slow_start(10.0, 14.0, 4), (14.0, 0));
        assert_eq!(slow_start(10.0, 12.0, 4), (12.0, 2));
        // To a threshold that is no whole segment the last one counts in full.
        assert_eq!(slow_start(10.0, 11.5, 4), (12.0, 2));
        // One that counts as one is slow start's, wherever the threshold is.
        assert_eq!(slow_start(10.0, 10.5, 1), (11.0, 0));
        assert_eq!(slow_start(10.0, 8.0, 4), (10.0, 4));
    }

    #[test]
    fn rfc5681_equation_4_a_threshold_is_two_segments_at_least_and_whole_where_the_stack_says() {
        let plain = episode(64.0);
        assert_eq!(plain.threshold(10.7), 10.7);
        assert_eq!(plain.threshold(1.5), 2.0);
        assert_eq!(plain.reduced(1.5), 2.0);
        let whole = Episode {
            whole_ssthresh: true,
            ..plain
        };
        assert_eq!((whole.threshold(10.7), whole.reduced(10.7)), (10.0, 10.0));
        let ns2 = Episode { ns2: true, ..whole };
        assert_eq!((ns2.threshold(0.5), ns2.reduced(0.5)), (2.0, 0.5));
        assert_eq!(ns2.reduced(10.7), 10.7);
    }

    #[test]
    fn a_rate_sample_is_what_was_delivered_over_its_interval() {
        let sample = RateSample {
            delivered: 30,
            interval_secs: 0.5,
            prior_delivered: 0,
            total_delivered: 30,
            lost: 0,
            total_lost: 0,
            pipe_at_send: 0,
            app_limited: false,
        };
        assert_eq!(sample.segments_per_sec(), 60.0);
    }

    #[test]
    fn an_acknowledgement_leaves_in_the_path_what_it_does_not_acknowledge() {
        assert_eq!(Ack::of(Instant::from_secs(1.0), 3, 10).pipe, 7);
        assert_eq!(Ack::of(Instant::from_secs(1.0), 3, 2).pipe, 0);
    }

    type Values = &'static [(&'static str, Value)];

    /// Defaults by algorithm and parameter, as the specification has them.
    const SPECIFIED: &[(&str, &str, Values)] = &[
        ("reno", "RFC 5681 §3.1", &[("beta", Value::Number(0.5))]),
        (
            "cubic",
            "RFC 9438 §5, §4.6; RFC 9406 §4.3",
            &[
                ("c", Value::Number(0.4)),
                ("beta", Value::Number(0.7)),
                ("css_growth_divisor", Value::Number(4.0)),
                ("css_rounds", Value::Integer(5)),
                ("l", Value::Integer(8)),
                ("hystart_delay_min", Value::Duration(0.004)),
                ("hystart_delay_max", Value::Duration(0.016)),
                ("hystart_delay_divisor", Value::Number(8.0)),
                ("hystart_samples", Value::Integer(8)),
            ],
        ),
        (
            "dctcp",
            "RFC 8257 §3.3, §4.2",
            &[
                ("g", Value::Number(0.0625)),
                ("alpha", Value::Number(1.0)),
                ("beta", Value::Number(0.5)),
            ],
        ),
        (
            "highspeed",
            "RFC 3649 §5",
            &[
                ("low_window", Value::Number(38.0)),
                ("high_window", Value::Number(83_000.0)),
                ("high_p", Value::Number(1e-7)),
                ("high_decrease", Value::Number(0.1)),
            ],
        ),
        (
            "scalable",
            "Kelly 2003",
            &[
                ("a", Value::Number(0.01)),
                ("b", Value::Number(0.125)),
                ("low_window", Value::Number(16.0)),
            ],
        ),
        (
            "vegas",
            "Brakmo and Peterson 1995",
            &[
                ("alpha", Value::Number(2.0)),
                ("beta", Value::Number(4.0)),
                ("gamma", Value::Number(1.0)),
            ],
        ),
        (
            "veno",
            "Fu and Liew 2003",
            &[
                ("beta", Value::Number(3.0)),
                ("random_factor", Value::Number(0.8)),
                ("congestive_factor", Value::Number(0.5)),
            ],
        ),
        (
            "yeah",
            "Baiocchi, Castellani and Vacirca 2007",
            &[
                ("max_queue", Value::Number(80.0)),
                ("phi", Value::Number(8.0)),
                ("min_decrease", Value::Number(0.125)),
            ],
        ),
        (
            "htcp",
            "Leith and Shorten 2004",
            &[
                ("delta_l", Value::Duration(1.0)),
                ("beta_min", Value::Number(0.5)),
                ("beta_max", Value::Number(0.8)),
            ],
        ),
        (
            "hybla",
            "Caini and Firrincieli 2004",
            &[("rtt0", Value::Duration(0.025))],
        ),
        (
            "lp",
            "Kuzmanovic and Knightly 2006",
            &[
                ("delta", Value::Number(0.15)),
                ("gamma", Value::Number(0.125)),
                ("inference_rtts", Value::Number(3.0)),
            ],
        ),
        (
            "copa",
            "Arun and Balakrishnan 2018",
            &[("default_delta", Value::Number(0.5))],
        ),
        (
            "prague",
            "draft-briscoe-iccrg-prague-congestion-control",
            &[
                ("gain", Value::Number(0.0625)),
                ("rtt_virt_min", Value::Duration(0.025)),
                ("rtt_scaling_rounds", Value::Integer(500)),
            ],
        ),
        (
            "bbr",
            "draft-cardwell-iccrg-bbr-congestion-control-00",
            &[
                ("high_gain", Value::Number(2.0 / std::f64::consts::LN_2)),
                ("cwnd_gain", Value::Number(2.0)),
                ("probe_gain", Value::Number(1.25)),
                ("drain_gain", Value::Number(0.75)),
                ("cycle_phases", Value::Integer(8)),
                ("bw_rounds", Value::Integer(10)),
                ("full_bw_growth", Value::Number(1.25)),
                ("full_bw_rounds", Value::Integer(3)),
                ("min_rtt_window", Value::Duration(10.0)),
                ("probe_rtt_duration", Value::Duration(0.2)),
                ("min_cwnd", Value::Number(4.0)),
                ("one_segment_below", Value::Rate(1.2e6)),
                ("two_segments_below", Value::Rate(24e6)),
                ("quantum_duration", Value::Duration(0.001)),
                ("quantum_max", Value::Bytes(65_536)),
            ],
        ),
        (
            "bbr3",
            "draft-ietf-ccwg-bbr",
            &[
                ("startup_pacing_gain", Value::Number(2.77)),
                ("up_pacing_gain", Value::Number(1.25)),
                ("down_pacing_gain", Value::Number(0.9)),
                ("cwnd_gain", Value::Number(2.0)),
                ("up_cwnd_gain", Value::Number(2.25)),
                ("probe_rtt_cwnd_gain", Value::Number(0.5)),
                ("loss_thresh", Value::Number(0.02)),
                ("beta", Value::Number(0.7)),
                ("headroom", Value::Number(0.15)),
                ("min_pipe_cwnd", Value::Number(4.0)),
                ("max_bw_cycles", Value::Integer(2)),
                ("full_bw_growth", Value::Number(1.25)),
                ("full_bw_rounds", Value::Integer(3)),
                ("startup_full_loss_count", Value::Integer(6)),
                ("probe_wait", Value::Duration(2.0)),
                ("probe_wait_spread", Value::Duration(1.0)),
                ("reno_rounds", Value::Integer(63)),
                ("min_rtt_window", Value::Duration(10.0)),
                ("probe_rtt_interval", Value::Duration(5.0)),
                ("probe_rtt_duration", Value::Duration(0.2)),
                ("extra_acked_rounds", Value::Integer(10)),
                ("pacing_margin", Value::Number(0.01)),
                ("quantum_duration", Value::Duration(0.001)),
                ("quantum_max", Value::Bytes(65_536)),
            ],
        ),
    ];

    #[test]
    fn defaults_are_those_of_the_specifications() {
        for (name, place, values) in SPECIFIED {
            let entry = TABLE.iter().find(|entry| entry.name == *name);
            let params = Params::defaults(entry.expect("a row").params);
            for (param, value) in *values {
                assert_eq!(params.get(param), *value, "{name}.{param}, {place}");
            }
        }
    }

    #[test]
    fn rfc5681_3_1_slow_start_is_below_the_threshold_and_congestion_avoidance_at_it() {
        let grown = |entry: &Entry<New>, ssthresh| {
            let mut cc = made(entry, 20.0, ssthresh);
            cc.on_ack(&Ack::of(Instant::from_secs(1.0), 1, 20));
            cc.cwnd() - 20.0
        };
        // LEDBAT has a window of its own to begin with, and no slow start; its ++ has.
        for entry in with_windows().filter(|entry| entry.name != "ledbat") {
            assert_eq!(grown(entry, 20.5), 1.0, "{}", entry.name);
            if entry.name == "bic" {
                // It searches for a maximum in steps of up to 32 segments per window.
                assert!((grown(entry, 20.0) - 32.0 / 20.0).abs() < 1e-9);
                continue;
            }
            assert!((0.0..1.0).contains(&grown(entry, 20.0)), "{}", entry.name);
            assert!((0.0..1.0).contains(&grown(entry, 2.0)), "{}", entry.name);
        }
    }

    #[test]
    fn rfc4015_3_2_a_spurious_loss_gives_the_windows_back() {
        for entry in with_windows() {
            let mut cc = made(entry, 64.0, 60.0);
            cc.set_cwnd(64.0);
            cc.on_loss(&episode(64.0));
            assert!(cc.cwnd() < 60.0, "{}", entry.name);
            cc.on_undo(Windows {
                cwnd: 64.0,
                ssthresh: 60.0,
            });
            assert_eq!((cc.cwnd(), cc.ssthresh()), (64.0, 60.0), "{}", entry.name);
            // What has grown beyond them since stays.
            cc.on_undo(Windows {
                cwnd: 50.0,
                ssthresh: 40.0,
            });
            assert_eq!((cc.cwnd(), cc.ssthresh()), (64.0, 60.0), "{}", entry.name);
        }
    }

    #[test]
    fn what_an_algorithm_needs_of_the_stack_is_what_its_specification_says() {
        for entry in TABLE {
            let params = Params::defaults(entry.params);
            // Models of the path set their window in a recovery, too, and two of them are made of delivery rates.
            let rules = (entry.new)(&params, Start::at(10.0)).rules_recovery();
            assert_eq!(
                rules,
                ["bbr", "bbr3", "copa"].contains(&entry.name),
                "{}",
                entry.name
            );
            let rates = match entry.name {
                "bbr" | "bbr3" => Rates::Needed,
                "nv" => Rates::Used,
                _ => Rates::Unused,
            };
            assert_eq!(rates_of(entry.name, &params), rates, "{}", entry.name);
            let ecn = match entry.name {
                // RFC 8257 §3.3, RFC 9331 §4.3.
                "dctcp" => Ecn::Every,
                "prague" => Ecn::L4s,
                _ => Ecn::Classic,
            };
            assert_eq!(ecn_of(entry.name, &params), ecn, "{}", entry.name);
        }
        assert_eq!(ecn_of("none", &Params::defaults(&[])), Ecn::Classic);
    }

    /// What algorithms report of themselves before anything has happened.
    const AT_THE_START: &[(&str, &[(&str, f64)])] = &[
        (
            "cubic",
            &[
                ("w_max", 0.0),
                ("k", 0.0),
                ("w_est", 0.0),
                ("cwnd_prior", 10.0),
            ],
        ),
        ("highspeed", &[("a_w", 1.0), ("b_w", 0.5)]),
        ("htcp", &[("alpha", 1.0), ("beta", 0.5), ("b_max", 0.0)]),
        ("vegas", &[("diff", 0.0)]),
        ("veno", &[]),
        ("westwood", &[]),
        ("lp", &[]),
        ("nv", &[]),
        ("ledbat", &[]),
        ("yeah", &[("q", 0.0), ("slow_mode", 0.0)]),
        ("hybla", &[("rho", 1.0)]),
        ("cdg", &[("g_bar_min", 0.0), ("g_bar_max", 0.0), ("s", 0.0)]),
        ("dctcp", &[("alpha", 1.0)]),
        (
            "copa",
            &[
                ("delta", 0.5),
                ("v", 1.0),
                ("RTTstanding", 0.0),
                ("RTTmin", 0.0),
                ("competitive", 0.0),
            ],
        ),
        (
            "prague",
            &[("alpha", 1.0), ("ai_per_rtt", 1.0), ("rtt_virt", 0.0)],
        ),
        (
            "bbr",
            &[
                ("BtlBw", 0.0),
                ("RTprop", 0.0),
                ("pacing_gain", 2.0 / std::f64::consts::LN_2),
                ("cwnd_gain", 2.0 / std::f64::consts::LN_2),
                ("target_cwnd", 10.0),
                ("round_count", 0.0),
                ("filled_pipe", 0.0),
            ],
        ),
    ];

    #[test]
    fn what_is_not_known_yet_is_reported_as_nought_or_not_at_all() {
        for (name, variables) in AT_THE_START {
            let entry = TABLE.iter().find(|entry| entry.name == *name);
            let entry = entry.expect("a row");
            let mut found = Vec::new();
            made(entry, 10.0, f64::INFINITY)
                .probe(&mut |variable, value| found.push((variable, value)));
            assert_eq!(found, *variables, "{name}");
        }
    }
}
