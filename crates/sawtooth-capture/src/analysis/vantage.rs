//! Where a capture was taken: near the end that answers much faster than the other.
//!
//! **Model.** What comes from one end is answered by the other after the way from the place of the capture to there and back. The least of these times is
//! known of both ends of most connections: of the handshake, of acknowledgements, and of echoed timestamps (Jaiswal et al., "Inferring TCP Connection
//! Characteristics Through Passive Measurements", INFOCOM 2004, §IV, split a round trip in this way).

/// An end is near if the way to the other one takes so many times as long.
const NEAR: i64 = 10;

/// Ends that answer this fast together are of one machine or one rack: what hosts take to answer is no way.
const LEAST_WAY_NS: i64 = 100_000;

/// Where, as seen from the sender of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vantage {
    Sender,
    Receiver,
    Middle,
    Unknown,
}

impl Vantage {
    /// By what both take at least to answer.
    pub(super) fn of(sender_ns: Option<i64>, receiver_ns: Option<i64>) -> Self {
        match sender_ns.zip(receiver_ns) {
            None => Self::Unknown,
            Some((sender, receiver)) if sender + receiver < LEAST_WAY_NS => Self::Unknown,
            Some((sender, receiver)) if sender * NEAR <= receiver => Self::Sender,
            Some((sender, receiver)) if receiver * NEAR <= sender => Self::Receiver,
            Some(_) => Self::Middle,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Middle => "middle",
            Self::Unknown => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_answers_ten_times_as_fast_is_near_where_there_is_a_way_at_all() {
        let of = |sender, receiver| Vantage::of(Some(sender), Some(receiver)).name();
        assert_eq!(of(10_000, 20_000_000), "sender");
        assert_eq!(of(20_000_000, 2_000_000), "receiver");
        assert_eq!(of(20_000_000, 3_000_000), "middle");
        assert_eq!(of(2_000, 90_000), "");
        assert_eq!(Vantage::of(None, Some(20_000_000)).name(), "");
    }
}
