//! A way on which fluid travels: what has left arrives in its order, over as long a time as its port needed for it.

use std::collections::VecDeque;

use crate::units::{Duration, Instant};

/// Fluid that arrives evenly over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parcel {
    /// From when on.
    pub from: Instant,
    /// Until when.
    pub until: Instant,
    /// What it is.
    pub content: Flowed,
}

/// Fluid of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flowed {
    /// Bytes that are there.
    pub bytes: f64,
    /// Bytes of holes among them: what was lost on the way, of which senders hear when they would have heard of what is around it.
    pub lost: f64,
    /// When its senders began to send the last of it.
    pub sent: Instant,
}

impl Flowed {
    /// Nothing.
    pub const NOTHING: Self = Self {
        bytes: 0.0,
        lost: 0.0,
        sent: Instant::LONG_AGO,
    };

    /// The same where this share of what is there gets lost.
    #[must_use]
    pub fn with_losses(self, share: f64) -> Self {
        let gone = self.bytes * share;
        Self {
            bytes: self.bytes - gone,
            lost: self.lost + gone,
            ..self
        }
    }

    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.lost += other.lost;
        self.sent = self.sent.max(other.sent);
    }

    fn is_nothing(&self) -> bool {
        self.bytes + self.lost <= 0.0
    }
}

/// Fluid on its way.
#[derive(Clone, Debug, Default)]
pub struct Pipe {
    parcels: VecDeque<Parcel>,
}

impl Pipe {
    /// A parcel is on its way, behind all others.
    pub fn push(&mut self, parcel: Parcel) {
        if !parcel.content.is_nothing() {
            self.parcels.push_back(parcel);
        }
    }

    /// What has arrived by `time`.
    pub fn take_until(&mut self, time: Instant) -> Flowed {
        let mut taken = Flowed::NOTHING;
        while let Some(first) = self.parcels.front_mut() {
            if first.until <= time {
                taken.add(first.content);
                self.parcels.pop_front();
                continue;
            }
            if first.from < time {
                let share = (time - first.from) / (first.until - first.from);
                let Flowed { bytes, lost, sent } = first.content;
                let part = |of: f64| of * share;
                taken.add(Flowed {
                    bytes: part(bytes),
                    lost: part(lost),
                    sent,
                });
                first.content.bytes -= part(bytes);
                first.content.lost -= part(lost);
                first.from = time;
            }
            break;
        }
        taken
    }

    /// Bytes and holes that are on it.
    #[cfg(test)]
    pub fn content(&self) -> f64 {
        let parcels = self.parcels.iter().map(|parcel| parcel.content);
        parcels.map(|content| content.bytes + content.lost).sum()
    }
}

impl Parcel {
    /// The same so much later.
    #[must_use]
    pub fn later(self, by: Duration) -> Self {
        Self {
            from: self.from + by,
            until: self.until + by,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::at;

    fn parcel(from: f64, until: f64, bytes: f64, lost: f64) -> Parcel {
        let content = Flowed {
            bytes,
            lost,
            sent: at(from - 1.0),
        };
        Parcel {
            from: at(from),
            until: at(until),
            content,
        }
    }

    #[test]
    fn fluid_arrives_evenly_and_nothing_of_it_goes_astray() {
        let mut pipe = Pipe::default();
        pipe.push(parcel(1.0, 3.0, 200.0, 20.0));
        pipe.push(parcel(3.0, 4.0, 50.0, 0.0));
        assert_eq!(pipe.take_until(at(1.0)), Flowed::NOTHING);
        let first = pipe.take_until(at(2.0));
        assert_eq!((first.bytes, first.lost), (100.0, 10.0));
        assert_eq!(first.sent, at(0.0));
        let second = pipe.take_until(at(3.5));
        assert_eq!((second.bytes, second.lost), (125.0, 10.0));
        assert_eq!(second.sent, at(2.0));
        assert_eq!(pipe.content(), 25.0);
        assert_eq!(pipe.take_until(at(9.0)).bytes, 25.0);
        assert_eq!(pipe.content(), 0.0);
    }

    #[test]
    fn a_parcel_without_length_arrives_at_once() {
        let mut pipe = Pipe::default();
        pipe.push(parcel(2.0, 2.0, 10.0, 0.0));
        assert_eq!(pipe.take_until(at(1.9)), Flowed::NOTHING);
        assert_eq!(pipe.take_until(at(2.0)).bytes, 10.0);
    }

    #[test]
    fn what_is_lost_becomes_a_hole() {
        let content = parcel(0.0, 1.0, 80.0, 20.0).content.with_losses(0.25);
        assert_eq!((content.bytes, content.lost), (60.0, 40.0));
    }
}
