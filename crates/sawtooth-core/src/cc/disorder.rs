//! Standard TCP's rules in an algorithm with rules of its own: they hold while segments are reported to have arrived out of order (`in_disorder`).

use super::PathOrder;
use super::params::InDisorder;

/// Whether they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandardRules {
    Off,
    /// Segments were reported to have arrived out of order with the last acknowledgement.
    Hold,
    /// They held until the last acknowledgement came.
    HaveEnded,
}

impl StandardRules {
    /// After an acknowledgement that leaves the path in this order.
    pub(super) fn after(self, order: PathOrder, in_disorder: InDisorder) -> Self {
        match self {
            _ if in_disorder != InDisorder::Standard => Self::Off,
            _ if order == PathOrder::Disordered => Self::Hold,
            Self::Hold => Self::HaveEnded,
            Self::Off | Self::HaveEnded => Self::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StandardRules::{HaveEnded, Hold, Off};
    use super::*;

    #[test]
    fn they_hold_in_disorder_and_have_ended_for_one_acknowledgement() {
        let orders = [
            PathOrder::InOrder,
            PathOrder::Disordered,
            PathOrder::Disordered,
            PathOrder::InOrder,
            PathOrder::Repairing,
        ];
        let rules = |in_disorder| {
            let after = |rules: &mut StandardRules, order| {
                *rules = rules.after(order, in_disorder);
                Some(*rules)
            };
            let rules = orders.into_iter().scan(StandardRules::Off, after);
            rules.collect::<Vec<_>>()
        };
        assert_eq!(
            rules(InDisorder::Standard),
            [Off, Hold, Hold, HaveEnded, Off]
        );
        assert_eq!(rules(InDisorder::Own), [Off; 5]);
    }
}
