//! H-TCP as it was measured of Linux 6.1: times are whole ticks of the host's clock, and alpha and beta whole 128ths.
//!
//! What parts it from the draft:
//! - a round-trip time is rounded up to whole ticks. T_max begins with T_min, and follows samples while all is in order that exceed it by 20 ms at most
//! - throughput is looked at once about a window has been acknowledged and T_min has passed, while nothing is being repaired; within three T_min after a loss it is what
//!   was seen last, and later a mean of which that is a quarter. Beta adapts from the second loss in a row on with a throughput like that of the loss before
//! - the time since a loss is counted from the end of its recovery. `f` is whole, and computed with each step of the window and at a loss, where it is still
//!   that of the time since the loss before
//! - what counts towards a step is what the last acknowledgement acknowledged that came while all was in order, for one acknowledgement, and one segment with any other

use super::ROUNDING;
use crate::cc::classic::{Avoidance, CongestionWindow};
use crate::cc::pace::HostTicks;
use crate::cc::{AckArrival, AckedData, Episode, PathOrder, Signal, VariableProbe, Windows};
use crate::registry::Params;
use crate::units::{Duration, Instant, SegCount, WindowSize, ceil, floor};

/// In what alpha and beta are counted.
const UNIT: f64 = 128.0;
/// By how much a sample may exceed T_max to be the next T_max, seconds.
const LEAP_SECS: f64 = 0.02;
/// Throughput is new for so many T_min after a loss.
const NEW_FOR: f64 = 3.0;

/// The parameters; times are in ticks.
#[derive(Clone, Copy, Debug)]
struct Rules {
    clock: HostTicks,
    /// Ticks in a second.
    second: f64,
    delta_l: f64,
    leap: f64,
    /// None when throughputs are not compared.
    delta_b: Option<f64>,
    beta_min: f64,
    beta_max: f64,
    adaptive_above: f64,
    t_max_keep: f64,
    /// Eight times the reference, and the bounds of an eighth of the divisor; none without scaling.
    scaling: Option<(f64, f64, f64)>,
}

/// Whole ticks.
fn rounded_up(clock: HostTicks, time: Duration) -> f64 {
    ceil(time.secs() / clock.tick - 1e-9)
}

impl Rules {
    fn new(params: &Params, tick: Duration) -> Self {
        let clock = HostTicks::of(tick);
        let rounded_up = |secs: f64| rounded_up(clock, Duration::from_secs(secs));
        Self {
            clock,
            second: rounded_up(1.0),
            delta_l: rounded_up(params.duration("delta_l")),
            leap: rounded_up(LEAP_SECS),
            delta_b: params
                .flag("bandwidth_switch")
                .then(|| params.number("delta_b")),
            beta_min: floor(params.number("beta_min") * UNIT),
            beta_max: floor(params.number("beta_max") * UNIT),
            adaptive_above: rounded_up(params.duration("adaptive_above")),
            t_max_keep: params.number("t_max_keep"),
            scaling: params.flag("rtt_scaling").then(|| {
                (
                    8.0 * params.duration("rtt_ref") / tick.secs(),
                    8.0 / params.number("rtt_scale_max"),
                    8.0 / params.number("rtt_scale_min"),
                )
            }),
        }
    }

    /// `f`, so many ticks after a loss.
    fn f(&self, passed: f64, t_min: f64) -> f64 {
        let mut f = 1.0;
        if passed > self.second {
            let over = passed - self.delta_l;
            let half = floor(over / 2.0);
            f += floor((10.0 * over + floor(half * half / self.second)) / self.second);
        }
        match self.scaling {
            Some((eight_refs, least, most)) if t_min > 0.0 => {
                let divisor = floor(eight_refs / t_min).max(least).min(most);
                floor(8.0 * f / divisor).max(1.0)
            }
            _ => f,
        }
    }
}

