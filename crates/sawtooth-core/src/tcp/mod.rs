//! TCP as state machines without input or output: segments and timer expirations go in, segments and deadlines come out.
//!
//! [`params`] is the table of everything a study may set under `tcp`; its defaults are the `rfc` stack. [`STACKS`] are the
//! presets, each a list of values that differ from those defaults.

pub(crate) mod byte_positions;
mod clock;
mod ecn;
pub mod episodes;
pub mod limits;
pub(crate) mod metrics_cache;
pub(crate) mod ns2_random;
pub(crate) mod pacer;
pub mod params;
pub mod partial;
mod rate;
pub mod receiver;
pub mod recovery;
mod restart;
pub mod rto;
pub mod scoreboard;
mod segmentation;
mod segments;
mod send_buffer;
pub mod sender;
mod shared_memory;
mod short;
mod stream;
mod ticks;
pub mod timestamps;

pub use params::{Config, PARAMS, STACKS, Stack, key};
pub use receiver::ack_policy;
