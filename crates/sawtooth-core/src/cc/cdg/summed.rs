//! CDG where windows are whole, as in a kernel: sums of gradients, a hybrid slow start and a shadow window of its own.
//!
//! What parts it from the paper:
//! - the handshake's round-trip time counts, and so a least one grows by what data takes longer on the path than a SYN (measured of Linux 6.1: over 100 Mbit/s and 300 ms, 0.115 ms longer, the first
//!   rounds of slow start end with a backoff in 11, 7, 6 and 2 of 300, 289, 282 and 276 cases; that of RTT_max alone, 1 to 5 ms, would be one in 3)
//! - a round trip's sample of a lone segment, which the receiver may have held back, counts only towards a least that there is, once for each of the last
//!   acknowledgements of several segments, five at most
//! - gradients are summed over the last `window` round trips, scaled up until there are so many; it is that of RTT_min that counts if it is positive, and else that of RTT_max
//! - after `ineffective` backoffs there are none until a sum has fallen to -32 us
//! - the round trip in which a reduction ends only serves the next as a start
//! - the shadow window is what there would be without backoffs, from the beginning on; a loss leaves half of it, the window at most, and half the window at least

use crate::cc::classic::{Avoidance, CongestionWindow};
use crate::cc::{AckedData, ConnectionStart, Episode, PathOrder, Signal, VariableProbe};
use crate::registry::Params;
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize, floor};

/// A sum that has fallen this low shows that backing off has helped, microseconds.
const FALLEN_US: f64 = -32.0;
/// Of how many acknowledgements of several segments is remembered that the receiver holds some back.
const HELD_BACK: u32 = 5;
/// A round trip's samples without which its least does not end slow start.
const SAMPLES: u32 = 8;
/// Acknowledgements closer than this are a train, and no bound of slow start is shorter than that; microseconds.
const GAP_US: f64 = 3000.0;
const SHORTEST_US: f64 = 125.0;

/// The extremes of a round trip, or how they have changed; microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    min: Option<f64>,
    max: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct RttChange {
    min: f64,
    max: f64,
}

/// How round-trip times change, summed over the last round trips.
#[derive(Clone, Debug)]
struct Sums {
    changes: Vec<RttChange>,
    next: usize,
    filled: bool,
    sum: RttChange,
}

impl Sums {
    /// The gradient that counts after another round trip.
    #[expect(clippy::cast_precision_loss, reason = "a window is small")]
    fn add(&mut self, change: RttChange) -> f64 {
        let oldest = std::mem::replace(&mut self.changes[self.next], change);
        self.sum.min += change.min - oldest.min;
        self.sum.max += change.max - oldest.max;
        self.next = (self.next + 1) % self.changes.len();
        self.filled |= self.next == 0;
        let gradient = if self.sum.min > 0.0 {
            self.sum.min
        } else {
            self.sum.max
        };
        if self.filled {
            gradient
        } else {
            gradient * self.changes.len() as f64 / self.next as f64
        }
    }

    fn has_fallen(&self) -> bool {
        self.sum.min <= FALLEN_US || self.sum.max <= FALLEN_US
    }
}

/// What ends slow start.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    least_us: Option<f64>,
    /// When it began, and its last acknowledgement.
    began_and_last_us: Option<(f64, f64)>,
    samples: u32,
}

impl Train {
    fn ends(&mut self, now_us: f64, rtt: Extremes, limited: bool) -> bool {
        if let Some(min) = rtt.min {
            self.least_us = Some(self.least_us.map_or(min, |least| least.min(min)));
        }
        let Some(least) = self.least_us else {
            return false;
        };
        match self.began_and_last_us {
            Some((began, latest)) if limited => {
                if now_us < latest + GAP_US {
                    self.began_and_last_us = Some((began, now_us));
                    if now_us > began + floor(least / 2.0).max(SHORTEST_US) {
                        return true;
                    }
                }
            }
            _ => self.began_and_last_us = Some((now_us, now_us)),
        }
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        rtt.min
            .is_some_and(|min| min > (least + floor(least / 8.0)).max(SHORTEST_US))
    }
}

