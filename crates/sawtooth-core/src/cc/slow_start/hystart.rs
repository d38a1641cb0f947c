//! HyStart: ends slow start when the path seems full, before packets are lost.
//!
//! Specification: S. Ha, I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55 (2011), §4.
//!
//! Model, per round (a window's acknowledgements), from a window of `hystart_low_window` on:
//! - ACK train: acknowledgements that follow each other within `hystart_train_spacing` from the round's beginning on, for longer than
//!   `hystart_train_share` of the smallest round-trip time and `hystart_train_slack`
//! - delay increase: the smallest of the round's first `hystart_samples` round-trip times exceeds the connection's smallest by an eighth
//!   of that (`hystart_delay_divisor`), though by no less than `hystart_delay_min` and no more than `hystart_delay_max`; the last of these
//!   samples decides it, or the acknowledgement after it (`hystart_decides`)
//!
//! Deviations: the paper compares a round's delay with the round before; here it is the connection's smallest, as the clamped eighth
//! of the smallest round-trip time implies. Rounds are counted by sequence numbers; the acknowledgement of the last segment that had been sent
//! when a round began still belongs to it (a pause often follows it, and a train that began before the pause would never be one).
//!
//! Kernel equivalent: that of `cubic`. Measured of Linux 6.1 with 32 paths of 1.5 to 100 Mbit/s and 7 to 90 ms: it is the acknowledgement after the
//! eighth sample that ends slow start (20 of 20 paths where a delay does), and a train of more than half the smallest round-trip time of data and
//! 0.49 to 0.516 ms, which is half of 1 ms (all nine where a train does). A kernel that paces is expected to let trains last a whole
//! round-trip time (`hystart_train_share = 1`).

use super::{NewSlowStart, SlowStart};
use crate::cc::AckedData;
use crate::cc::params::{COUNT, TIME_FROM_ZERO};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::{Duration, SeqNum};

pub(crate) const ENTRY: Entry<NewSlowStart> = Entry {
    name: "hystart",
    summary: "HyStart: ends slow start at a long train of acknowledgements, or when the delay rises",
    specification: &["Ha and Rhee 2011 §4"],
    params: &PARAMS,
    new: |params, _| Box::new(HyStart::from(params)),
};

/// Its parameters, some of which HyStart++ shares.
pub(crate) const PARAMS: [Param; 10] = [
    param!(hystart_low_window: Kind::Number { min: 0.0, max: 1e9 } => Value::Number(16.0),
        "HyStart does nothing below this window, segments"),
    param!(hystart_detect: Kind::Choice(&["both", "train", "delay"]) => Value::Choice("both"),
        "what HyStart ends slow start at"),
    param!(hystart_train_spacing: TIME_FROM_ZERO => Value::Duration(0.002),
        "acknowledgements this close are one train (HyStart)"),
    param!(hystart_train_share: Kind::Number { min: 0.01, max: 10.0 } => Value::Number(0.5),
        "length of a train that fills the path, in smallest round-trip times (HyStart)"),
    param!(hystart_samples: COUNT => Value::Integer(8),
        "round-trip times that a round's delay is told from (HyStart and HyStart++: N_RTT_SAMPLE)"),
    param!(hystart_delay_divisor: Kind::Number { min: 1.0, max: 1000.0 } => Value::Number(8.0),
        "share of the round-trip time by which it must rise, inverse (HyStart and HyStart++: MIN_RTT_DIVISOR)"),
    param!(hystart_delay_min: TIME_FROM_ZERO => Value::Duration(0.004),
        "the rise is at least this (HyStart and HyStart++: MIN_RTT_THRESH)"),
    param!(hystart_delay_max: TIME_FROM_ZERO => Value::Duration(0.016),
        "the rise is at most this, unless hystart_delay_min is more (HyStart and HyStart++: MAX_RTT_THRESH)"),
    param!(hystart_train_slack: TIME_FROM_ZERO => Value::Duration(0.0),
        "time that is added to the smallest round-trip time before a train is compared with it (HyStart)"),
    param!(hystart_decides: Kind::Choice(&["last_sample", "next"]) => Value::Choice("last_sample"),
        "which acknowledgement tells that the delay has risen: that of the last of the round's samples, or the next (HyStart)"),
];

