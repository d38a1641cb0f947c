//! Westwood+: standard TCP that after a loss takes the window that its measured bandwidth fills without a queue.
//!
//! Specification: Grieco and Mascolo 2004; Casetti et al. 2002, "TCP Westwood: end-to-end congestion control for wired/wireless networks" (AckedCount).
//!
//! Model, in segments:
//! - `b_k = d_k / Delta_k`: what was delivered in the k-th interval, over its length; an interval is a round trip, and `min_interval` at least
//! - `BWE = alpha BWE + (1 - alpha) b_k`, beginning with `b_1`; `RTTmin` is the least round-trip time
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for everything that counts; congestion avoidance: `cwnd += 1 / cwnd`
//! - loss: `ssthresh = BWE * RTTmin`, `cwnd` is at most that; timeout: the same threshold, `cwnd = 1`
//!
//! The paper's bandwidth is in bytes and its window in segments, hence its division by the segment size.
//!
//! Deviations: before the first sample of the bandwidth a loss halves the window, as standard TCP. Intervals shorter than `min_interval` are
//! not in the paper; 0 s gives its rule. An idle time is no part of an interval.
//!
//! Kernel equivalent: `westwood`, in whole segments. Measured of Linux 6.1: a loss halves the window, and its repair sets threshold and window to what
//! the bandwidth fills (`set_at` = "repair"); two stages with a share of 7/8 each (`alpha`, `stages`); the first interval begins with the
//! connection's first segment (`first_interval` = "sent"); an interval is longer than the round trip and than 50 ms, both in ticks. With that the
//! thresholds after a loss of segment 22, 62, 122 and 402 at 40 ms (10 Mbit/s), 62 and 302 at 10 ms, 62 and 302 at 200 ms follow from the
//! kernel's own acknowledgements as measured, to within a segment that the unknown phase of its ticks makes, 6, 7, 7, 9, 13, 13, 6 and 14; with one stage they would be 8, 13, 13, 19, 13, 14, 14 and 45. Round trips in
//! ticks make a short one seem longer: at 10 ms the threshold is 13 where the path holds 8, as ticks of 10 ms make 20 ms of 11.
//! Measured with single losses at 2 to 40 ms one way and 480 Mbit/s, and with the first window lost: a repair before the first sample leaves a threshold of 2
//! (the estimate is zero); an acknowledgement counts before the repair that it ends is seen to; each duplicate acknowledgement counts one segment, however
//! many it reports (Casetti et al.'s AckedCount: after 32 of single segments and one of 22 the threshold is 93, which is 280 in 60 ms times 20 ms, not 100);
//! a repair's round trip is that of its timestamps. 86 of 95 such thresholds are the kernel's; the others are of round trips within 0.2 ms of ticks.
//! Bandwidth counts in whole bytes of a tick, after each stage, too.
//! The handshake's round-trip time does not count, and there is no sample before one counts (at 4.7 Mbit/s and 9 ms, of which a segment makes 11, two ticks: thresholds of 5 and 6
//! where one tick would make 2 and 3); a timeout before the first sample leaves a threshold of 2, too.
//! The first acknowledgement of data counts as a duplicate does, one segment, which a later one of several segments does not count again (computed from the kernel's own acknowledgements: 43 segments in the first six ticks, where 44 would
//! make a threshold of 8 and not of 7).
//! Of an acknowledgement that reports nothing and offers the window that the one before offered all counts that it acknowledges, what duplicates have counted before, too, and what
//! they have counted is kept for the next (`counts` = "expected", as header prediction takes them): computed from the kernel's own acknowledgements, 113 of 114 thresholds after 13 scenarios
//! of several flows, 2 to 10 segments of buffer and recoveries that end in others are the kernel's, and without that rule 106.

