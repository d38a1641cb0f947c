//! Times in which a link is down.
//!
//! A packet is lost if any of its transmission falls into an outage with [`Meanwhile::Lost`]; what has left before still arrives. In one with
//! [`Meanwhile::Wait`] the transmitter stands still: a transmission that is under way goes on afterwards with the bits that are left.

use crate::units::{Duration, Instant};

/// What becomes of packets while a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// They are lost.
    Lost,
    /// They wait, and the transmission that is under way goes on afterwards.
    Wait,
}

/// A time in which a link is down: from a moment up to, but not including, another; perhaps again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// When the first one begins.
    pub from: Instant,
    /// When it is over.
    pub until: Instant,
    /// From one beginning to the next.
    pub every: Option<Duration>,
    /// What becomes of packets meanwhile.
    pub packets: Meanwhile,
}

impl Outage {
    /// The first one that ends after `time`: from when to when.
    fn ending_after(&self, time: Instant) -> Option<(Instant, Instant)> {
        let Some(every) = self.every else {
            return (self.until > time).then_some((self.from, self.until));
        };
        let mut lap = libm::floor((time - self.until) / every).max(0.0);
        while self.until + every * lap <= time {
            lap += 1.0;
        }
        Some((self.from + every * lap, self.until + every * lap))
    }
}

fn windows(
    outages: &[Outage],
    packets: Meanwhile,
    time: Instant,
) -> impl Iterator<Item = (Instant, Instant)> + '_ {
    let alike = outages
        .iter()
        .filter(move |outage| outage.packets == packets);
    alike.filter_map(move |outage| outage.ending_after(time))
}

/// When the transmitter goes on that stands still at `time`.
pub(super) fn standstill(outages: &[Outage], time: Instant) -> Option<Instant> {
    let mut windows = windows(outages, Meanwhile::Wait, time);
    windows
        .find(|(from, _)| *from <= time)
        .map(|(_, until)| until)
}

/// When the transmitter that is running at `time` stands still next, or never.
pub(super) fn next_standstill(outages: &[Outage], time: Instant) -> Instant {
    windows(outages, Meanwhile::Wait, time)
        .map(|(from, _)| from)
        .fold(Instant::NEVER, Instant::min)
}

/// Whether a transmission from `start` to `end` loses its packet.
pub(super) fn cuts(outages: &[Outage], start: Instant, end: Instant) -> bool {
    windows(outages, Meanwhile::Lost, start).any(|(from, _)| from < end)
}
