//! Where a capture was taken: near the end that answers much faster than the other.
//!
//! **Model.** What comes from one end is answered by the other after the way from the place of the capture to there and back. The least of these times is
//! known of both ends of most connections: of the handshake, of acknowledgements, and of echoed timestamps (Jaiswal et al., "Inferring TCP Connection
//! Characteristics Through Passive Measurements", INFOCOM 2004, §IV, split a round trip in this way).
//!
//! The least is that of a moment when no queue stood. A sender answers an acknowledgement with the next packet that it sends: at once if it is clocked by them (Jacobson, SIGCOMM 1988, §1), when it is
//! due if it is paced or has little to send. Where most of its answers take long although the least does not, and several of its packets that do not know the acknowledgement yet come by meanwhile,
//! these were before them in a queue between it and the capture, as behind a bottleneck at the sender.

/// An end is near if the way to the other one takes so many times as long.
const NEAR: i64 = 10;

/// An answer is late that takes so large a part of the other way.
const LATE_PART: i64 = 4;
/// And before which so many packets come by that answer something older: more than a host has in its device, which TCP small queues hold to two portions of two packets where a link is slow.
const BEFORE: usize = 5;
/// So many answers at least tell whether most are late.
const ENOUGH: u64 = 10;

/// Ends that answer this fast together are of one machine or one rack: what hosts take to answer is no way.
const LEAST_WAY_NS: i64 = 100_000;

/// Where, as seen from the sender of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vantage {
    Sender,
    /// Near the sender, and most of its answers are late.
    NearSender,
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

    /// The same, by how many of a sender's answers were late.
    pub(super) fn with(self, answers: SenderAnswers) -> Self {
        if self == Self::Sender && answers.are_late() {
            Self::NearSender
        } else {
            self
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::NearSender => "near_sender",
            Self::Receiver => "receiver",
            Self::Middle => "middle",
            Self::Unknown => "",
        }
    }
}

/// Echoes of timestamps in data of a sender that had something outstanding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderAnswers {
    all: u64,
    late: u64,
    /// When its last packets with data came by, oldest first.
    last_ns: [Option<i64>; BEFORE],
}

impl SenderAnswers {
    /// One comes by at this time, and took so long; the other end answers in `other_ns` at least, as far as is known.
    pub(super) fn add(&mut self, time_ns: i64, took_ns: i64, other_ns: Option<i64>) {
        let Some(other) = other_ns else { return };
        let is_behind = self.last_ns[0].is_some_and(|oldest| oldest > time_ns - took_ns);
        self.all += 1;
        self.late += u64::from(is_behind && took_ns * LATE_PART >= other);
    }

    /// Those of another sender at the same place, too.
    pub(super) fn join(&mut self, other: Self) {
        self.all += other.all;
        self.late += other.late;
    }

    /// Whether most were late, and enough to tell.
    pub(super) fn are_late(&self) -> bool {
        self.all >= ENOUGH && 2 * self.late > self.all
    }

    /// A packet with data comes by, an answer or not.
    pub(super) fn passes(&mut self, time_ns: i64) {
        self.last_ns.rotate_left(1);
        self.last_ns[BEFORE - 1] = Some(time_ns);
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

    /// Where a sender is whose packets come by each millisecond, in a connection whose other end answers in 40 ms: of `all` answers so many come 10 ms late, the others a little sooner.
    fn with(late: u64, all: u64, packets: i64) -> &'static str {
        let mut answers = SenderAnswers::default();
        for at in 0..all {
            let time = 1_000_000_000 * at.cast_signed();
            let took = if at < late { 10_000_000 } else { 9_999_999 };
            for before in (1..=packets).rev() {
                answers.passes(time - 1_000_000 * before);
            }
            answers.add(time, took, Some(40_000_000));
            answers.add(time, took, None);
            answers.passes(time);
        }
        Vantage::of(Some(10_000), Some(40_000_000))
            .with(answers)
            .name()
    }

    #[test]
    fn a_near_sender_of_whom_most_answers_are_late_is_behind_something() {
        assert_eq!(
            [with(6, 10, 5), with(5, 10, 5), with(9, 9, 5)],
            ["near_sender", "sender", "sender"]
        );
    }

    #[test]
    fn a_sender_that_answers_late_with_the_next_packet_that_it_sends_is_paced_or_writes_slowly() {
        assert_eq!(
            [with(10, 10, 0), with(10, 10, 4), with(10, 10, 5)],
            ["sender", "sender", "near_sender"]
        );
    }
}
