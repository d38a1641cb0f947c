//! F-RTO: whether a timeout was spurious, from what arrives after it.
//!
//! Specification: RFC 5682 §3.1 (with selective acknowledgements).

/// How far the test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// It was not spurious, or it is not asked.
    Over,
    /// Step 1: the segment that timed out has been sent again.
    Retransmitted,
    /// Step 2b: it has been acknowledged, and new data was sent.
    NewData,
}

/// What an acknowledgement after a timeout tells.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Something was delivered that was outstanding at the timeout and has not been sent again.
    pub originals: bool,
    /// It acknowledges data, but not all that was outstanding then.
    pub is_partial: bool,
    /// There is new data to send, and room for it.
    pub has_more: bool,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The timeout was needless.
    Spurious,
    /// The test is so far now.
    Undecided(Frto),
}

impl Frto {
    /// An acknowledgement comes.
    pub fn on_ack(self, heard: Heard) -> Verdict {
        match self {
            Self::Over => Verdict::Undecided(Self::Over),
            _ if heard.originals => Verdict::Spurious,
            Self::Retransmitted if heard.is_partial && heard.has_more => {
                Verdict::Undecided(Self::NewData)
            }
            Self::Retransmitted if !heard.is_partial => Verdict::Undecided(Self::Retransmitted),
            Self::Retransmitted | Self::NewData => Verdict::Undecided(Self::Over),
        }
    }
}
