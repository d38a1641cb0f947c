//! F-RTO: whether a timeout was spurious, from what arrives after it.
//!
//! Specification: RFC 5682 §3.1 (with selective acknowledgements).
//!
//! Deviations: RFC 5682 §3.1 finds a timeout spurious in step 3b only, after the retransmission has been acknowledged and new data was sent. Here it is found
//! spurious in step 2, too, by an acknowledgement that reports data which was outstanding at the timeout and was not sent again, as Linux does.

/// How far the test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    /// It was not spurious, or it is not asked.
    Over,
    /// Step 1: the segment that timed out has been sent again.
    Retransmitted,
    /// Step 2b: it has been acknowledged, and new data was sent.
    NewData,
}

/// What an acknowledgement after a timeout shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// Something was delivered that was outstanding at the timeout and has not been sent again.
    pub originals: bool,
    /// It acknowledges data, but not all that was outstanding then.
    pub is_partial: bool,
    /// There is new data to send, and room for it.
    pub has_more: bool,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrtoVerdict {
    /// The timeout was needless.
    Spurious,
    /// The test is so far now.
    Undecided(Frto),
}

impl Frto {
    /// An acknowledgement comes.
    pub(super) fn on_ack(self, evidence: Evidence) -> FrtoVerdict {
        match self {
            Self::Over => FrtoVerdict::Undecided(Self::Over),
            _ if evidence.originals => FrtoVerdict::Spurious,
            Self::Retransmitted if evidence.is_partial && evidence.has_more => {
                FrtoVerdict::Undecided(Self::NewData)
            }
            Self::Retransmitted if !evidence.is_partial => {
                FrtoVerdict::Undecided(Self::Retransmitted)
            }
            Self::Retransmitted | Self::NewData => FrtoVerdict::Undecided(Self::Over),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first acknowledgement after the retransmission covers it, and more was outstanding.
    const PARTIAL: Evidence = Evidence {
        originals: false,
        is_partial: true,
        has_more: true,
    };
    const ORIGINALS: Evidence = Evidence {
        originals: true,
        ..PARTIAL
    };

    #[test]
    fn rfc5682_3_1_step_2b_and_3b_what_was_not_sent_again_arrives_so_the_timeout_was_spurious() {
        let FrtoVerdict::Undecided(next) = Frto::Retransmitted.on_ack(PARTIAL) else {
            panic!("step 2b sends new data");
        };
        assert_eq!(next, Frto::NewData);
        assert_eq!(next.on_ack(ORIGINALS), FrtoVerdict::Spurious);
    }

    #[test]
    fn deviating_from_rfc5682_3_1_step_2_the_retransmissions_acknowledgement_can_show_it_already() {
        assert_eq!(Frto::Retransmitted.on_ack(ORIGINALS), FrtoVerdict::Spurious);
    }

    #[test]
    fn rfc5682_3_1_step_3a_nothing_that_was_not_sent_again_arrives_so_the_timeout_was_right() {
        assert_eq!(
            Frto::NewData.on_ack(PARTIAL),
            FrtoVerdict::Undecided(Frto::Over)
        );
    }

    #[test]
    fn rfc5682_3_1_step_2_a_duplicate_acknowledgement_tells_nothing_yet() {
        let duplicate = Evidence {
            is_partial: false,
            ..PARTIAL
        };
        assert_eq!(
            Frto::Retransmitted.on_ack(duplicate),
            FrtoVerdict::Undecided(Frto::Retransmitted)
        );
    }

    #[test]
    fn rfc5682_3_1_step_2b_without_new_data_the_test_is_over() {
        let finished = Evidence {
            has_more: false,
            ..PARTIAL
        };
        assert_eq!(
            Frto::Retransmitted.on_ack(finished),
            FrtoVerdict::Undecided(Frto::Over)
        );
    }

    #[test]
    fn rfc5682_3_1_a_test_that_is_over_stays_over() {
        assert_eq!(
            Frto::Over.on_ack(ORIGINALS),
            FrtoVerdict::Undecided(Frto::Over)
        );
    }
}
