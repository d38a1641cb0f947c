//! Congestion control: hears what happened to a flow, answers how much may be in flight and how fast.
//!
//! The transport detects losses and says what it saw in event structs; the algorithm owns its window and nobody else
//! writes it, except where a loss recovery's own specification prescribes a window ([`CongestionControl::set_cwnd`]).
//! Windows are in segments of SMSS bytes and may be fractional.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod api;
mod bbr;
mod bic;
mod cdg;
mod classic;
mod copa;
mod cubic;
mod dctcp;
mod events;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod hystart_plus_plus;
mod illinois;
mod ledbat;
mod linux;
mod lp;
mod nv;
mod order;
mod prague;
mod reno;
mod scalable;
#[cfg(test)]
mod tests;
mod vegas;
mod veno;
mod westwood;
mod yeah;

pub use api::{CongestionControl, Ecn, Probe, Rates, Start};
use classic::{BETA_ECN, beta_ecn};
pub use classic::{Growth, slow_start};
pub use events::{Ack, AckArrival, Episode, Marks, RateSample, Send, Windows};
pub use linux::set_as_in_linux;
pub use order::{Order, out_of_order};

use crate::registry::{Entry, Params};

/// Constructor of a table row.
pub type New = fn(&Params, Start) -> Box<dyn CongestionControl>;

/// All congestion controls.
pub const TABLE: &[Entry<New>] = &[
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
];

/// What the algorithm called `name` makes of Explicit Congestion Notification.
pub fn ecn_of(name: &str, params: &Params) -> Ecn {
    ask(name, params, Ecn::Classic, |cc| cc.ecn())
}

/// What the algorithm called `name` makes of delivery rates.
pub fn rates_of(name: &str, params: &Params) -> Rates {
    ask(name, params, Rates::Unused, |cc| cc.rates())
}

/// What an algorithm answers before there is a connection; `otherwise` for one that is not in the table.
fn ask<T>(
    name: &str,
    params: &Params,
    otherwise: T,
    question: impl Fn(&dyn CongestionControl) -> T,
) -> T {
    let entry = TABLE.iter().find(|entry| entry.name == name);
    entry.map_or(otherwise, |entry| {
        question(&*(entry.new)(params, Start::at(10.0)))
    })
}
