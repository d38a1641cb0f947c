//! The memory of a receive buffer: what packets take of it, and what of it is for data.
//!
//! Specification: the kernel's ip-sysctl documentation (`tcp_rmem`, `tcp_adv_win_scale`). What a packet takes is as measured of Linux 6.1.

use crate::tcp::params::Config;
use crate::units::{ByteCount, SegCount};

/// What a packet takes besides its bytes, bytes: what describes it, and headers, room and sharing information around its data.
const DESCRIPTION: u64 = 256;
const AROUND: u64 = 384;
/// What Linux expects a full segment to take besides its data when it sizes the buffer, and the step in which it raises that until the
/// share for data holds the segment.
const EXPECTED: ByteCount = ByteCount::new(832);
const STEP: ByteCount = ByteCount::new(128);

/// The memory of one receive buffer.
#[derive(Debug)]
pub(crate) struct ReceiveMemory {
    smss: ByteCount,
    /// What a full segment takes.
    segment: ByteCount,
    size: ByteCount,
    max: ByteCount,
    /// What segments take that wait for one before them, or to be read.
    held: ByteCount,
    adv_win_scale: i64,
}

impl ReceiveMemory {
    /// A buffer that begins with so much.
    pub(crate) fn new(config: &Config, size: ByteCount) -> Self {
        let smss = config.smss;
        Self {
            smss,
            segment: packet_memory(smss + config.header),
            size,
            max: ByteCount::new(config.receive_buffer_max).max(size),
            held: ByteCount::ZERO,
            adv_win_scale: config.adv_win_scale,
        }
    }

    #[cfg(test)]
    pub(crate) fn size(&self) -> ByteCount {
        self.size
    }

    /// The most that it may grow to.
    pub(crate) fn max(&self) -> ByteCount {
        self.max
    }

    /// A segment waits for one before it, or to be read.
    pub(crate) fn hold(&mut self) {
        self.held += self.segment;
    }

    /// So many segments need not wait any more.
    pub(crate) fn release(&mut self, segments: SegCount) {
        self.held = self.held.saturating_sub(segments * self.segment);
    }

    /// What is for data while nothing is in it.
    pub(crate) fn for_data(&self) -> ByteCount {
        self.share_of(self.size)
    }

    /// What is for data beside the segments that wait and one that comes.
    pub(crate) fn room(&self) -> ByteCount {
        self.share_of(self.size.saturating_sub(self.held + self.segment))
    }

    /// What is for data beside the segments that wait.
    pub(crate) fn free(&self) -> ByteCount {
        self.share_of(self.size.saturating_sub(self.held))
    }

    /// Makes room for so much data, as far as it may; whether the buffer is larger than before.
    pub(crate) fn grow_for(&mut self, data: ByteCount) -> bool {
        let mut segment = self.smss + EXPECTED;
        while self.share_of(segment) < self.smss {
            segment += STEP;
        }
        let size = (data / self.smss * segment).min(self.max);
        let grows = size > self.size;
        if grows {
            self.size = size;
        }
        grows
    }

    fn share_of(&self, size: ByteCount) -> ByteCount {
        share(size, self.adv_win_scale)
    }
}

/// What of a buffer is for data (`tcp_adv_win_scale`).
pub(crate) fn share(size: ByteCount, adv_win_scale: i64) -> ByteCount {
    let part = |scale: i64| ByteCount::new(size.get() >> scale);
    match adv_win_scale {
        scale @ 1.. => size - part(scale),
        scale => part(-scale),
    }
}

/// What a packet takes that is so large: pages are given out in powers of two (measured: 1280 for 576 bytes, 2304 for 1500).
fn packet_memory(size: ByteCount) -> ByteCount {
    ByteCount::new(DESCRIPTION + (size.get() + AROUND).next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_packet_is_what_was_measured() {
        for (size, memory) in [(576, 1280), (1500, 2304)] {
            assert_eq!(packet_memory(ByteCount::new(size)), ByteCount::new(memory));
        }
    }

    #[test]
    fn tcp_adv_win_scale_leaves_all_but_a_part_for_data_or_only_a_part() {
        let shares = [1, 2, 0, -1, -2].map(|scale| share(ByteCount::new(1000), scale).get());
        assert_eq!(shares, [500, 750, 1000, 500, 250]);
    }

    #[test]
    fn segments_that_wait_take_memory_until_they_need_not_wait_any_more() {
        let mut memory = ReceiveMemory {
            smss: ByteCount::new(1448),
            segment: ByteCount::new(2304),
            size: ByteCount::new(100_000),
            max: ByteCount::new(100_000),
            held: ByteCount::ZERO,
            adv_win_scale: 1,
        };
        memory.hold();
        memory.hold();
        assert_eq!(memory.for_data().get(), 50_000);
        assert_eq!(memory.room().get(), (100_000 - 3 * 2304) / 2);
        assert_eq!(memory.free().get(), (100_000 - 2 * 2304) / 2);
        memory.release(SegCount::new(2));
        assert_eq!(memory.free().get(), 50_000);
    }
}