/// Segments per second.
#[derive(Clone, Copy, Debug)]
struct TickedThroughput {
    counted: f64,
    /// When counting began, ticks.
    since: f64,
    mean: f64,
    max: f64,
    /// What the largest was at the last loss.
    before: f64,
}

#[derive(Debug)]
pub(super) struct TickedHTcp {
    rules: Rules,
    throughput: TickedThroughput,
    t_min: Option<f64>,
    t_max: f64,
    alpha: f64,
    beta: f64,
    /// Whether the last loss had a throughput like the one before it.
    steady: bool,
    /// Since when the increase rises, ticks; and since when it did before the loss that is being repaired.
    since: Option<f64>,
    since_before: Option<f64>,
    order: PathOrder,
    /// What counts towards a step with the next acknowledgement.
    counts: SegCount,
}

impl TickedHTcp {
    pub(super) fn new(params: &Params, tick: Duration) -> Self {
        let rules = Rules::new(params, tick);
        Self {
            rules,
            throughput: TickedThroughput {
                counted: 0.0,
                since: f64::NEG_INFINITY,
                mean: 0.0,
                max: 0.0,
                before: 0.0,
            },
            t_min: None,
            t_max: 0.0,
            alpha: UNIT,
            beta: rules.beta_min,
            steady: false,
            since: None,
            since_before: None,
            order: PathOrder::InOrder,
            counts: SegCount::ONE,
        }
    }

    fn now(&self, now: Instant) -> f64 {
        self.rules.clock.count(now - Instant::START)
    }

    fn observe(&mut self, rtt: f64) {
        let t_min = self.t_min.map_or(rtt, |t_min| t_min.min(rtt));
        self.t_min = Some(t_min);
        if self.order == PathOrder::InOrder {
            self.t_max = self.t_max.max(t_min);
            if rtt <= self.t_max + self.rules.leap {
                self.t_max = self.t_max.max(rtt);
            }
        }
    }

    fn count(&mut self, now: f64, acked: f64, cwnd: f64) {
        let of = &mut self.throughput;
        if self.order == PathOrder::Repairing {
            (of.counted, of.since) = (0.0, now);
            return;
        }
        of.counted += acked;
        let short_of_a_window = floor(self.alpha / UNIT).max(1.0);
        let t_min = self.t_min.unwrap_or(0.0);
        if t_min == 0.0
            || now - of.since < t_min
            || cwnd < short_of_a_window
            || of.counted < cwnd - short_of_a_window
        {
            return;
        }
        let seen = floor(of.counted * self.rules.second / (now - of.since));
        let since_loss = now - self.since.unwrap_or(now);
        if floor(since_loss / t_min) <= NEW_FOR {
            (of.mean, of.max) = (seen, seen);
        } else {
            of.mean = floor((3.0 * of.mean + seen) / 4.0);
            of.max = of.max.max(of.mean);
        }
        (of.counted, of.since) = (0.0, now);
    }

    fn adapt_beta(&mut self) {
        self.beta = self.rules.beta_min;
        if let Some(delta_b) = self.rules.delta_b {
            let TickedThroughput { max, before, .. } = self.throughput;
            self.throughput.before = max;
            if (max - before).abs() > (delta_b + ROUNDING) * before {
                self.steady = false;
                return;
            }
        }
        let t_min = self.t_min.unwrap_or(0.0);
        if self.steady && t_min > self.rules.adaptive_above && self.t_max > 0.0 {
            let beta = floor(t_min * UNIT / self.t_max);
            self.beta = beta.max(self.rules.beta_min).min(self.rules.beta_max);
        } else {
            self.steady = true;
        }
    }

    fn adapt_alpha(&mut self, now: f64) {
        let passed = now - self.since.unwrap_or(now);
        let f = self.rules.f(passed, self.t_min.unwrap_or(0.0));
        self.alpha = 2.0 * f * (UNIT - self.beta);
    }
}