/// By how much a round-trip time must rise for the path to be full, and how many samples decide that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayRise {
    pub samples: i64,
    divisor: f64,
    min: f64,
    max: f64,
}

impl From<&Params> for DelayRise {
    fn from(params: &Params) -> Self {
        Self {
            samples: params.integer("hystart_samples"),
            divisor: params.number("hystart_delay_divisor"),
            min: params.duration("hystart_delay_min"),
            max: params.duration("hystart_delay_max"),
        }
    }
}

impl DelayRise {
    /// By how much a round-trip time of `rtt` must rise, both in seconds.
    pub(crate) fn over(&self, rtt: f64) -> f64 {
        (rtt / self.divisor).min(self.max).max(self.min)
    }
}

/// The acknowledgements of one window.
#[derive(Clone, Copy, Debug)]
struct HystartRound {
    /// One past the last segment that had been sent when it began: the round is over when more than that is acknowledged.
    end: SeqNum,
    start_secs: f64,
    /// The last acknowledgement of the train that began with the round.
    train_secs: f64,
    samples: i64,
    min_rtt: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    low_window: f64,
    trains: bool,
    delays: bool,
    spacing: f64,
    share: f64,
    slack: f64,
    rise: DelayRise,
    next_decides: bool,
    /// The connection's smallest round-trip time, seconds.
    min_rtt: f64,
    round: Option<HystartRound>,
}

impl From<&Params> for HyStart {
    fn from(params: &Params) -> Self {
        let detect = params.choice("hystart_detect");
        Self {
            low_window: params.number("hystart_low_window"),
            trains: detect != "delay",
            delays: detect != "train",
            spacing: params.duration("hystart_train_spacing"),
            share: params.number("hystart_train_share"),
            slack: params.duration("hystart_train_slack"),
            rise: params.into(),
            next_decides: params.choice("hystart_decides") == "next",
            min_rtt: f64::INFINITY,
            round: None,
        }
    }
}

