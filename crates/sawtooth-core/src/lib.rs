//! The laboratory: what a scenario means, and a packet simulator that runs it.
//!
//! ```text
//! tree --scenario::read--> Scenario --simulate(seed)--> Records
//! ```
//!
//! A [`Scenario`] is plain values ([`spec`]), which a program can make as well as [`scenario`] can read it.
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
//! bit/s: [Some(53563643.733333334), Some(42583556.266666666)]
//! ```
//!
//! The core has no clock, no file and no thread, and every random number comes from the seed: the same scenario and seed give
//! the same records on any machine. Everything a study can name is a row of a table ([`cc::TABLE`], [`queue::TABLE`],
//! [`source::TABLE`], [`packet_source::TABLE`], [`dist::TABLE`], [`tcp::PARAMS`], [`host::PARAMS`], [`kernel::PARAMS`], [`tcp::STACKS`], `sawtooth list recovery`, [`record::SCHEMA`]),
//! and documentation, errors and tests walk the tables.
//!
//! Layers, top may use below: `scenario`, `sim`; `net`, `feed`, `demand`; `spec`; `udp`; `tcp`, `host`, `exchanges`, `kernel`; `cc`, `queue`, `source`, `packet_source`, `arrivals`; `loss`, `impair`; `packet`, `dist`,
//! `noise`, `limits`; `fft`, `events`, `record`, `registry`; `rng`, `expr`, `ring`, `histogram`; `units`. `tests/it/layering.rs` holds it.

#![forbid(unsafe_code)]
// What is `pub` is the library's interface, or what the workspace uses besides, and the interface is documented.
#![warn(missing_docs, unreachable_pub)]

pub mod cc;
pub mod dist;
mod fft;
mod histogram;
pub mod host;
pub mod impair;
pub mod kernel;
pub mod loss;
pub mod packet_source;
pub mod queue;
pub mod record;
pub mod registry;
mod ring;
pub mod scenario;
mod sim;
pub mod source;
pub mod spec;
pub mod tcp;
mod udp;
pub mod units;

// The other crates of the workspace and the tests use these, too. They are no part of the library's interface and may change with any version.
// Only rustdoc takes them for hidden: the compiler then warns where one of their items has no documentation, as in what is shown.
#[cfg_attr(doc, doc(hidden))]
pub mod arrivals;
#[cfg_attr(doc, doc(hidden))]
pub mod demand;
#[cfg_attr(doc, doc(hidden))]
pub mod events;
#[cfg_attr(doc, doc(hidden))]
pub mod exchanges;
#[cfg_attr(doc, doc(hidden))]
pub mod expr;
#[cfg_attr(doc, doc(hidden))]
pub mod feed;
#[cfg_attr(doc, doc(hidden))]
pub mod limits;
#[cfg_attr(doc, doc(hidden))]
pub mod net;
#[cfg_attr(doc, doc(hidden))]
pub mod noise;
#[cfg_attr(doc, doc(hidden))]
pub mod packet;
#[cfg_attr(doc, doc(hidden))]
pub mod rng;

pub use scenario::ScenarioError;
pub use sim::{Stopped, simulate, simulate_with_effort, simulate_within_limits};
pub use spec::Scenario;
