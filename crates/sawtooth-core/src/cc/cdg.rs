//! CAIA Delay Gradient: backs off, with a probability, when the round-trip time grows from one round trip to the next.
//!
//! Specification: Hayes and Armitage 2011, "Revisiting TCP Congestion Control Using Delay Gradients", IFIP Networking 2011, §3.
//!
//! Model, in segments, once per round trip `n`:
//! - `RTT_min`, `RTT_max`: the least and the largest sample of the round trip; `g = RTT_n - RTT_(n-1)` of either; `g_bar` the mean of
//!   the last `window` of `g`; slow start looks at `g` itself
//! - `P[backoff] = 1 - exp(-g / G)` for a positive gradient
//! - backoff: `s = max(cwnd, s)`, `cwnd = ssthresh = cwnd * beta`; else in congestion avoidance `cwnd += 1`, and `s += 1` if there is one
//! - the round trip after a backoff, which cannot yet show its effect, is not looked at; after `ineffective` backoffs
//!   without a negative gradient the next `ignored` round trips are not either, unless a gradient turns negative
//! - queue: full if `g_bar_max <= 0 < g_bar_min`, empty if `g_bar_max < 0 <= g_bar_min`, rising if both are positive, falling if both are negative,
//!   else as it was; unknown at first. Empty: `s = 0`
//! - loss with the queue full or unknown: `ssthresh = max(cwnd, s) * beta_loss`; else it was not congestion and the window stays
//! - slow start between: standard TCP; timeout: `ssthresh = window * beta_loss`, `cwnd = 1`, `s = 0`
//!
//! Deviations: after a loss the paper's window is `max(cwnd, s) * beta_loss`, which may be larger than before; here that is `ssthresh`,
//! `cwnd` is never raised by a loss, and slow start makes up for it. One random number per round trip is held against the larger of the two
//! gradients. A mark (RFC 3168) is no loss to tolerate: it is always answered. `g_bar` is computed as `(RTT_n - RTT_(n-window)) / window`, to
//! which the paper's moving average telescopes; round trips before the first count as gradients of zero.
//!
//! Kernel equivalent: `cdg`, in whole segments; what it does otherwise is in `cdg/summed.rs` (`gradients` = "sums"). Its announcement says that it begins with a variant of CUBIC's Hybrid Slow Start, and
//! that the tolerance of losses is off there. Measured of Linux 6.1: slow start ends at the acknowledgement with which the train is longer than half of the least round-trip time, counted from the second
//! acknowledgement of a round, with gaps of 2.4 ms in it (12.0 ms of 20, 21.6 of 40, 5.1 of 10, 40.1 of 80); the window grows with every acknowledgement; after four backoffs, the first from 32 segments, and
//! 28 round trips a loss at 34 segments leaves a threshold of 30 = (32 + 28) / 2. A backoff's window shrinks in a round trip there, as in a recovery, and so it does here where reductions are proportional (`prr`), else at once.

mod backoffs;
mod gradients;
mod summed;
#[cfg(test)]
mod tests;

use self::backoffs::Backoffs;
use self::gradients::{Gradients, Pair};
use self::summed::SummedCdg;
use super::params::{COUNT, FACTOR, TIME};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Needs, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::WindowSize;

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "cdg",
    summary: "CAIA Delay Gradient: backs off at random when the round-trip time grows, and tolerates other losses",
    specification: &["Hayes and Armitage 2011 §3"],
    params: PARAMS,
    new: Algorithm {
        linux: &[
            ("gradients", Value::Choice("sums")),
            ("g", Value::Duration(0.131_072 / 42.0)),
            ("beta", Value::Number(724.0 / 1024.0)),
        ],
        needs: Needs {
            backs_off: true,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| {
            if params.choice("gradients") == "sums" {
                ClassicControl::boxed(start, SummedCdg::new(params, start))
            } else {
                ClassicControl::boxed(start, Cdg::new(params, start.seed))
            }
        })
    },
};

const PARAMS: &[Param] = &[
    param!(g: TIME => Value::Duration(0.003),
        "G: a gradient of this much per round trip has a probability of backing off of 1 - 1/e"),
    param!(window: COUNT => Value::Integer(8),
        "round trips that the gradients are averaged over"),
    param!(beta: FACTOR => Value::Number(0.7),
        "the window is multiplied by this at a backoff for delay"),
    param!(beta_loss: FACTOR => Value::Number(0.5),
        "the window is multiplied by this at a loss"),
    param!(ineffective: COUNT => Value::Integer(5),
        "backoffs in succession after which delay is ignored for a while"),
    param!(ignored: COUNT => Value::Integer(5),
        "round trips for which delay is ignored then"),
    param!(loss_tolerance: Kind::Bool => Value::Bool(true),
        "whether a loss is ignored while no queue seems to be full"),
    param!(shadow: Kind::Bool => Value::Bool(true),
        "whether a loss starts from the window there would be without backoffs for delay"),
    param!(gradients: Kind::Choice(&["means", "sums"]) => Value::Choice("means"),
        "what of the gradients counts: their means, as in the paper; or their sums, with all that parts Linux from the paper besides: then `ignored` and `loss_tolerance` say nothing"),
];

