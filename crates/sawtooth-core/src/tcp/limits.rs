//! What holds a sender back: every moment of a connection's life belongs to exactly one cause.
//!
//! Specification: RFC 4898 §4, the objects `tcpEStatsPerfSndLim*`, which tell three causes apart; these eight are parts of them
//! ([`crate::record::RFC4898`] says which). As there, whenever the sender stops sending it says why, and the time up to its next stop is
//! accounted to that reason; nothing announces that a retransmission timer will expire, so when one does, the wait since the last stop is
//! accounted to it after the fact.
//!
//! A life lasts from the opening of the connection until everything has been acknowledged, or else to the end of the run.
//!
//! **Precedence.** Several causes can hold at once. The order is that of what would have to end first for data to flow as the application
//! and the window would have it:
//! 1. `Rto`: a wait in which nothing came until the retransmission timer expired. Whatever else was true, only the timer ended it.
//! 2. `Recovery`: from a loss to its recovery point, the repair after a timeout included. The recovery decides what is sent and when; that
//!    the window is full, or that the application has written everything, would not have lasted without the loss.
//! 3. `Source`, `SendBuffer`: there is nothing to send, so nothing else can matter. The application has written all it has, and waits for
//!    the last acknowledgements or for itself; or it has more and there is no room for it.
//! 4. `Nagle`: what there is to send is less than a segment and is kept back for more.
//! 5. `Rwnd`: the receiver's window is filled (RFC 4898: "the sender has filled the announced receiver window"), however large `cwnd` is.
//! 6. `Cwnd`: the congestion window is full. The handshake belongs here, too: one segment, the SYN, is all that may be outstanding.
//! 7. `Pacing`: the window has room, and the next segment's time has not come.
//!
//! Where a study asks, the stretches themselves are kept, in their order.
//!
//! Deviations: times are whole nanoseconds between rounded instants, so the shares sum exactly; RFC 4898 counts milliseconds.

use crate::units::Instant;

/// What keeps a sender from sending more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// The application has written all that it has, and waits.
    Source,
    /// The application has more to write, and the send buffer has no room for it.
    SendBuffer,
    /// The receiver's window is filled.
    Rwnd,
    /// The congestion window is full, or the handshake is not over.
    Cwnd,
    /// The windows have room; the time of the next segment has not come.
    Pacing,
    /// A loss is being repaired, which alone decides what leaves; also after a timeout.
    Recovery,
    /// Nothing came until the retransmission timer expired. Accounted afterwards, by [`SendLimits::expire`].
    Rto,
    /// Less than a segment is left and kept back for more, by whichever [policy](super::partial).
    Nagle,
}

impl SendLimit {
    /// In the order of the columns `limited_*_ns`.
    pub const ALL: [Self; 8] = [
        Self::Cwnd,
        Self::Rwnd,
        Self::Source,
        Self::SendBuffer,
        Self::Pacing,
        Self::Recovery,
        Self::Rto,
        Self::Nagle,
    ];

    /// The word of the column `by`, which is also that of the columns `limited_*_ns`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::SendBuffer => "send_buffer",
            Self::Rwnd => "rwnd",
            Self::Cwnd => "cwnd",
            Self::Pacing => "pacing",
            Self::Recovery => "recovery",
            Self::Rto => "rto",
            Self::Nagle => "nagle",
        }
    }
}

/// A time in which one cause held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitedStretch {
    /// Its beginning, ns.
    pub from_ns: i64,
    /// Its end, ns.
    pub until_ns: i64,
    /// The cause.
    pub by: SendLimit,
}

/// The account of one connection's life.
#[derive(Debug)]
pub struct SendLimits {
    spent_ns: [i64; SendLimit::ALL.len()],
    limit: SendLimit,
    /// When that became the limit, and when the sender last stopped.
    since_ns: i64,
    stopped: Instant,
    start_ns: i64,
    over: bool,
    stretches: Option<Vec<LimitedStretch>>,
}

impl SendLimits {
    pub(super) fn new() -> Self {
        Self {
            spent_ns: [0; SendLimit::ALL.len()],
            limit: SendLimit::Cwnd,
            since_ns: 0,
            stopped: Instant::START,
            start_ns: 0,
            over: false,
            stretches: None,
        }
    }

    /// Stretches are to be kept from now on.
    pub fn keep_stretches(&mut self) {
        self.stretches = Some(Vec::new());
    }

    /// Stretches kept so far: each begins where the one before ends, and has another cause.
    pub fn stretches(&self) -> &[LimitedStretch] {
        self.stretches.as_deref().unwrap_or_default()
    }

    /// The connection is opened at `time`.
    pub fn start(&mut self, time: Instant) {
        self.start_ns = time.as_ns();
        self.since_ns = self.start_ns;
        self.stopped = time;
    }

    /// The sender stops at `time`, because of `limit`.
    #[inline]
    pub fn stop(&mut self, time: Instant, limit: SendLimit) {
        if limit != self.limit {
            self.enter(time, limit);
        }
        self.stopped = time;
    }

    /// The retransmission timer has expired: nothing else has ended the wait since the last stop.
    pub fn expire(&mut self) {
        self.enter(self.stopped, SendLimit::Rto);
    }

    /// The life ends at `time`, unless it has ended.
    #[inline]
    pub fn finish(&mut self, time: Instant) {
        if !self.over {
            self.enter(time, self.limit);
            self.over = true;
        }
    }

