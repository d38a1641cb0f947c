//! Refuses scenarios that have been read but contradict themselves, or could never work.

mod fit;
mod fluid;
mod kernels;
mod limits;
mod nodes;
mod queues;
mod shaper;
mod tcp;

pub(super) use fit::{datagrams, segments, segments_fit};
pub(super) use fluid::check as fluid;
pub(super) use kernels::check as kernels;
pub(super) use limits::check as limits;
pub use limits::fits_machine;
pub(super) use nodes::check as nodes;
pub(super) use queues::check as queues;
pub(super) use shaper::check as shaper;
pub(super) use tcp::{check as tcp, congestion_control};
