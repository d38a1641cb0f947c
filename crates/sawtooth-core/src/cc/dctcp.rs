//! Data Center TCP: gives up a share of the window that follows how many of its segments were marked.
//!
//! Specification: RFC 8257 §3.3, §3.4 (growth), §3.5 (loss).
//!
//! Model, in segments:
//! - once per window, when what had been sent at its start is acknowledged: `M = marked / delivered`,
//!   `alpha = alpha (1 - g) + g M`
//! - mark: `ssthresh = cwnd = cwnd (1 - alpha / 2)`, at most once per window, which the sender ensures
//! - loss and growth: standard TCP
//!
//! Deviations: `alpha` counts segments, not bytes. The window is at least 2 segments after a mark (the RFC leaves its least value
//! to the implementation). An acknowledgement that ends a window of observation updates `alpha` before it reduces.
//!
//! Kernel equivalent: `dctcp`, in whole segments. Without ECN it is Reno bit for bit, as measured there and by construction here.
//! Measured of Linux 6.1: the acknowledgement of all that was outstanding at the start of a window of observation ends it, and is the first of the next (`next_counts`), but for its mark: a first one without leaves `alpha` at 15/16, and a window of 4 at 3 with
//! the next mark; where the first acknowledgement of all has a mark, 10 segments become 5; and of 38 segments 15 are given up where 9 of
//! 36 acknowledgements had been marked since `alpha` was 844/1024, and the next one, which 844 - 52 + 17 says and 844 - 52 + 16 does not; `alpha` is in 1024ths (`alpha_steps`).

use super::params::{BETA, SHARE};
use super::{
    AckedMarks, Algorithm, Avoidance, ClassicControl, CongestionWindow, EcnMode, Episode, Needs,
    Signal, VariableProbe,
};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{SegCount, SeqNum, WindowSize, floor};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "dctcp",
    summary: "Data Center TCP: reduces its window in proportion to the share of marked segments",
    specification: &["RFC 8257 §3.3", "RFC 8257 §3.4", "RFC 8257 §3.5"],
    params: &[
        param!(g: Kind::Number { min: 1e-6, max: 1.0 } => Value::Number(1.0 / 16.0),
            "weight of the last window in the mean share of marked segments"),
        param!(alpha: SHARE => Value::Number(1.0),
            "share of marked segments that a connection starts with"),
        param!(next_counts: Kind::Bool => Value::Bool(false),
            "whether the acknowledgement of all that was outstanding at the start of a window of observation ends it, with its mark, and what it delivers is the first of the next"),
        param!(alpha_steps: Kind::Number { min: 0.0, max: 1e6 } => Value::Number(0.0),
            "parts of one in which alpha is counted, rounded down; 0: none"),
        BETA,
    ],
    new: Algorithm {
        needs: Needs {
            ecn: EcnMode::Every,
            ..Needs::NOTHING
        },
        linux: &[
            ("next_counts", Value::Bool(true)),
            ("alpha_steps", Value::Number(1024.0)),
        ],
        ..Algorithm::of(|params, start| ClassicControl::boxed(start, Dctcp::from(params)))
    },
};

/// What has been delivered and marked since the window of observation began.
#[derive(Clone, Copy, Debug, Default)]
struct Observation {
    delivered: SegCount,
    marked: SegCount,
    /// The window ends when more than this has been acknowledged.
    end: SeqNum,
}

impl Observation {
    /// M of RFC 8257 §3.3 step 3: which share of what was delivered came marked; nothing of nothing.
    fn share(&self) -> Option<f64> {
        let delivered = self.delivered.max(SegCount::from(!self.marked.is_zero()));
        (!delivered.is_zero()).then(|| self.marked.as_f64() / delivered.as_f64())
    }
}

#[derive(Debug)]
struct Dctcp {
    beta: f64,
    g: f64,
    alpha: f64,
    next_counts: bool,
    steps: f64,
    seen: Observation,
}

impl From<&Params> for Dctcp {
    fn from(params: &Params) -> Self {
        Self {
            beta: params.number("beta"),
            g: params.number("g"),
            alpha: params.number("alpha"),
            next_counts: params.flag("next_counts"),
            steps: params.number("alpha_steps"),
            seen: Observation::default(),
        }
    }
}

impl Dctcp {
    /// RFC 8257 §3.3 steps 3 to 8: all of a window of observation has been seen; the next ends at `end`.
    fn end_window(&mut self, end: SeqNum) {
        let share = self.seen.share();
        if self.steps > 0.0 {
            // Whole parts, as kernels count them: what is left of a small share goes, too.
            let alpha = self.alpha * self.steps;
            let fall = floor(alpha * self.g);
            let fall = if fall > 0.0 { fall } else { alpha };
            let rise = floor(share.unwrap_or(0.0) * self.steps * self.g);
            self.alpha = ((alpha - fall + rise) / self.steps).min(1.0);
        } else if let Some(share) = share {
            self.alpha = self.alpha * (1.0 - self.g) + self.g * share.min(1.0);
        }
        self.seen = Observation {
            end,
            ..Observation::default()
        };
    }
}