    fn enter(&mut self, time: Instant, limit: SendLimit) {
        if self.over {
            return;
        }
        let now_ns = time.as_ns();
        if self.stretches.is_some() {
            self.keep(now_ns);
        }
        self.spent_ns[self.limit as usize] += now_ns - self.since_ns;
        self.since_ns = now_ns;
        self.limit = limit;
    }

    /// Keeps what ends at that time, as a part of the stretch before if that has the same cause.
    #[cold]
    fn keep(&mut self, now_ns: i64) {
        let (from_ns, by) = (self.since_ns, self.limit);
        let Some(kept) = self.stretches.as_mut().filter(|_| now_ns > from_ns) else {
            return;
        };
        match kept.last_mut() {
            Some(last) if last.by == by => last.until_ns = now_ns,
            _ => kept.push(LimitedStretch {
                from_ns,
                until_ns: now_ns,
                by,
            }),
        }
    }

    /// What has been accounted to `limit`, ns.
    pub fn spent_ns(&self, limit: SendLimit) -> i64 {
        self.spent_ns[limit as usize]
    }

    /// How long the connection lived, ns.
    pub fn lifetime_ns(&self) -> i64 {
        self.since_ns - self.start_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::at;

    fn all(limits: &SendLimits) -> Vec<(SendLimit, i64)> {
        let spent = SendLimit::ALL.map(|limit| (limit, limits.spent_ns(limit)));
        spent.into_iter().filter(|(_, ns)| *ns > 0).collect()
    }

    #[test]
    fn the_time_up_to_the_next_stop_belongs_to_the_reason_of_the_last() {
        let mut limits = SendLimits::new();
        limits.start(at(1.0));
        limits.stop(at(1.0), SendLimit::Cwnd);
        limits.stop(at(1.25), SendLimit::Rwnd);
        limits.stop(at(1.5), SendLimit::Rwnd);
        limits.stop(at(2.0), SendLimit::Source);
        limits.finish(at(2.125));
        let expected = [
            (SendLimit::Cwnd, 250_000_000),
            (SendLimit::Rwnd, 750_000_000),
            (SendLimit::Source, 125_000_000),
        ];
        assert_eq!(all(&limits), expected);
        assert_eq!(limits.lifetime_ns(), 1_125_000_000);
    }

    #[test]
    fn rfc4898_a_timeout_reclassifies_the_wait_since_the_last_stop() {
        let mut limits = SendLimits::new();
        limits.start(at(0.0));
        limits.stop(at(0.0), SendLimit::Cwnd);
        limits.stop(at(0.5), SendLimit::Cwnd);
        limits.expire();
        limits.stop(at(2.0), SendLimit::Recovery);
        // The second expiry in a row: the wait since the retransmission.
        limits.expire();
        limits.stop(at(5.0), SendLimit::Recovery);
        limits.finish(at(6.0));
        let expected = [
            (SendLimit::Cwnd, 500_000_000),
            (SendLimit::Recovery, 1_000_000_000),
            (SendLimit::Rto, 4_500_000_000),
        ];
        assert_eq!(all(&limits), expected);
    }

    #[test]
    fn a_life_ends_once() {
        let mut limits = SendLimits::new();
        limits.start(at(0.0));
        limits.stop(at(0.5), SendLimit::Source);
        limits.finish(at(1.0));
        limits.stop(at(3.0), SendLimit::Cwnd);
        limits.finish(at(4.0));
        assert_eq!(limits.lifetime_ns(), 1_000_000_000);
        assert_eq!(limits.spent_ns(SendLimit::Source), 500_000_000);
    }

    #[test]
    fn shares_of_instants_that_are_no_whole_nanoseconds_sum_exactly() {
        let mut limits = SendLimits::new();
        limits.start(at(0.1));
        let mut time = 0.1;
        for step in 0..1000 {
            time += 1.0 / 3e7;
            limits.stop(at(time), SendLimit::ALL[step % 8]);
        }
        limits.finish(at(time));
        let sum: i64 = SendLimit::ALL
            .iter()
            .map(|limit| limits.spent_ns(*limit))
            .sum();
        assert_eq!(sum, limits.lifetime_ns());
        assert_eq!(sum, at(time).as_ns() - at(0.1).as_ns());
    }

    #[test]
    fn stretches_are_those_of_the_account_in_their_order_and_without_gaps() {
        let mut limits = SendLimits::new();
        limits.keep_stretches();
        limits.start(at(0.5));
        limits.stop(at(0.5), SendLimit::Source);
        limits.stop(at(1.0), SendLimit::Cwnd);
        limits.stop(at(1.5), SendLimit::Cwnd);
        limits.expire();
        limits.expire();
        limits.stop(at(3.0), SendLimit::Recovery);
        limits.finish(at(3.25));
        limits.finish(at(4.0));
        let kept: Vec<_> = (limits.stretches().iter())
            .map(|each| (each.from_ns, each.until_ns, each.by.name()))
            .collect();
        let wanted = [
            (500_000_000, 1_000_000_000, "source"),
            (1_000_000_000, 1_500_000_000, "cwnd"),
            (1_500_000_000, 3_000_000_000, "rto"),
            (3_000_000_000, 3_250_000_000, "recovery"),
        ];
        assert_eq!(kept, wanted);
    }
}