use super::bandwidth::Bandwidth;
use super::params::TIME_FROM_ZERO;
use super::{
    AckArrival, AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, ConnectionStart,
    Episode, Needs, Signal, VariableProbe,
};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{ByteCount, Duration, Instant, SegCount, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "westwood",
    summary: "Westwood+: after a loss, the window that the measured bandwidth fills",
    specification: &["Grieco and Mascolo 2004", "Casetti et al. 2002"],
    params: &[
        param!(alpha: Kind::Number { min: 0.0, max: 0.999 } => Value::Number(0.9),
            "share of the old bandwidth estimate in the new one"),
        param!(stages: Kind::Integer { min: 1, max: 2 } => Value::Integer(1),
            "how often the samples are filtered: the estimate is the last stage's, each stage's input the one before"),
        param!(first_interval: Kind::Choice(&["acknowledged", "sent"]) => Value::Choice("acknowledged"),
            "when the first interval begins: with the first acknowledgement, or when what that acknowledges was sent"),
        param!(counts: Kind::Choice(&["delivered", "duplicates", "expected"]) => Value::Choice("delivered"),
            "what has been delivered: all that is acknowledged or reported to have arrived; as counted in 2002, one segment with every duplicate acknowledgement; or so but for acknowledgements that report nothing and offer the window of the one before, of which everything counts"),
        param!(min_interval: TIME_FROM_ZERO => Value::Duration(0.05),
            "a bandwidth sample takes a round trip, and at least this long"),
        param!(set_at: Kind::Choice(&["loss", "repair"]) => Value::Choice("loss"),
            "what sets the threshold to the measured bandwidth's: a loss, or its repair, until when it is half the window"),
    ],
    new: Algorithm {
        needs: Needs {
            arrivals: true,
            ..Needs::NOTHING
        },
        linux: &[
            ("alpha", Value::Number(0.875)),
            ("stages", Value::Integer(2)),
            ("first_interval", Value::Choice("sent")),
            ("counts", Value::Choice("expected")),
            ("set_at", Value::Choice("repair")),
        ],
        ..Algorithm::of(|params, start| ClassicControl::boxed(start, Westwood::new(params, start)))
    },
};

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is set by itself")]
struct Westwood {
    bandwidth: Bandwidth,
    /// Whether each duplicate acknowledgement counts as one segment, and how many segments counted in this way have not been acknowledged yet.
    counts_duplicates: bool,
    reported: SegCount,
    /// Whether everything counts that an acknowledgement without reports acknowledges, if it offers this window.
    counts_expected: bool,
    offered: ByteCount,
    /// Whether nothing has been acknowledged, and what is first counts as a duplicate.
    is_first: bool,
    /// Whether a loss leaves half the window, and its repair what the bandwidth fills.
    set_at_repair: bool,
    /// The latest and the least round-trip time, seconds; none before the first.
    rtt: Option<f64>,
    min_rtt: Option<f64>,
}

impl Westwood {
    fn new(params: &Params, start: ConnectionStart) -> Self {
        Self {
            bandwidth: Bandwidth {
                alpha: params.number("alpha"),
                stages: params.integer("stages"),
                from_sending: params.choice("first_interval") == "sent",
                min_interval: params.duration("min_interval"),
                tick: start.tick.secs(),
                smss: start.smss.as_f64(),
                filtered: 0.0,
                since: None,
                delivered: SegCount::ZERO,
                estimate: None,
            },
            counts_duplicates: params.choice("counts") != "delivered",
            reported: SegCount::ZERO,
            counts_expected: params.choice("counts") == "expected",
            offered: ByteCount::ZERO,
            is_first: params.choice("counts") == "expected",
            set_at_repair: params.choice("set_at") == "repair",
            rtt: None,
            min_rtt: None,
        }
    }

    /// Whether an acknowledgement acknowledges something and says nothing else: it reports nothing, and offers the window that the last one did.
    fn is_expected(&mut self, arrival: &AckArrival) -> bool {
        let (acks, before) = (!arrival.acked.is_zero(), self.offered);
        if acks || arrival.window > before {
            self.offered = arrival.window;
        }
        acks && !arrival.reports && arrival.window == before
    }

    /// Segments that an acknowledgement adds to what has been delivered (Casetti et al. 2002, AckedCount): a duplicate one; a
    /// cumulative one what duplicates have not reported before, and one at least.
    fn news(&mut self, arrival: &AckArrival) -> SegCount {
        let acked = arrival.acked;
        let expected = self.is_expected(arrival);
        if std::mem::take(&mut self.is_first) {
            self.reported += SegCount::ONE;
            return SegCount::ONE;
        }
        if expected && self.counts_expected {
            return acked;
        }
        if acked.is_zero() {
            self.reported += SegCount::ONE;
        } else if acked > SegCount::ONE {
            let reported = self.reported.min(acked);
            self.reported -= reported;
            return (acked - reported).max(SegCount::ONE);
        }
        SegCount::ONE
    }

