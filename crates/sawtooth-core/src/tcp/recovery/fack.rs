//! Forward acknowledgement: the highest segment that the receiver has reported says how much is in the path; what is missing below it is lost.
//!
//! Specification: M. Mathis, J. Mahdavi, "Forward Acknowledgment: Refining TCP Congestion Control", SIGCOMM 1996, §2 (`snd.fack`, `awnd`, the
//! trigger); RFC 5827 §2.2 (`early_retransmit`); RFC 6937 and RFC 9937 (the window in a recovery). The rest of the sender is that of `rack`.
//!
//! Model, in segments:
//! - `snd.fack` is one past the highest segment known to have arrived; a recovery begins when `snd.fack - snd.una > dup_thresh`: where several segments
//!   in a row are missing, with the first report of one beyond them, and not with the third
//! - in a recovery everything below `snd.fack` that has not been reported is lost, a retransmission only if the highest segment was sent after it:
//!   what is in the path is `awnd = snd.nxt - snd.fack + retran_data`
//! - after a timeout all that is outstanding is lost (RFC 6675 §5.1)
//! - early retransmit: with less than four segments outstanding and nothing else to send, all but one of which have been reported, that one is lost
//!
//! Deviations: the paper also begins with the third duplicate acknowledgement, which with selective ones is never before. That lost retransmissions are
//! found is not in the paper, whose authors leave them to the timer. Where segments were reordered, "highest" means nothing: from the first such sign on
//! a segment is lost when `dup_thresh` segments above it have been reported (RFC 6675 §4), and early retransmit is off for the connection.
//!
//! Kernel equivalent: Linux to 4.14 with `tcp_fack` (and `tcp_early_retrans` from 3.5 on). That it begins so, takes all holes for lost, and gives this up with
//! the first reordering is described by P. Sarolahti and A. Kuznetsov, "Congestion Control in Linux TCP", USENIX 2002, §3. Held against ns-2's `TCP/Fack`
//! in docs/validation/old-kernels.md; kernels of that age are not measured. They also raise DupThresh with the reordering that they see, which is not done here.

use super::Sender;
use crate::registry::Entry;
use crate::tcp::params::EarlyRetransmit;

pub const ENTRY: Entry<()> = Entry {
    name: "fack",
    summary: "losses are found by the highest segment reported: several in a row with one report, but reordering is taken for loss",
    specification: &["Mathis and Mahdavi 1996 §2", "RFC 5827", "RFC 6937"],
    params: &[],
    new: (),
};

/// Early retransmit is for fewer segments outstanding than this (RFC 5827 §2.2 (2.a)).
const FEW: u64 = 4;

impl Sender {
    /// Finds losses; how many. `expired`: the wait of early retransmit is over.
    pub(super) fn fack_find_losses(&mut self, now: f64, expired: bool) -> u64 {
        let dup_thresh = u64::from(self.config.dup_thresh);
        let una = self.snd_una;
        let early = self.early_retransmit(expired);
        let highest = self.state.scoreboard.nth_highest(dup_thresh);
        let Some(rack) = &mut self.rack else { return 0 };
        let judged_by = if rack.reordering_seen {
            highest.and_then(|seq| rack.segments.first_transmission(seq))
        } else if rack.is_lossless() && rack.fack.saturating_sub(una) <= dup_thresh {
            None
        } else {
            Some(rack.forward)
        };
        let mut lost = judged_by.map_or(0, |transmission| {
            rack.segments
                .mark_lost_before(transmission, f64::INFINITY)
                .0
        });
        rack.look_again = None;
        if lost == 0 && rack.is_lossless() {
            match early {
                Some(0.0) => lost = rack.segments.lose_first(),
                Some(wait) => rack.look_again = Some((now, wait)),
                None => {}
            }
        }
        rack.rate.lost += lost;
        lost
    }

    /// How much later the first segment is lost if nothing arrives before, seconds, where so little is outstanding that less than DupThresh segments have to
    /// tell (RFC 5827 §2.2; that they may be late is its appendix A's).
    fn early_retransmit(&self, expired: bool) -> Option<f64> {
        let kind = self.config.early_retransmit;
        let rack = self.rack.as_ref()?;
        if kind == EarlyRetransmit::Off || rack.reordering_seen {
            return None;
        }
        let outstanding = self.snd_max - self.snd_una;
        let more = self.has_more() && self.snd_nxt < self.snd_una + self.window.limit();
        let all_but_one = rack.segments.sacked() + 1 == outstanding;
        if !(2..FEW).contains(&outstanding) || more || !all_but_one {
            return None;
        }
        if kind == EarlyRetransmit::AtOnce || expired {
            return Some(0.0);
        }
        Some(self.rto.srtt_secs().unwrap_or(0.0) / 4.0)
    }
}
