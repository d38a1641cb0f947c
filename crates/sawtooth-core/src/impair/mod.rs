//! What the wire of a link does besides carrying packets at one rate with one delay: it changes over time, fails for a while, delays each
//! packet by another time, and loses, damages, doubles or displaces some.
//!
//! **Model.** A packet's transmission begins at `start` and ends when its last bit has left ([`ImpairedWire::transmit`]): by the rate of each moment,
//! or by the delivery opportunities of a trace. It arrives the delay of that moment later, jitter and displacement included
//! ([`ImpairedWire::cross`]). Transmissions follow one another in the order in which they begin, and everything here depends on their times and on
//! streams of random numbers alone. So a departure can be computed when its packet arrives at the link, as on a plain wire.
//!
//! Every effect draws from a stream of its own, and every transmitted packet takes one step in each stream in use, whatever becomes of it: then
//! switching one effect on or off changes no other's draws.

mod course;
mod forwarding;
mod jitter;
mod medium;
mod outage;
mod reorder;
mod trace;

pub use course::{Change, Changes, Conditions, Course, Span, WALK_PARAMS, Walk};
pub use forwarding::{Forwarding, Hops, Node, TABLE as FORWARDING_TABLE};
pub use jitter::{Jitter, TABLE as JITTER_TABLE};
pub use medium::{Medium, TABLE as MEDIUM_TABLE};
pub use outage::{Meanwhile, Outage};
pub use reorder::{Reorder, TABLE as REORDER_TABLE};
pub use trace::{OPPORTUNITY_BYTES, Trace};

use std::sync::Arc;

use crate::rng::Stream;
use trace::Opportunities;

/// What a direction of a link has beyond its constant rate and delay. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// When bytes can leave, in place of a rate.
    pub trace: Option<Arc<Trace>>,
    pub changes: Option<Changes>,
    pub outages: Vec<Outage>,
    pub jitter: Option<Jitter>,
    /// Whether a packet may arrive before one that was transmitted earlier because the delay has become shorter meanwhile.
    pub may_overtake: bool,
    pub reorder: Option<Reorder>,
    /// Probability with which a packet arrives twice.
    pub duplicate: f64,
    /// Probability with which a packet arrives damaged.
    pub corrupt: f64,
}

impl Impairments {
    /// Whether one rate and one delay say everything.
    pub fn is_plain(&self) -> bool {
        let plain = Self {
            may_overtake: self.may_overtake,
            ..Self::default()
        };
        *self == plain
    }

    /// Whether its rate and its delay stay what they are, whatever befalls single packets.
    pub fn is_steady(&self) -> bool {
        self.trace.is_none()
            && self.changes.is_none()
            && self.outages.is_empty()
            && self.jitter.is_none()
            && self.reorder.is_none()
    }

    /// Whether what leaves may arrive in another order, or more than once.
    pub fn may_reorder(&self) -> bool {
        let delay_changes = self.jitter.is_some() || self.changes.is_some();
        self.reorder.is_some() || self.duplicate > 0.0 || (self.may_overtake && delay_changes)
    }

    /// The shortest time from the end of a transmission to its packet's arrival there can ever be.
    pub fn least_delay_secs(&self, delay_secs: f64) -> f64 {
        if matches!(self.reorder, Some(Reorder::Early { .. })) {
            return 0.0;
        }
        let of_course = self
            .changes
            .as_ref()
            .map_or(delay_secs, |changes| changes.least_delay_secs(delay_secs));
        let of_jitter = self.jitter.as_ref().map_or(0.0, Jitter::least_secs);
        (of_course + of_jitter).max(0.0)
    }

    /// The highest rate there can ever be; of a trace its mean, which `rate_bps` is.
    pub fn peak_bps(&self, rate_bps: f64) -> f64 {
        self.changes
            .as_ref()
            .map_or(rate_bps, |changes| changes.peak_bps(rate_bps))
    }
}

/// Whether a packet found the transmitter free, or was waiting when it became free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Fresh,
    Follows,
}

/// What becomes of a packet beyond the transmitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Infinite if the packet is lost.
    pub arrival: f64,
    pub corrupted: bool,
    pub duplicated: bool,
    /// It arrives before one that was transmitted earlier.
    pub overtakes: bool,
}

/// The wire of one direction of a link.
#[derive(Debug)]
pub struct ImpairedWire {
    spec: Impairments,
    initial: Conditions,
    /// The run's end; nobody asks what is transmitted later.
    horizon: f64,
    /// For a second look at the course, see [`ImpairedWire::capacity_bits`].
    course_stream: Stream,
    course: Course,
    opportunities: Option<Opportunities>,
    draws: Draws,
    /// The latest arrival of a packet that has not been displaced, and of any.
    in_order: f64,
    latest: f64,
}

