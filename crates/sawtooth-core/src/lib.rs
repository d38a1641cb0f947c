//! The laboratory: what a scenario means, and a packet simulator that runs it.
//!
//! ```text
//! tree --scenario::read--> Scenario --simulate(seed)--> Records
//! ```
//!
//! A [`Scenario`] is plain values ([`spec`]), which a program can make as well as [`scenario`] can read it; [`Scenario::check`] says what is wrong with it.
//!
//! CUBIC beside Reno, as Linux has them (`cargo run -p sawtooth-core --example dumbbell`):
//!
//! ```
#![doc = include_str!("../examples/dumbbell.rs")]
//! ```
//!
//! prints what each of them delivered to its application:
//!
//! ```text
//! cubic: 51.42 Mbit/s
//! reno: 44.62 Mbit/s
//! ```
//!
//! The core has no clock, no file and no thread, and every random number comes from the seed: the same scenario and seed give
//! the same records on any machine. Whatever a scenario can name is a row of a table ([`tables`]), and so is what is recorded ([`record::SCHEMA`]):
//! documentation, errors and tests walk them.
//!
//! What is on these pages is the interface. The feature `internals`, which is off unless asked for, adds what the other crates of the workspace and the tests use
//! besides; that may change with any version.
//!
//! Layers, top may use below: `internals`, `run`; `scenario`, `sim`; `record`; `net`, `feed`, `demand`, `endpoint`; `spec`, `tables`; `udp`, `fluid`; `tcp`, `host`, `exchanges`, `kernel`; `cc`, `queue`, `source`, `packet_source`, `arrivals`; `loss`, `impair`; `packet`, `dist`,
//! `noise`, `limits`; `fft`, `events`, `registry`; `rng`, `expr`, `ring`, `histogram`; `digits`, `units`. `tests/it/layering.rs` holds it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
// Whatever type a program meets in the interface it can name, too. What the internals alone use is not used here.
#![cfg_attr(not(feature = "internals"), warn(unnameable_types))]
#![cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]
// What is `pub` is the interface, or one of the internals.
#![cfg_attr(feature = "internals", warn(unreachable_pub))]

mod arrivals;
mod cc;
mod demand;
mod digits;
mod dist;
mod endpoint;
mod events;
mod exchanges;
mod expr;
mod feed;
mod fft;
mod fluid;
mod histogram;
mod host;
mod impair;
#[cfg(feature = "internals")]
pub mod internals;
mod kernel;
mod limits;
mod loss;
mod net;
mod noise;
mod packet;
mod packet_source;
mod queue;
pub mod record;
pub mod registry;
mod ring;
mod rng;
mod run;
pub mod scenario;
mod sim;
mod source;
pub mod spec;
pub mod tables;
mod tcp;
mod udp;
pub mod units;

pub use run::{simulate, simulate_with_effort, simulate_within_limits};
pub use scenario::ScenarioError;
pub use sim::Stopped;
pub use spec::Scenario;
