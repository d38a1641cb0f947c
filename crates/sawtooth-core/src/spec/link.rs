//! A link, which has two directions.

use super::direction::Direction;
use super::part::Part;
use crate::impair::{Conditions, Forwarding, Impairments, Medium};
use crate::loss::LossSpec;
use crate::queue;
use crate::units::{ByteCount, Duration, Rate};

/// A link; each direction has its own rate, delay and queue.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// By which errors and the rows of records name it.
    pub name: String,
    /// The way of the data of flows, unless they are against the others.
    pub forward: LinkDirection,
    /// The way of their acknowledgements, and of requests.
    pub reverse: LinkDirection,
}

/// One direction of a link: packets wait in its queue, are transmitted at its rate, and arrive its delay later.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirection {
    /// At which bits leave. With a trace it is the trace's mean, with changes what holds before the first.
    pub rate: Rate,
    /// From when a packet's last bit has left to when it arrives: propagation alone.
    pub delay: Duration,
    /// A row of [`tables::QUEUE`](crate::tables::QUEUE).
    pub queue: Part,
    /// Which packets are lost at random or by number; none by default.
    pub loss: LossSpec,
    /// Bytes of the largest packet that it carries, if that is limited.
    pub mtu: Option<ByteCount>,
    /// What packets are put into, if they do not leave as they are.
    pub medium: Option<Medium>,
    /// How the node at its far end passes packets on to the next link.
    pub forwarding: Forwarding,
    /// What else happens to its rate, its delay and its packets; nothing by default.
    pub impairments: Impairments,
}

impl LinkSpec {
    /// What a flow's packets cross that goes this way.
    pub fn way(&self, direction: Direction) -> &LinkDirection {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// A link that is the same in both directions.
    pub fn new(name: impl Into<String>, rate: Rate, delay: Duration) -> Self {
        Self {
            name: name.into(),
            forward: LinkDirection::new(rate, delay),
            reverse: LinkDirection::new(rate, delay),
        }
    }

    /// The same with a queue of this kind in each direction.
    #[must_use]
    pub fn with_queue(mut self, queue: Part) -> Self {
        self.reverse.queue = queue.clone();
        self.forward.queue = queue;
        self
    }
}

impl LinkDirection {
    /// A wire that loses nothing, behind a queue that drops what does not fit.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self {
            rate,
            delay,
            queue: Part::of(&queue::TABLE[0]),
            loss: LossSpec::default(),
            mtu: None,
            medium: None,
            forwarding: Forwarding::default(),
            impairments: Impairments::default(),
        }
    }

    /// What holds before anything has changed.
    pub fn conditions(&self) -> Conditions {
        Conditions {
            rate: self.rate,
            delay: self.delay,
            loss: 0.0,
        }
    }

    /// The rate of packets of this size, when nothing else is sent.
    pub fn packet_rate(&self, size: ByteCount) -> Rate {
        self.medium.map_or(self.rate, |medium| {
            Rate::from_bps(self.rate.bps() * size.as_f64() / medium.on_wire(size).as_f64())
        })
    }

    /// No packet arrives sooner than this after its last bit has left.
    pub fn least_delay(&self) -> Duration {
        self.impairments.least_delay(self.delay)
    }
}

/// What a round trip over a path takes by propagation alone; `access_delay` is what a flow takes to its links, each way.
pub fn base_rtt(links: &[LinkSpec], path: &[usize], access_delay: Duration) -> Duration {
    let delays = |link: &usize| links[*link].forward.delay + links[*link].reverse.delay;
    path.iter().map(delays).sum::<Duration>() + access_delay * 2.0
}
