//! How long an acknowledgement may be delayed, and after which pause none is.
//!
//! Specification: RFC 1122 §4.2.3.2 (less than half a second). The timer counts in ticks of the receiver's clock (`ticks.rs`). With `adaptive_delayed_ack` as measured of Linux 6.1, with segments that came
//! 10 to 600 ms apart over round trips of 40 to 500 ms, on which none ended a write:
//! - An acknowledgement waits for the base (40 ms) at first, and for twice as long each time that nothing else has come in time; with
//!   arrivals less than half the base apart for half as long and half the base, with others that are less apart than it waits for half as
//!   long and the time between them. At most a round trip, if that is more than the base, or 200 ms.
//! - The timer expires at a tick of the host's clock (`ticks.rs`).
//! - After a pause longer than the receiver's own retransmission timeout, which knows the handshake's round trip only unless its host sends too,
//!   acknowledgements are sent one by one as at the start of a connection (`quick_acks_again`).
//! - An answer is soon that leaves fewer ticks after the last arrival than an acknowledgement would wait, be the round trip as short as it may
//!   (see [`super`]).

use std::sync::Arc;

use super::ack_policy::ArrivalPace;
use super::closing::PassiveClose;
use super::opening::PassiveOpen;
use crate::events::{Event, EventKey};
use crate::tcp::clock::HAIR;
use crate::tcp::params::Config;
use crate::tcp::rto::Rto;
use crate::tcp::ticks::Ticks;
use crate::units::{Duration, Instant, SegCount};

/// Nothing is delayed longer.
const MOST: Duration = Duration::from_secs(0.2);

/// The delayed-acknowledgement timer of one receiver.
#[derive(Debug)]
pub(super) struct DelayedAck {
    base: Duration,
    /// For two segments or more, if that is another.
    several: Option<Duration>,
    adaptive: bool,
    /// Where arrivals say how long the last segment may wait: their pace, and that wait.
    pace: Option<Box<(ArrivalPace, Duration)>>,
    ticks: Ticks,
    current: Duration,
    /// Whether arrivals less than half the base apart leave a wait of the base as it is.
    is_steady: bool,
    /// What came last, and at the tick before it.
    arrival: Instant,
    last_arrival: Instant,
    /// Arrivals before this change nothing: they are in the tick of the last one, and the wait is at its base.
    settled: Instant,
    /// The round trip of the handshake, from the answer to the SYN on, or as the host measures it.
    rtt: Option<Duration>,
    rto: Rto,
    pause: Duration,
    expiry: TimerExpiry,
}

/// When a timer expires that is set in the tick that has `begun` then.
#[derive(Clone, Copy, Debug)]
struct TimerExpiry {
    begun: Instant,
    wait: Duration,
    at: Instant,
}

impl DelayedAck {
    pub(super) fn new(config: &Config) -> Self {
        let mut delayed = Self {
            base: config.delayed_ack_timeout,
            several: config.delayed_ack_timeout_several,
            adaptive: config.adaptive_delayed_ack,
            pace: ArrivalPace::of(config.delayed_ack, config.receiver_tick.tick)
                .map(|pace| Box::new((pace, config.delayed_ack.most))),
            ticks: config.receiver_tick,
            current: config.delayed_ack_timeout,
            is_steady: false,
            arrival: Instant::NEVER,
            last_arrival: Instant::NEVER,
            settled: Instant::START,
            rtt: None,
            rto: Rto::new(Arc::clone(&config.rto), Duration::ZERO),
            pause: Duration::ZERO,
            expiry: TimerExpiry {
                begun: Instant::NEVER,
                wait: Duration::ZERO,
                at: Instant::NEVER,
            },
        };
        delayed.pause = delayed.ticks.whole(delayed.rto.timeout());
        delayed.is_steady = delayed.halved() + delayed.base / 2.0 == delayed.base;
        delayed
    }

    /// The handshake is over, of which the answer left at `answered`: its round trip.
    pub(super) fn on_handshake(&mut self, answered: Instant, rtt: Duration) {
        self.rtt = Some(rtt);
        self.rto.sample(answered, rtt);
        self.pause = self.ticks.whole(self.rto.timeout());
    }

    /// The time since `then`, as the host's clock tells it.
    pub(super) fn since(&self, then: Instant, now: Instant) -> Duration {
        self.ticks.clock.microseconds(then, now)
    }

    /// What the host knows of round trips from its own segments: its retransmission timeout, and the smoothed round trip.
    pub(super) fn on_host(&mut self, timeout: Duration, rtt: Option<Duration>) {
        self.pause = self.ticks.whole(timeout);
        self.rtt = rtt.or(self.rtt);
    }

    /// Whether an answer that leaves now comes so soon after the last arrival that an acknowledgement would have waited for it.
    pub(super) fn is_soon(&self, now: Instant) -> bool {
        let since = self.ticks.last(now) - self.last_arrival;
        self.last_arrival < Instant::NEVER && since < self.current - HAIR
    }

