//! What held a sender back, as far as a capture at the sender tells: after Zhang et al., "On the Characteristics and Origins of Internet Flow Rates", SIGCOMM 2002 (T-RAT).
//!
//! **Model.** Each stretch between two packets is of one kind, by the state after the first of them: a loss episode; all acknowledged, so the source had nothing;
//! no room for a segment in the receiver's window; or something else. If a retransmission of the timer ends it, it was the wait for that.

/// What may hold a sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeldBy {
    Source,
    Rwnd,
    Recovery,
    Rto,
    Other,
}

const KINDS: usize = 5;

/// Time of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct CapturedLimits {
    spent: [i64; KINDS],
    /// Since the last progress: it counts when there is more of it.
    pending: [i64; KINDS],
}

impl CapturedLimits {
    /// A stretch is over.
    pub(super) fn add(&mut self, held: HeldBy, stretch_ns: i64) {
        self.pending[held as usize] += stretch_ns.max(0);
    }

    /// Data was sent or acknowledged: the connection lived until now.
    pub(super) fn on_progress(&mut self) {
        for (spent, pending) in self.spent.iter_mut().zip(&mut self.pending) {
            *spent += std::mem::take(pending);
        }
    }

    pub(super) fn spent_ns(&self, held: HeldBy) -> i64 {
        self.spent[held as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_after_the_last_progress_is_of_no_kind() {
        let mut limits = CapturedLimits::default();
        limits.add(HeldBy::Rwnd, 5);
        limits.on_progress();
        limits.add(HeldBy::Source, 7);
        assert_eq!(limits.spent_ns(HeldBy::Rwnd), 5);
        assert_eq!(limits.spent_ns(HeldBy::Source), 0);
    }
}
