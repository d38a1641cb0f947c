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

use super::detect::{Detect, ReorderingTimer};
use crate::registry::Entry;
use crate::tcp::params::EarlyRetransmit;
use crate::tcp::segments::{LostSegments, Segments};
use crate::tcp::sender::tx::Tx;
use crate::units::{Duration, Instant, SegCount};

pub(crate) const ENTRY: Entry<()> = Entry {
    name: "fack",
    summary: "losses are found by the highest segment reported: several in a row with one report, but reordering is taken for loss",
    specification: &["Mathis and Mahdavi 1996 §2", "RFC 5827", "RFC 6937"],
    params: &[],
    new: (),
};

/// Early retransmit is for fewer segments outstanding than this (RFC 5827 §2.2 (2.a)).
const FEW: SegCount = SegCount::new(4);

/// Finds losses; how many. `expired`: the wait of early retransmit is over; `repairing`: some have been found that are not repaired.
#[inline(never)]
pub(super) fn find_losses(
    detect: &mut Detect,
    segments: &mut Segments,
    tx: &Tx,
    now: Instant,
    expired: bool,
    repairing: bool,
) -> LostSegments {
    let dup_thresh = SegCount::from(tx.config.dup_thresh);
    let early = early_retransmit(detect, segments, tx, expired);
    let judged_by = if detect.reordering_seen {
        let highest = tx.reported.scoreboard.nth_highest(dup_thresh);
        highest.and_then(|seq| segments.first_transmission(seq))
    } else if !repairing && detect.fack.saturating_sub(tx.seq.una) <= dup_thresh {
        None
    } else {
        Some(detect.forward)
    };
    let lost = judged_by.map_or(LostSegments::default(), |transmission| {
        let reported = &tx.reported.scoreboard;
        let found = segments.mark_lost_before(transmission, Instant::NEVER, reported);
        found.lost
    });
    detect.reordering_timer = None;
    if !lost.all.is_zero() || repairing {
        return lost;
    }
    match early {
        Some(wait) if wait == Duration::ZERO => segments.lose_first(),
        Some(wait) => {
            detect.reordering_timer = Some(ReorderingTimer { since: now, wait });
            LostSegments::default()
        }
        None => LostSegments::default(),
    }
}

/// How much later the first segment is lost if nothing arrives before, where so little is outstanding that less than DupThresh segments have to
/// tell (RFC 5827 §2.2; that they may be late is its appendix A's).
fn early_retransmit(
    detect: &Detect,
    segments: &Segments,
    tx: &Tx,
    expired: bool,
) -> Option<Duration> {
    let kind = tx.config.early_retransmit;
    if kind == EarlyRetransmit::Off || detect.reordering_seen {
        return None;
    }
    let outstanding = tx.seq.flight_size();
    let more = tx.has_more() && tx.is_within_limit();
    let all_but_one = segments.sacked() + SegCount::ONE == outstanding;
    if !(SegCount::new(2)..FEW).contains(&outstanding) || more || !all_but_one {
        return None;
    }
    if kind == EarlyRetransmit::AtOnce || expired {
        return Some(Duration::ZERO);
    }
    Some(tx.timers.rto.srtt().unwrap_or_default() / 4.0)
}
