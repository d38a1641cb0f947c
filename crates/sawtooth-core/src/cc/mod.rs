//! Congestion control: from what happened to a flow it decides how much may be in flight, and how fast to send.
//!
//! The transport detects losses and says what it saw in event structs; the algorithm owns its window and nobody else
//! writes it, except where a loss recovery's own specification prescribes a window ([`CongestionControl::prescribe`]).
//! Windows are in segments of SMSS bytes and may be fractional.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`]. A classic algorithm, whose window grows additively and shrinks by a
//! share, gives an `Avoidance` (`reno.rs` is the least of them); any other is a [`CongestionControl`] itself. Its `ENTRY` says its parameters, what it
//! needs of the stack, and what Linux has otherwise. What ends slow start has a table of its own, in `slow_start`.

mod ack_ratio;
mod algorithm;
mod api;
mod bandwidth;
mod bbr;
mod bic;
mod cdg;
mod classic;
mod copa;
mod cubic;
mod dctcp;
mod disorder;
mod events;
mod gaimd;
mod growth;
mod highspeed;
mod htcp;
mod hybla;
mod illinois;
mod ledbat;
mod lp;
mod nv;
mod pace;
mod params;
mod prague;
mod reno;
mod scalable;
mod slow_start;
mod smoothed;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod vegas;
mod veno;
mod westwood;
mod yeah;

pub use algorithm::{Algorithm, EcnMode, Needs, ParamOrder, Rates, Set};
pub use api::{CongestionControl, ConnectionStart, VariableProbe};
use classic::{Avoidance, ClassicControl, CongestionWindow};
pub use events::{
    AckArrival, AckedData, AckedMarks, Episode, PathOrder, Prescribed, RateSample, Signal, Windows,
};

use crate::registry::Entry;

/// All congestion controls.
pub const TABLE: &[Entry<Algorithm>] = &[
    reno::ENTRY,
    cubic::ENTRY,
    highspeed::ENTRY,
    scalable::ENTRY,
    bic::ENTRY,
    htcp::ENTRY,
    vegas::ENTRY,
    veno::ENTRY,
    westwood::ENTRY,
    yeah::ENTRY,
    lp::ENTRY,
    nv::ENTRY,
    hybla::ENTRY,
    illinois::ENTRY,
    cdg::ENTRY,
    dctcp::ENTRY,
    ledbat::ENTRY,
    bbr::v1::ENTRY,
    bbr::v3::ENTRY,
    copa::ENTRY,
    prague::ENTRY,
    gaimd::ENTRY,
];

/// The algorithm called `name`.
///
/// # Panics
/// If there is none of that name: a scenario has checked it.
pub fn named(name: &str) -> &'static Algorithm {
    let entry = TABLE.iter().find(|entry| entry.name == name);
    &entry.expect("the scenario names a row of the table").new
}
