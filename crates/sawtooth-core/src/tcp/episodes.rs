//! Loss episodes of one connection: what was found, how, and how it ended. Kept only where a study asks.
//!
//! An episode begins with a reduction of the window (RFC 5681's congestion event) and lasts until its recovery point is acknowledged, or the
//! reduction is undone. A timeout ends the recovery that it interrupts and begins an episode of its own; further timeouts before that one's
//! recovery point belong to it.

use super::params::Recovery;
use super::sender::Sender;
use crate::events::Event;

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
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

impl Cause {
    /// How `recovery` finds losses by acknowledgements.
    pub fn of(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => Self::Dupack,
            Recovery::Sack => Self::Sack,
            Recovery::Fack => Self::Fack,
            Recovery::Rack => Self::Rack,
        }
    }

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

/// One episode; windows in segments.
#[derive(Clone, Debug, PartialEq)]
pub struct LossEpisode {
    pub start: f64,
    /// None while it lasts.
    pub end: Option<f64>,
    pub cause: Cause,
    /// Segments found to be lost; none where the recovery does not judge segments.
    pub lost: Option<u64>,
    pub retransmits: u64,
    pub timeouts: u64,
    pub flight_size: u64,
    pub cwnd_before: f64,
    /// The threshold that it left.
    pub ssthresh: f64,
    /// When it ended.
    pub cwnd_after: f64,
    /// It turned out to be none, and the windows were restored.
    pub spurious: bool,
}

/// What the counters were when an episode began.
#[derive(Clone, Copy, Debug, Default)]
struct Baseline {
    lost: u64,
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

impl Sender {
    /// Loss episodes are to be kept from now on.
    pub fn keep_episodes(&mut self) {
        self.episodes = Some(Box::default());
    }

    /// Those kept so far.
    pub fn episodes(&self) -> &[LossEpisode] {
        self.episodes.as_ref().map_or(&[], |kept| &kept.all)
    }

    /// An episode begins, found by `cause`, before the window is reduced. Its counters have been counted up already, except where
    /// it is a timeout's.
    #[inline]
    pub(super) fn begin_episode(&mut self, now: Event, cause: Cause) {
        if self.episodes.is_some() {
            self.note_beginning(now, cause);
        }
    }

    #[cold]
    fn note_beginning(&mut self, now: Event, cause: Cause) {
        let again = cause == Cause::Rto
            && self
                .episode_under_way()
                .is_some_and(|episode| episode.cause == cause);
        if again {
            return;
        }
        self.note_end(now);
        let probed = u64::from(cause == Cause::TailLossProbe);
        let waiting = match cause {
            // What waits was found lost before the timer expired.
            Cause::Rto => 0,
            _ => self.rack.as_ref().map_or(0, |rack| rack.segments.lost()),
        };
        let baseline = Baseline {
            // The probe stands for the segment that was lost.
            lost: self
                .lost_so_far()
                .unwrap_or(0)
                .wrapping_sub(waiting + probed),
            retransmits: self.counters.retransmits - probed,
            timeouts: self.counters.timeouts,
        };
        let episode = LossEpisode {
            start: now.time,
            end: None,
            cause,
            lost: None,
            retransmits: 0,
            timeouts: 0,
            flight_size: self.flight_size(),
            cwnd_before: self.window.cwnd(),
            ssthresh: f64::NAN,
            cwnd_after: f64::NAN,
            spurious: false,
        };
        if let Some(kept) = &mut self.episodes {
            kept.all.push(episode);
            kept.baseline = Some(baseline);
        }
    }

    /// The episode under way was none.
    pub(super) fn undo_episode(&mut self) {
        if let Some(episode) = self.episode_under_way() {
            episode.spurious = true;
        }
    }

    /// The sender stops: brings the episode under way up to date, and ends it if it is over.
    #[inline]
    pub(super) fn note_episode(&mut self, now: Event) {
        if self.episodes.is_some() {
            self.update_episode();
            if !self.is_repairing() {
                self.note_end(now);
            }
        }
    }

    fn note_end(&mut self, now: Event) {
        self.update_episode();
        if let Some(episode) = self.episode_under_way() {
            episode.end = Some(now.time);
        }
        if let Some(kept) = &mut self.episodes {
            kept.baseline = None;
        }
    }

    fn episode_under_way(&mut self) -> Option<&mut LossEpisode> {
        let kept = self.episodes.as_mut()?;
        kept.baseline.and(kept.all.last_mut())
    }

    #[cold]
    fn update_episode(&mut self) {
        let (lost, ssthresh, cwnd) = (
            self.lost_so_far(),
            self.window.ssthresh(),
            self.window.cwnd(),
        );
        let (retransmits, timeouts) = (self.counters.retransmits, self.counters.timeouts);
        let baseline = self.episodes.as_ref().and_then(|kept| kept.baseline);
        let (Some(from), Some(episode)) = (baseline, self.episode_under_way()) else {
            return;
        };
        episode.lost = lost.map(|lost| lost.wrapping_sub(from.lost));
        episode.retransmits = retransmits - from.retransmits;
        episode.timeouts = timeouts - from.timeouts;
        episode.cwnd_after = cwnd;
        if episode.ssthresh.is_nan() {
            episode.ssthresh = ssthresh;
        }
    }

    /// Segments found lost, where the recovery judges segments.
    fn lost_so_far(&self) -> Option<u64> {
        self.rack.as_ref().map(|rack| rack.lost_so_far())
    }
}
