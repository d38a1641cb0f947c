//! Whether a round trip's gradient makes the window back off: by chance, and not where that has had no effect (§3 of the paper).

use super::gradients::Pair;
use crate::registry::Params;
use crate::rng::RandomStream;

#[derive(Debug)]
pub(super) struct Backoffs {
    /// The gradient whose probability of a backoff is `1 - 1/e`, seconds.
    g_secs: f64,
    ineffective: i64,
    ignored: i64,
    random: RandomStream,
    /// Whether the last round trip ended with a backoff.
    waits: bool,
    /// Backoffs since a gradient was negative, and round trips still to be ignored.
    count: i64,
    ignore: i64,
}

impl Backoffs {
    pub(super) fn new(params: &Params, seed: u64) -> Self {
        Self {
            g_secs: params.duration("g"),
            ineffective: params.integer("ineffective"),
            ignored: params.integer("ignored"),
            random: RandomStream::new(seed, "cdg"),
            waits: false,
            count: 0,
            ignore: 0,
        }
    }

    /// `P[backoff]` for a positive gradient.
    pub(super) fn probability(&self, gradient_secs: f64) -> f64 {
        1.0 - libm::exp(-gradient_secs / self.g_secs)
    }

    /// Whether a round trip of this gradient makes the window back off.
    pub(super) fn is_due(&mut self, gradient: Pair) -> bool {
        if gradient.min < 0.0 || gradient.max < 0.0 {
            self.count = 0;
            self.ignore = 0;
        }
        if std::mem::take(&mut self.waits) {
            return false;
        }
        if self.ignore > 0 {
            self.ignore -= 1;
            return false;
        }
        let steepest = gradient.min.max(gradient.max);
        steepest > 0.0 && self.random.uniform() < self.probability(steepest)
    }

    /// The window backs off.
    pub(super) fn count(&mut self) {
        self.waits = true;
        self.count += 1;
        if self.count >= self.ineffective {
            self.count = 0;
            self.ignore = self.ignored;
        }
    }

    /// The next round trip cannot yet show the effect of what has been done to the window.
    pub(super) fn wait(&mut self) {
        self.waits = true;
    }

    /// What was measured counts no more.
    pub(super) fn forget(&mut self) {
        self.waits = false;
        self.count = 0;
        self.ignore = 0;
    }
}
