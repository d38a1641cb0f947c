//! BBR: paces at the bottleneck's rate and bounds what is in flight by the path's capacity, both measured. Two versions with one model.

pub(super) mod model;
mod params;
#[cfg(test)]
pub(super) mod path;
pub(super) mod v1;
pub(super) mod v3;