    fn observe(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt.map(Duration::secs) {
            self.rtt = Some(rtt);
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// The window that fills the path without a queue, `BWE * RTTmin`; half of `window` while that is not known, and nothing in a kernel, whose estimate is then zero.
    fn fitting(&self, window: f64) -> f64 {
        match (self.bandwidth.estimate, self.min_rtt) {
            (Some(estimate), Some(min_rtt)) => {
                let window = estimate * self.bandwidth.whole_ticks(min_rtt);
                self.bandwidth.whole_bytes(window)
            }
            _ if self.set_at_repair => 0.0,
            _ => window / 2.0,
        }
    }
}

impl Avoidance for Westwood {
    fn on_arrival(&mut self, _window: &CongestionWindow, arrival: &AckArrival) {
        if self.counts_duplicates {
            let delivered = self.news(arrival);
            if self.rtt.is_some() || self.bandwidth.since.is_some() {
                // No interval is longer than a round trip that is not known.
                let rtt = self.rtt.unwrap_or(f64::INFINITY);
                self.bandwidth.observe(arrival.now.secs(), delivered, rtt);
            }
            self.observe(arrival.rtt);
        }
    }

    fn on_handshake(&mut self, _window: &mut CongestionWindow, now: Instant, rtt: Duration) {
        if self.counts_duplicates && self.bandwidth.from_sending {
            self.bandwidth.since = Some(now.secs());
        } else if self.counts_duplicates {
            self.observe(Some(rtt));
        }
    }

    fn measure(&mut self, _window: &mut CongestionWindow, ack: &AckedData) {
        self.observe(ack.rtt);
        // Without a round-trip time there is no interval to sample.
        if let Some(rtt) = self.rtt
            && !self.counts_duplicates
        {
            self.bandwidth.observe(ack.now.secs(), ack.delivered, rtt);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        if self.set_at_repair && episode.signal != Signal::Rto {
            episode.window / 2.0
        } else {
            WindowSize::from_segments(self.fitting(episode.window.segments()))
        }
    }

    fn on_congestion(&mut self, window: &mut CongestionWindow, episode: &Episode) {
        let before = window.cwnd;
        // An interval in which nothing arrived has no bandwidth: a segment is left, as after a timeout.
        let left = self.decrease(window, episode);
        let left = left.max(WindowSize::from_segments(1.0));
        window.reduce(episode, left);
        if episode.signal != Signal::Rto {
            window.cwnd = window.cwnd.min(before);
        }
    }

    fn on_recovered(&mut self, window: &mut CongestionWindow, _now: Instant, began: Signal) {
        if self.set_at_repair && began != Signal::Rto {
            window.ssthresh = window.whole(self.fitting(window.cwnd)).max(2.0);
            window.cwnd = window.ssthresh;
        }
    }

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.bandwidth.since = None;
        self.bandwidth.delivered = SegCount::ZERO;
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if let Some(estimate) = self.bandwidth.estimate {
            out("bwe", estimate);
        }
        if let Some(min_rtt) = self.min_rtt {
            out("rtt_min", min_rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn made(start: ConnectionStart, set: &[(&str, Value)]) -> ClassicControl<Westwood> {
        ClassicControl::new(start, Westwood::new(&params(&ENTRY, set), start))
    }

    fn westwood(cwnd: f64) -> ClassicControl<Westwood> {
        made(beginning(cwnd), &[])
    }

    fn observe(westwood: &mut ClassicControl<Westwood>, at: f64, delivered: u64, rtt: f64) {
        westwood.on_ack(&AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            may_grow: false,
            ..ack_at(at, delivered, 40)
        });
    }

    fn arrival(acked: u64, reports: bool, window: u64) -> AckArrival {
        AckArrival {
            now: Instant::from_secs(1.0),
            acked: segs(acked),
            rtt: None,
            reports,
            window: ByteCount::new(window),
        }
    }

    fn estimate(westwood: &ClassicControl<Westwood>) -> f64 {
        westwood.own.bandwidth.estimate.expect("a sample")
    }

    #[test]
    fn grieco2004_a_sample_per_round_trip_through_the_filter() {
        let mut westwood = westwood(40.0);
        observe(&mut westwood, 1.0, 5, 0.125);
        observe(&mut westwood, 1.0625, 10, 0.125);
        assert_eq!(westwood.own.bandwidth.estimate, None, "half a round trip");
        observe(&mut westwood, 1.125, 10, 0.125);
        // 20 segments in 125 ms; those that began the interval do not count.
        assert!((estimate(&westwood) - 160.0).abs() < 1e-9);
        observe(&mut westwood, 1.25, 40, 0.125);
        // 40 in 125 ms are 320: 0.9 * 160 + 0.1 * 320.
        assert!((estimate(&westwood) - 176.0).abs() < 1e-9);
    }

    #[test]
    fn a_sample_takes_50_ms_at_least() {
        let mut westwood = westwood(40.0);
        for at in [1.0, 1.01, 1.02, 1.03, 1.04] {
            observe(&mut westwood, at, 10, 0.01);
        }
        assert_eq!(westwood.own.bandwidth.estimate, None);
        observe(&mut westwood, 1.0625, 10, 0.01);
        // Five times ten in 62.5 ms.
        assert!((estimate(&westwood) - 800.0).abs() < 1e-9);
    }

    /// A bandwidth of 160 segments/s, a least round-trip time of 100 ms.
    fn measured(cwnd: f64) -> ClassicControl<Westwood> {
        let mut westwood = westwood(cwnd);
        observe(&mut westwood, 1.0, 1, 0.1);
        observe(&mut westwood, 1.125, 20, 0.125);
        westwood
    }

    #[test]
    fn grieco2004_a_loss_leaves_the_bandwidth_delay_product() {
        let mut wide = measured(40.0);
        wide.on_loss(&whole_loss(40.0));
        // 160 * 0.1.
        assert_eq!((wide.cwnd(), wide.ssthresh()), (16.0, 16.0));
        let mut narrow = measured(12.0);
        narrow.on_loss(&whole_loss(12.0));
        assert_eq!(
            (narrow.cwnd(), narrow.ssthresh()),
            (12.0, 16.0),
            "the paper lowers the window to the threshold, it never raises it"
        );
        wide.on_rto(&whole_loss(16.0));
        assert_eq!((wide.cwnd(), wide.ssthresh()), (1.0, 16.0));
    }

    #[test]
    fn a_loss_after_an_interval_in_which_nothing_arrived_leaves_a_segment() {
        let mut westwood = westwood(4.0);
        observe(&mut westwood, 1.0, 1, 0.1);
        observe(&mut westwood, 2.0, 0, 0.1);
        assert!(estimate(&westwood).abs() < 1e-9);
        // Only ns-2's windows go below the threshold's least.
        westwood.on_loss(&Episode {
            ns2: true,
            ..whole_loss(4.0)
        });
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (1.0, 2.0));
    }

    #[test]
    fn the_repair_may_set_the_window_instead() {
        let mut westwood = measured(40.0);
        westwood.own.set_at_repair = true;
        westwood.on_loss(&whole_loss(40.0));
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (20.0, 20.0));
        westwood.on_recovered(Instant::from_secs(1.2), Signal::Loss);
        // 160 * 0.1.
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (16.0, 16.0));
    }

    #[test]
    fn casetti2002_duplicates_count_one_segment_each_and_are_not_counted_again() {
        let mut westwood = westwood(40.0);
        // Two duplicates; of five segments then acknowledged three are news; a single one always is.
        let news =
            [0, 0, 5, 1, 0, 0, 0, 2, 2].map(|acked| westwood.own.news(&arrival(acked, false, 44)));
        assert_eq!(news, [1, 1, 3, 1, 1, 1, 1, 1, 1].map(segs));
        // Three reported, two acknowledged: one is left, which the last two take.
        assert_eq!(westwood.own.reported, SegCount::ZERO);
    }

    #[test]
    fn in_linux_a_repair_without_an_estimate_leaves_two_segments() {
        let mut westwood = westwood(40.0);
        westwood.own.set_at_repair = true;
        westwood.on_loss(&whole_loss(40.0));
        westwood.on_recovered(Instant::from_secs(0.05), Signal::Loss);
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (2.0, 2.0));
    }

