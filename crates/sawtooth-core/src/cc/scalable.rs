//! Scalable TCP: the window grows by a fixed share of itself per round trip and shrinks by a fixed share at a loss, so that the time to
//! recover does not depend on the rate.
//!
//! Specification: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2), 2003, §3.
//!
//! Model, in segments:
//! - slow start, and congestion avoidance up to `low_window`: standard TCP
//! - congestion avoidance above it: `cwnd += a` for everything that counts
//! - loss: `cwnd -= b * window`; up to `low_window`, `cwnd -= low_b * window`
//! - timeout: `ssthresh` as at a loss, `cwnd = 1`
//!
//! Deviations: the paper leaves timeouts to the host's TCP; here the threshold after one is that of a loss, as for every algorithm of a stack
//! that asks for one threshold.
//!
//! What counts is every acknowledgement, as in the paper, or with `tcp.byte_counting` every segment.
//!
//! Kernel equivalent: `scalable`, in whole segments. Measured of Linux 6.1: `low_window = 100` and the paper's `a`, as a step of the window takes a
//! window's segments up to 100, and 100 from there on (at 101 to 110 and at 272 to 277); `low_b = 0.125`, rounded down (`given_up`): of 69, 109 and 309 remain 61, 96, 271.

use super::params::FACTOR;
use super::{Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::WindowSize;

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "scalable",
    summary: "Scalable TCP: multiplicative increase and small decrease above a window of 16 segments",
    specification: &["Kelly 2003 §3"],
    params: &[
        param!(a: Kind::Number { min: 0.0001, max: 1.0 } => Value::Number(0.01),
            "segments by which the window grows with everything that counts"),
        param!(b: FACTOR => Value::Number(0.125),
            "share of the window given up at a loss"),
        param!(low_window: Kind::Number { min: 0.0, max: 1e9 } => Value::Number(16.0),
            "standard TCP up to this window, segments (the paper's lwnd)"),
        param!(given_up: Kind::Choice(&["up", "down"]) => Value::Choice("up"),
            "how the part of the window that a loss takes is rounded where windows are whole"),
        param!(low_b: FACTOR => Value::Number(0.5),
            "share of the window given up at a loss up to low_window"),
    ],
    new: Algorithm {
        linux: &[
            ("low_window", Value::Number(100.0)),
            ("low_b", Value::Number(0.125)),
            ("given_up", Value::Choice("down")),
        ],
        linux_3_2: &[
            ("a", Value::Number(0.02)),
            ("low_window", Value::Number(50.0)),
        ],
        ..Algorithm::of(|params, start| ClassicControl::boxed(start, Scalable::from(params)))
    },
};

#[derive(Debug)]
struct Scalable {
    a: f64,
    b: f64,
    low_window: f64,
    low_b: f64,
    rounds_down: bool,
}

impl From<&Params> for Scalable {
    fn from(params: &Params) -> Self {
        Self {
            a: params.number("a"),
            b: params.number("b"),
            low_window: params.number("low_window"),
            low_b: params.number("low_b"),
            rounds_down: params.choice("given_up") == "down",
        }
    }
}

impl Avoidance for Scalable {
    fn increase(&self, window: &CongestionWindow) -> f64 {
        if window.cwnd <= self.low_window {
            1.0
        } else {
            self.a * window.cwnd
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let share = if window.cwnd <= self.low_window {
            self.low_b
        } else {
            self.b
        };
        let given_up = (share * episode.window).segments();
        let given_up = if self.rounds_down {
            window.whole(given_up)
        } else {
            given_up
        };
        episode.window - WindowSize::from_segments(given_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn scalable(cwnd: f64, whole_windows: bool) -> ClassicControl<Scalable> {
        let start = ConnectionStart {
            whole_windows,
            ..avoiding(cwnd)
        };
        ClassicControl::new(start, Scalable::from(&params(&ENTRY, &[])))
    }

    #[test]
    fn kelly_section_3_an_acknowledgement_adds_a_hundredth_of_a_segment_at_any_window() {
        for cwnd in [17.0, 1000.0, 83_333.0] {
            let mut cc = scalable(cwnd, false);
            cc.on_ack(&ack());
            assert!((cc.cwnd() - cwnd - 0.01).abs() < 1e-9, "{cwnd}");
        }
        // Whole windows: one segment for every hundred acknowledgements.
        let mut whole = scalable(1000.0, true);
        (0..99).for_each(|_| whole.on_ack(&ack()));
        assert!((whole.cwnd() - 1000.0).abs() < f64::EPSILON);
        // 0.01 * 1000 is not exactly ten: the hundredth may come one late.
        (0..2).for_each(|_| whole.on_ack(&ack()));
        assert!((whole.cwnd() - 1001.0).abs() < f64::EPSILON);
    }

    #[test]
    fn kelly_section_3_a_loss_takes_an_eighth_and_whole_windows_round_the_part_taken_up() {
        let mut cc = scalable(100.0, false);
        cc.on_loss(&loss(100.0));
        assert!((cc.cwnd() - 87.5).abs() < 1e-12);
        let mut whole = scalable(100.0, true);
        whole.on_loss(&whole_loss(100.0));
        assert!((whole.cwnd() - 87.0).abs() < 1e-12, "ceil(12.5) = 13");
        assert!((whole.ssthresh() - 87.0).abs() < 1e-12);
    }

    #[test]
    fn kelly_section_3_the_time_to_recover_from_a_loss_does_not_depend_on_the_window() {
        // ln(1 / (1 - b)) / ln(1 + a) = ln(8 / 7) / ln(1.01) = 13.4 round trips, at any window.
        for cwnd in [200.0, 20_000.0] {
            let mut cc = scalable(cwnd, false);
            cc.on_loss(&loss(cwnd));
            let mut trips = 0;
            while cc.cwnd() < cwnd {
                // A window's acknowledgements, each with the increase of its beginning.
                cc.window.cwnd += cc.own.increase(&cc.window);
                trips += 1;
            }
            assert_eq!(trips, 14, "{cwnd}");
        }
    }

    #[test]
    fn up_to_the_low_window_it_is_standard_tcp() {
        let mut cc = scalable(16.0, false);
        cc.on_ack(&ack());
        assert!((cc.cwnd() - 16.0625).abs() < 1e-12, "1/16");
        let mut cc = scalable(16.0, false);
        cc.on_loss(&loss(16.0));
        assert!((cc.cwnd() - 8.0).abs() < 1e-12);
        let mut cc = scalable(16.0, false);
        cc.on_rto(&loss(16.0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1.0, 8.0));
    }
}