impl SlowStart for HyStart {
    fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt.secs());
    }

    fn restart(&mut self) -> bool {
        self.round = None;
        true
    }

    fn ends(&mut self, ack: &AckedData, cwnd: f64) -> bool {
        let now = ack.now.secs();
        let round = match &mut self.round {
            Some(round) if ack.snd_una <= round.end => round,
            over => over.insert(HystartRound {
                end: ack.snd_nxt,
                start_secs: now,
                train_secs: now,
                samples: 0,
                min_rtt: f64::INFINITY,
            }),
        };
        if cwnd < self.low_window {
            return false;
        }
        let mut full = false;
        if self.trains && now - round.train_secs <= self.spacing {
            round.train_secs = now;
            full = now - round.start_secs > self.share * (self.min_rtt + self.slack);
        }
        if let (true, Some(rtt)) = (self.delays, ack.rtt.map(Duration::secs)) {
            let complete = round.samples >= self.rise.samples;
            if !complete {
                round.samples += 1;
                round.min_rtt = round.min_rtt.min(rtt);
            }
            full |= (complete || (!self.next_decides && round.samples >= self.rise.samples))
                && round.min_rtt > self.min_rtt + self.rise.over(self.min_rtt);
        }
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn hystart(detect: &'static str) -> HyStart {
        let mut params = Params::defaults(&PARAMS);
        params.set("hystart_detect", Value::Choice(detect));
        HyStart::from(&params)
    }

    fn ack(secs: f64, snd_una: u64, rtt: f64) -> AckedData {
        AckedData {
            snd_una: SeqNum::new(snd_una),
            snd_nxt: SeqNum::new(snd_una + 100),
            rtt: Some(Duration::from_secs(rtt)),
            ..ack_at(secs, 1, 100)
        }
    }

    /// The acknowledgement at which slow start ends, of up to 100 of one round.
    fn ends_at(
        hystart: &mut HyStart,
        cwnd: f64,
        spacing: f64,
        rtt: impl Fn(u32) -> f64,
    ) -> Option<u32> {
        (0..100).find(|&n| {
            let ack = ack(1.0 + f64::from(n) * spacing, u64::from(n), rtt(n));
            hystart.on_rtt(ack.rtt.unwrap());
            hystart.ends(&ack, cwnd)
        })
    }

    #[test]
    fn the_rise_is_an_eighth_between_4_and_16_ms() {
        let rise = hystart("both").rise;
        for (rtt, expected) in [(0.010, 0.004), (0.080, 0.010), (0.400, 0.016)] {
            assert!((rise.over(rtt) - expected).abs() < 1e-12, "{rtt}");
        }
    }

    #[test]
    fn a_train_longer_than_half_the_smallest_round_trip_time_ends_slow_start() {
        // 40 ms: the train is too long after 20 ms; at 1.5 ms each that is the 14th acknowledgement after the first (21 ms).
        assert_eq!(
            ends_at(&mut hystart("train"), 20.0, 0.0015, |_| 0.04),
            Some(14)
        );
        // A gap of more than 2 ms is no train.
        assert_eq!(ends_at(&mut hystart("train"), 20.0, 0.0021, |_| 0.04), None);
        assert_eq!(
            ends_at(&mut hystart("delay"), 20.0, 0.0015, |_| 0.04),
            None,
            "unless trains do not matter"
        );
    }

    #[test]
    fn nothing_ends_slow_start_below_the_low_window() {
        assert_eq!(ends_at(&mut hystart("train"), 15.9, 0.0015, |_| 0.04), None);
    }

    #[test]
    fn the_smallest_of_eight_samples_must_exceed_the_connections_smallest_by_the_rise() {
        // 80 ms may rise by 10 ms. The eighth sample (n = 7) decides.
        let mut delay = hystart("delay");
        delay.on_rtt(Duration::from_secs(0.080));
        assert_eq!(ends_at(&mut delay, 20.0, 0.003, |_| 0.0901), Some(7));
        let mut delay = hystart("delay");
        delay.on_rtt(Duration::from_secs(0.080));
        assert_eq!(ends_at(&mut delay, 20.0, 0.003, |_| 0.0899), None);
        // One low sample among the eight keeps it from ending.
        let mut delay = hystart("delay");
        delay.on_rtt(Duration::from_secs(0.080));
        let rtt = |n| if n == 5 { 0.085 } else { 0.100 };
        assert_eq!(ends_at(&mut delay, 20.0, 0.003, rtt), None);
    }

    #[test]
    fn linux_decides_with_the_acknowledgement_after_the_samples_and_adds_a_millisecond_to_trains() {
        let mut params = Params::defaults(&PARAMS);
        params.set("hystart_train_slack", Value::Duration(0.001));
        params.set("hystart_decides", Value::Choice("next"));
        let mut linux = HyStart::from(&params);
        linux.on_rtt(Duration::from_secs(0.080));
        assert_eq!(ends_at(&mut linux, 20.0, 0.003, |_| 0.0901), Some(8));
        // The minimum is over the first eight samples only.
        let mut linux = HyStart::from(&params);
        linux.on_rtt(Duration::from_secs(0.080));
        let rtt = |n| if n == 8 { 0.085 } else { 0.0901 };
        assert_eq!(ends_at(&mut linux, 20.0, 0.003, rtt), Some(8));
        // At 1.5 ms each the 14th comes after 21 ms: more than half of 40 + 1 ms, and less than half of 41.2 + 1 ms.
        assert_eq!(
            ends_at(&mut HyStart::from(&params), 20.0, 0.0015, |_| 0.04),
            Some(14)
        );
        assert_eq!(
            ends_at(&mut HyStart::from(&params), 20.0, 0.0015, |_| 0.0412),
            Some(15)
        );
    }

    #[test]
    fn a_new_round_takes_new_samples_and_a_new_train() {
        let mut delay = hystart("delay");
        delay.on_rtt(Duration::from_secs(0.080));
        for n in 0..7 {
            assert!(!delay.ends(&ack(1.0, n, 0.100), 20.0));
        }
        // Segment 100 was next when the round began: what acknowledges it, too, is the first sample of another.
        assert!(!delay.ends(&ack(1.1, 101, 0.100), 20.0));
        assert_eq!(delay.round.unwrap().samples, 1);
    }
}