    /// The round trip of the handshake, if there was one, or as the host measures it.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Data arrives in order, with PSH or without. Whether it comes after a pause.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, push: bool) -> bool {
        if let Some(paced) = &mut self.pace {
            paced.1 = paced.0.on_arrival(now, push);
        }
        self.arrival = now;
        if now < self.settled {
            return false;
        }
        self.on_arrival_in_next_tick(now)
    }

    #[inline(never)]
    fn on_arrival_in_next_tick(&mut self, now: Instant) -> bool {
        let now = self.ticks.last(now);
        let apart = now - self.last_arrival;
        self.last_arrival = now;
        self.settled = Instant::START;
        if apart > self.pause + HAIR {
            return true;
        }
        if self.adaptive && apart >= Duration::ZERO {
            let half = self.base / 2.0;
            if apart > half + HAIR {
                if apart < self.current - HAIR {
                    self.current = (self.halved() + apart).min(self.pause);
                }
            } else if !(self.is_steady && self.current == self.base) {
                self.current = self.halved() + half;
                return false;
            }
        }
        if !self.adaptive || self.is_steady && self.current == self.base {
            self.settled = now + self.ticks.tick - HAIR * 2.0;
        }
        false
    }

    /// Sets an acknowledgement's timer ([`Ticks::set`]).
    pub(super) fn set_timer(&self, timer: &mut EventKey, now: Event, due: Instant) {
        self.ticks.set(timer, now, due);
    }

    /// Half of the present wait, in whole ticks.
    fn halved(&self) -> Duration {
        self.ticks.passed(self.current / 2.0)
    }

    /// When an acknowledgement leaves that is delayed from now on.
    #[inline]
    pub(super) fn due(&mut self, now: Instant) -> Instant {
        if let Some(paced) = &self.pace {
            return self.after(now, paced.1);
        }
        if !self.adaptive {
            return self.after(now, self.base);
        }
        let most = self
            .rtt
            .map_or(MOST, |rtt| rtt.max(self.base).min(MOST.max(self.base)));
        self.after(now, self.current.min(most))
    }

    /// The same once so many segments wait for their acknowledgement, where that is another wait.
    #[inline]
    pub(super) fn due_of_several(&mut self, now: Instant, segments: SegCount) -> Option<Instant> {
        if self.pace.is_some() {
            return Some(self.due(now));
        }
        let several = self.several.filter(|_| segments == SegCount::new(2));
        several.map(|wait| self.after(now, wait))
    }

    /// When the timer expires that is set now to wait so long.
    #[inline]
    fn after(&mut self, now: Instant, wait: Duration) -> Instant {
        if now != self.arrival {
            return self.ticks.expiry(now, wait);
        }
        if (self.expiry.begun, self.expiry.wait) != (self.last_arrival, wait) {
            self.expiry = TimerExpiry {
                begun: self.last_arrival,
                wait,
                at: self.ticks.expiry_from(self.last_arrival, wait),
            };
        }
        self.expiry.at
    }

    /// When the timer expires of an answer to a SYN that leaves now.
    pub(super) fn expiry_of_syn(&self, now: Instant, opening: PassiveOpen) -> Instant {
        self.ticks.expiry(now, opening.timeout(self.rto.timeout()))
    }

    /// When the timer expires of a FIN that leaves now.
    pub(super) fn expiry_of_fin(&self, now: Instant, closing: &PassiveClose) -> Instant {
        let wait = closing.wait(self.rto.timeout(), self.rto.srtt(), self.ticks);
        self.ticks.expiry(now, wait)
    }

    /// It has left because nothing else came.
    pub(super) fn on_expiry(&mut self) {
        if self.adaptive {
            self.current = (self.current * 2.0).min(self.pause);
            self.settled = Instant::START;
        }
    }

    /// Acknowledgements begin to be delayed, or begin not to be.
    pub(super) fn restart(&mut self) {
        self.current = self.base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;

    fn at(secs: f64) -> Instant {
        Instant::from_secs(secs)
    }

    /// A receiver of the `linux` stack over a round trip of `rtt` seconds, whose clock ticks as given.
    fn linux(rtt: f64, tick: f64) -> DelayedAck {
        let mut params = Params::defaults(PARAMS);
        params.set("delayed_ack_timeout", Value::Duration(0.04));
        params.set("adaptive_delayed_ack", Value::Bool(true));
        params.set("rto_min", Value::Duration(0.2));
        params.set("rto_granularity", Value::Duration(0.2));
        params.set("timer_tick", Value::Duration(tick));
        let mut delayed = DelayedAck::new(&Config::from(&params));
        delayed.on_handshake(at(0.0), Duration::from_secs(rtt));
        delayed
    }

    /// Segments come `apart`; none ends a write. For each first that waits, how long it did, milliseconds; 0: the next came before.
    fn waits(delayed: &mut DelayedAck, apart: f64, count: u32) -> Vec<f64> {
        let (mut due, mut found, mut came) = (None::<f64>, Vec::<f64>::new(), 0.0);
        for number in 0..=count {
            let now = 1.0 + f64::from(number) * apart;
            match due.take() {
                Some(time) if time < now => {
                    found.push(((time - came) * 1e4).round() / 10.0);
                    delayed.on_expiry();
                }
                Some(_) => {
                    found.push(0.0);
                    delayed.on_arrival(at(now), false);
                    continue;
                }
                None => {}
            }
            delayed.on_arrival(at(now), false);
            (due, came) = (Some(delayed.due(at(now)).secs()), now);
        }
        found
    }

    #[test]
    fn a_wait_in_vain_doubles_the_next_as_far_as_the_round_trip_or_200_ms() {
        // Measured with round trips of 500, 160 and 40 ms, less what the ticks of 10 ms add; 300 ms apart and less.
        for (rtt, apart, measured) in [
            (0.5, 0.3, &[40.0, 80.0, 160.0, 200.0, 200.0][..]),
            (0.16, 0.2, &[40.0, 80.0, 160.0, 160.0]),
            (0.0448, 0.06, &[40.0, 44.8, 44.8, 44.8]),
        ] {
            let mut delayed = linux(rtt, 0.0);
            let count = u32::try_from(measured.len()).expect("few");
            assert_eq!(waits(&mut delayed, apart, count), measured, "{rtt}");
        }
    }

    #[test]
    fn the_wait_follows_the_time_between_arrivals() {
        // Measured, 300 ms round trip: with arrivals 10 ms apart a single one waits for 40 ms, 30 ms apart for 50 and then 80.
        let mut delayed = linux(0.3, 0.01);
        for number in 0..20 {
            delayed.on_arrival(at(1.0 + 0.01 * f64::from(number)), false);
        }
        assert!((delayed.current.secs() - 0.04).abs() < 1e-9);
        // Half of 4 ticks and 3, half of 5, rounded down, and 3: five ticks, and so on.
        for number in 1..5 {
            delayed.on_arrival(at(1.19 + 0.03 * f64::from(number)), false);
            assert!(
                (delayed.current.secs() - 0.05).abs() < 1e-9,
                "{:?}",
                delayed.current
            );
        }
        delayed.on_expiry();
        delayed.on_arrival(at(1.34), false);
        assert!((delayed.current.secs() - 0.08).abs() < 1e-9);
    }

    #[test]
    fn the_timer_expires_at_a_tick() {
        // Measured: a segment came at 929.51 ms, 40 ms and a part of a tick later its acknowledgement left.
        let mut delayed = linux(0.04384, 0.01);
        assert!((delayed.due(at(0.929_51)).secs() - 0.97).abs() < 1e-9);
    }

    #[test]
    fn a_wait_of_jiffies_ends_at_one_of_the_receivers() {
        // Jiffies of 10 ms at 3, 13, 23 ... ms, of which a wait of 20 ms takes two: from 12.9 ms until 23, from 13.1 until 33.
        let mut params = Params::defaults(PARAMS);
        params.set("delayed_ack_timeout", Value::Duration(0.02));
        params.set("timer_tick", Value::Duration(0.01));
        params.set("whole_ticks", Value::Bool(false));
        params.set("receiver_phase", Value::Duration(0.003));
        params.set("sender_phase", Value::Duration(0.005));
        let mut delayed = DelayedAck::new(&Config::from(&params));
        for (came, due) in [(0.0129, 0.023), (0.0131, 0.033)] {
            assert!((delayed.due(at(came)).secs() - due).abs() < 1e-9, "{came}");
        }
    }

    #[test]
    fn a_pause_is_longer_than_the_timeout_of_a_receiver_that_knows_the_handshake() {
        // Measured: round trips of 40.1, 4.1 and 200.1 ms, the last segment before a pause and the first after it, and whether acknowledgements
        // came one by one again. The last one's timeout is three round trips (RFC 6298 §2.2): 600.3 ms.
        for (rtt, last, next, one_by_one) in [
            (0.0401, 0.292, 0.5412, false),
            (0.0401, 0.302, 0.5612, true),
            (0.0041, 0.234, 0.4432, false),
            (0.0041, 0.0181, 0.2332, true),
            (0.2001, 0.712, 1.3012, false),
            (0.2001, 0.812, 1.5012, true),
        ] {
            let mut delayed = linux(rtt, 0.01);
            delayed.on_arrival(at(last), false);
            assert_eq!(
                delayed.on_arrival(at(next), false),
                one_by_one,
                "{rtt} {next}"
            );
        }
    }

    #[test]
    fn the_round_trip_is_that_of_the_last_handshake_and_several_segments_may_wait_for_another_time()
    {
        let mut params = Params::defaults(PARAMS);
        let two = SegCount::new(2);
        let mut delayed = DelayedAck::new(&Config::from(&params));
        assert_eq!(delayed.due_of_several(at(1.0), two), None);
        params.set("delayed_ack_timeout_several", Value::Duration(0.01));
        let mut delayed = DelayedAck::new(&Config::from(&params));
        assert_eq!(
            (delayed.due_of_several(at(1.0), two), delayed.rtt()),
            (Some(at(1.01)), None)
        );
        delayed.on_handshake(at(1.0), Duration::from_secs(0.25));
        assert_eq!(delayed.rtt(), Some(Duration::from_secs(0.25)));
    }
}
