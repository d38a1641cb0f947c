//! What the wire of a link does besides carrying packets at one rate with one delay: it changes over time, fails for a while, delays each
//! packet by another time, and loses, damages, doubles or displaces some.
//!
//! **Model.** A packet's transmission begins at `start` and ends when its last bit has left (`ImpairedWire::transmit`): by the rate of each moment,
//! or by the delivery opportunities of a trace. It arrives the delay of that moment later, jitter and displacement included
//! (`ImpairedWire::cross`). Transmissions follow one another in the order in which they begin, and everything here depends on their times and on
//! streams of random numbers alone. So a departure can be computed when its packet arrives at the link, as on a plain wire.
//!
//! What a study writes of a wire (changes, outages, jitter, reordering) keeps the numbers that it writes, in seconds and bits per second, as their names say: they are
//! parameters. What a wire is asked and answers has types.
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

pub(crate) use course::Course;
pub use course::{Change, Changes, Conditions, WALK_PARAMS, Walk, WalkSpan};
pub use forwarding::{After, Forwarding, TABLE as FORWARDING_TABLE};
pub(crate) use forwarding::{ForwardingNode, Hops};
pub use jitter::{Jitter, TABLE as JITTER_TABLE};
pub use medium::{Medium, TABLE as MEDIUM_TABLE};
pub use outage::{Meanwhile, Outage};
pub use reorder::{Reorder, TABLE as REORDER_TABLE};
pub use trace::Trace;

use std::sync::Arc;

use crate::rng::{RandomStream, StreamName};
use crate::units::{ByteCount, Duration, Instant, Rate};
use trace::Opportunities;

/// What a direction of a link has beyond its constant rate and delay. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// When bytes can leave, in place of a rate.
    pub trace: Option<Arc<Trace>>,
    /// How rate, delay and loss change; without it they stay as they are.
    pub changes: Option<Changes>,
    /// When it is down.
    pub outages: Vec<Outage>,
    /// What is added to each packet's delay; nothing if there is none.
    pub jitter: Option<Jitter>,
    /// Whether a packet may arrive before one that was transmitted earlier because the delay has become shorter meanwhile.
    pub may_overtake: bool,
    /// Which packets are taken out of their order on purpose; none without it.
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
    pub fn least_delay(&self, delay: Duration) -> Duration {
        if matches!(self.reorder, Some(Reorder::Early { .. })) {
            return Duration::ZERO;
        }
        let of_course = self
            .changes
            .as_ref()
            .map_or(delay, |changes| changes.least_delay(delay));
        let of_jitter = self.jitter.as_ref().map_or(Duration::ZERO, Jitter::least);
        (of_course + of_jitter).max(Duration::ZERO)
    }

    /// The highest rate there can ever be; of a trace its mean, which `rate` is.
    pub fn peak_rate(&self, rate: Rate) -> Rate {
        self.changes
            .as_ref()
            .map_or(rate, |changes| changes.peak_rate(rate))
    }
}

/// Whether a packet found the transmitter free, or was waiting when it became free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Fresh,
    Follows,
}

/// What becomes of a packet beyond the transmitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crossing {
    /// Never if the packet is lost.
    pub arrival: Instant,
    pub corrupted: bool,
    pub duplicated: bool,
    /// It arrives before one that was transmitted earlier.
    pub overtakes: bool,
}

/// The wire of one direction of a link.
#[derive(Debug)]
pub(crate) struct ImpairedWire {
    spec: Impairments,
    initial: Conditions,
    /// The run's end; nobody asks what is transmitted later.
    horizon: Instant,
    /// For a second look at the course, see [`ImpairedWire::capacity_bits`].
    course_stream: RandomStream,
    course: Course,
    opportunities: Option<Opportunities>,
    draws: Draws,
    /// The latest arrival of a packet that has not been displaced, and of any.
    in_order: Instant,
    latest: Instant,
}

/// One stream for each effect.
#[derive(Debug)]
struct Draws {
    loss: RandomStream,
    jitter: RandomStream,
    reorder: RandomStream,
    duplicate: RandomStream,
    corrupt: RandomStream,
    /// Packets that have passed, for effects that count.
    packets: u64,
}

impl ImpairedWire {
    /// The wire of the port called `port`; nothing if it is plain.
    pub(crate) fn new(
        spec: &Impairments,
        initial: Conditions,
        horizon: Instant,
        seed: u64,
        port: StreamName,
    ) -> Option<Box<Self>> {
        if spec.is_plain() {
            return None;
        }
        let stream = |effect: &str| port.and("/").and(effect).stream(seed);
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
            in_order: Instant::LONG_AGO,
            latest: Instant::LONG_AGO,
        }))
    }

    /// Whether what leaves may arrive in another order, or more than once.
    pub(crate) fn may_reorder(&self) -> bool {
        self.spec.may_reorder()
    }

    /// When the transmission of so many bytes ends that begins at `start`; never if it does not within the run. Transmissions must come in their order.
    pub(crate) fn transmit(
        &mut self,
        start: Instant,
        size: ByteCount,
        service: Service,
    ) -> Instant {
        if let Some(opportunities) = &mut self.opportunities {
            let outages = &self.spec.outages;
            return opportunities.transmit(start, self.horizon, size, service, outages);
        }
        let outages = &self.spec.outages;
        let (mut bits, mut now) = (8.0 * size.as_f64(), start);
        while now < self.horizon {
            if let Some(until) = outage::standstill(outages, now) {
                now = until;
                continue;
            }
            let rate = self.course.at(now).rate.bps();
            let change = self
                .course
                .until()
                .min(outage::next_standstill(outages, now));
            let end = now + Duration::from_secs(bits / rate);
            if end <= change {
                return end;
            }
            bits -= rate * (change - now).secs();
            now = change;
        }
        Instant::NEVER
    }

    /// What becomes of the packet whose transmission has lasted from `start` to `end`; `usual`: how long it takes at the rate with which the wire began.
    ///
    /// Before anything has changed times are added in the order of a plain wire: rounded otherwise, what comes at one instant there would come one after the other here.
    pub(crate) fn cross(&mut self, start: Instant, end: Instant, usual: Duration) -> Crossing {
        let (spec, draws) = (&self.spec, &mut self.draws);
        let mut crossing = Crossing {
            arrival: Instant::NEVER,
            corrupted: false,
            duplicated: false,
            overtakes: false,
        };
        if end == Instant::NEVER {
            return crossing;
        }
        let conditions = self.course.at(end);
        draws.packets += 1;
        let jitter = spec
            .jitter
            .as_ref()
            .map_or(Duration::ZERO, |jitter| jitter.draw(&mut draws.jitter));
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
        let crossing_time = (conditions.delay + jitter).max(Duration::ZERO);
        let mut arrival = if end == start + usual {
            start + (usual + crossing_time)
        } else {
            end + crossing_time
        };
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
    pub(crate) fn capacity_bits(&self, end: Instant) -> f64 {
        if let Some(trace) = &self.spec.trace {
            return trace.capacity_bits(end);
        }
        let changes = self.spec.changes.as_ref();
        let mut course = Course::new(self.initial, changes, self.course_stream.clone());
        let (mut bits, mut now) = (0.0, Instant::START);
        while now < end {
            let rate = course.at(now).rate.bps();
            let until = course.until().min(end);
            bits += rate * (until - now).secs();
            now = until;
        }
        bits
    }
}

#[cfg(test)]
mod tests;
