//! How fast a probe raises its bound: by 1, 2, 4 and so on segments per round trip (draft-ietf-ccwg-bbr §5.3.3.6).

#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    rounds: u32,
    /// Segments acknowledged towards the next step, and how many make one up.
    acked: f64,
    probe_up_cnt: f64,
}

impl Slope {
    pub(super) const LEVEL: Self = Self {
        rounds: 0,
        acked: 0.0,
        probe_up_cnt: f64::INFINITY,
    };

    /// The next probe begins with one segment per round trip.
    pub(super) fn restart(&mut self) {
        self.rounds = 0;
        self.acked = 0.0;
    }

    /// The bound is not raised until the next round of a probe.
    pub(super) fn level(&mut self) {
        self.probe_up_cnt = f64::INFINITY;
    }

    /// A round of the probe begins with this window.
    pub(super) fn steeper(&mut self, cwnd: f64) {
        let growth = f64::from(1_u32 << self.rounds);
        self.rounds = (self.rounds + 1).min(30);
        self.probe_up_cnt = (cwnd / growth).max(1.0);
    }

    /// By how much the bound is raised after so many segments.
    pub(super) fn steps(&mut self, delivered: f64) -> f64 {
        self.acked += delivered;
        let steps = (self.acked / self.probe_up_cnt).floor();
        self.acked -= steps * self.probe_up_cnt;
        steps
    }
}
