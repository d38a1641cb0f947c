//! TCP as state machines without input or output: segments and timer expirations go in, segments and deadlines come out.
//!
//! [`params`] is the table of everything a study may set under `tcp`; its defaults are the `rfc` stack. [`STACKS`] are the
//! presets, each a list of values that differ from those defaults.

pub mod ack_policy;
pub mod delayed_ack;
pub mod ecn;
pub mod episodes;
pub mod limits;
pub mod metrics_cache;
pub mod ns2_random;
pub mod pacer;
pub mod params;
pub mod partial;
pub mod rate;
pub mod receive_buffer;
pub mod receiver;
pub mod recovery;
mod restart;
pub mod rto;
pub mod sack_compression;
pub mod scoreboard;
pub mod segmentation;
pub mod segments;
pub mod send_buffer;
pub mod sender;
pub mod stream;
pub mod ticks;
pub mod timestamps;

pub use params::{Config, PARAMS, STACKS, Stack, key};
