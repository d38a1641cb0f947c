//! Components have small numbers, by which packets and events refer to them.

pub(super) fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 components")
}