/// In whole microseconds.
fn in_us(time: Duration) -> f64 {
    floor(time.secs() * 1e6 + 1e-3)
}

#[derive(Debug)]
pub(super) struct SummedCdg {
    /// The sum of gradients whose probability of a backoff is `1 - 1/e`, microseconds.
    scale_us: f64,
    beta: f64,
    ineffective: i64,
    shadow: Option<f64>,
    random: RandomStream,
    sums: Sums,
    rtt: Extremes,
    rtt_before: Extremes,
    /// The round trip is over when more than this has been acknowledged.
    end: SeqNum,
    train: Train,
    held_back: u32,
    backoffs: i64,
    backed_off: bool,
    /// A reduction has ended since the last acknowledgement.
    recovered: bool,
}

impl SummedCdg {
    #[expect(clippy::cast_precision_loss, reason = "a window is small")]
    pub(super) fn new(params: &Params, start: ConnectionStart) -> Self {
        let window = usize::try_from(params.integer("window")).expect("bounds");
        Self {
            scale_us: params.duration("g") * 1e6 * window as f64,
            beta: params.number("beta"),
            ineffective: params.integer("ineffective"),
            shadow: params.flag("shadow").then(|| start.cwnd.segments()),
            random: RandomStream::new(start.seed, "cdg"),
            sums: Sums {
                changes: vec![RttChange::default(); window],
                next: 0,
                filled: false,
                sum: RttChange::default(),
            },
            rtt: Extremes::default(),
            rtt_before: Extremes::default(),
            end: SeqNum::ZERO,
            train: Train::default(),
            held_back: 0,
            backoffs: 0,
            backed_off: false,
            recovered: false,
        }
    }

    fn sample(&mut self, rtt: Duration, ack: &AckedData) {
        let us = in_us(rtt);
        if ack.order == PathOrder::InOrder {
            if ack.acked == SegCount::ONE && self.held_back > 0 {
                self.rtt.min = self.rtt.min.map(|min| min.min(us));
                self.held_back -= 1;
                return;
            }
            if ack.acked > SegCount::ONE {
                self.held_back = (self.held_back + 1).min(HELD_BACK);
            }
        }
        self.rtt.min = Some(self.rtt.min.map_or(us, |min| min.min(us)));
        self.rtt.max = self.rtt.max.max(us);
    }

    /// The gradient at the end of a round trip, if this acknowledgement ends one.
    fn gradient(&mut self, ack: &AckedData) -> Option<f64> {
        let measured = self.rtt.min.is_some() || self.rtt.max > 0.0;
        if ack.snd_una <= self.end || !measured {
            return None;
        }
        self.end = ack.snd_nxt;
        let (rtt, before) = (std::mem::take(&mut self.rtt), self.rtt_before);
        self.rtt_before = rtt;
        (self.train.began_and_last_us, self.train.samples) = (None, 0);
        if before.min.is_none() && before.max == 0.0 {
            return None;
        }
        let gradient = self.sums.add(RttChange {
            min: rtt.min.unwrap_or(0.0) - before.min.unwrap_or(0.0),
            max: rtt.max - before.max,
        });
        if self.sums.has_fallen() {
            self.backoffs = 0;
        }
        Some(gradient)
    }

    fn backs_off(&mut self, gradient_us: f64) -> bool {
        let stays = libm::exp(-gradient_us / self.scale_us);
        if gradient_us <= 0.0 || self.random.uniform() <= stays {
            return false;
        }
        self.backoffs += 1;
        self.backoffs <= self.ineffective
    }
}

