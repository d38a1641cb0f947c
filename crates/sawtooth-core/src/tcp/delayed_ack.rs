//! How long an acknowledgement may be delayed, and after which pause none is.
//!
//! Specification: RFC 1122 §4.2.3.2 (less than half a second). With `adaptive_delayed_ack` as measured of Linux 6.1, with segments that came
//! 10 to 600 ms apart over round trips of 40 to 500 ms, on which none ended a write:
//! - An acknowledgement waits for the base (40 ms) at first, and for twice as long each time that nothing else has come in time; with
//!   arrivals less than half the base apart for half as long and half the base, with others that are less apart than it waits for half as
//!   long and the time between them. At most a round trip, if that is more than the base, or 200 ms.
//! - The timer expires at the first of the host's clock ticks by which it has waited for so many whole ones.
//! - After a pause longer than the receiver's own retransmission timeout, which knows the handshake's round trip only, acknowledgements are sent one by
//!   one as at the start of a connection (`quick_acks_again`).

use super::config::Config;
use super::rto::Rto;

/// Nothing is delayed longer.
const MOST: f64 = 0.2;
/// Clocks are binary fractions: times this close are the same.
const HAIR: f64 = 1e-9;

/// The delayed-acknowledgement timer of one receiver. Times are seconds.
#[derive(Debug)]
pub struct DelayedAck {
    base: f64,
    adaptive: bool,
    tick: f64,
    current: f64,
    last_arrival: f64,
    /// When the last SYN came, which is answered at once, and the round trip until the answer was acknowledged.
    answered: Option<f64>,
    rtt: Option<f64>,
    rto: Rto,
    pause: f64,
}

impl DelayedAck {
    pub fn new(config: &Config) -> Self {
        let mut delayed = Self {
            base: config.delayed_ack_timeout,
            adaptive: config.adaptive_delayed_ack,
            tick: config.timer_tick,
            current: config.delayed_ack_timeout,
            last_arrival: f64::INFINITY,
            answered: None,
            rtt: None,
            rto: Rto::new(config.rto, 0.0),
            pause: 0.0,
        };
        delayed.pause = delayed.whole_ticks(delayed.rto.timeout_secs());
        delayed
    }

    /// A SYN comes and is answered.
    pub fn on_syn(&mut self, now: f64) {
        self.answered = Some(now);
    }

    /// The first packet after a SYN, which acknowledges the answer.
    #[inline]
    pub fn on_established(&mut self, now: f64) {
        if let Some(answered) = self.answered.take() {
            self.rtt = Some(now - answered);
            self.rto.sample(answered, now - answered);
            self.pause = self.whole_ticks(self.rto.timeout_secs());
        }
    }

    /// The round trip of the handshake, if there was one.
    pub fn rtt(&self) -> Option<f64> {
        self.rtt
    }

    /// Data arrives in order. Whether it comes after a pause.
    #[inline]
    pub fn on_arrival(&mut self, now: f64) -> bool {
        let now = self.ticks_passed(now);
        let apart = now - self.last_arrival;
        self.last_arrival = now;
        if apart > self.pause {
            return true;
        }
        if self.adaptive && apart >= 0.0 {
            let (half, rest) = (self.base / 2.0, self.ticks_passed(self.current / 2.0));
            if apart <= half + HAIR {
                self.current = rest + half;
            } else if apart < self.current - HAIR {
                self.current = (rest + apart).min(self.pause);
            }
        }
        false
    }

    /// When an acknowledgement leaves that is delayed from now on.
    #[inline]
    pub fn due(&self, now: f64) -> f64 {
        if !self.adaptive {
            return now + self.base;
        }
        let most = self
            .rtt
            .map_or(MOST, |rtt| rtt.clamp(self.base, MOST.max(self.base)));
        self.ticks_passed(now) + self.whole_ticks(self.current.min(most)) + self.tick
    }

    /// It has left because nothing else came.
    pub fn on_expiry(&mut self) {
        if self.adaptive {
            self.current = (2.0 * self.current).min(self.pause);
        }
    }

    /// Acknowledgements begin to be delayed, or begin not to be.
    pub fn restart(&mut self) {
        self.current = self.base;
    }

    /// A time in the ticks of the host's clock that have passed, and in those that it needs; as it is, where the clock does not tick.
    #[inline]
    fn ticks_passed(&self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            ((secs + HAIR) / self.tick).floor() * self.tick
        } else {
            secs
        }
    }

    fn whole_ticks(&self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            ((secs - HAIR) / self.tick).ceil() * self.tick
        } else {
            secs
        }
    }
}
