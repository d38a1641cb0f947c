//! Acknowledgements that are not delayed: at the start of a connection, and again after what may have made the sender slow.
//!
//! RFC 5681 §4.2 lets a receiver acknowledge each segment. When is as measured of Linux 6.1 (`quick_acks`, `quick_acks_again`).

use crate::tcp::params::Config;
use crate::units::SegCount;

/// Those from the first mark on: its own and the next (measured of Linux 6.1).
const OF_A_MARK: SegCount = SegCount::new(2);

/// The acknowledgements that one receiver does not delay.
#[derive(Debug)]
pub(super) struct QuickAcks {
    /// Those that are still to be sent one by one.
    left: SegCount,
    most: SegCount,
    /// Whether there are any but those of the start.
    pub again: bool,
}

impl QuickAcks {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            left: SegCount::new(config.quick_acks),
            most: SegCount::new(config.quick_acks),
            again: config.quick_acks_again,
        }
    }

    /// Whether the next acknowledgement is one of them.
    #[inline]
    pub(super) fn is_next(&self) -> bool {
        !self.left.is_zero()
    }

    /// The first data have come, and the window is for `limit` of them.
    pub(super) fn limit(&mut self, limit: SegCount) {
        self.left = self.left.min(limit);
    }

    /// As many follow as at the start, with a receive buffer no more than its window is for.
    pub(super) fn restart(&mut self, limit: Option<SegCount>) {
        let most = limit.map_or(self.most, |limit| self.most.min(limit));
        self.left = self.left.max(most);
    }

    /// The window opens, which is acknowledged at once. Measured of Linux 6.1: it makes an even number of them odd. The window opened with each of the segments 13 to 18 when four of
    /// the sixteen were left: the next one to be delayed was the 23rd. It opened with the 12th when five were left, and the next to be delayed was the 17th.
    #[inline]
    pub(super) fn on_open(&mut self) {
        self.left = SegCount::new(self.left.get() | 1);
    }

    /// The first mark has come after segments without, or a repair.
    pub(super) fn on_mark(&mut self) {
        self.left = self.left.max(OF_A_MARK);
    }

    /// An acknowledgement leaves; whether it was the last of them.
    #[inline]
    pub(super) fn on_ack(&mut self) -> bool {
        if self.left.is_zero() {
            return false;
        }
        self.left -= SegCount::ONE;
        self.left.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick(left: u64, most: u64) -> QuickAcks {
        QuickAcks {
            left: SegCount::new(left),
            most: SegCount::new(most),
            again: true,
        }
    }

    #[test]
    fn there_are_as_many_as_half_of_the_window_and_no_more_than_the_parameter() {
        let mut acks = quick(20, 20);
        acks.limit(SegCount::new(10));
        assert_eq!(acks.left, SegCount::new(10));
        acks.restart(Some(SegCount::new(15)));
        assert_eq!(acks.left, SegCount::new(15));
        acks.restart(Some(SegCount::new(3)));
        assert_eq!(acks.left, SegCount::new(15), "a limit takes none away");
        acks.restart(None);
        assert_eq!(acks.left, SegCount::new(20));
    }

    #[test]
    fn as_many_are_left_as_before_the_window_opened_if_they_were_even_and_none_is_added_to_odd_ones()
     {
        let left_after = |left, opens| {
            let mut acks = quick(left, 16);
            for _ in 0..opens {
                acks.on_open();
                acks.on_ack();
            }
            acks.left.get()
        };
        assert_eq!(left_after(4, 6), 4);
        assert_eq!(left_after(5, 1), 4);
        assert_eq!(left_after(0, 3), 0);
    }

    #[test]
    fn a_mark_is_followed_by_two_of_which_the_second_is_the_last() {
        let mut acks = quick(0, 20);
        assert!(!acks.on_ack());
        acks.on_mark();
        assert_eq!(
            [acks.on_ack(), acks.on_ack(), acks.on_ack()],
            [false, true, false]
        );
    }
}
