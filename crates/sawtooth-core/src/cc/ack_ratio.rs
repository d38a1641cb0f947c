//! How many segments an acknowledgement is of, for algorithms whose steps make up for those that are delayed.

use super::{AckedData, PathOrder};
use crate::units::floor;

/// A moving average, or a number that stays.
///
/// Measured of Linux 6.1: counted in sixteenths, of which every acknowledgement adds one for each of its segments and takes away as many as the average has whole
/// segments. So it stays at 31/16 where acknowledgements are of one segment, having begun at two. Acknowledgements do not count while losses are repaired or data
/// is out of order.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckRatio {
    first: f64,
    /// In the `memory`-th part of a segment.
    parts: f64,
    memory: Option<f64>,
    /// After the last acknowledgement.
    order: PathOrder,
}

impl AckRatio {
    pub(super) fn new(first: f64, memory: Option<f64>) -> Self {
        Self {
            first,
            parts: first * memory.unwrap_or(1.0),
            memory,
            order: PathOrder::InOrder,
        }
    }

    /// As at first, after a timeout that is to be recovered from.
    pub(super) fn restart(&mut self) {
        *self = Self {
            order: PathOrder::Repairing,
            ..Self::new(self.first, self.memory)
        };
    }

    pub(super) fn update(&mut self, ack: &AckedData) {
        if let Some(memory) = self.memory {
            if self.order == PathOrder::InOrder {
                self.parts += ack.acked.as_f64() - floor(self.parts / memory);
            }
            self.order = ack.order;
        }
    }

    /// Segments per acknowledgement.
    pub(super) fn segments(&self) -> f64 {
        self.parts / self.memory.unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::ack;
    use crate::units::SegCount;

    fn after(ratio: &mut AckRatio, order: PathOrder, segments: u64, times: usize) -> f64 {
        for _ in 0..times {
            ratio.update(&AckedData {
                acked: SegCount::new(segments),
                order,
                ..ack()
            });
        }
        ratio.segments()
    }

    #[test]
    fn it_goes_to_what_acknowledgements_are_of_and_stops_short_of_the_next_whole_number() {
        let mut ratio = AckRatio::new(2.0, Some(16.0));
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 1, 1), 31.0 / 16.0);
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 1, 50), 31.0 / 16.0);
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 2, 50), 2.0);
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 3, 500), 3.0);
    }

    #[test]
    fn acknowledgements_count_from_order_to_order_alone() {
        let mut ratio = AckRatio::new(2.0, Some(16.0));
        assert_eq!(
            after(&mut ratio, PathOrder::Disordered, 0, 1),
            30.0 / 16.0,
            "the path was in order until it came"
        );
        assert_eq!(after(&mut ratio, PathOrder::Disordered, 5, 10), 30.0 / 16.0);
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 5, 1), 30.0 / 16.0);
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 5, 1), 34.0 / 16.0);
    }

    #[test]
    fn without_a_memory_it_stays() {
        let mut ratio = AckRatio::new(2.0, None);
        assert_eq!(after(&mut ratio, PathOrder::InOrder, 1, 10), 2.0);
    }
}
