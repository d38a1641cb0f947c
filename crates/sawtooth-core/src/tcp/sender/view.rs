//! What can be asked of a sender: what records say of it, and why nothing leaves.

use super::tx::Tx;
use super::{RttSamples, Sender, SenderCounters};
use crate::cc;
use crate::tcp::episodes::LossEpisode;
use crate::tcp::limits::{SendLimit, SendLimits};
use crate::tcp::metrics_cache::Legacy;
use crate::tcp::params::Config;
use crate::tcp::stream::Unacked;
use crate::units::{ByteCount, Duration, Instant, Rate, SegCount, SeqNum, WindowSize};

/// What keeps unsent data back when nothing more may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBackBy {
    /// Everything that is written has been sent, or waits for its time (pacing).
    Nothing,
    /// The window has no room, or a recovery decides what leaves.
    Window,
    /// Less than a segment is left, which is held back although the window has room.
    Partial,
}

impl Sender {
    /// What it was opened with; an earlier connection may have left it another `initial_ssthresh`.
    pub fn config(&self) -> &Config {
        &self.tx.config
    }

    /// All since it was opened.
    pub fn counters(&self) -> &SenderCounters {
        &self.tx.counters
    }

    /// What has held it back.
    pub fn limits(&self) -> &SendLimits {
        &self.tx.limits
    }

    /// Loss episodes kept so far.
    pub fn episodes(&self) -> &[LossEpisode] {
        let kept = self.tx.episodes.as_ref();
        kept.map_or(&[], |episodes| episodes.all())
    }

    /// The congestion window.
    pub fn cwnd(&self) -> WindowSize {
        self.tx.window.cwnd()
    }

    /// The largest one so far.
    pub fn max_cwnd(&self) -> WindowSize {
        self.tx.window.max()
    }

    /// The window's mean over the connection's life of this length, up to [`Sender::finish`].
    pub fn mean_cwnd(&self, lifetime: Duration) -> WindowSize {
        self.tx.window.mean(lifetime)
    }

    /// The slow-start threshold.
    pub fn ssthresh(&self) -> WindowSize {
        self.tx.window.ssthresh()
    }

    /// The algorithm's own variables.
    pub fn probe(&self, out: &mut cc::VariableProbe<'_>) {
        self.tx.window.probe(out);
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.tx.timers.rto.srtt()
    }

    /// The retransmission timeout.
    pub fn timeout(&self) -> Duration {
        self.tx.timers.rto.timeout()
    }

    /// The round trips that the timer has taken.
    pub fn round_trips(&self) -> &RttSamples {
        &self.tx.timers.round_trips
    }

    /// How fast segments are let out, if they are paced.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.recovery.pacing_rate(&self.tx)
    }

    /// Everything before this segment has been acknowledged.
    pub fn snd_una(&self) -> SeqNum {
        self.tx.seq.una
    }

    /// Segments sent and not cumulatively acknowledged (FlightSize).
    pub fn flight_size(&self) -> SegCount {
        self.tx.seq.flight_size()
    }

    /// Segments considered in the path: what the recovery in force compares with the window (RFC 6675 §4's pipe).
    pub fn pipe(&self) -> SegCount {
        self.recovery.pipe(&self.tx)
    }

    /// Segments that the receiver's window has room for beyond what has been sent.
    pub fn rwnd_room(&self) -> SegCount {
        self.tx.seq.rwnd_room()
    }

    /// Segments that have been written and not been sent.
    pub fn send_room(&self) -> SegCount {
        self.tx.app.unsent(&self.tx.seq)
    }

    /// Whether the application can write: the handshake is over, if there is one.
    pub fn is_established(&self) -> bool {
        self.tx.seq.is_established()
    }

    /// Once the application can write: whether not more than one SYN was sent.
    pub fn opened_with_one_syn(&self) -> Option<bool> {
        self.is_established().then_some(!self.tx.seq.syn_again)
    }

    /// Whether the application has closed, and all it wrote has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.tx.app.stream.is_delivered(self.tx.seq.una)
    }

    /// Whether there is nothing left to do: everything is acknowledged, the FIN too.
    pub fn is_finished(&self) -> bool {
        self.tx.app.stream.is_finished(self.tx.seq.una)
    }

    /// Segments of data acknowledged.
    pub fn acked_segments(&self) -> SegCount {
        self.tx.app.stream.acked_segments(self.tx.seq.una)
    }

    /// What of the application's is acknowledged.
    pub fn acked(&self) -> ByteCount {
        self.tx.app.stream.acked(self.tx.seq.una)
    }

    /// Bytes of the application that are known to have arrived, cumulatively or selectively.
    pub fn delivered(&self) -> ByteCount {
        let Tx { seq, app, .. } = &self.tx;
        let smss = self.tx.config.smss;
        self.tx.reported.delivered(seq, &app.stream, smss)
    }

    /// What has been written and not been acknowledged.
    pub fn unacked(&self) -> Unacked {
        self.tx.app.stream.unacked(self.tx.seq.una)
    }

    /// Bytes that can be added to the last segment, if it has not been sent, before it is full.
    pub fn tail_room(&self) -> ByteCount {
        self.tx.app.stream.tail_room(self.tx.seq.max)
    }

    /// What this connection, which has ended, leaves to later ones.
    pub fn legacy(&self) -> Legacy {
        Legacy {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            srtt: self.srtt(),
        }
    }

    /// What the sender waits for when [`Sender::poll_transmit`] has nothing more.
    pub fn waits(&self, now: Instant) -> HeldBackBy {
        let Tx { seq, app, .. } = &self.tx;
        let lost = self.recovery.has_lost();
        if seq.nxt >= app.stream.end() && !lost {
            return HeldBackBy::Nothing;
        }
        let outstanding = self.recovery.in_path(&self.tx);
        let room = outstanding < self.tx.window.usable()
            && self.tx.is_within_limit()
            && !seq.rwnd_room().is_zero();
        if room && !lost && app.is_held_back(seq) {
            HeldBackBy::Partial
        } else if self.recovery.waits_for_its_time(&self.tx, now) {
            HeldBackBy::Nothing
        } else {
            HeldBackBy::Window
        }
    }

    /// The sender has nothing that it could send now: why, in the order of precedence of [`crate::tcp::limits`].
    #[inline]
    pub(super) fn why_it_stops(&self, now: Instant) -> SendLimit {
        let Tx { seq, app, .. } = &self.tx;
        if self.recovery.is_repairing(&self.tx) {
            return SendLimit::Recovery;
        }
        if seq.is_opening() {
            return SendLimit::Cwnd;
        }
        let lost = self.recovery.has_lost();
        if !lost && seq.nxt >= app.stream.end() {
            if app.sleeps {
                SendLimit::SendBuffer
            } else {
                SendLimit::Source
            }
        } else if !lost && app.unsent(seq).is_zero() {
            SendLimit::SendBuffer
        } else if !lost && app.is_held_back(seq) {
            SendLimit::Nagle
        } else if !lost && (!self.tx.is_within_limit() || seq.rwnd_room().is_zero()) {
            SendLimit::Rwnd
        } else if self.recovery.waits_for_its_time(&self.tx, now) {
            SendLimit::Pacing
        } else {
            SendLimit::Cwnd
        }
    }
}
