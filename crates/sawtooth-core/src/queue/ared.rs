//! Adaptive RED: RED that finds its own thresholds, weight and `max_p` for a target delay.
//!
//! Specification: Floyd, Gummadi & Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue Management", August
//! 2001 (figure 1; §4.1 the range of `max_p`, §4.2 its steps, §4.3 weight, and the thresholds of its section on automatic settings).
//!
//! Model: gentle RED ([`super::red`]) whose `max_p` is corrected every `interval`: if the average is above its target range, the middle fifth
//! between the thresholds, `max_p` grows by `alpha`, unless it is above `max_p_most`; if it is below, `max_p` is multiplied by `beta`, unless that
//! is below `max_p_least`. What is not given is derived from the link's rate in packets of `mean_packet` per second, C:
//! - `min_threshold` = max(5 packets, `target_delay` C / 2), `max_threshold` = 3 `min_threshold`;
//! - `weight` = 1 - exp(-1/C): the average forgets with a time constant of one second;
//! - `alpha` = min(0.01, `max_p`/4).
//!
//! The average at a correction is that of the last arrival, or, while the link is idle, what an arrival then would find.
//!
//! Deviations: none known.
//!
//! Kernel equivalent: `red` with `adaptative`, which takes thresholds and weight as given.

use super::drop_tail::LIMIT;
use super::red::{
    self, BYTE_MODE, ECN, HARD_DROP, MAX_P, MAX_PACKET, MEAN_PACKET, Red, RedAdaptation, RedLaw,
};
use super::{NewQueue, Site};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::Instant;

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "ared",
    summary: "adaptive RED: thresholds from a target delay, probability from what the queue does",
    specification: &[
        "Floyd, Gummadi & Shenker, Adaptive RED, 2001",
        "RFC 3168 §5",
    ],
    params: &[
        LIMIT,
        param!(target_delay: Kind::Duration { min_exclusive: true } => Value::Duration(0.005),
            "average queueing delay that thresholds left open are derived from"),
        param!(min_threshold: Kind::QueueSize => Value::None,
            "as of red; none: 5 packets or half the target delay, whichever is more"),
        param!(max_threshold: Kind::QueueSize => Value::None,
            "as of red; none: three times min_threshold"),
        param!(weight: red::WEIGHT => Value::None,
            "share of the queue at each arrival in its average (w_q); none: 1 - exp(-1/C) at C packets a second"),
        Param {
            summary: "probability of a signal as the average reaches max_threshold, at the start",
            ..MAX_P
        },
        param!(max_p_least: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.01),
            "max_p is not made smaller below this"),
        param!(max_p_most: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.5),
            "max_p is not made larger above this"),
        param!(interval: Kind::Period => Value::Duration(0.5),
            "time between corrections of max_p"),
        param!(alpha: Kind::Number { min: 0.0, max: 1.0 } => Value::None,
            "what max_p grows by; none: 0.01 or a quarter of it, whichever is less"),
        param!(beta: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.9),
            "what max_p is multiplied by to make it smaller"),
        MEAN_PACKET,
        MAX_PACKET,
        BYTE_MODE,
        ECN,
        HARD_DROP,
    ],
    new: |params, site| {
        let law = law(params, &site);
        let adaptation = Box::new(Corrections::of(params));
        Box::new(Red::new(params, law, Some(adaptation), site.stream))
    },
};

/// What is given, and what follows from the link's rate.
fn law(params: &Params, site: &Site) -> RedLaw {
    let known = RedLaw::of(params, site);
    let packets_per_sec = 1.0 / known.mean_packet.secs();
    let derived = (params.duration("target_delay") * packets_per_sec / 2.0).max(5.0);
    let given = red::threshold(params.get("min_threshold"));
    let max = red::threshold(params.get("max_threshold"));
    // Of two thresholds one decides what both are counted in.
    let in_bytes = given.or(max).is_some_and(|(_, in_bytes)| in_bytes);
    #[expect(clippy::cast_precision_loss, reason = "a packet's size")]
    let unit = if in_bytes {
        params.bytes("mean_packet") as f64
    } else {
        1.0
    };
    let min = given.map_or(derived * unit, |(min, _)| min);
    RedLaw {
        min,
        max: max.map_or(3.0 * min, |(max, _)| max),
        in_bytes,
        weight: match params.get("weight") {
            Value::Number(weight) => weight,
            _ => -libm::expm1(-1.0 / packets_per_sec),
        },
        ..known
    }
}

/// How `max_p` is corrected.
#[derive(Clone, Copy, Debug)]
struct Corrections {
    interval: f64,
    alpha: Option<f64>,
    beta: f64,
    least: f64,
    most: f64,
    /// Corrections so far: the next is `interval` times one more.
    done: u64,
}

impl Corrections {
    fn of(params: &Params) -> Self {
        Self {
            interval: params.duration("interval"),
            alpha: match params.get("alpha") {
                Value::Number(alpha) => Some(alpha),
                _ => None,
            },
            beta: params.number("beta"),
            least: params.number("max_p_least"),
            most: params.number("max_p_most"),
            done: 0,
        }
    }

