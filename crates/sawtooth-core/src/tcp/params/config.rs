//! What follows from several rows: windows in segments, and the clocks of the two hosts.

use super::choices::TickPhase;
use super::table::{Config, key};
use crate::registry::{FromValue, Key, Params, Value};
use crate::rng::Stream;
use crate::tcp::ticks::Ticks;

/// A window that is never reached, and that sequence numbers can be added to.
pub const UNLIMITED: f64 = 1e15;

/// A window as a study writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSetting {
    Segments(u64),
    Bytes(u64),
}

impl FromValue for WindowSetting {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Packets(packets) => Some(Self::Segments(packets)),
            Value::Bytes(bytes) => Some(Self::Bytes(bytes)),
            _ => None,
        }
    }
}

impl WindowSetting {
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn segments(self, smss: u32) -> f64 {
        match self {
            Self::Segments(segments) => segments as f64,
            Self::Bytes(bytes) => bytes as f64 / f64::from(smss),
        }
    }
}

/// Segments; the upper bound of RFC 5681 §3.1 if nothing is set.
pub(super) fn initial_window(params: &Params) -> f64 {
    match segments(params, key::initial_window) {
        Some(window) => window.trunc().max(1.0),
        None => rfc5681_initial_window(key::smss.of(params)),
    }
}

/// Segments.
pub(super) fn initial_ssthresh(params: &Params) -> f64 {
    segments(params, key::initial_ssthresh).unwrap_or_else(|| window_limit(params))
}

/// Whole segments, which may be none.
pub(super) fn window_limit(params: &Params) -> f64 {
    segments(params, key::window_limit).map_or(UNLIMITED, f64::trunc)
}

/// Nothing where short segments count as full ones.
pub(super) fn window_limit_bytes(params: &Params) -> Option<u64> {
    match key::window_limit.of(params) {
        Some(WindowSetting::Bytes(bytes)) if key::byte_window.of(params) => Some(bytes),
        _ => None,
    }
}

fn segments(params: &Params, window: Key<Option<WindowSetting>>) -> Option<f64> {
    let smss = key::smss.of(params);
    Some(window.of(params)?.segments(smss))
}

/// A host's clock, whose `phase` is one of the two.
pub(super) fn ticks(params: &Params, phase: Key<Option<f64>>) -> Ticks {
    let mut ticks = Ticks::of(key::timer_tick.of(params));
    ticks.whole = key::whole_ticks.of(params);
    if let Some(secs) = phase.of(params) {
        ticks.phase = secs;
    }
    ticks
}

/// Whether a phase comes from the run's seed.
pub(super) fn is_drawn(params: &Params, phase: Key<Option<f64>>) -> bool {
    key::tick_phase.of(params) == TickPhase::Random && phase.of(params).is_none()
}

impl Config {
    /// Draws where the ticks of the sender's clock and of the receiver's are, as far as that is random; the same again for the same stream. Returns
    /// by which share of a tick they are late.
    pub fn draw_phases(&mut self, random: impl FnOnce() -> Stream) -> [f64; 2] {
        if self.random_phases == [false; 2] {
            return [0.0; 2];
        }
        let mut random = random();
        let clocks = [&mut self.timer_tick, &mut self.receiver_tick];
        let mut shares = [random.uniform(), random.uniform()];
        for ((share, ticks), is_random) in shares.iter_mut().zip(clocks).zip(self.random_phases) {
            if is_random {
                ticks.phase = *share * ticks.secs;
            } else {
                *share = 0.0;
            }
        }
        shares
    }

    /// The same connection as its receiver's host has it, which sends the other way.
    pub fn exchange_hosts(&mut self) {
        std::mem::swap(&mut self.timer_tick, &mut self.receiver_tick);
    }
}

/// The whole segments of a window. By way of a signed number, which is what processors convert to.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "windows are positive and far below 2^53"
)]
pub(in crate::tcp) fn whole(window: f64) -> u64 {
    window as i64 as u64
}

/// The upper bound of RFC 5681 §3.1 on the initial window, in segments.
fn rfc5681_initial_window(smss: u32) -> f64 {
    match smss {
        2191.. => 2.0,
        1096.. => 3.0,
        _ => 4.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::PARAMS;

    #[test]
    fn phases_that_are_not_given_are_drawn_and_the_same_again_for_the_same_stream() {
        let mut params = Params::defaults(PARAMS);
        params.set("timer_tick", Value::Duration(0.01));
        params.set("tick_phase", Value::Choice("random"));
        params.set("receiver_phase", Value::Duration(0.004));
        let drawn = |seed| {
            let mut config = Config::from(&params);
            let shares = config.draw_phases(|| Stream::new(seed, "clocks"));
            assert_eq!(shares[1], 0.0);
            assert_eq!(config.receiver_tick.phase, 0.004);
            assert!((config.timer_tick.phase - 0.01 * shares[0]).abs() < 1e-15);
            config.exchange_hosts();
            assert_eq!(config.timer_tick.phase, 0.004);
            shares[0]
        };
        assert!((0.0..1.0).contains(&drawn(1)) && drawn(1) == drawn(1) && drawn(1) != drawn(2));
        params.set("tick_phase", Value::Choice("zero"));
        let shares = Config::from(&params).draw_phases(|| unreachable!("nothing is random"));
        assert_eq!(shares, [0.0, 0.0]);
    }

    #[test]
    fn rfc5681_3_1_the_initial_window_depends_on_the_segment_size() {
        let windows: Vec<f64> = [536, 1095, 1096, 2190, 2191, 8960]
            .map(rfc5681_initial_window)
            .into();
        assert_eq!(windows, [4.0, 4.0, 3.0, 3.0, 2.0, 2.0]);
    }
}