impl Avoidance for SummedCdg {
    fn on_handshake(&mut self, _window: &mut CongestionWindow, _now: Instant, rtt: Duration) {
        let us = in_us(rtt);
        (self.rtt.min, self.rtt.max) = (Some(us), us);
    }

    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt, ack);
        }
        if std::mem::take(&mut self.recovered) {
            self.end = ack.snd_nxt;
            self.rtt_before = std::mem::take(&mut self.rtt);
        }
        if !ack.may_grow {
            return;
        }
        let now_us = in_us(ack.now - Instant::START);
        if window.in_slow_start() && self.train.ends(now_us, self.rtt, ack.cwnd_limited) {
            window.ssthresh = window.cwnd.max(2.0);
        }
        if let Some(gradient) = self.gradient(ack)
            && self.backs_off(gradient)
        {
            self.shadow = self.shadow.map(|shadow| shadow.max(window.cwnd));
            window.back_off(self.beta);
            self.backed_off = true;
            return;
        }
        if !ack.cwnd_limited {
            self.shadow = self.shadow.map(|shadow| shadow.min(window.cwnd));
            return;
        }
        let before = window.cwnd;
        window.grow_as_standard(ack);
        self.shadow = self.shadow.map(|shadow| shadow + window.cwnd - before);
    }

    fn has_backed_off(&mut self) -> bool {
        std::mem::take(&mut self.backed_off)
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let half = window.whole(episode.window.segments() / 2.0);
        let left = self.shadow.as_mut().map_or(half, |shadow| {
            *shadow = floor(*shadow / 2.0).min(episode.window.segments());
            shadow.max(half)
        });
        WindowSize::from_segments(left)
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _now: Instant, began: Signal) {
        self.recovered = began != Signal::Rto;
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("g_bar_min", self.sums.sum.min / 1e6);
        out("g_bar_max", self.sums.sum.max / 1e6);
        out("s", self.shadow.unwrap_or(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::ClassicControl;
    use crate::cc::cdg::ENTRY;
    use crate::cc::testing::*;
    use crate::registry::Value;

    /// Any gradient above zero backs off, or none does.
    const CERTAIN: f64 = 1e-12;
    const NEVER: f64 = 1e6;

    fn cdg(start: ConnectionStart, g_secs: f64) -> ClassicControl<SummedCdg> {
        let start = ConnectionStart {
            whole_windows: true,
            ..start
        };
        let set = [("g", Value::Duration(g_secs))];
        ClassicControl::new(start, SummedCdg::new(&params(&ENTRY, &set), start))
    }

    /// A round trip whose samples are these two, with acknowledgements of two segments.
    fn round(cdg: &mut ClassicControl<SummedCdg>, min_secs: f64, max_secs: f64) {
        let end = cdg.own.end;
        for (rtt_secs, snd_una) in [(min_secs, end), (max_secs, end.next())] {
            cdg.on_ack(&AckedData {
                rtt: Some(Duration::from_secs(rtt_secs)),
                snd_una,
                snd_nxt: snd_una + segs(2),
                ..ack_at(1.0, 2, 100)
            });
        }
    }

    #[test]
    fn sums_are_scaled_up_until_the_window_is_filled_and_the_least_counts_first() {
        let mut sums = Sums {
            changes: vec![RttChange::default(); 4],
            next: 0,
            filled: false,
            sum: RttChange::default(),
        };
        let rises = |min: f64, max: f64| RttChange { min, max };
        assert_eq!(sums.add(rises(10.0, 100.0)), 40.0);
        assert_eq!(sums.add(rises(-10.0, 100.0)), 400.0);
        assert_eq!(sums.add(rises(0.0, -500.0)), -400.0);
        assert!(sums.has_fallen());
        assert_eq!(sums.add(rises(0.0, 0.0)), -300.0);
        // The first has left the window.
        assert_eq!(sums.add(rises(0.0, 0.0)), -400.0);
    }

    #[test]
    fn a_lone_segments_sample_counts_only_towards_a_least_that_there_is() {
        let mut cdg = cdg(avoiding(100.0), NEVER);
        let mut sample = |acked, ms: f64| {
            cdg.own
                .sample(Duration::from_secs(ms / 1e3), &ack_at(1.0, acked, 10));
            (cdg.own.rtt.min, cdg.own.rtt.max)
        };
        assert_eq!(sample(2, 20.0), (Some(20_000.0), 20_000.0));
        assert_eq!(sample(1, 60.0), (Some(20_000.0), 20_000.0));
        // One acknowledgement of two is good for one sample.
        assert_eq!(sample(1, 60.0), (Some(20_000.0), 60_000.0));
        assert_eq!(sample(2, 20.0), (Some(20_000.0), 60_000.0));
        assert_eq!(sample(1, 10.0), (Some(10_000.0), 60_000.0));
    }

    #[test]
    fn six_backoffs_without_effect_are_one_too_many() {
        let mut cdg = cdg(avoiding(400.0), CERTAIN);
        let mut backed_off = Vec::new();
        for n in 0_u32..20 {
            let rtt_secs = 0.1 + 0.001 * f64::from(n);
            round(&mut cdg, rtt_secs, rtt_secs);
            if cdg.has_backed_off() {
                backed_off.push(n);
            }
        }
        assert_eq!(backed_off, [1, 2, 3, 4, 5]);
        // Once the sums have fallen they count anew.
        for _ in 0..9 {
            round(&mut cdg, 0.09, 0.09);
        }
        assert!(!cdg.has_backed_off());
        round(&mut cdg, 0.095, 0.095);
        assert!(cdg.has_backed_off());
    }

    #[test]
    fn a_loss_leaves_half_of_what_there_would_be_without_backoffs() {
        let mut cdg = cdg(avoiding(100.0), NEVER);
        cdg.own.shadow = Some(128.0);
        cdg.on_loss(&whole_loss(80.0));
        assert_eq!((cdg.ssthresh(), cdg.own.shadow), (64.0, Some(64.0)));
        cdg.on_loss(&whole_loss(200.0));
        assert_eq!((cdg.ssthresh(), cdg.own.shadow), (100.0, Some(32.0)));
        cdg.own.shadow = Some(1000.0);
        cdg.on_loss(&whole_loss(30.0));
        assert_eq!(cdg.ssthresh(), 30.0, "no more than there was");
    }

    #[test]
    fn the_round_trip_in_which_a_reduction_ends_has_no_gradient() {
        let mut cdg = cdg(avoiding(100.0), CERTAIN);
        round(&mut cdg, 0.1, 0.1);
        round(&mut cdg, 0.1, 0.1);
        cdg.on_recovered(Instant::from_secs(1.0), Signal::Loss);
        round(&mut cdg, 0.2, 0.2);
        assert!(!cdg.has_backed_off());
        round(&mut cdg, 0.3, 0.3);
        assert!(cdg.has_backed_off());
    }

    #[test]
    fn the_handshake_is_part_of_the_first_round_trip() {
        let mut cdg = cdg(avoiding(100.0), CERTAIN);
        cdg.on_handshake(Instant::from_secs(0.1), Duration::from_secs(0.1));
        round(&mut cdg, 0.101, 0.101);
        round(&mut cdg, 0.101, 0.101);
        assert!(cdg.has_backed_off());
    }

    #[test]
    fn as_measured_slow_start_ends_with_a_train_of_half_the_least_round_trip_time() {
        let mut cdg = cdg(beginning(20.0), NEVER);
        // A round of 20 acknowledgements, 1.2 ms apart, whose round-trip times rise; then another, after a pause of 10 ms, that begins at 34 ms.
        let ended = (0..40_u32).find(|&n| {
            let ms = 1.2 * f64::from(n % 20) + 34.0 * f64::from(n / 20);
            cdg.on_ack(&AckedData {
                rtt: Some(Duration::from_secs(0.04 + 0.0001 * f64::from(n))),
                snd_una: SeqNum::new(u64::from(n + 1)),
                snd_nxt: SeqNum::new(u64::from(n / 20 + 1) * 20),
                ..ack_at(1.0 + ms * 1e-3, 1, 20)
            });
            cdg.ssthresh().is_finite()
        });
        // Half of 40 ms from the second acknowledgement on: 17 * 1.2 = 20.4 ms later, the nineteenth; the window has grown by one with each before.
        assert_eq!((ended, cdg.ssthresh()), (Some(18), 38.0));
    }
}
