//! Reordering on purpose: some packets are taken out of their order.
//!
//! A displaced packet leaves the order of all others as it is; also where packets must not overtake each other, displaced ones do.

use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

/// Constructor of a table row.
pub(super) type NewReorder = fn(&Params) -> Reorder;

/// Which packets are displaced, and to where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reorder {
    /// It arrives as soon as its last bit has left.
    Early {
        /// The probability, from 0 to 1, that a packet is displaced which may be.
        probability: f64,
        /// Only every `gap`-th packet may be displaced; 1: any.
        gap: u64,
    },
    /// It arrives so much later than it would.
    Late {
        /// As of [`Reorder::Early`].
        probability: f64,
        /// As of [`Reorder::Early`].
        gap: u64,
        /// How much later.
        by: Duration,
    },
}

/// All ways.
pub const TABLE: &[Entry<NewReorder>] = &[
    Entry {
        name: "early",
        summary: "a packet passes the link without its delay, ahead of those in propagation",
        specification: &["tc-netem(8), reorder PERCENT gap DISTANCE"],
        params: &[PROBABILITY, GAP],
        new: |params| Reorder::Early {
            probability: params.number("probability"),
            gap: params.integer("gap").unsigned_abs(),
        },
    },
    Entry {
        name: "late",
        summary: "a packet is held back while those behind it pass",
        specification: &["RFC 4737 §2 (a reordered packet arrives late)"],
        params: &[PROBABILITY, GAP, BY],
        new: |params| Reorder::Late {
            probability: params.number("probability"),
            gap: params.integer("gap").unsigned_abs(),
            by: Duration::from_secs(params.duration("by")),
        },
    },
];

const PROBABILITY: Param = param!(probability: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.01),
    "with which a packet that may be displaced is");

const GAP: Param = param!(gap: Kind::Integer { min: 1, max: 1_000_000_000 } => Value::Integer(1),
    "only every so manieth packet may be displaced");

const BY: Param = param!(by: Kind::Duration { min_exclusive: true } => Value::Duration(0.005),
    "how much later a displaced packet arrives");

impl Reorder {
    /// Whether the packet of this number, from 1, is displaced.
    pub(crate) fn draw(&self, number: u64, stream: &mut RandomStream) -> bool {
        let (Self::Early { probability, gap }
        | Self::Late {
            probability, gap, ..
        }) = self;
        let unlucky = stream.uniform() < *probability;
        unlucky && number.is_multiple_of(*gap)
    }

    /// When a packet arrives that has left at `end` and would have arrived at `arrival`.
    pub(crate) fn displace(&self, end: Instant, arrival: Instant) -> Instant {
        match self {
            Self::Early { .. } => end,
            Self::Late { by, .. } => arrival + *by,
        }
    }
}
