//! The window that a receive buffer offers.
//!
//! Specifications: RFC 9293 §3.8.6 (the window's right edge never moves back), RFC 7323 §2 (window scaling); the kernel's ip-sysctl documentation
//! (`tcp_app_win`). How it opens is as measured of Linux 6.1 (`mod.rs`).

use crate::units::{ByteCount, SegCount};

/// The most that the header's field can say, and the largest scale (RFC 7323 §2.3).
const LARGEST_FIELD: ByteCount = ByteCount::new(65_535);
const LARGEST_SCALE: u8 = 14;
/// What opens with each segment that arrives.
const STEP: SegCount = SegCount::new(2);

/// The window of one receive buffer.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    smss: ByteCount,
    scale: u8,
    /// The most that may be advertised, which the field can say, and how far the window has opened.
    clamp: ByteCount,
    open: ByteCount,
    /// One past the last byte that was advertised.
    edge: ByteCount,
    is_established: bool,
}

impl ReceiveWindow {
    /// The window of the SYN's answer, whose field has no scale: whole segments of what is for data. Later ones have the scale for `most`, if there is any.
    pub(super) fn new(smss: ByteCount, for_data: ByteCount, most: Option<ByteCount>) -> Self {
        let first = for_data.min(LARGEST_FIELD);
        Self {
            smss,
            scale: most.map_or(0, scale_for),
            clamp: ByteCount::ZERO,
            open: (first / smss * smss).max(smss.min(first)),
            edge: ByteCount::ZERO,
            is_established: false,
        }
    }

    /// The connection is established: `tcp_app_win`'s documentation reserves one segment for the application. Whether it was not before.
    pub(super) fn establish(&mut self, for_data: ByteCount) -> bool {
        if self.is_established {
            return false;
        }
        self.is_established = true;
        let has_room = for_data > SegCount::new(2) * self.smss;
        self.clamp_to(if has_room {
            for_data - self.smss
        } else {
            for_data
        });
        self.open = self.open.min(self.clamp);
        true
    }

    #[inline]
    pub(super) fn is_established(&self) -> bool {
        self.is_established
    }

    #[cfg(test)]
    pub(super) fn scale(&self) -> u8 {
        self.scale
    }

    /// What is still offered beyond what was received in order.
    pub(super) fn offered(&self, received: ByteCount) -> ByteCount {
        self.edge.saturating_sub(received)
    }

    /// How far it has opened.
    pub(super) fn open(&self) -> ByteCount {
        self.open
    }

    /// A segment arrives beside which there is so much room: the window opens by two. Whether it does.
    #[inline]
    pub(super) fn open_up(&mut self, room: impl FnOnce() -> ByteCount) -> bool {
        if self.open >= self.clamp {
            return false;
        }
        let room = room().min(self.clamp);
        if self.open >= room {
            return false;
        }
        self.open = (self.open + STEP * self.smss).min(room);
        true
    }

    /// The buffer has grown, of which so much is for data.
    pub(super) fn clamp_to(&mut self, for_data: ByteCount) {
        self.clamp = for_data.min(LARGEST_FIELD * (1 << self.scale));
    }

    /// What an acknowledgement of all that was received in order advertises while so much is free, as much as its field can say.
    #[inline]
    pub(super) fn advertise(&mut self, received: ByteCount, free: ByteCount) -> ByteCount {
        // RFC 9293 §3.8.6: what was offered stays offered.
        let still = self.whole_units(self.edge.saturating_sub(received));
        let most = LARGEST_FIELD * self.unit();
        let window = self.wanted(free).max(still).min(most);
        self.edge = self.edge.max(received + window);
        window
    }

    /// The same if nothing were offered yet.
    #[inline]
    pub(super) fn wanted(&self, free: ByteCount) -> ByteCount {
        self.whole_units(free.min(self.open))
    }

    /// The scale of what the field counts.
    #[inline]
    pub(super) fn shift(&self) -> u8 {
        if self.is_established { self.scale } else { 0 }
    }

    /// What it counts, bytes.
    #[inline]
    fn unit(&self) -> u64 {
        1 << self.shift()
    }

    /// A power of two, so no division is needed.
    #[inline]
    fn whole_units(&self, size: ByteCount) -> ByteCount {
        let unit = self.unit();
        ByteCount::new((size.get() + (unit - 1)) & !(unit - 1))
    }
}

/// The scale with which the field can say how large the buffer may become (RFC 7323 §2.2).
fn scale_for(most: ByteCount) -> u8 {
    (0..LARGEST_SCALE)
        .find(|scale| most.get() >> scale <= LARGEST_FIELD.get())
        .unwrap_or(LARGEST_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advertise(window: &mut ReceiveWindow, received: u64, free: u64) -> u64 {
        let (received, free) = (ByteCount::new(received), ByteCount::new(free));
        window.advertise(received, free).get()
    }

    #[test]
    fn rfc7323_2_2_the_scale_is_the_least_with_which_the_field_reaches_the_buffer_and_14_at_most() {
        for (most, scale) in [
            (65_535, 0),
            (65_536, 1),
            (6_291_456, 7),
            (65_535 << 14, 14),
            (1 << 40, 14),
        ] {
            assert_eq!(scale_for(ByteCount::new(most)), scale, "{most}");
        }
    }

    #[test]
    fn rfc7323_2_2_the_syns_answer_is_not_scaled() {
        let buffer = ByteCount::new(1 << 19);
        let mut window = ReceiveWindow::new(ByteCount::new(1448), buffer, Some(buffer));
        assert_eq!(advertise(&mut window, 0, 1 << 19), 45 * 1448);
        assert!(window.establish(buffer) && !window.establish(buffer));
        window.open_up(|| buffer);
        // 47 segments are 4253.5 units of 16 bytes.
        assert_eq!(advertise(&mut window, 0, 1 << 19), 4254 * 16);
    }

    #[test]
    fn rfc9293_3_8_6_what_was_offered_stays_offered() {
        let buffer = ByteCount::new(10_000);
        let mut window = ReceiveWindow::new(ByteCount::new(1000), buffer, None);
        window.establish(buffer);
        assert_eq!(advertise(&mut window, 0, 9000), 9000);
        // Nothing is free; as much as was offered may come all the same.
        assert_eq!(advertise(&mut window, 4000, 0), 5000);
        assert_eq!(advertise(&mut window, 9000, 0), 0);
        assert_eq!(advertise(&mut window, 9000, 3000), 3000);
    }
}
