//! What follows from several rows: windows in segments, and the clocks of the two hosts.

use super::choices::TickPhase;
use super::table::{Config, key};
use crate::registry::{FromValue, Key, Params, Value};
use crate::rng::Stream;
use crate::tcp::ticks::Ticks;
use crate::units::{ByteCount, Duration, SegCount, SeqNum, WindowSize};

/// A window that is never reached, and that sequence numbers can be added to.
pub const UNLIMITED: WindowSize = WindowSize::from_segments(1e15);

/// A window as a study writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSetting {
    Segments(SegCount),
    Bytes(ByteCount),
}

impl FromValue for WindowSetting {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Packets(packets) => Some(Self::Segments(SegCount::new(packets))),
            Value::Bytes(bytes) => Some(Self::Bytes(ByteCount::new(bytes))),
            _ => None,
        }
    }
}

impl WindowSetting {
    fn of_segments(self, smss: u32) -> WindowSize {
        match self {
            Self::Segments(segments) => WindowSize::from(segments),
            Self::Bytes(bytes) => WindowSize::from_segments(bytes.as_f64() / f64::from(smss)),
        }
    }
}

/// The upper bound of RFC 5681 §3.1 if nothing is set.
pub(super) fn initial_window(params: &Params) -> WindowSize {
    match window(params, key::initial_window) {
        Some(window) => window.trunc().max(WindowSize::ONE),
        None => rfc5681_initial_window(key::smss.of(params)),
    }
}

/// The window's limit if nothing is set.
pub(super) fn initial_ssthresh(params: &Params) -> WindowSize {
    window(params, key::initial_ssthresh).unwrap_or_else(|| window_limit(params))
}

/// Whole segments, which may be none.
pub(super) fn window_limit(params: &Params) -> WindowSize {
    window(params, key::window_limit).map_or(UNLIMITED, WindowSize::trunc)
}

/// Nothing where short segments count as full ones.
pub(super) fn window_limit_bytes(params: &Params) -> Option<ByteCount> {
    match key::window_limit.of(params) {
        Some(WindowSetting::Bytes(bytes)) if key::byte_window.of(params) => Some(bytes),
        _ => None,
    }
}

fn window(params: &Params, key: Key<Option<WindowSetting>>) -> Option<WindowSize> {
    let smss = key::smss.of(params);
    Some(key.of(params)?.of_segments(smss))
}

/// A host's clock, whose `phase` is one of the two.
pub(super) fn ticks(params: &Params, phase: Key<Option<Duration>>) -> Ticks {
    let mut ticks = Ticks::of(key::timer_tick.of(params));
    ticks.whole = key::whole_ticks.of(params);
    if let Some(phase) = phase.of(params) {
        ticks.phase = phase;
    }
    ticks
}

/// Whether a phase comes from the run's seed.
pub(super) fn is_drawn(params: &Params, phase: Key<Option<Duration>>) -> bool {
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
                ticks.phase = ticks.tick * *share;
            } else {
                *share = 0.0;
            }
        }
        shares
    }

    /// The first segment that carries data: segment 0, unless that is the SYN.
    pub fn first_data(&self) -> SeqNum {
        SeqNum::ZERO + SegCount::from(self.handshake)
    }

    /// The same connection as its receiver's host has it, which sends the other way.
    pub fn exchange_hosts(&mut self) {
        std::mem::swap(&mut self.timer_tick, &mut self.receiver_tick);
    }
}

/// The upper bound of RFC 5681 §3.1 on the initial window.
fn rfc5681_initial_window(smss: u32) -> WindowSize {
    WindowSize::from_segments(match smss {
        2191.. => 2.0,
        1096.. => 3.0,
        _ => 4.0,
    })
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
            assert_eq!(config.receiver_tick.phase, Duration::from_secs(0.004));
            assert!((config.timer_tick.phase.secs() - 0.01 * shares[0]).abs() < 1e-15);
            config.exchange_hosts();
            assert_eq!(config.timer_tick.phase, Duration::from_secs(0.004));
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
            .map(|smss| rfc5681_initial_window(smss).segments())
            .into();
        assert_eq!(windows, [4.0, 4.0, 3.0, 3.0, 2.0, 2.0]);
    }
}
