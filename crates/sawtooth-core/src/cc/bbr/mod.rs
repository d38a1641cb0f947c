//! BBR: paces at the bottleneck's rate and bounds what is in flight by the path's capacity, both measured. Two versions with one model.

mod control;
mod full_pipe;
mod model;
mod params;
#[cfg(test)]
pub(super) mod path;
mod probe_rtt;
pub(super) mod v1;
pub(super) mod v3;
