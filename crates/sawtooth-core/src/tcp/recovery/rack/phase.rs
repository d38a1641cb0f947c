//! How far the sender is from its last loss.
//!
//! Specifications: RFC 6675 §5 (a recovery), RFC 3168 §6.1.2 (a mark's reduction takes the same way as a loss's), RFC 5682 (a timeout).

use super::frto::Frto;
use super::reduction::Prr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecoveryPhase {
    Open,
    /// Between a mark and its recovery point: the window walks down as in a recovery, and nothing is lost.
    Cwr(Prr),
    /// Between a loss and its recovery point.
    Recovery(Prr),
    /// After a timeout, up to its recovery point.
    Timeout(Frto),
}

impl RecoveryPhase {
    /// Whether nothing outstanding is known to be lost.
    pub(super) fn is_lossless(self) -> bool {
        matches!(self, Self::Open | Self::Cwr(_))
    }

    /// Whether new data are to show if a timeout was spurious, and nothing is sent again before (RFC 5682 §3.1 step 2b).
    pub(super) fn asks_by_new_data(self) -> bool {
        self == Self::Timeout(Frto::NewData)
    }

    /// The reduction under way.
    #[inline]
    pub(super) fn prr(&mut self) -> Option<&mut Prr> {
        match self {
            Self::Cwr(prr) | Self::Recovery(prr) => Some(prr),
            Self::Open | Self::Timeout(_) => None,
        }
    }
}