impl Avoidance for Dctcp {
    /// RFC 8257 §3.3 steps 1 to 8.
    fn on_marks(&mut self, marks: &AckedMarks) {
        self.seen.marked += marks.marked;
        if self.next_counts && marks.snd_una >= self.seen.end {
            self.end_window(marks.snd_nxt);
        }
        self.seen.delivered += marks.delivered;
        if !self.next_counts && marks.snd_una > self.seen.end {
            self.end_window(marks.snd_nxt);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        episode.window * self.beta
    }

    fn on_congestion(&mut self, window: &mut CongestionWindow, episode: &Episode) {
        if episode.signal != Signal::Ecn {
            let left = self.decrease(window, episode);
            window.reduce(episode, left);
            return;
        }
        // RFC 8257 §3.3 step 9.
        let left = if self.steps > 0.0 {
            window.cwnd - floor(window.cwnd * self.alpha / 2.0)
        } else {
            window.whole(window.cwnd * (1.0 - self.alpha / 2.0))
        };
        window.ssthresh = left.max(2.0);
        // A window of one segment after a timeout is no reason to grow.
        window.cwnd = window.cwnd.min(window.ssthresh);
        window.growth.restart();
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn dctcp(alpha: f64, start: ConnectionStart) -> ClassicControl<Dctcp> {
        let params = params(&ENTRY, &[("alpha", Value::Number(alpha))]);
        ClassicControl::new(start, Dctcp::from(&params))
    }

    fn marks(snd_una: u64, snd_nxt: u64, delivered: u64, marked: u64) -> AckedMarks {
        AckedMarks {
            now: Instant::from_secs(1.0),
            delivered: SegCount::new(delivered),
            marked: SegCount::new(marked),
            snd_una: SeqNum::new(snd_una),
            snd_nxt: SeqNum::new(snd_nxt),
        }
    }

    #[test]
    fn rfc8257_3_3_alpha_is_a_mean_over_windows() {
        let mut dctcp = dctcp(1.0, beginning(10.0));
        // An unmarked window: 1 * 15/16 = 0.9375.
        dctcp.on_marks(&marks(10, 20, 10, 0));
        assert!((dctcp.own.alpha - 0.9375).abs() < 1e-12);
        // Half of it marked, reported by two acknowledgements: 0.9375 * 15/16 + 1/16 * 5/10 = 0.91015625.
        dctcp.on_marks(&marks(18, 28, 8, 3));
        assert!(
            (dctcp.own.alpha - 0.9375).abs() < 1e-12,
            "not before its end"
        );
        dctcp.on_marks(&marks(20, 30, 2, 2));
        assert!(
            (dctcp.own.alpha - 0.9375).abs() < 1e-12,
            "SEG.ACK must pass DCTCP.WindowEnd"
        );
        dctcp.on_marks(&marks(22, 32, 2, 1));
        // Then 6 of 12 were marked.
        assert!((dctcp.own.alpha - 0.910_156_25).abs() < 1e-12);
    }

    #[test]
    fn rfc8257_3_3_a_mark_takes_half_of_alpha() {
        // alpha = 0.2, and 1 of 10 marked: 0.2 * 15/16 + 1/160 = 0.19375; 100 * (1 - 0.096875) = 90.3125.
        let mut dctcp = dctcp(0.2, beginning(100.0));
        dctcp.on_marks(&marks(10, 110, 10, 1));
        dctcp.on_ecn(&loss(100.0));
        assert!((dctcp.cwnd() - 90.3125).abs() < 1e-9, "{}", dctcp.cwnd());
        assert!((dctcp.ssthresh() - 90.3125).abs() < 1e-9);
    }

    #[test]
    fn every_segment_marked_is_reno_s_half() {
        // alpha = 1 stays 1: 31 * (1 - 1/2) = 15.5, or 15 whole segments.
        for (whole_windows, left) in [(false, 15.5), (true, 15.0)] {
            let mut dctcp = dctcp(
                1.0,
                ConnectionStart {
                    whole_windows,
                    ..beginning(31.0)
                },
            );
            dctcp.on_marks(&marks(5, 36, 5, 5));
            dctcp.on_ecn(&loss(31.0));
            assert!((dctcp.cwnd() - left).abs() < 1e-12);
        }
    }

    #[test]
    fn rfc8257_3_5_a_loss_is_answered_as_by_standard_tcp() {
        let mut dctcp = dctcp(0.1, beginning(40.0));
        dctcp.on_loss(&loss(40.0));
        assert!((dctcp.cwnd() - 20.0).abs() < 1e-12);
        assert!((dctcp.own.alpha - 0.1).abs() < 1e-12);
    }

    #[test]
    fn in_linux_what_ends_a_window_of_observation_delivers_for_the_next_and_alpha_is_in_1024ths() {
        let in_linux = |first_is_marked| {
            let mut dctcp = dctcp(1.0, beginning(4.0));
            (dctcp.own.next_counts, dctcp.own.steps) = (true, 1024.0);
            dctcp.on_marks(&marks(1, 10, 1, first_is_marked));
            dctcp
        };
        let mut dctcp = in_linux(0);
        assert_eq!(dctcp.own.alpha, 960.0 / 1024.0);
        dctcp.on_ecn(&loss(4.0));
        assert_eq!(dctcp.ssthresh(), 3.0);
        dctcp.on_marks(&marks(9, 18, 8, 2));
        assert_eq!(dctcp.own.alpha, 960.0 / 1024.0, "not before its end");
        // 960 less a sixteenth, and a sixteenth of 3/9 of 1024, rounded down: the last mark is of this window, and what it delivers is not.
        dctcp.on_marks(&marks(10, 20, 1, 1));
        assert_eq!(dctcp.own.alpha, (960.0 - 60.0 + 21.0) / 1024.0);
        // The first acknowledgement of all has a mark: one of one.
        assert_eq!(in_linux(1).own.alpha, 1.0);
    }

    #[test]
    fn rfc8257_3_3_a_window_of_which_nothing_is_told_changes_nothing() {
        let mut dctcp = dctcp(0.5, beginning(10.0));
        dctcp.on_marks(&marks(10, 20, 0, 0));
        assert_eq!(dctcp.own.alpha, 0.5);
    }
}