impl Avoidance for TickedHTcp {
    fn on_arrival(&mut self, window: &CongestionWindow, arrival: &AckArrival) {
        let now = self.now(arrival.now);
        self.since.get_or_insert(now);
        if self.order == PathOrder::InOrder {
            self.counts = arrival.acked;
        }
        if let Some(rtt) = arrival.rtt {
            self.observe(rounded_up(self.rules.clock, rtt));
        }
        if self.rules.delta_b.is_some() {
            self.count(now, arrival.acked.as_f64(), window.cwnd);
        }
    }

    fn measure(&mut self, _window: &mut CongestionWindow, ack: &AckedData) {
        self.order = ack.order;
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        if window.in_slow_start() {
            // What is left of the acknowledgement that ends it does not count.
            window.start_slowly(ack.counted);
            return;
        }
        let cwnd = window.cwnd;
        window.cwnd = window
            .growth
            .afterwards(cwnd, self.counts, self.alpha / UNIT);
        self.counts = SegCount::ONE;
        if window.cwnd > cwnd {
            self.adapt_alpha(self.now(ack.now));
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        if episode.signal == Signal::Rto {
            self.order = PathOrder::Repairing;
        }
        let now = self.now(episode.now);
        self.adapt_beta();
        self.adapt_alpha(now);
        if let Some(t_min) = self.t_min
            && self.t_max > t_min
        {
            self.t_max = t_min + floor((self.t_max - t_min) * self.rules.t_max_keep + 1e-9);
        }
        self.since_before = self.since.replace(now);
        episode.window * (self.beta / UNIT)
    }

    fn on_further_timeout(&mut self, now: Instant) {
        self.order = PathOrder::Repairing;
        self.since_before = self.since.replace(self.now(now));
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, now: Instant, _began: Signal) {
        if self.since_before.take().is_some() {
            self.since = Some(self.now(now));
        }
    }

    fn on_undo(&mut self, _window: &CongestionWindow, _before: Windows) {
        if let Some(before) = self.since_before.take() {
            self.since = Some(before);
        }
    }

    fn on_handshake(&mut self, _window: &mut CongestionWindow, now: Instant, _rtt: Duration) {
        self.since = Some(self.now(now));
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("alpha", self.alpha / UNIT);
        out("beta", self.beta / UNIT);
        out("b_max", self.throughput.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::htcp::ENTRY;
    use crate::cc::testing::*;
    use crate::cc::{ClassicControl, ConnectionStart};
    use crate::registry::Value;

    const TICK: f64 = 0.01;

    fn htcp(cwnd: f64, set: &[(&str, Value)]) -> ClassicControl<TickedHTcp> {
        let start = ConnectionStart {
            whole_windows: true,
            ..avoiding(cwnd)
        };
        let own = TickedHTcp::new(&params(&ENTRY, set), Duration::from_secs(TICK));
        ClassicControl::new(start, own)
    }

    fn arrive(htcp: &mut ClassicControl<TickedHTcp>, secs: f64, acked: u64, rtt: f64) {
        htcp.on_arrival(&AckArrival {
            now: Instant::from_secs(secs),
            acked: segs(acked),
            rtt: Some(Duration::from_secs(rtt)),
            reports: false,
            window: crate::units::ByteCount::new(1000),
        });
    }

    #[test]
    fn round_trips_are_whole_ticks_and_the_largest_rises_by_two_of_them_at_most() {
        let mut htcp = htcp(20.0, &[]);
        let largest = [0.021, 0.050, 0.061, 0.079, 0.0401].map(|rtt| {
            arrive(&mut htcp, 1.0, 1, rtt);
            (htcp.own.t_min, htcp.own.t_max)
        });
        let three = Some(3.0);
        assert_eq!(
            largest,
            [
                (three, 3.0),
                (three, 5.0),
                (three, 7.0),
                (three, 8.0),
                (three, 8.0)
            ]
        );
        htcp.own.order = PathOrder::Disordered;
        arrive(&mut htcp, 1.0, 1, 0.089);
        assert_eq!(htcp.own.t_max, 8.0, "only while all is in order");
    }

    #[test]
    fn f_is_whole_and_scaled_by_whole_eighths() {
        // 100 ticks a second. Two seconds after a loss: 1 + (10 * 100 + 50^2 / 100) / 100 = 11; at 10 ticks, the reference, that is all, at 5 half.
        let rules = Rules::new(&params(&ENTRY, &[]), Duration::from_secs(TICK));
        assert_eq!(rules.f(200.0, 10.0), 11.0);
        assert_eq!(rules.f(200.0, 5.0), 5.0);
        assert_eq!(rules.f(100.0, 5.0), 1.0);
        // 8 * 10 / 7 is 11 eighths, rounded down: 8 * 11 / 11 = 8.
        assert_eq!(rules.f(200.0, 7.0), 8.0);
    }

    #[test]
    fn the_time_since_a_loss_is_counted_from_the_end_of_its_recovery_but_for_a_spurious_one() {
        let mut htcp = htcp(20.0, &[]);
        arrive(&mut htcp, 1.0, 1, 0.05);
        htcp.on_loss(&loss_at(4.0, 20.0));
        assert_eq!(htcp.own.since, Some(400.0));
        htcp.on_recovered(Instant::from_secs(4.1), Signal::Loss);
        assert_eq!(htcp.own.since, Some(410.0));
        htcp.on_loss(&loss_at(5.0, 20.0));
        htcp.on_undo(Windows {
            cwnd: window(20.0),
            ssthresh: window(20.0),
        });
        assert_eq!(htcp.own.since, Some(410.0));
        htcp.on_recovered(Instant::from_secs(5.5), Signal::Loss);
        assert_eq!(htcp.own.since, Some(410.0));
    }

    #[test]
    fn a_second_loss_at_a_steady_throughput_leaves_t_min_over_t_max() {
        let mut htcp = htcp(20.0, &[]);
        // 5 ticks, then 7: 20 segments in each 7 ticks, 285 a second.
        arrive(&mut htcp, 0.0, 0, 0.05);
        let epoch = |htcp: &mut ClassicControl<TickedHTcp>, start: f64| {
            for round in 1..=10u32 {
                arrive(htcp, start + 0.07 * f64::from(round), 20, 0.07);
            }
            htcp.on_loss(&Episode {
                now: Instant::from_secs(start + 0.71),
                ..whole_loss(20.0)
            });
            let left = htcp.cwnd();
            htcp.window.cwnd = 20.0;
            left
        };
        assert_eq!(
            epoch(&mut htcp, 0.0),
            10.0,
            "the first has nothing to be like"
        );
        assert_eq!(
            epoch(&mut htcp, 1.0),
            10.0,
            "the second is the first like it"
        );
        // 5 / 7 in 128ths is 91: 14.2 of 20.
        assert_eq!(epoch(&mut htcp, 2.0), 14.0);
        assert_eq!(htcp.own.beta, 91.0);
    }

    #[test]
    fn what_counts_is_of_the_last_acknowledgement_that_came_in_order() {
        let mut htcp = htcp(3.0, &[]);
        let mut ack = |acked: u64, order| {
            arrive(&mut htcp, 0.5, acked, 0.05);
            htcp.on_ack(&AckedData {
                order,
                ..ack_at(0.5, acked, 3)
            });
            (htcp.cwnd(), htcp.own.counts.get())
        };
        // Two, two: a step, with the acknowledgement after them.
        assert_eq!(ack(2, PathOrder::InOrder), (3.0, 1));
        assert_eq!(ack(2, PathOrder::Disordered), (3.0, 1));
        assert_eq!(ack(9, PathOrder::InOrder), (4.0, 1));
    }
}