    #[test]
    fn an_unknown_bandwidth_halves() {
        let mut westwood = westwood(40.0);
        westwood.on_loss(&whole_loss(40.0));
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (20.0, 20.0));
    }

    #[test]
    fn in_linux_two_stages_filter_intervals_longer_than_a_round_trip_in_ticks() {
        let start = ConnectionStart {
            tick: Duration::from_secs(0.01),
            ..beginning(10.0)
        };
        let set = [
            ("alpha", Value::Number(0.875)),
            ("stages", Value::Integer(2)),
            ("first_interval", Value::Choice("sent")),
        ];
        let mut westwood = made(start, &set);
        // Sent at 0.1 s; 41 ms are 5 ticks, so the interval must be longer than 50 ms: at 0.151 s it is 5 ticks, at 0.161 s 6.
        observe(&mut westwood, 0.141, 4, 0.041);
        observe(&mut westwood, 0.151, 2, 0.041);
        assert_eq!(westwood.own.bandwidth.estimate, None);
        observe(&mut westwood, 0.161, 1, 0.041);
        let first = westwood.own.bandwidth.estimate.expect("a sample");
        assert!((first - 100.0).abs() < 1e-9, "{first}: 6 segments in 60 ms");
        // What ends an interval begins the next: 1 + 17 in 60 ms are 300 per second, 4380 bytes a tick: the first stage is 1825, the second 1505.6, of which 1505 count.
        observe(&mut westwood, 0.2, 17, 0.041);
        observe(&mut westwood, 0.221, 1, 0.041);
        let second = westwood.own.bandwidth.estimate.expect("a sample");
        assert!((second - 150_500.0 / 1460.0).abs() < 1e-9, "{second}");
        // 41 ms count as 50 there: 5.2 segments.
        assert!((westwood.own.fitting(10.0) - 5.0 * 1505.0 / 1460.0).abs() < 1e-8);
    }

    #[test]
    fn casetti2002_duplicates_that_count_are_delivered_when_they_arrive() {
        let set = [("counts", Value::Choice("duplicates"))];
        let mut westwood = made(beginning(40.0), &set);
        westwood.on_handshake(Instant::from_secs(0.9), Duration::from_secs(0.125));
        let arrive = |westwood: &mut ClassicControl<Westwood>, at, acked| {
            westwood.on_arrival(&AckArrival {
                now: Instant::from_secs(at),
                acked: SegCount::new(acked),
                rtt: None,
                reports: false,
                window: ByteCount::new(9),
            });
        };
        arrive(&mut westwood, 1.0, 1);
        (0..9).for_each(|_| arrive(&mut westwood, 1.0625, 0));
        assert_eq!(westwood.own.bandwidth.estimate, None);
        arrive(&mut westwood, 1.125, 1);
        // Nine duplicates and one more in 125 ms; what comes with `on_ack` is not counted again.
        observe(&mut westwood, 1.125, 10, 0.125);
        assert!((estimate(&westwood) - 80.0).abs() < 1e-9);
    }

    #[test]
    fn in_linux_an_expected_acknowledgement_counts_all_that_it_acknowledges() {
        let set = [("counts", Value::Choice("expected"))];
        let mut westwood = made(beginning(40.0), &set);
        let mut news = |acked, reports, window| westwood.own.news(&arrival(acked, reports, window));
        assert_eq!(news(1, false, 44), segs(1));
        assert_eq!([(); 5].map(|()| news(0, true, 44)), [segs(1); 5]);
        // What the five have counted is kept.
        assert_eq!(news(6, false, 44), segs(6));
        assert_eq!(news(6, false, 40), segs(1), "another window");
        assert_eq!(news(6, false, 40), segs(6));
        assert_eq!(
            news(0, true, 41),
            segs(1),
            "a larger one is taken of a duplicate"
        );
        assert_eq!(news(6, true, 41), segs(5));
        assert_eq!(news(6, false, 41), segs(6));
    }

    #[test]
    fn in_linux_the_first_acknowledgement_counts_as_a_duplicate() {
        let mut westwood = made(beginning(10.0), &[("counts", Value::Choice("expected"))]);
        let mut news = |acked, reports| westwood.own.news(&arrival(acked, reports, 44));
        assert_eq!(news(3, false), segs(1));
        // The one that it has counted is not counted again.
        assert_eq!(news(4, true), segs(3));
    }

    #[test]
    fn in_linux_a_handshake_has_no_round_trip_time_and_no_estimate_is_zero_at_a_timeout() {
        let mut params = Params::defaults(ENTRY.params);
        ENTRY.new.set_as_in("linux", &mut params);
        let ticks = ConnectionStart {
            tick: Duration::from_secs(0.01),
            ..avoiding(20.0)
        };
        let own = Westwood::new(&params, ticks);
        let mut westwood = ClassicControl::new(beginning(10.0), own);
        westwood.on_handshake(Instant::from_secs(0.009), Duration::from_secs(0.009));
        assert_eq!(westwood.own.min_rtt, None);
        for (at, acked) in [(0.02, 1), (0.021, 4), (0.08, 1)] {
            westwood.on_arrival(&AckArrival {
                now: Instant::from_secs(at),
                acked: segs(acked),
                rtt: Some(Duration::from_secs(0.0114)),
                reports: false,
                window: ByteCount::new(44),
            });
        }
        // Five segments of 1460 bytes in 8 ticks are 912.5 bytes a tick, of which 912 count, and a round trip is of two ticks.
        assert!((estimate(&westwood) - 91_200.0 / 1460.0).abs() < 1e-9);
        assert!((westwood.own.fitting(10.0) - 2.0 * 912.0 / 1460.0).abs() < 1e-8);
        westwood.own.bandwidth.estimate = None;
        westwood.on_rto(&whole_loss(10.0));
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (1.0, 2.0));
    }
}