    fn correct(&self, law: &mut RedLaw, avg: f64) {
        let span = law.max - law.min;
        if avg > law.min + 0.6 * span && law.max_p <= self.most {
            law.max_p += self.alpha.unwrap_or((law.max_p / 4.0).min(0.01));
            law.max_p = law.max_p.min(1.0);
        } else if avg < law.min + 0.4 * span && law.max_p >= self.least {
            law.max_p *= self.beta;
        }
    }
}

impl RedAdaptation for Corrections {
    #[expect(clippy::cast_precision_loss, reason = "a count of corrections")]
    fn catch_up(&mut self, law: &mut RedLaw, avg: f64, idle_since: Option<Instant>, now: Instant) {
        loop {
            let time = Instant::from_secs((self.done + 1) as f64 * self.interval);
            if time > now {
                return;
            }
            self.done += 1;
            let avg = idle_since.map_or(avg, |since| red::after_idle(law, avg, time - since));
            self.correct(law, avg);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::params;
    use crate::rng::RandomStream;
    use crate::units::Rate;
    use crate::units::testing::at;

    fn derived(values: &[(&str, Value)], rate_bps: f64) -> RedLaw {
        let site = Site {
            rate: Rate::from_bps(rate_bps),
            stream: RandomStream::new(1, "ared"),
        };
        law(&params(&ENTRY, values), &site)
    }

    #[test]
    fn what_is_left_open_follows_from_the_rate_and_the_target_delay() {
        // 10 Mbit/s are C = 2500 packets of 500 bytes a second, 6.25 of them half of 5 ms; 1 - exp(-1/2500) = 0.00039992.
        let law = derived(&[], 10e6);
        assert!((law.min - 6.25).abs() < 1e-9 && (law.max - 18.75).abs() < 1e-9);
        assert!((law.weight - 0.000_399_92).abs() < 1e-10);
        assert!(law.gentle && !law.in_bytes);
        // At 1 Mbit/s that would be less than 5.
        assert!((derived(&[], 1e6).min - 5.0).abs() < 1e-12);
        // What is given stays, and says what is counted.
        let law = derived(&[("min_threshold", Value::Bytes(30_000))], 10e6);
        assert_eq!((law.min, law.max, law.in_bytes), (30_000.0, 90_000.0, true));
        let law = derived(&[("max_threshold", Value::Bytes(90_000))], 10e6);
        assert!((law.min - 3125.0).abs() < 1e-6, "6.25 packets of 500 bytes");
    }

    #[test]
    fn figure_1_max_p_is_corrected_outside_the_middle_fifth() {
        let corrected = |max_p, avg| {
            let mut law = RedLaw {
                min: 10.0,
                max: 30.0,
                max_p,
                ..derived(&[], 10e6)
            };
            Corrections::of(&params(&ENTRY, &[])).correct(&mut law, avg);
            law.max_p
        };
        // The target range is 18 to 22.
        assert_eq!(corrected(0.1, 18.1), 0.1);
        assert_eq!(corrected(0.1, 21.9), 0.1);
        assert!((corrected(0.1, 22.1) - 0.11).abs() < 1e-12, "0.01 more");
        assert!(
            (corrected(0.02, 22.1) - 0.025).abs() < 1e-12,
            "a quarter more"
        );
        assert!((corrected(0.1, 17.9) - 0.09).abs() < 1e-12, "a tenth less");
        assert_eq!(corrected(0.51, 22.1), 0.51, "no more above 0.5");
        assert_eq!(corrected(0.009, 17.9), 0.009, "no less below 0.01");
    }

    #[test]
    fn corrections_are_made_at_multiples_of_the_interval_however_late_they_are_asked_for() {
        let mut law = derived(&[], 10e6);
        let mut adaptation = Corrections::of(&params(&ENTRY, &[]));
        adaptation.catch_up(&mut law, 30.0, None, at(0.499));
        assert_eq!(law.max_p, 0.1);
        // At 0.5, 1 and 1.5 s.
        adaptation.catch_up(&mut law, 30.0, None, at(1.6));
        assert!((law.max_p - 0.13).abs() < 1e-12);
        // The range is 11.25 to 13.75. Idle since 1.9 s, at 2 s the average has fallen by exp(-0.1) = 0.905 to 15.8; since 1.6 s, at 2.5 s to 7.1.
        adaptation.catch_up(&mut law, 17.5, Some(at(1.9)), at(2.0));
        assert!((law.max_p - 0.14).abs() < 1e-12);
        adaptation.catch_up(&mut law, 17.5, Some(at(1.6)), at(2.5));
        assert!((law.max_p - 0.126).abs() < 1e-12);
    }

    #[test]
    fn figure_1_the_target_range_includes_its_ends() {
        let mut law = RedLaw {
            min: 10.0,
            max: 30.0,
            ..derived(&[], 10e6)
        };
        let adaptation = Corrections::of(&params(&ENTRY, &[]));
        // 10 + 0.4 * 20 and 10 + 0.6 * 20.
        for avg in [18.0, 22.0] {
            adaptation.correct(&mut law, avg);
            assert_eq!(law.max_p, 0.1, "{avg}");
        }
    }
}