/// One stream for each effect.
#[derive(Debug)]
struct Draws {
    loss: Stream,
    jitter: Stream,
    reorder: Stream,
    duplicate: Stream,
    corrupt: Stream,
    /// Packets that have passed, for effects that count.
    packets: u64,
}

impl ImpairedWire {
    /// The wire of the port called `port`; nothing if it is plain.
    pub fn new(
        spec: &Impairments,
        initial: Conditions,
        horizon: f64,
        seed: u64,
        port: &str,
    ) -> Option<Box<Self>> {
        if spec.is_plain() {
            return None;
        }
        let stream = |effect: &str| Stream::new(seed, &format!("{port}/{effect}"));
        let course_stream = stream("walk");
        Some(Box::new(Self {
            spec: spec.clone(),
            initial,
            horizon,
            course: Course::new(initial, spec.changes.as_ref(), course_stream.clone()),
            course_stream,
            opportunities: spec.trace.clone().map(Opportunities::new),
            draws: Draws {
                loss: stream("changing-loss"),
                jitter: stream("jitter"),
                reorder: stream("reorder"),
                duplicate: stream("duplicate"),
                corrupt: stream("corrupt"),
                packets: 0,
            },
            in_order: f64::NEG_INFINITY,
            latest: f64::NEG_INFINITY,
        }))
    }

    /// Whether what leaves may arrive in another order, or more than once.
    pub fn may_reorder(&self) -> bool {
        self.spec.may_reorder()
    }

    /// When the transmission of a packet of `bytes` ends that begins at `start`; infinite if it does not
    /// within the run. Transmissions must come in their order.
    pub fn transmit(&mut self, start: f64, bytes: u32, service: Service) -> f64 {
        if let Some(opportunities) = &mut self.opportunities {
            let outages = &self.spec.outages;
            return opportunities.transmit(start, self.horizon, bytes, service, outages);
        }
        let outages = &self.spec.outages;
        let (mut bits, mut now) = (8.0 * f64::from(bytes), start);
        while now < self.horizon {
            if let Some(until) = outage::standstill(outages, now) {
                now = until;
                continue;
            }
            let rate = self.course.at(now).rate_bps;
            let change = self
                .course
                .until()
                .min(outage::next_standstill(outages, now));
            let end = now + bits / rate;
            if end <= change {
                return end;
            }
            bits -= rate * (change - now);
            now = change;
        }
        f64::INFINITY
    }

    /// What becomes of the packet whose transmission has lasted from `start` to `end`.
    pub fn cross(&mut self, start: f64, end: f64) -> Crossing {
        let (spec, draws) = (&self.spec, &mut self.draws);
        let mut crossing = Crossing {
            arrival: f64::INFINITY,
            corrupted: false,
            duplicated: false,
            overtakes: false,
        };
        if end.is_infinite() {
            return crossing;
        }
        let conditions = self.course.at(end);
        draws.packets += 1;
        let jitter = spec
            .jitter
            .as_ref()
            .map_or(0.0, |jitter| jitter.draw(&mut draws.jitter));
        let lost = (spec.changes.is_some() && draws.loss.uniform() < conditions.loss)
            || outage::cuts(&spec.outages, start, end);
        crossing.corrupted = spec.corrupt > 0.0 && draws.corrupt.uniform() < spec.corrupt;
        crossing.duplicated = spec.duplicate > 0.0 && draws.duplicate.uniform() < spec.duplicate;
        let displaced = spec
            .reorder
            .as_ref()
            .is_some_and(|reorder| reorder.draw(draws.packets, &mut draws.reorder));
        if lost {
            return crossing;
        }
        let mut arrival = end + (conditions.delay_secs + jitter).max(0.0);
        if !spec.may_overtake {
            arrival = arrival.max(self.in_order);
        }
        match &spec.reorder {
            Some(reorder) if displaced => arrival = reorder.displace(end, arrival),
            _ => self.in_order = arrival,
        }
        crossing.arrival = arrival;
        crossing.overtakes = arrival < self.latest;
        self.latest = self.latest.max(arrival);
        crossing
    }

    /// Bits that could have left until `end`, outages not counted.
    pub fn capacity_bits(&self, end: f64) -> f64 {
        if let Some(trace) = &self.spec.trace {
            return trace.capacity_bits(end);
        }
        let changes = self.spec.changes.as_ref();
        let mut course = Course::new(self.initial, changes, self.course_stream.clone());
        let (mut bits, mut now) = (0.0, 0.0);
        while now < end {
            let rate = course.at(now).rate_bps;
            let until = course.until().min(end);
            bits += rate * (until - now);
            now = until;
        }
        bits
    }
}

#[cfg(test)]
mod tests;
