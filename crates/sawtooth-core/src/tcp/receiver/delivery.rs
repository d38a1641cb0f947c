//! What an application has been given.

use crate::units::{ByteCount, Instant};

/// What the application has been given, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct InOrderDelivery {
    /// Of the application's: no SYN, FIN or header counts.
    pub bytes: ByteCount,
    /// When that was last.
    pub last: Instant,
}

impl InOrderDelivery {
    #[inline]
    pub(super) fn add(&mut self, now: Instant, bytes: ByteCount) {
        self.bytes += bytes;
        self.last = now;
    }
}
