//! Times in which a link is down.
//!
//! A packet is lost if any of its transmission falls into an outage with [`Meanwhile::Lost`]; what has left before still arrives. In one with
//! [`Meanwhile::Wait`] the transmitter stands still: a transmission that is under way goes on afterwards with the bits that are left.

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
    /// When the first one begins, seconds from the start of the run.
    pub from_secs: f64,
    /// When it is over, likewise.
    pub until_secs: f64,
    /// From one beginning to the next.
    pub every_secs: Option<f64>,
    /// What becomes of packets meanwhile.
    pub packets: Meanwhile,
}

impl Outage {
    /// The first one that ends after `time`: from when to when.
    fn ending_after(&self, time: f64) -> Option<(f64, f64)> {
        let Some(every) = self.every_secs else {
            return (self.until_secs > time).then_some((self.from_secs, self.until_secs));
        };
        let mut lap = libm::floor((time - self.until_secs) / every).max(0.0);
        while self.until_secs + lap * every <= time {
            lap += 1.0;
        }
        Some((self.from_secs + lap * every, self.until_secs + lap * every))
    }
}

fn windows(
    outages: &[Outage],
    packets: Meanwhile,
    time: f64,
) -> impl Iterator<Item = (f64, f64)> + '_ {
    let alike = outages
        .iter()
        .filter(move |outage| outage.packets == packets);
    alike.filter_map(move |outage| outage.ending_after(time))
}

/// When the transmitter goes on that stands still at `time`.
pub(super) fn standstill(outages: &[Outage], time: f64) -> Option<f64> {
    let mut windows = windows(outages, Meanwhile::Wait, time);
    windows
        .find(|(from, _)| *from <= time)
        .map(|(_, until)| until)
}

/// When the transmitter that is running at `time` stands still next; infinite if never.
pub(super) fn next_standstill(outages: &[Outage], time: f64) -> f64 {
    windows(outages, Meanwhile::Wait, time)
        .map(|(from, _)| from)
        .fold(f64::INFINITY, f64::min)
}

/// Whether a transmission from `start` to `end` loses its packet.
pub(super) fn cuts(outages: &[Outage], start: f64, end: f64) -> bool {
    windows(outages, Meanwhile::Lost, start).any(|(from, _)| from < end)
}
