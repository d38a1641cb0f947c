//! Whether the pipe is full: the rate has not grown for some rounds (draft-ietf-ccwg-bbr §5.3.1.2).

/// Rates are in segments per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullPipe {
    /// Growth is by this factor, and the pipe is full after so many rounds without it.
    growth: f64,
    rounds: u64,
    /// The rate that growth is seen from, and rounds without any.
    pub bw: f64,
    pub count: u64,
    /// Since the last reset, and ever.
    pub now: bool,
    pub reached: bool,
}

impl FullPipe {
    pub(super) const fn new(growth: f64, rounds: u64) -> Self {
        Self {
            growth,
            rounds,
            bw: 0.0,
            count: 0,
            now: false,
            reached: false,
        }
    }

    /// Growth is seen from this rate on.
    pub(super) fn reset(&mut self, bw: f64) {
        self.bw = bw;
        self.count = 0;
        self.now = false;
    }

    /// A round begins with this rate, which the application did not limit.
    pub(super) fn on_round(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.bw * self.growth {
            self.reset(rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= self.rounds;
        self.reached |= self.now;
    }
}
