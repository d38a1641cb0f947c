//! Loss episodes of one connection: what was found, how, and how it ended. Kept only where a study asks.
//!
//! An episode begins with a reduction of the window (RFC 5681's congestion event) and lasts until its recovery point is acknowledged, or the
//! reduction is undone. A timeout ends the recovery that it interrupts and begins an episode of its own; further timeouts before that one's
//! recovery point belong to it.

use crate::units::{Instant, SegCount, WindowSize};

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossFoundBy {
    /// Duplicate acknowledgements (RFC 5681 §3.2).
    Dupack,
    /// Selective acknowledgements (RFC 6675 §4).
    Sack,
    /// The highest segment reported (Mathis and Mahdavi 1996).
    Fack,
    /// Time (RFC 8985 §6), also where a probe brought the news.
    Rack,
    /// A tail loss probe repaired it before anything else had shown it (RFC 8985 §7.4.2).
    TailLossProbe,
    /// The retransmission timer expired (RFC 6298 §5).
    Rto,
    /// It was no loss but a mark (RFC 3168 §6.1.2).
    Ecn,
}

impl LossFoundBy {
    /// The word of the column `cause`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dupack => "dupack",
            Self::Sack => "sack",
            Self::Fack => "fack",
            Self::Rack => "rack",
            Self::TailLossProbe => "tail_loss_probe",
            Self::Rto => "rto",
            Self::Ecn => "ecn",
        }
    }
}

/// One episode.
#[derive(Clone, Debug, PartialEq)]
pub struct LossEpisode {
    /// When the loss was found, or the mark was reported.
    pub start: Instant,
    /// None while it lasts.
    pub end: Option<Instant>,
    /// What found it; nothing that follows changes it.
    pub cause: LossFoundBy,
    /// Segments found to be lost; none where the recovery does not judge segments.
    pub lost: Option<SegCount>,
    /// Segments sent again since it began, a tail loss probe that began it included. As of the sender's last stop.
    pub retransmits: u64,
    /// Expirations of the retransmission timer, one that began it included. As of the sender's last stop.
    pub timeouts: u64,
    /// FlightSize when it began: sent, and not acknowledged cumulatively.
    pub flight_size: SegCount,
    /// The congestion window that was then reduced.
    pub cwnd_before: WindowSize,
    /// The threshold that the reduction left; none before the sender has stopped after it.
    pub ssthresh: Option<WindowSize>,
    /// The window when it ended; none before the sender has stopped after the reduction.
    pub cwnd_after: Option<WindowSize>,
    /// It turned out to be none, and the windows were restored.
    pub spurious: bool,
}

/// What a recovery that judges segments knows of losses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    /// Segments found lost since the connection was opened, those that came after all included.
    pub found: SegCount,
    /// Of these, the ones that have not been sent again.
    pub waiting: SegCount,
}

/// What an episode is made of.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// `None` of a recovery that does not judge segments: all but RACK and FACK.
    pub losses: Option<Losses>,
    /// Segments sent again since the connection was opened.
    pub retransmits: u64,
    /// Expirations of the retransmission timer since then, but for one that is just being handled.
    pub timeouts: u64,
    /// Segments sent and not acknowledged cumulatively now.
    pub flight_size: SegCount,
    /// The congestion window now.
    pub cwnd: WindowSize,
    /// The slow-start threshold now.
    pub ssthresh: WindowSize,
}

/// What the counters were when an episode began.
#[derive(Clone, Copy, Debug, Default)]
struct Baseline {
    lost: SegCount,
    retransmits: u64,
    timeouts: u64,
}

/// All episodes, in order; at most the last one is not over.
#[derive(Debug, Default)]
pub struct Episodes {
    all: Vec<LossEpisode>,
    /// Of the one under way.
    baseline: Option<Baseline>,
}

impl Episodes {
    /// Those kept so far.
    pub fn all(&self) -> &[LossEpisode] {
        &self.all
    }

    /// One begins, found by `cause`. Its counters have been counted up already, except where it is a timeout's.
    #[cold]
    pub fn begin(&mut self, time: Instant, cause: LossFoundBy, figures: &Figures) {
        let under_way = self.under_way().map(|episode| episode.cause);
        if cause == LossFoundBy::Rto && under_way == Some(cause) {
            return;
        }
        self.end(time, figures);
        let probed = cause == LossFoundBy::TailLossProbe;
        let losses = figures.losses.unwrap_or_default();
        let waiting = match cause {
            // What waits was found lost before the timer expired.
            LossFoundBy::Rto => SegCount::ZERO,
            _ => losses.waiting,
        };
        self.baseline = Some(Baseline {
            // The probe stands for the segment that was lost.
            lost: losses.found.wrapping_sub(waiting + SegCount::from(probed)),
            retransmits: figures.retransmits - u64::from(probed),
            timeouts: figures.timeouts,
        });
        self.all.push(LossEpisode {
            start: time,
            end: None,
            cause,
            lost: None,
            retransmits: 0,
            timeouts: 0,
            flight_size: figures.flight_size,
            cwnd_before: figures.cwnd,
            ssthresh: None,
            cwnd_after: None,
            spurious: false,
        });
    }

    /// The one under way was none.
    pub fn undo(&mut self) {
        if let Some(episode) = self.under_way() {
            episode.spurious = true;
        }
    }

    /// The sender stops: brings the one under way up to date, and ends it if nothing is repaired any more.
    pub fn on_stop(&mut self, time: Instant, figures: &Figures, repairing: bool) {
        if repairing {
            self.update(figures);
        } else {
            self.end(time, figures);
        }
    }

    fn end(&mut self, time: Instant, figures: &Figures) {
        self.update(figures);
        if let Some(episode) = self.under_way() {
            episode.end = Some(time);
        }
        self.baseline = None;
    }

    fn under_way(&mut self) -> Option<&mut LossEpisode> {
        self.baseline.and(self.all.last_mut())
    }

    fn update(&mut self, figures: &Figures) {
        let (Some(from), Some(episode)) = (self.baseline, self.all.last_mut()) else {
            return;
        };
        let found = figures.losses.map(|losses| losses.found);
        episode.lost = found.map(|lost| lost.wrapping_sub(from.lost));
        episode.retransmits = figures.retransmits - from.retransmits;
        episode.timeouts = figures.timeouts - from.timeouts;
        episode.cwnd_after = Some(figures.cwnd);
        episode.ssthresh.get_or_insert(figures.ssthresh);
    }
}
