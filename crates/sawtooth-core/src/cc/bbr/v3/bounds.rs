//! What losses bound: the rate and the volume in flight of the short term, and the volume of the long term (draft-ietf-ccwg-bbr §5.5.10).

use super::latest::Latest;
use super::params::Bbr3Parameters;

/// Segments, and segments per second; infinite while nothing bounds them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
}

impl Bounds {
    pub(super) const NONE: Self = Self {
        bw_shortterm: f64::INFINITY,
        inflight_shortterm: f64::INFINITY,
        inflight_longterm: f64::INFINITY,
    };

    /// Bounds that widen no others.
    pub(super) const LEAST: Self = Self {
        bw_shortterm: 0.0,
        inflight_shortterm: 0.0,
        inflight_longterm: 0.0,
    };

    pub(super) fn reset_shortterm(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// A round with losses bounds the short term by what it delivered, but no less than `beta` of what there was.
    pub(super) fn adapt(&mut self, latest: &Latest, max_bw: f64, cwnd: f64, beta: f64) {
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = max_bw;
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = cwnd;
        }
        self.bw_shortterm = latest.bw.max(beta * self.bw_shortterm);
        self.inflight_shortterm = latest.inflight.max(beta * self.inflight_shortterm);
    }

    /// The volume of the long term, less the room that is left to others.
    pub(super) fn inflight_with_headroom(&self, parameters: &Bbr3Parameters) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (parameters.headroom * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(parameters.min_pipe_cwnd)
    }

    /// A loss was spurious: bounds are as wide as before it, or wider.
    pub(super) fn widen(&mut self, before: Self) {
        self.bw_shortterm = self.bw_shortterm.max(before.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(before.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(before.inflight_longterm);
    }
}