/// What the gradients say of the queue of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueState {
    Unknown,
    Empty,
    Rising,
    Falling,
    Full,
}

/// What can be switched off.
#[derive(Clone, Copy, Debug)]
struct Heuristics {
    loss_tolerance: bool,
    shadow: bool,
}

#[derive(Debug)]
struct Cdg {
    beta: f64,
    beta_loss: f64,
    heuristics: Heuristics,
    gradients: Gradients,
    queue: QueueState,
    backoffs: Backoffs,
    /// The shadow window `s`.
    s: f64,
    /// The last acknowledgement made it back off.
    backed_off: bool,
}

impl Cdg {
    fn new(params: &Params, seed: u64) -> Self {
        let window = usize::try_from(params.integer("window")).expect("bounds");
        Self {
            beta: params.number("beta"),
            beta_loss: params.number("beta_loss"),
            heuristics: Heuristics {
                loss_tolerance: params.flag("loss_tolerance"),
                shadow: params.flag("shadow"),
            },
            gradients: Gradients::new(window),
            queue: QueueState::Unknown,
            backoffs: Backoffs::new(params, seed),
            s: 0.0,
            backed_off: false,
        }
    }

    /// Whether a round trip has ended, and if so whether its gradient makes the window back off.
    fn observe(&mut self, window: &CongestionWindow, ack: &AckedData) -> Option<bool> {
        if let Some(sample) = ack.rtt {
            self.gradients.sample(sample);
        }
        if !self.gradients.ends(ack) {
            return None;
        }
        let Some(g) = self.gradients.gradient() else {
            return Some(false);
        };
        self.infer_queue();
        let gradient = if window.in_slow_start() {
            g
        } else {
            self.gradients.g_bar
        };
        Some(self.backoffs.is_due(gradient))
    }

    fn infer_queue(&mut self) {
        let Pair { min, max } = self.gradients.g_bar;
        // A queue that is full bounds RTT_max while RTT_min still rises; one that is empty bounds RTT_min while RTT_max still falls.
        self.queue = if min > 0.0 && max <= 0.0 {
            QueueState::Full
        } else if min >= 0.0 && max < 0.0 {
            QueueState::Empty
        } else if min > 0.0 && max > 0.0 {
            QueueState::Rising
        } else if min < 0.0 && max < 0.0 {
            QueueState::Falling
        } else {
            self.queue
        };
        if self.queue == QueueState::Empty {
            self.s = 0.0;
        }
    }

    fn back_off(&mut self, window: &mut CongestionWindow) {
        self.s = self.s.max(window.cwnd);
        window.back_off(self.beta);
        self.backoffs.count();
        self.backed_off = true;
    }

    /// Slow start; congestion avoidance at the end of a round trip.
    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData, round_ended: bool) {
        let before = window.cwnd;
        if window.in_slow_start() {
            window.start_slowly(ack.counted);
        } else if round_ended {
            window.cwnd += 1.0;
        }
        if self.s > 0.0 {
            self.s += window.cwnd - before;
        }
    }

    /// After a timeout.
    fn forget(&mut self) {
        self.s = 0.0;
        self.queue = QueueState::Unknown;
        self.backoffs.forget();
        self.gradients.forget();
    }
}

impl Avoidance for Cdg {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let round = self.observe(window, ack);
        if !ack.may_grow {
            return;
        }
        if round == Some(true) {
            self.back_off(window);
        } else if ack.cwnd_limited {
            self.grow(window, ack, round.is_some());
        }
    }

    fn has_backed_off(&mut self) -> bool {
        std::mem::take(&mut self.backed_off)
    }

    /// For a loss, mark or timeout that is taken as congestion.
    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        if episode.signal == Signal::Rto {
            self.forget();
            return episode.window * self.beta_loss;
        }
        let shadow = if self.heuristics.shadow { self.s } else { 0.0 };
        // The threshold follows from the shadow window now; there is none until the next backoff.
        self.s = 0.0;
        self.backoffs.wait();
        episode.window.max(WindowSize::from_segments(shadow)) * self.beta_loss
    }

    fn on_congestion(&mut self, window: &mut CongestionWindow, episode: &Episode) {
        if episode.signal == Signal::Loss
            && self.heuristics.loss_tolerance
            && !matches!(self.queue, QueueState::Full | QueueState::Unknown)
        {
            window.ssthresh = episode.threshold(window.windows().cwnd).segments();
            self.backoffs.wait();
            return;
        }
        let before = window.cwnd.max(2.0);
        let left = self.decrease(window, episode);
        window.reduce(episode, left);
        window.cwnd = window.cwnd.min(before);
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("g_bar_min", self.gradients.g_bar.min);
        out("g_bar_max", self.gradients.g_bar.max);
        out("s", self.s);
    }
}
